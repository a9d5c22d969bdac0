"""Calls and results must match: providers refuse a request whose cycles do not.

History is replayed, so one bad cycle breaks every later turn. Who answers whom is decided
here once, for the repair and for the wires.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from .record import refuse_others
from .splitting import is_verbatim_turn, split_verbatim
from .transcript import (
    ENTRY_KINDS,
    AssistantTurn,
    ChatMessage,
    ToolCall,
    ToolResult,
    ToolResultBatch,
    TranscriptEntry,
)

# A synthesized result is known by this text, so that a real one that arrives later can take its place.
INTERRUPTED = "The call was interrupted before its result was recorded. It may have run, in part or in whole."

Place: TypeAlias = tuple[int, int]
"""Entry and position in it: where a result stands in a history."""


def repair_tool_cycles(
    history: Iterable[TranscriptEntry],
    incomplete: Literal["synthesize", "drop"] = "synthesize",
    in_flight: Collection[str] = (),
) -> list[TranscriptEntry]:
    """History in which every call has exactly one result, directly behind its turn, in call order.

    `incomplete`: a call without a result gets a failed one (`synthesize`), or its whole cycle
    goes (`drop`). `in_flight`: ids of calls that still run; in the last turn that made them
    they are left unanswered. Text that stood inside a cycle is kept behind it. An orphan
    result goes; a marked one stays as a user message of its own. A healthy history comes
    back as it was, entry by entry, and the input is never changed. Linear in its length.
    """
    if incomplete not in ("synthesize", "drop"):
        raise ValueError(f"incomplete={incomplete!r}: use 'synthesize' or 'drop'")
    entries = list(history)
    pairs = pair_results(entries)
    running = _still_running(entries, frozenset(in_flight))
    kept: set[Place] = set()
    gone: set[int] = set()
    for index, places in pairs.items():
        unanswered = any(place is None for place in places)
        if unanswered and incomplete == "drop" and index not in running:
            gone.add(index)
        else:
            kept.update(place for place in places if place is not None)

    repaired: list[TranscriptEntry] = []
    intact_until = 0
    for index, entry in enumerate(entries):
        if index < intact_until:
            repaired.append(entry)
        elif isinstance(entry, ToolResultBatch):
            repaired.extend(_left_over(entry, index, kept))
        elif index in gone:
            continue
        elif isinstance(entry, AssistantTurn) and entry.tool_calls:
            repaired.append(entry)
            answers = _answers(entries, entry, pairs[index], running.get(index), incomplete)
            end = _end_of_batches(entries, index + 1)
            if _standing(entries, index + 1, end, answers):
                intact_until = end
            else:
                repaired.extend(batches(answers))
        elif isinstance(entry, ENTRY_KINDS):
            repaired.append(entry)
        else:
            refuse_others(entries, ENTRY_KINDS, "a history")
    return repaired


def pair_results(entries: Sequence[TranscriptEntry]) -> dict[int, list[Place | None]]:
    """For each turn that made calls, by its index: where the result of each call stands, if any.

    A result answers the nearest call turn before it that has its id (ids may restart each
    turn), the n-th result of an id the n-th call of it. Of too many results the first real
    ones stay; a synthesized one only where no real one is.
    """
    return {index: _assign(entries, entries[index], by_id) for index, by_id in _claims(entries).items()}


def answered_calls(entries: Sequence[TranscriptEntry]) -> dict[Place, ToolCall]:
    """For each result that answers a call, by its place: which one. Of too many results of an id
    those that `pair_results` leaves over answer its last call."""
    answered: dict[Place, ToolCall] = {}
    for index, by_id in _claims(entries).items():
        turn = entries[index]
        assert isinstance(turn, AssistantTurn)
        last = {call.id: call for call in turn.tool_calls}
        answered.update((place, last[id_]) for id_, places in by_id.items() for place in places)
        paired = zip(_assign(entries, turn, by_id), turn.tool_calls, strict=True)
        answered.update((place, call) for place, call in paired if place is not None)
    return answered


def _claims(entries: Sequence[TranscriptEntry]) -> dict[int, dict[str, list[Place]]]:
    """By call turn and id: the results of the nearest turn before them that has their id."""
    owner: dict[str, int] = {}
    claims: dict[int, dict[str, list[Place]]] = {}
    for index, entry in enumerate(entries):
        if isinstance(entry, AssistantTurn) and entry.tool_calls:
            claims[index] = {call.id: [] for call in entry.tool_calls}
            owner.update(dict.fromkeys(claims[index], index))
        elif isinstance(entry, ToolResultBatch):
            for position, result in enumerate(entry.results):
                turn = owner.get(result.tool_call_id)
                if turn is not None:
                    claims[turn][result.tool_call_id].append((index, position))
    return claims


def is_synthesized(result: ToolResult) -> bool:
    """Whether a repair wrote this result. A marked one is the host's, whatever it says."""
    return result.content == INTERRUPTED and not result.trusted_verbatim


def batches(results: Iterable[ToolResult]) -> Iterator[ToolResultBatch]:
    """The results as records: a marked one in a batch of its own, each run of others in one."""
    for _, run in split_verbatim(results, stands_alone):
        yield ToolResultBatch(results=tuple(run))


def stands_alone(result: ToolResult) -> bool:
    """Whether the result must reach the model as a turn of its own."""
    return is_verbatim_turn(result.content, result.trusted_verbatim)


def _assign(
    entries: Sequence[TranscriptEntry], turn: TranscriptEntry, by_id: dict[str, list[Place]]
) -> list[Place | None]:
    assert isinstance(turn, AssistantTurn)
    wanted = Counter(call.id for call in turn.tool_calls)
    chosen = {id_: iter(_choose(entries, places, wanted[id_])) for id_, places in by_id.items()}
    return [next(chosen[call.id], None) for call in turn.tool_calls]


def _choose(entries: Sequence[TranscriptEntry], places: list[Place], wanted: int) -> list[Place]:
    real = [place for place in places if not is_synthesized(_at(entries, place))][:wanted]
    made = [place for place in places if is_synthesized(_at(entries, place))][: wanted - len(real)]
    return sorted(real + made)


def _at(entries: Sequence[TranscriptEntry], place: Place) -> ToolResult:
    batch = entries[place[0]]
    assert isinstance(batch, ToolResultBatch)
    return batch.results[place[1]]


def _still_running(entries: Sequence[TranscriptEntry], in_flight: frozenset[str]) -> dict[int, frozenset[str]]:
    """By turn: the ids that run. An id that restarts runs in the last turn that has it only."""
    last: dict[str, int] = {}
    if in_flight:
        for index, entry in enumerate(entries):
            if isinstance(entry, AssistantTurn):
                last.update((call.id, index) for call in entry.tool_calls if call.id in in_flight)
    running: dict[int, frozenset[str]] = {}
    for id_, index in last.items():
        running[index] = running.get(index, frozenset()) | {id_}
    return running


def _answers(
    entries: Sequence[TranscriptEntry],
    turn: AssistantTurn,
    places: Sequence[Place | None],
    running: frozenset[str] | None,
    incomplete: str,
) -> list[ToolResult]:
    answers = []
    for call, place in zip(turn.tool_calls, places, strict=True):
        if place is not None:
            answers.append(_at(entries, place))
        elif incomplete == "synthesize" and call.id not in (running or ()):
            answers.append(_interrupted(call))
    return answers


def _interrupted(call: ToolCall) -> ToolResult:
    return ToolResult(tool_call_id=call.id, name=call.name, content=INTERRUPTED, success=False)


def _end_of_batches(entries: Sequence[TranscriptEntry], start: int) -> int:
    end = start
    while end < len(entries) and isinstance(entries[end], ToolResultBatch):
        end += 1
    return end


def _standing(entries: Sequence[TranscriptEntry], start: int, end: int, answers: Sequence[ToolResult]) -> bool:
    """Whether the batches from `start` to `end` hold these very results in this order."""
    there: list[ToolResult] = []
    for entry in entries[start:end]:
        assert isinstance(entry, ToolResultBatch)
        there.extend(entry.results)
    return len(there) == len(answers) and all(a is b for a, b in zip(there, answers, strict=True))


def _left_over(batch: ToolResultBatch, index: int, kept: set[Place]) -> Iterator[TranscriptEntry]:
    if not batch.results:
        yield batch
    for position, result in enumerate(batch.results):
        if result.trusted_verbatim and (index, position) not in kept:
            yield ChatMessage(role="user", content=result.content, trusted_verbatim=True)
