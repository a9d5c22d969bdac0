"""Middlewares that rewrite each text the host wrote: white-space cleaner and byte cap."""

from __future__ import annotations

from collections.abc import Callable

from tooldialect.dialects import AssistantTurn, ChatMessage, ToolResultBatch, TranscriptEntry

from .middleware import Middleware

Rewrite = Callable[[str], str]


class TextRewriter(Middleware):
    """`rewrite` over tool results and user messages; guarded, it is `gate.exempt(rewrite)`."""

    def __init__(self, rewrite: Rewrite) -> None:
        self._rewrite = rewrite

    def on_history(self, entries: list[TranscriptEntry]) -> list[TranscriptEntry]:
        return [rewrite_entry(entry, self._rewrite) for entry in entries]


def rewrite_entry(entry: TranscriptEntry, rewrite: Rewrite) -> TranscriptEntry:
    """The entry with every host text rewritten, flags and ids as they were: what a host unaware of flags does."""
    if isinstance(entry, ToolResultBatch):
        rewritten = [result.model_copy(update={"content": rewrite(result.content)}) for result in entry.results]
        return ToolResultBatch(results=tuple(rewritten))
    if isinstance(entry, AssistantTurn) or entry.role not in ("user", "tool"):
        return entry
    return entry.model_copy(update={"content": rewrite(entry.content)})


def is_tool_row(entry: TranscriptEntry) -> bool:
    """Whether the entry is what tools answered: text dialects store that as user messages."""
    if isinstance(entry, ToolResultBatch):
        return True
    return isinstance(entry, ChatMessage) and (
        entry.role == "tool" or entry.trusted_verbatim or entry.content.startswith("[Tool results]")
    )


def host_text_of(entry: TranscriptEntry) -> list[str]:
    """The host's texts in one entry."""
    if isinstance(entry, ToolResultBatch):
        return [result.content for result in entry.results]
    return [entry.content] if isinstance(entry, ChatMessage) and entry.role in ("user", "tool") else []


def collapse_white_space(text: str) -> str:
    """Every run of white space one blank."""
    return " ".join(text.split())


def byte_cap(limit: int) -> Rewrite:
    """Head and tail of a text longer than `limit` bytes, and how much was cut."""

    def cap(text: str) -> str:
        raw = text.encode()
        if len(raw) <= limit:
            return text
        head, tail = raw[: limit * 3 // 4], raw[-(limit // 4) :]
        return f"{head.decode(errors='ignore')}\n[{len(raw) - limit} bytes cut]\n{tail.decode(errors='ignore')}"

    return cap
