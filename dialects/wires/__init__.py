"""One provider's request shape a file."""

from .anthropic import AnthropicWire
from .base import Wire
from .bedrock import BedrockWire
from .gemini import GeminiWire
from .openai_chat import OpenAIChatWire
from .plain_chat import PlainChatWire
from .tool_specs import ToolIssue

__all__ = ["AnthropicWire", "BedrockWire", "GeminiWire", "OpenAIChatWire", "PlainChatWire", "ToolIssue", "Wire"]
