"""The blocks of an assistant turn for Bedrock's Converse, with what must come back as it came."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .arguments import argument_object
from .blobs import base64_text
from .fixed_texts import is_blank
from .kept_parts import PartSpelling
from .layout import Cycle
from .reply import text_or_empty
from .tool_names import wire_name

NAMESPACE = "bedrock"
SERVER_TOOL = "server_tool_use"
# What no assistant turn may hold. A result may, of a tool that the provider itself ran.
_OF_USERS = {"guardContent", "document", "searchResult"}

Block = dict[str, Any]


def said(block: Block) -> str | None:
    """The text of an answer's block, cited or not."""
    if isinstance(text := block.get("text"), str):
        return text
    cited = block.get("citationsContent")
    if not isinstance(cited, dict):
        return None
    parts = cited.get("content")
    found = [part.get("text") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return "".join(text for text in found if isinstance(text, str))


def call_of(block: Block) -> dict[str, Any] | None:
    """The call for the host in a block; what the provider runs itself is none."""
    use = block.get("toolUse")
    return use if isinstance(use, dict) and use.get("type") != SERVER_TOOL else None


def server_tools(blocks: Iterable[Block]) -> dict[str, str]:
    """The names of the tools that the provider ran itself, by the id of their use."""
    uses = [use for block in blocks if isinstance(use := block.get("toolUse"), dict) and use.get("type") == SERVER_TOOL]
    return {text_or_empty(use.get("toolUseId")): text_or_empty(use.get("name")) for use in uses}


def _called(block: Block) -> tuple[str | None, str] | None:
    use = call_of(block)
    if use is None:
        return None
    id_ = use.get("toolUseId")
    return (id_ if isinstance(id_, str) and id_ else None), text_or_empty(use.get("name"))


def _is_told(block: Block) -> bool:
    use = call_of(block)
    if use is not None:
        return set(block) == {"toolUse"} and set(use) <= {"toolUseId", "name", "input"}
    return set(block) == {"text"}


def _without_arguments(block: Block) -> Block:
    return {**block, "toolUse": {key: value for key, value in block["toolUse"].items() if key != "input"}}


SPELLING = PartSpelling(
    namespace=NAMESPACE,
    is_told=_is_told,
    said=said,
    called=_called,
    without_arguments=_without_arguments,
    is_part=lambda block: len(block) == 1 and not set(block) & _OF_USERS,
    respell=wire_name,
)


def assistant_blocks(cycle: Cycle) -> list[Block]:
    """The turn's blocks: as they came, where the metadata still agrees with the turn, else its
    reasoning first, then its text, then its calls."""
    turn = cycle.turn
    kept = SPELLING.kept_of(turn)
    calls: list[Block] = [
        {"toolUse": {"toolUseId": wire_id, "name": wire_name(call.name), "input": argument_object(call.arguments)}}
        for wire_id, call in zip(cycle.ids, turn.tool_calls, strict=True)
    ]
    if SPELLING.agrees(kept, turn, [call["toolUse"]["name"] for call in calls]):
        restored = iter(calls)
        blocks = [next(restored) if call_of(block) is not None else block for block in kept]
    else:
        blocks = [block for block in kept if "reasoningContent" in block]
        if turn.text is not None:
            blocks.append({"text": str(turn.text)})
        blocks += calls
    return _acceptable(blocks)


def _acceptable(blocks: list[Block]) -> list[Block]:
    """Without blank texts and unsigned reasoning; reasoning at the end, or alone, leads to nothing and goes."""
    ran: set[str] = set()
    sent: list[Block] = []
    for block in blocks:
        ran.update(server_tools([block]))
        result = block.get("toolResult")
        is_known = "toolResult" not in block or (
            isinstance(result, dict) and text_or_empty(result.get("toolUseId")) in ran
        )
        if is_known and (shown := _sendable(block)) is not None:
            sent.append(shown)
    while sent and "reasoningContent" in sent[-1]:
        sent.pop()
    return sent


def _cited(cited: Any) -> Block | None:
    content = cited.get("content") if isinstance(cited, dict) else None
    parts = content if isinstance(content, list) else []
    said_in = [part for part in parts if isinstance(part, dict) and not is_blank(text_or_empty(part.get("text")))]
    return {"citationsContent": {**cited, "content": said_in}} if said_in else None


def _sendable(block: Block) -> Block | None:
    if "text" in block:
        return None if not isinstance(block["text"], str) or is_blank(block["text"]) else block
    if "citationsContent" in block:
        return _cited(block["citationsContent"])
    if "reasoningContent" not in block:
        # What boto3 makes of a block newer than itself says nothing, and is refused.
        return None if "SDK_UNKNOWN_MEMBER" in block else block
    reasoning = block["reasoningContent"]
    if not isinstance(reasoning, dict):
        return None
    if "redactedContent" in reasoning:
        hidden = base64_text(reasoning["redactedContent"])
        return None if hidden is None else {"reasoningContent": {"redactedContent": hidden}}
    text = reasoning.get("reasoningText")
    return block if isinstance(text, dict) and text.get("signature") else None
