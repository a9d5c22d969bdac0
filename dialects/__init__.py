"""How tool calls and results are spelled for a model."""

from typing import TYPE_CHECKING

from .later import exports_later

if TYPE_CHECKING:
    from .attachment import Attachment
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
    from .host_words import host_texts
    from .mcp_results import outcome_from_mcp
    from .native import NativeDialect
    from .pairing import repair_tool_cycles
    from .pformat import PFormatDialect
    from .record import Record
    from .registry import available_dialects, get_dialect
    from .saved import dump_transcript, load_transcript
    from .tags import CONTROL_TOKENS
    from .text_dialect import TextDialect
    from .transcript import (
        AssistantTurn,
        ChatMessage,
        ModelResponse,
        ParsedResponse,
        ParsedToolCall,
        Problem,
        ToolCall,
        ToolOutcome,
        ToolResult,
        ToolResultBatch,
        ToolSpec,
        TranscriptEntry,
    )
    from .wires.anthropic import AnthropicWire
    from .wires.base import Wire
    from .wires.bedrock import BedrockWire
    from .wires.gemini import GeminiWire
    from .wires.langchain import LangChainWire
    from .wires.mistral import MistralWire
    from .wires.named import available_wires, wire_for
    from .wires.openai_chat import OpenAIChatWire
    from .wires.openai_responses import OpenAIResponsesWire
    from .wires.plain_chat import PlainChatWire
    from .wires.prepared_tools import ToolIssue
    from .xml import XmlDialect

exports_later(
    __name__,
    {
        "attachment": ["Attachment"],
        "catalogue": ["render_catalogue"],
        "dialect": ["CallFormat", "ToolDialect"],
        "errors": [
            "MissingExtraError",
            "PluginError",
            "RenderError",
            "ToolDialectError",
            "TranscriptError",
            "UnknownDialectError",
            "UnknownWireError",
            "VerbatimError",
            "WireError",
        ],
        "host_words": ["host_texts"],
        "mcp_results": ["outcome_from_mcp"],
        "native": ["NativeDialect"],
        "pairing": ["repair_tool_cycles"],
        "pformat": ["PFormatDialect"],
        "record": ["Record"],
        "registry": ["available_dialects", "get_dialect"],
        "saved": ["dump_transcript", "load_transcript"],
        "tags": ["CONTROL_TOKENS"],
        "text_dialect": ["TextDialect"],
        "transcript": [
            "AssistantTurn",
            "ChatMessage",
            "ModelResponse",
            "ParsedResponse",
            "ParsedToolCall",
            "Problem",
            "ToolCall",
            "ToolOutcome",
            "ToolResult",
            "ToolResultBatch",
            "ToolSpec",
            "TranscriptEntry",
        ],
        "wires.anthropic": ["AnthropicWire"],
        "wires.base": ["Wire"],
        "wires.bedrock": ["BedrockWire"],
        "wires.gemini": ["GeminiWire"],
        "wires.prepared_tools": ["ToolIssue"],
        "wires.langchain": ["LangChainWire"],
        "wires.mistral": ["MistralWire"],
        "wires.named": ["available_wires", "wire_for"],
        "wires.openai_chat": ["OpenAIChatWire"],
        "wires.openai_responses": ["OpenAIResponsesWire"],
        "wires.plain_chat": ["PlainChatWire"],
        "xml": ["XmlDialect"],
    },
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
