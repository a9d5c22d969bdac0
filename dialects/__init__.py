"""How tool calls and results are spelled for a model."""

from .dialect import ToolDialect
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
from .wires import Wire

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
    "ToolDialect",
    "ToolDialectError",
    "ToolOutcome",
    "ToolResult",
    "ToolResultBatch",
    "ToolSpec",
    "TranscriptEntry",
    "TranscriptError",
    "UnknownDialectError",
    "VerbatimError",
    "Wire",
]
