"""A judge of tool cycles that shares no code with the repair: quadratic, and plain to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from tooldialect.dialects import AssistantTurn, ChatMessage, ToolResult, ToolResultBatch, TranscriptEntry


def cycle_faults(history: Sequence[TranscriptEntry], in_flight: Collection[str] = ()) -> list[str]:
    """What a provider would refuse: a call without its one result in place, a result without its call."""
    faults = []
    position = 0
    while position < len(history):
        entry = history[position]
        position += 1
        if isinstance(entry, ToolResultBatch) and entry.results:
            faults.append(f"entry {position - 1}: results that follow no call turn")
        if not isinstance(entry, AssistantTurn) or not entry.tool_calls:
            continue
        answered = []
        while position < len(history) and isinstance(history[position], ToolResultBatch):
            answered += [result.tool_call_id for result in history[position].results]
            position += 1
        expected = [call.id for call in entry.tool_calls]
        if answered != expected and not _only_running_missing(expected, answered, in_flight):
            faults.append(f"calls {expected} are answered by {answered}")
    return faults


def losses(before: Sequence[TranscriptEntry], after: Sequence[TranscriptEntry]) -> list[str]:
    """Text that a repair must not lose: user and system turns in order, marked texts byte for byte."""
    faults = []
    spoken = [entry for entry in before if isinstance(entry, ChatMessage)]
    remaining = iter([entry for entry in after if isinstance(entry, ChatMessage)])
    faults += [f"lost or moved: {entry!r}" for entry in spoken if not any(entry is other for other in remaining)]
    faults += [f"marked text lost: {text!r}" for text in (_marked(before) - _marked(after))]
    faults += [f"marked text made up: {text!r}" for text in (_marked(after) - _marked(before))]
    return faults


def answers_by_call(history: Sequence[TranscriptEntry]) -> dict[tuple[int, str], list[ToolResult]]:
    """By call turn (counted from 0) and id: the results that belong to it, wherever they stand."""
    answers: dict[tuple[int, str], list[ToolResult]] = {}
    for place, entry in enumerate(history):
        if not isinstance(entry, ToolResultBatch):
            continue
        for result in entry.results:
            turns = [
                turn
                for turn in history[:place]
                if isinstance(turn, AssistantTurn) and any(call.id == result.tool_call_id for call in turn.tool_calls)
            ]
            if turns:
                call_turns = [turn for turn in history if isinstance(turn, AssistantTurn) and turn.tool_calls]
                number = max(n for n, turn in enumerate(call_turns) if turn is turns[-1])
                answers.setdefault((number, result.tool_call_id), []).append(result)
    return answers


def _only_running_missing(expected: list[str], answered: list[str], in_flight: Collection[str]) -> bool:
    missing = Counter(expected) - Counter(answered)
    in_order = iter(expected)
    return set(missing) <= set(in_flight) and all(any(id_ == other for other in in_order) for id_ in answered)


def _marked(history: Sequence[TranscriptEntry]) -> Counter[str]:
    texts: Counter[str] = Counter()
    for entry in history:
        if isinstance(entry, ToolResultBatch):
            texts.update(result.content for result in entry.results if result.trusted_verbatim)
        elif isinstance(entry, ChatMessage) and entry.trusted_verbatim:
            texts[entry.content] += 1
    return texts
