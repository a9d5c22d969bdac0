"""Where a context middleware may act. Each hook has a default that does nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tooldialect.dialects import ParsedToolCall, ToolOutcome, TranscriptEntry, Wire

Spare: TypeAlias = Callable[[str], bool]
"""Whether a text must be left alone: a guarded middleware is given `gate.is_contract_delivery`."""


def spare_nothing(text: str) -> bool:
    """What an unguarded middleware is given."""
    return False


class Middleware:
    """Views and vetoes. What `on_history` and `on_request` return is sent; the transcript stays as it was."""

    def on_turn(self) -> None:
        """A turn begins."""

    def on_history(self, entries: list[TranscriptEntry]) -> list[TranscriptEntry]:
        """The transcript as the model shall see it, before it is rendered."""
        return entries

    def on_request(self, request: dict[str, Any], wire: Wire) -> dict[str, Any]:
        """The provider's request, before it is sent."""
        return request

    def before_call(self, call: ParsedToolCall) -> ToolOutcome | None:
        """An answer in place of the gate and the tool, or None."""
        return None

    def after_round(self, answered: Sequence[tuple[ParsedToolCall, ToolOutcome]]) -> str | None:
        """Why the turn has to stop, or None."""
        return None


def acts_on_requests(middleware: Middleware) -> bool:
    return type(middleware).on_request is not Middleware.on_request
