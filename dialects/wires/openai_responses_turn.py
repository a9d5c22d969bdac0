"""The items of an assistant turn for Responses, with what must come back as it came.

A reasoning item that is not directly before the item it led to is refused, so what is kept
is a list of groups: one item that can stand alone, behind those that led to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from ..transcript import AssistantTurn, ToolCall
from .arguments import argument_text
from .fixed_texts import is_blank
from .layout import Cycle
from .reply import CLIENT_ONLY, copied, field, items, json_or_none
from .tool_names import wire_name

NAMESPACE = "openai-responses"

Item: TypeAlias = dict[str, Any]

# What OpenAI's own tools did stands for itself. Calls that wait for an answer of the host (computer, shell,
# approval) would be refused without one, and the transcript has no place for it.
_COMPLETE = (
    "code_interpreter_call",
    "compaction",
    "file_search_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "web_search_call",
)
_OUTPUT_ONLY = ("created_by",)
_IN_THE_TURN = ("id", "status", "arguments", "input", "async", "async_", *CLIENT_ONLY)
# Fields that the input types want even where they are null.
_WANTED = {"code_interpreter_call": ("code", "outputs"), "image_generation_call": ("result",)}


def item_text(message: Item) -> str:
    """The text of an output message, a refusal's own words included."""
    parts = [
        (field(part, "text"), field(part, "refusal")) for part in items(message.get("content"), "content of a message")
    ]
    return "".join(said for pair in parts for said in pair if isinstance(said, str))


def kept_items(output: list[Item], calls: Sequence[ToolCall]) -> list[Item]:
    """The items of a reply as the metadata keeps them: none where text and calls say it all.

    `calls`: those of the turn, in order."""
    made = iter(calls)
    kept: list[Item] = []
    whole: Item | None
    for item in output:
        kind = item["type"]
        if kind == "message":
            message: Item = {"type": kind, "text": item_text(item)}
            if isinstance(phase := item.get("phase"), str):
                message["phase"] = phase
            kept.append(message)
        elif kind in {"function_call", "custom_tool_call"}:
            call = json_or_none(
                {key: value for key, value in item.items() if key not in _IN_THE_TURN and value is not None}
            )
            read = next(made)
            kept.append({**(call or {}), "type": "function_call", "call_id": read.id, "name": read.name})
        elif kind == "reasoning" or kind in _COMPLETE:
            whole = json_or_none(
                {key: value for key, value in item.items() if key not in _OUTPUT_ONLY and value is not None}
            )
            if whole:
                kept.append(whole)
            elif kind != "reasoning":
                _drop_what_led_here(kept)
        else:
            _drop_what_led_here(kept)
    return [] if _told_by_the_turn(kept) else kept


def _drop_what_led_here(kept: list[Item]) -> None:
    while kept and kept[-1]["type"] == "reasoning":
        kept.pop()


def _told_by_the_turn(kept: list[Item]) -> bool:
    kinds = [item["type"] for item in kept]
    plain = {"message": {"type", "text"}, "function_call": {"type", "call_id", "name"}}
    bare = all(set(item) <= plain.get(item["type"], set()) for item in kept)
    return bare and kinds.count("message") <= 1 and kinds == sorted(kinds, reverse=True)


def assistant_items(cycle: Cycle) -> list[Item]:
    """The turn's items, text before calls. What led to an item that is no longer in the turn goes with it."""
    turn = cycle.turn
    calls: list[Item] = [
        {
            "type": "function_call",
            "call_id": wire_id,
            "name": wire_name(call.name),
            "arguments": argument_text(call.arguments),
        }
        for wire_id, call in zip(cycle.ids, turn.tool_calls, strict=True)
    ]
    kept = _kept(turn)
    if not kept:
        return [*_message(turn.text), *calls]
    made: dict[tuple[str, str], deque[Item]] = {}
    for call, sent in zip(turn.tool_calls, calls, strict=True):
        made.setdefault((call.id, call.name), deque()).append(sent)
    messages = [item for item in kept if item["type"] == "message"]
    text_stands = "".join(item["text"] for item in messages) == (turn.text or "")
    phase = messages[0].get("phase") if len(messages) == 1 else None
    spoken: list[Item] = [] if text_stands else list(_message(turn.text, phase))
    leads: dict[str, list[Item]] = {}
    pending: list[Item] = []
    for item in kept:
        kind = item["type"]
        if kind == "function_call":
            if same := made.get((str(item.get("call_id")), str(item.get("name")))):
                sent = same.popleft()
                leads[sent["call_id"]] = pending
                left_out = {*sent, *_IN_THE_TURN, *(("caller",) if _has_a_lost_caller(item) else ())}
                sent.update({key: value for key, value in item.items() if key not in left_out})
            pending = []
        elif kind == "message":
            if text_stands and not is_blank(item["text"]):
                spoken += [*pending, *_message(item["text"], item.get("phase"))]
                pending = []
            elif not text_stands:
                pending = []
        elif kind == "reasoning":
            pending.append(item)
        elif kind in _COMPLETE:
            spoken += [*pending, {**dict.fromkeys(_WANTED.get(kind, ())), **item}]
            pending = []
    return spoken + [part for call in calls for part in (*leads.get(call["call_id"], ()), call)]


def _has_a_lost_caller(call: Item) -> bool:
    # A program's item is not kept, and a call may not name one that is not there.
    caller = call.get("caller")
    return isinstance(caller, dict) and "caller_id" in caller


def _message(text: str | None, phase: Any = None) -> Iterator[Item]:
    if text is not None and not is_blank(text):
        message: Item = {"role": "assistant", "content": str(text)}
        yield {**message, "phase": phase} if isinstance(phase, str) else message


def _kept(turn: AssistantTurn) -> list[Item]:
    """What this wire read. A transcript that others can write may hold anything."""
    mine = (turn.metadata or {}).get(NAMESPACE)
    kept = mine.get("items") if isinstance(mine, dict) else None
    if not isinstance(kept, list):
        return []
    return [copied(item) for item in kept if isinstance(item, dict) and _is_sound(item)]


def _is_sound(item: Item) -> bool:
    kind = item.get("type")
    if kind == "reasoning":
        return isinstance(item.get("id"), str) and isinstance(item.get("summary"), list)
    return isinstance(item.get("text"), str) if kind == "message" else isinstance(kind, str)
