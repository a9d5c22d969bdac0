"""An assistant turn as a LangChain message, with what its chat model must get back.

Chat models keep signatures and reasoning in the content's blocks and in `additional_kwargs`,
each in its provider's own form; all of it goes back as it came while nobody edited the turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from ..transcript import AssistantTurn, ToolCall
from .arguments import argument_object, reported_arguments
from .fixed_texts import is_blank
from .ids import given_ids, reported_id
from .layout import Cycle
from .reply import copied, field, items, json_or_none, text_parts
from .tool_names import wire_name

NAMESPACE = "langchain"

Message: TypeAlias = dict[str, Any]

_CALL_BLOCKS = ("tool_call", "tool_use", "function_call", "invalid_tool_call")
# LangChain reads calls from these where `tool_calls` is empty; the turn has them.
_CALLS_AGAIN = ("tool_calls", "function_call")
# By these a chat model knows its own blocks again.
_ORIGIN = ("model_provider", "output_version")


def reported_calls(message: Any, names: dict[str, str]) -> tuple[ToolCall, ...]:
    """The calls, then those whose arguments LangChain could not read, as their raw text."""
    valid = items(field(message, "tool_calls"), "tool_calls")
    calls = [*valid, *items(field(message, "invalid_tool_calls"), "invalid_tool_calls")]
    taken = given_ids(field(call, "id") for call in calls)
    return tuple(_call(call, names, taken) for call in calls)


def _call(call: Any, names: dict[str, str], taken: set[str]) -> ToolCall:
    function = field(call, "function") or call
    name = field(function, "name")
    name = name if isinstance(name, str) else ""
    return ToolCall(
        id=reported_id(field(call, "id"), taken),
        name=names.get(name, name),
        arguments=reported_arguments(field(function, "args", field(function, "arguments"))),
    )


def thoughts(message: Any) -> str | None:
    """What the model thought, from `additional_kwargs` or from blocks."""
    told = field(field(message, "additional_kwargs"), "reasoning_content")
    if isinstance(told, str):
        return told
    content = field(message, "content")
    blocks = content if isinstance(content, list) else []
    said = [field(block, key) for block in blocks for key in ("thinking", "reasoning")]
    found = [text for text in said if isinstance(text, str)]
    return "\n\n".join(found) if found else None


def kept_fields(message: Any) -> Message:
    """Of an AI message, what text and calls do not say: none where they say it all."""
    kept: Message = {}
    content = field(message, "content")
    if isinstance(content, list) and not all(_is_plain_text(block) for block in content):
        blocks = json_or_none(content)
        if blocks:
            kept["content"] = blocks
    extra = json_or_none(field(message, "additional_kwargs"))
    if isinstance(extra, dict) and (extra := {key: extra[key] for key in extra if key not in _CALLS_AGAIN}):
        kept["additional_kwargs"] = extra
    origin = json_or_none(field(message, "response_metadata"))
    if kept and isinstance(origin, dict) and (origin := {key: origin[key] for key in _ORIGIN if key in origin}):
        kept["response_metadata"] = origin
    return kept


def assistant_message(cycle: Cycle) -> Iterator[Message]:
    """The turn's message, or none where it says and calls nothing."""
    turn = cycle.turn
    kept = _kept(turn)
    content = _content(cycle, kept.get("content"))
    if not content and not turn.tool_calls:
        return
    message: Message = {"role": "assistant", "content": content}
    if turn.tool_calls:
        message["tool_calls"] = [
            {"name": wire_name(call.name), "args": argument_object(call.arguments), "id": wire_id, "type": "tool_call"}
            for wire_id, call in zip(cycle.ids, turn.tool_calls, strict=True)
        ]
    for key in ("additional_kwargs", "response_metadata"):
        if isinstance(kept.get(key), dict):
            message[key] = {name: value for name, value in kept[key].items() if name not in _CALLS_AGAIN}
    yield message


def _content(cycle: Cycle, blocks: Any) -> str | list[Any]:
    turn = cycle.turn
    text = "" if turn.text is None or is_blank(turn.text) else str(turn.text)
    if not isinstance(blocks, list):
        return text
    blocks = [block for block in blocks if _is_sound(block)]
    kept: list[Any] = [block for block in blocks if not _is_blank_text(block)]
    made = [(call.id, wire_name(call.name)) for call in turn.tool_calls]
    blocks_of_calls = [block for block in kept if isinstance(block, dict) and block.get("type") in _CALL_BLOCKS]
    named = [(block.get("call_id", block.get("id")), block.get("name")) for block in blocks_of_calls]
    as_called = [id_ for id_, _ in made] == list(cycle.ids)
    # A name that no tool has may be one that the provider would refuse.
    calls_stand = as_called and (named in (made, [(call.id, call.name) for call in turn.tool_calls]) or not named)
    if calls_stand:
        for block, (_, name) in zip(blocks_of_calls, made, strict=False):
            block["name"] = name
    else:
        kept = [block for block in kept if not (isinstance(block, dict) and block.get("type") in _CALL_BLOCKS)]
    if "".join(text_parts(blocks)) != (turn.text or ""):
        kept = [block for block in kept if not _is_text(block)]
        if text:
            kept.append({"type": "text", "text": text})
    if not turn.tool_calls and not any(_is_text(block) for block in kept):
        return text
    return kept or text


def _kept(turn: AssistantTurn) -> Message:
    """What this wire read. A transcript that others can write may hold anything."""
    kept = (turn.metadata or {}).get(NAMESPACE)
    return copied(kept) if isinstance(kept, dict) else {}


def _is_sound(block: Any) -> bool:
    return isinstance(block, str) or (
        isinstance(block, dict) and isinstance(block.get("type"), str) and block["type"] != "tool_result"
    )


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or field(block, "type") == "text"


def _is_blank_text(block: Any) -> bool:
    if not _is_text(block):
        return False
    text = block if isinstance(block, str) else field(block, "text")
    return not isinstance(text, str) or is_blank(text)


def _is_plain_text(block: Any) -> bool:
    return isinstance(block, str) or (isinstance(block, dict) and set(block) <= {"type", "text"} and _is_text(block))
