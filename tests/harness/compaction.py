"""Middlewares that make room: the summariser and the microcompact."""

from __future__ import annotations

from tooldialect.dialects import AssistantTurn, ChatMessage, ToolResult, ToolResultBatch, TranscriptEntry

from .middleware import Middleware, Spare, spare_nothing
from .rewriters import host_text_of, is_tool_row

CLEARED = "[Old tool result cleared]"
_GIST = 60


class Summariser(Middleware):
    """Past `budget` characters, everything but the system texts and the last `keep` entries is
    one summary; spared texts stay behind it, as they are."""

    def __init__(self, budget: int = 20_000, keep: int = 4, spare: Spare = spare_nothing) -> None:
        self._budget, self._keep, self._spare = budget, keep, spare

    def on_history(self, entries: list[TranscriptEntry]) -> list[TranscriptEntry]:
        if sum(map(_size, entries)) <= self._budget:
            return entries
        system = [entry for entry in entries if isinstance(entry, ChatMessage) and entry.role == "system"]
        talk = [entry for entry in entries if not (isinstance(entry, ChatMessage) and entry.role == "system")]
        cut = _turn_boundary(talk, len(talk) - self._keep)
        old, recent = talk[:cut], talk[cut:]
        if not old:
            return entries
        gist = "; ".join(_gist(entry) for entry in old)
        summary = ChatMessage(role="user", content=f"Summary of {len(old)} earlier messages: {gist}")
        return [*system, summary, *(kept for entry in old for kept in self._spared(entry)), *recent]

    def _spared(self, entry: TranscriptEntry) -> list[TranscriptEntry]:
        if isinstance(entry, ToolResultBatch):
            kept = tuple(result for result in entry.results if self._spare(result.content))
            return [ToolResultBatch(results=kept)] if kept else []
        return [entry] if any(map(self._spare, host_text_of(entry))) else []


class Microcompact(Middleware):
    """All but the last `keep` tool rows are blanked; spared ones are not."""

    def __init__(self, keep: int = 3, spare: Spare = spare_nothing) -> None:
        self._keep, self._spare = keep, spare

    def on_history(self, entries: list[TranscriptEntry]) -> list[TranscriptEntry]:
        rows = [index for index, entry in enumerate(entries) if is_tool_row(entry)]
        old = set(rows[: max(0, len(rows) - self._keep)])
        return [self._blank(entry) if index in old else entry for index, entry in enumerate(entries)]

    def _blank(self, entry: TranscriptEntry) -> TranscriptEntry:
        if isinstance(entry, ToolResultBatch):
            return ToolResultBatch(results=tuple(map(self._blank_result, entry.results)))
        if isinstance(entry, AssistantTurn) or self._spare(entry.content):
            return entry
        return entry.model_copy(update={"content": CLEARED, "trusted_verbatim": False})

    def _blank_result(self, result: ToolResult) -> ToolResult:
        if self._spare(result.content):
            return result
        return result.model_copy(update={"content": CLEARED, "trusted_verbatim": False})


def _turn_boundary(talk: list[TranscriptEntry], cut: int) -> int:
    """The nearest earlier place where no calls are cut off from their results."""
    cut = max(0, cut)
    while 0 < cut < len(talk) and is_tool_row(talk[cut]):
        cut -= 1
    return cut


def _size(entry: TranscriptEntry) -> int:
    if isinstance(entry, AssistantTurn):
        return len(entry.text or "") + sum(len(call.arguments) for call in entry.tool_calls)
    return sum(map(len, host_text_of(entry)))


def _gist(entry: TranscriptEntry) -> str:
    if isinstance(entry, AssistantTurn):
        return (entry.text or "calls").split("<")[0].strip()[:_GIST] or "calls"
    return " ".join(text[:_GIST] for text in host_text_of(entry))
