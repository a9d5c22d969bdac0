"""Ways to get it wrong: each makes the gate inert or blind, and nothing looks broken."""

from __future__ import annotations

from typing import Any

from tooldialect.dialects import AssistantTurn, ToolResultBatch, TranscriptEntry, Wire

from .middleware import Middleware


class DropFlags(Middleware):
    """A store whose records have no field for the flag."""

    def on_history(self, entries: list[TranscriptEntry]) -> list[TranscriptEntry]:
        return [_unflagged(entry) for entry in entries]


class MergeBatches(Middleware):
    """A history in which neighbouring results, or neighbouring user turns, are one record."""

    def on_history(self, entries: list[TranscriptEntry]) -> list[TranscriptEntry]:
        merged: list[TranscriptEntry] = []
        for entry in entries:
            last = merged[-1] if merged else None
            if isinstance(entry, AssistantTurn) or type(last) is not type(entry):
                merged.append(entry)
            elif isinstance(entry, ToolResultBatch):
                assert isinstance(last, ToolResultBatch)
                merged[-1] = ToolResultBatch(results=last.results + entry.results)
            elif not isinstance(last, AssistantTurn | ToolResultBatch | None) and last.role == entry.role == "user":
                merged[-1] = last.model_copy(update={"content": f"{last.content}\n\n{entry.content}"})
            else:
                merged.append(entry)
        return merged


class MergeUserTurns(Middleware):
    """A request in which user turns and results that follow one another are one text."""

    def on_request(self, request: dict[str, Any], wire: Wire) -> dict[str, Any]:
        merged: list[dict[str, Any]] = []
        for message in wire.messages(request):
            if merged and message["role"] == merged[-1]["role"] == "user":
                texts = [_as_text(merged[-1]["content"]), _as_text(message["content"])]
                merged[-1] = {**merged[-1], "content": "\n\n".join(texts)}
            else:
                merged.append(message)
        return {**request, "messages": merged}


class Banner(Middleware):
    """A prefix on everything the host says, such as the time of day."""

    def on_history(self, entries: list[TranscriptEntry]) -> list[TranscriptEntry]:
        from .rewriters import rewrite_entry

        return [rewrite_entry(entry, "[12:00] {}".format) for entry in entries]


def _as_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(part["text"] for part in content if part["type"] == "text")


def _unflagged(entry: TranscriptEntry) -> TranscriptEntry:
    if isinstance(entry, ToolResultBatch):
        return ToolResultBatch(
            results=tuple(result.model_copy(update={"trusted_verbatim": False}) for result in entry.results)
        )
    return entry if isinstance(entry, AssistantTurn) else entry.model_copy(update={"trusted_verbatim": False})
