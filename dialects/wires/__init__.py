"""One provider's request shape a file."""

from typing import TYPE_CHECKING

from ..later import exports_later
from .base import Wire
from .openai_chat import OpenAIChatWire
from .tool_specs import ToolIssue

if TYPE_CHECKING:
    from .anthropic import AnthropicWire
    from .bedrock import BedrockWire
    from .gemini import GeminiWire
    from .langchain import LangChainWire
    from .mistral import MistralWire
    from .named import available_wires, wire_for
    from .openai_responses import OpenAIResponsesWire
    from .plain_chat import PlainChatWire

__getattr__ = exports_later(
    __name__,
    {
        "AnthropicWire": "anthropic",
        "BedrockWire": "bedrock",
        "GeminiWire": "gemini",
        "LangChainWire": "langchain",
        "MistralWire": "mistral",
        "OpenAIResponsesWire": "openai_responses",
        "PlainChatWire": "plain_chat",
        "available_wires": "named",
        "wire_for": "named",
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
