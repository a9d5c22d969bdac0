"""Context managers as harnesses have them: what stands between the history and the request."""

from __future__ import annotations

import re
from collections.abc import Callable

from tooldialect.dialects import ChatMessage, ToolResultBatch, TranscriptEntry

History = list[TranscriptEntry]


def collapse_white_space(text: str) -> str:
    """Saves tokens, and changes every byte count."""
    return re.sub(r"\s+", " ", text)


def rewriting(rewrite: Callable[[str], str]) -> Callable[[History], History]:
    """Rewrites what the host wrote: user texts and tool results."""

    def apply(history: History) -> History:
        return [_rewritten(entry, rewrite) for entry in history]

    return apply


def _rewritten(entry: TranscriptEntry, rewrite: Callable[[str], str]) -> TranscriptEntry:
    if isinstance(entry, ChatMessage) and entry.role == "user":
        return entry.model_copy(update={"content": rewrite(entry.content)})
    if isinstance(entry, ToolResultBatch):
        results = tuple(result.model_copy(update={"content": rewrite(result.content)}) for result in entry.results)
        return ToolResultBatch(results=results)
    return entry


def summarising(longest: int) -> Callable[[History], History]:
    """Past `longest` entries, all behind the system text and the first request becomes a summary."""

    def apply(history: History) -> History:
        if len(history) <= longest:
            return history
        summary = f"(Summary of {len(history) - 2} earlier messages: the first commit is made.)"
        return [*history[:2], ChatMessage(role="user", content=summary)]

    return apply
