"""Wires by name: what a configuration or a command line chooses by."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..errors import UnknownWireError
from .anthropic import AnthropicWire
from .base import Wire
from .bedrock import BedrockWire
from .gemini import GeminiWire
from .langchain import LangChainWire
from .mistral import MistralWire
from .openai_chat import OpenAIChatWire
from .openai_responses import OpenAIResponsesWire
from .plain_chat import PlainChatWire

_WIRES: Mapping[str, type[Wire]] = MappingProxyType(
    {
        wire.name: wire
        for wire in (
            OpenAIChatWire,
            OpenAIResponsesWire,
            AnthropicWire,
            GeminiWire,
            BedrockWire,
            MistralWire,
            LangChainWire,
            PlainChatWire,
        )
    }
)


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
    return _WIRES[name](**options)
