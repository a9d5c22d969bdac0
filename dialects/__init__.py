"""How tool calls and results are spelled for a model."""

from typing import TYPE_CHECKING

from .catalogue import render_catalogue
from .dialect import CallFormat, ToolDialect
from .errors import (
    MissingExtraError,
    PluginError,
    RenderError,
    ToolDialectError,
    TranscriptError,
    UnknownDialectError,
    UnknownWireError,
    VerbatimError,
    WireError,
)
from .host_texts import host_texts
from .later import exports_later
from .mcp_results import outcome_from_mcp
from .native import NativeDialect
from .pairing import repair_tool_cycles
from .pformat import PFormatDialect
from .registry import available_dialects, get_dialect
from .saved import dump_transcript, load_transcript
from .tags import CONTROL_TOKENS
from .text_dialect import TextDialect
from .transcript import (
    AssistantTurn,
    Attachment,
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
from .wires import OpenAIChatWire, ToolIssue, Wire
from .xml import XmlDialect

if TYPE_CHECKING:
    from .wires import (
        AnthropicWire,
        BedrockWire,
        GeminiWire,
        LangChainWire,
        MistralWire,
        OpenAIResponsesWire,
        PlainChatWire,
        available_wires,
        wire_for,
    )

__getattr__ = exports_later(
    __name__,
    dict.fromkeys(
        (
            "AnthropicWire",
            "BedrockWire",
            "GeminiWire",
            "LangChainWire",
            "MistralWire",
            "OpenAIResponsesWire",
            "PlainChatWire",
            "available_wires",
            "wire_for",
        ),
        "wires",
    ),
)

__all__ = [
    "CONTROL_TOKENS",
    "AnthropicWire",
    "AssistantTurn",
    "Attachment",
    "BedrockWire",
    "CallFormat",
    "ChatMessage",
    "GeminiWire",
    "LangChainWire",
    "MissingExtraError",
    "MistralWire",
    "ModelResponse",
    "NativeDialect",
    "OpenAIChatWire",
    "OpenAIResponsesWire",
    "PFormatDialect",
    "ParsedResponse",
    "ParsedToolCall",
    "PlainChatWire",
    "PluginError",
    "Problem",
    "Record",
    "RenderError",
    "TextDialect",
    "ToolCall",
    "ToolDialect",
    "ToolDialectError",
    "ToolIssue",
    "ToolOutcome",
    "ToolResult",
    "ToolResultBatch",
    "ToolSpec",
    "TranscriptEntry",
    "TranscriptError",
    "UnknownDialectError",
    "UnknownWireError",
    "VerbatimError",
    "Wire",
    "WireError",
    "XmlDialect",
    "available_dialects",
    "available_wires",
    "dump_transcript",
    "get_dialect",
    "host_texts",
    "load_transcript",
    "outcome_from_mcp",
    "render_catalogue",
    "repair_tool_cycles",
    "wire_for",
]
