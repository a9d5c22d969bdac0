"""A history as every structured wire sends it: each call turn with its results at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..pairing import pair_results
from ..record import refuse_others
from ..transcript import (
    ENTRY_KINDS,
    AssistantTurn,
    ChatMessage,
    ToolResult,
    ToolResultBatch,
    TranscriptEntry,
)
from .ids import WireIds


class Cycle(NamedTuple):
    """An assistant turn, the wire ids of its calls, and the results there are, in call order."""

    turn: AssistantTurn
    ids: tuple[str, ...]
    answers: tuple[tuple[str, ToolResult], ...]


class Stray(NamedTuple):
    """A result that answers no call of the history. Replay has none; a part of a history may."""

    id: str
    result: ToolResult


def lay_out(entries: Iterable[TranscriptEntry], ids: WireIds) -> Iterator[ChatMessage | Cycle | Stray]:
    """The entries in order, results drawn to their calls; nothing is lost and nothing added.

    An assistant's message is a cycle without calls."""
    history = list(entries)
    pairs = pair_results(history)
    answered = {place for places in pairs.values() for place in places if place is not None}
    for index, entry in enumerate(history):
        if isinstance(entry, ChatMessage):
            # A text dialect replays turns as messages; what the provider must get back came along.
            assistant = entry.role == "assistant"
            yield Cycle(AssistantTurn(text=entry.content, metadata=entry.metadata), (), ()) if assistant else entry
        elif isinstance(entry, AssistantTurn):
            wire_ids = tuple(ids.turn([call.id for call in entry.tool_calls])) if entry.tool_calls else ()
            answers = []
            for wire_id, place in zip(wire_ids, pairs.get(index, ()), strict=True):
                if place is not None:
                    batch = history[place[0]]
                    assert isinstance(batch, ToolResultBatch)
                    answers.append((wire_id, batch.results[place[1]]))
            yield Cycle(entry, wire_ids, tuple(answers))
        elif not isinstance(entry, ToolResultBatch):
            refuse_others(history, ENTRY_KINDS, "encode")
        else:
            for position, result in enumerate(entry.results):
                if (index, position) not in answered:
                    yield Stray(ids.stray(result.tool_call_id), result)
