"""The blocks of an assistant turn for Anthropic, with what must come back exactly as it came."""

from __future__ import annotations

from typing import Any

from .arguments import argument_object
from .fixed_texts import is_blank
from .kept_parts import PartSpelling
from .layout import Cycle
from .reply import CLIENT_ONLY, text_or_empty
from .tool_names import wire_name

NAMESPACE = "anthropic"
LONGEST_NAME = 128
# What no assistant turn may hold.
_OF_USERS = ("tool_result", "image", "document", "search_result")
_THINKING = ("thinking", "redacted_thinking")
_PLAIN_KEYS = {"text": {"type", "text"}, "tool_use": {"type", "id", "name", "input"}}

Block = dict[str, Any]


def _said(block: Block) -> str | None:
    text = block.get("text")
    return text if block.get("type") == "text" and isinstance(text, str) else None


def _called(block: Block) -> tuple[str | None, str] | None:
    if block.get("type") != "tool_use":
        return None
    id_ = block.get("id")
    return (id_ if isinstance(id_, str) and id_ else None), text_or_empty(block.get("name"))


SPELLING = PartSpelling(
    namespace=NAMESPACE,
    is_told=lambda block: set(block) <= _PLAIN_KEYS.get(str(block.get("type")), set()),
    said=_said,
    called=_called,
    without_arguments=lambda block: {key: value for key, value in block.items() if key != "input"},
    is_part=lambda block: isinstance(block.get("type"), str) and block["type"] not in _OF_USERS,
    respell=lambda name: wire_name(name, LONGEST_NAME),
)


def assistant_blocks(cycle: Cycle) -> list[Block]:
    """The turn's blocks: as they came, where the metadata still agrees with the turn, else its
    thinking first, then its text, then its calls."""
    turn = cycle.turn
    kept = SPELLING.kept_of(turn)
    calls: list[Block] = [
        {
            "type": "tool_use",
            "id": wire_id,
            "name": wire_name(call.name, LONGEST_NAME),
            "input": argument_object(call.arguments),
        }
        for wire_id, call in zip(cycle.ids, turn.tool_calls, strict=True)
    ]
    if SPELLING.agrees(kept, turn, [call["name"] for call in calls]):
        restored = iter(calls)
        blocks = [{**block, **next(restored)} if block["type"] == "tool_use" else block for block in kept]
    else:
        blocks = [block for block in kept if block["type"] in _THINKING]
        if turn.text is not None:
            blocks.append({"type": "text", "text": str(turn.text)})
        blocks += calls
    return _acceptable(blocks)


def _acceptable(blocks: list[Block]) -> list[Block]:
    """Without blank texts and unsigned thinking; thinking at the end, or alone, leads to nothing and goes."""
    sent = [_sendable(block) for block in blocks if not _refused(block)]
    while sent and sent[-1]["type"] in _THINKING:
        sent.pop()
    return sent


def _sendable(block: Block) -> Block:
    """The block without what only replies have: a citation's `file_id` is in no request's type."""
    block = {key: value for key, value in block.items() if key not in CLIENT_ONLY}
    citations = block.get("citations")
    if isinstance(citations, list):
        block["citations"] = [
            {key: value for key, value in cited.items() if key != "file_id"} if isinstance(cited, dict) else cited
            for cited in citations
        ]
    return block


def _refused(block: Block) -> bool:
    if block["type"] == "text":
        return not isinstance(block.get("text"), str) or is_blank(block["text"])
    return block["type"] == "thinking" and not block.get("signature")
