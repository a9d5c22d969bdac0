"""The ways a scene is played: a dialect, the wire below it, and how its model writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tooldialect.dialects import ToolDialect, get_dialect
from tooldialect.dialects.wires import AnthropicWire, OpenAIChatWire, PlainChatWire, Wire

from .model import Turn
from .spelling import anthropic_calls, json_call, openai_calls, openai_text, plain_text, slot_call
from .tools import TOOLS


@dataclass(frozen=True)
class Way:
    dialect: ToolDialect
    wire: Wire
    spell: Callable[[Turn, int], Any]

    @property
    def name(self) -> str:
        return f"{self.dialect.name} / {self.wire.name}"


def all_ways() -> tuple[Way, ...]:
    """Every dialect, native over two providers' shapes."""
    return (
        Way(get_dialect("native", TOOLS), OpenAIChatWire(), openai_calls),
        Way(get_dialect("native", TOOLS), AnthropicWire(), anthropic_calls),
        Way(get_dialect("xml", TOOLS), OpenAIChatWire(), openai_text(json_call)),
        Way(get_dialect("pformat", TOOLS), PlainChatWire(strict_alternation=True), plain_text(slot_call)),
    )
