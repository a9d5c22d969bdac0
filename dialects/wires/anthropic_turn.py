"""The blocks of an assistant turn for Anthropic, with what must come back exactly as it came.

Thinking blocks are signed; sent back changed, or in another order, they are refused.
"""

from __future__ import annotations

from typing import Any

from ..transcript import AssistantTurn
from .arguments import argument_object
from .fixed_texts import is_blank
from .layout import Cycle
from .reply import json_or_none
from .tool_names import wire_name

NAMESPACE = "anthropic"
LONGEST_NAME = 128
_THINKING = ("thinking", "redacted_thinking")
_PLAIN_KEYS = {"text": {"type", "text"}, "tool_use": {"type", "id", "name", "input"}}

Block = dict[str, Any]


def kept_blocks(blocks: list[Block]) -> list[Block]:
    """The blocks of a reply as the metadata keeps them: none where text and calls say it all."""
    blocks = [{key: value for key, value in block.items() if value is not None} for block in blocks]
    kinds = [block.get("type") for block in blocks]
    told = all(set(block) <= _PLAIN_KEYS.get(str(block.get("type")), set()) for block in blocks)
    in_order = kinds == sorted(kinds, key=lambda kind: kind == "tool_use") and kinds.count("text") <= 1
    if told and in_order:
        return []
    # The arguments of a call are in the turn.
    without_input = [
        {key: value for key, value in b.items() if key != "input" or b.get("type") != "tool_use"} for b in blocks
    ]
    return [kept for block in without_input if (kept := json_or_none(block))]


def assistant_blocks(cycle: Cycle) -> list[Block]:
    """The turn's blocks: as they came, where the metadata still agrees with the turn, else its
    thinking first, then its text, then its calls."""
    turn = cycle.turn
    kept = _kept(turn)
    calls: list[Block] = [
        {
            "type": "tool_use",
            "id": wire_id,
            "name": wire_name(call.name, LONGEST_NAME),
            "input": argument_object(call.arguments),
        }
        for wire_id, call in zip(cycle.ids, turn.tool_calls, strict=True)
    ]
    if _agrees(kept, turn):
        restored = iter(calls)
        blocks = [{**block, **next(restored)} if block["type"] == "tool_use" else block for block in kept]
    else:
        blocks = [block for block in kept if block["type"] in _THINKING]
        if turn.text is not None:
            blocks.append({"type": "text", "text": str(turn.text)})
        blocks += calls
    return _acceptable(blocks)


def _kept(turn: AssistantTurn) -> list[Block]:
    mine = (turn.metadata or {}).get(NAMESPACE)
    content = mine.get("content") if isinstance(mine, dict) else None
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict) and isinstance(block.get("type"), str)]


def _agrees(kept: list[Block], turn: AssistantTurn) -> bool:
    """Whether nobody edited the turn since: a text that was redacted must not come back through the metadata."""
    if not kept:
        return False
    text = "".join(str(block.get("text", "")) for block in kept if block["type"] == "text")
    made = [(block.get("id"), block.get("name")) for block in kept if block["type"] == "tool_use"]
    calls = [(call.id, wire_name(call.name, LONGEST_NAME)) for call in turn.tool_calls]
    return text == (turn.text or "") and made == calls


def _acceptable(blocks: list[Block]) -> list[Block]:
    """Without blank texts and unsigned thinking; thinking at the end, or alone, leads to nothing and goes."""
    sent = [block for block in blocks if not _refused(block)]
    while sent and sent[-1]["type"] in _THINKING:
        sent.pop()
    return sent


def _refused(block: Block) -> bool:
    if block["type"] == "text":
        return not isinstance(block.get("text"), str) or is_blank(block["text"])
    return block["type"] == "thinking" and not block.get("signature")
