"""Wires by name: what a configuration or a command line chooses by."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import UnknownWireError
from .base import Wire

# Each in its file, imported when it is asked for: a harness speaks to one provider.
_WIRES = {
    "openai-chat": ("openai_chat", "OpenAIChatWire"),
    "openai-responses": ("openai_responses", "OpenAIResponsesWire"),
    "anthropic": ("anthropic", "AnthropicWire"),
    "gemini": ("gemini", "GeminiWire"),
    "bedrock": ("bedrock", "BedrockWire"),
    "mistral": ("mistral", "MistralWire"),
    "langchain": ("langchain", "LangChainWire"),
    "plain-chat": ("plain_chat", "PlainChatWire"),
}


def available_wires() -> list[str]:
    """The names `wire_for` takes."""
    return list(_WIRES)


def wire_for(name: str, **options: Any) -> Wire:
    """The wire of that name, made with `options` as its class takes them (`reasoning="echo"`).

    Raises UnknownWireError, whose message lists the known names, and TypeError for an option
    that the wire does not have.
    """
    if name not in _WIRES:
        raise UnknownWireError(f"no wire is named {name!r}; known: {', '.join(_WIRES)}")
    module, kind = _WIRES[name]
    wire: type[Wire] = getattr(import_module(f".{module}", __package__), kind)
    return wire(**options)
