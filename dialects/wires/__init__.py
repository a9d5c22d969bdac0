"""One provider's request shape a file."""

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
from .tool_specs import ToolIssue

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
