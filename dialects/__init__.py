"""How tool calls and results are spelled for a model."""

from .errors import (
    MissingExtraError,
    PluginError,
    RenderError,
    ToolDialectError,
    TranscriptError,
    UnknownDialectError,
    VerbatimError,
)
from .transcript import (
    AssistantTurn,
    ChatMessage,
    ModelResponse,
    ParsedResponse,
    ParsedToolCall,
    Problem,
    Record,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
    TranscriptEntry,
)

__all__ = [
    "AssistantTurn",
    "ChatMessage",
    "MissingExtraError",
    "ModelResponse",
    "ParsedResponse",
    "ParsedToolCall",
    "PluginError",
    "Problem",
    "Record",
    "RenderError",
    "ToolCall",
    "ToolDialectError",
    "ToolOutcome",
    "ToolResult",
    "ToolResultBatch",
    "ToolSpec",
    "TranscriptEntry",
    "TranscriptError",
    "UnknownDialectError",
    "VerbatimError",
]
