"""What the host wrote in a transcript, as the units a provider keeps apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .transcript import ChatMessage, ToolResultBatch, TranscriptEntry


def host_texts(entries: Iterable[TranscriptEntry]) -> Iterator[str]:
    """Each user message and each tool result. System and assistant text never: a model can
    quote what it was shown, and a quotation proves nothing about what stands in context."""
    for entry in entries:
        if isinstance(entry, ToolResultBatch):
            for result in entry.results:
                yield result.content
        elif isinstance(entry, ChatMessage) and entry.role in ("user", "tool"):
            yield entry.content
