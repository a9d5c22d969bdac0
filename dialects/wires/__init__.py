"""One provider's request shape a file."""

from typing import TYPE_CHECKING

from ..later import exports_later

if TYPE_CHECKING:
    from .anthropic import AnthropicWire
    from .base import Wire
    from .bedrock import BedrockWire
    from .gemini import GeminiWire
    from .langchain import LangChainWire
    from .mistral import MistralWire
    from .named import available_wires, wire_for
    from .openai_chat import OpenAIChatWire
    from .openai_responses import OpenAIResponsesWire
    from .plain_chat import PlainChatWire
    from .prepared_tools import ToolIssue

exports_later(
    __name__,
    {
        "anthropic": ["AnthropicWire"],
        "base": ["Wire"],
        "bedrock": ["BedrockWire"],
        "gemini": ["GeminiWire"],
        "langchain": ["LangChainWire"],
        "mistral": ["MistralWire"],
        "named": ["available_wires", "wire_for"],
        "openai_chat": ["OpenAIChatWire"],
        "openai_responses": ["OpenAIResponsesWire"],
        "plain_chat": ["PlainChatWire"],
        "prepared_tools": ["ToolIssue"],
    },
)

__all__ = [
    "AnthropicWire",
    "BedrockWire",
    "GeminiWire",
    "LangChainWire",
    "MistralWire",
    "OpenAIChatWire",
    "OpenAIResponsesWire",
    "PlainChatWire",
    "ToolIssue",
    "Wire",
    "available_wires",
    "wire_for",
]
