"""Anthropic Messages.

Sources: types of `anthropic` 2.14; "Define tools", "Handle tool calls" (results first in the
one next user message); blank text and repeated tool_use ids are refused (reports, 2026).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from ..attachment import Attachment
from ..errors import WireError
from ..host_words import HostTexts
from ..transcript import ModelResponse, ToolCall, ToolResult, ToolSpec, TranscriptEntry
from .anthropic_texts import candidate_turns, texts_of_turn
from .anthropic_turn import LONGEST_NAME, NAMESPACE, SPELLING, assistant_blocks
from .arguments import reported_arguments
from .attached import is_image, is_sent_or_fetched, left_out
from .base import Wire
from .fixed_texts import OPENING_USER, is_blank, shown_result
from .ids import WireIds, given_ids, reported_id
from .layout import Cycle, Stray, lay_out
from .reply import field, fields, items, message_list, refuse_error
from .sent_tools import tools_to_send
from .tool_names import original_names, reported_name, wire_name
from .turns import Turns

_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_TRUNCATED = ("max_tokens", "model_context_window_exceeded")


class AnthropicWire(Wire):
    """System text goes to the top-level `system`, failures to `is_error`. Neighbours of one
    role become one message, each text a block of its own; results come first in theirs.

    Images and PDFs stand in the result they belong to; those of a failed one behind the
    results, since a failed result may hold text alone.
    """

    name: ClassVar[str] = NAMESPACE

    def encode(self, entries: Iterable[TranscriptEntry], tools: Sequence[ToolSpec] = ()) -> dict[str, Any]:
        """`messages`, with `system` and `tools` where there are some. A tool result is a block
        whose content is exactly its text (a text block of it, where the result has attachments),
        a user text a block of its own."""
        system: list[dict[str, Any]] = []
        turns = Turns(_text(OPENING_USER), lambda block: block["type"] == "tool_result")
        for item in lay_out(entries, WireIds(lambda id_: _ID.fullmatch(id_) is not None, request_wide=True)):
            if isinstance(item, Cycle):
                turns.add("assistant", assistant_blocks(item))
                turns.add("user", _results(item.answers))
            elif isinstance(item, Stray):
                turns.add("user", _results([(item.id, item.result)]))
            else:
                texts = [] if is_blank(item.content) else [_text(item.content)]
                if item.role == "system":
                    system += texts
                else:
                    turns.add("user", texts + _attached(item.attachments))
        request: dict[str, Any] = {"messages": _without_space_at_the_end(turns.finish())}
        if system:
            request["system"] = system
        if prepared := tools_to_send(tools):
            request["tools"] = [
                {
                    "name": wire_name(tool.name, LONGEST_NAME),
                    **({"description": tool.description} if tool.description.strip() else {}),
                    "input_schema": tool.parameters,
                }
                for tool in prepared
            ]
        return request

    def decode(self, response: Any, tools: Sequence[ToolSpec] = ()) -> ModelResponse:
        """A message. Its blocks are kept in the metadata where their order or their signatures
        must come back. Raises WireError for what is no message."""
        refuse_error(response)
        if field(response, "content") is None:
            raise WireError(f"the reply ({type(response).__name__}) has no content: is it a message?")
        blocks = [fields(block) for block in items(field(response, "content"), "content")]
        if not all(isinstance(block.get("type"), str) for block in blocks):
            raise WireError("a content block of the reply has no type")
        names = original_names((tool.name for tool in tools), LONGEST_NAME)
        made = [block for block in blocks if block["type"] == "tool_use"]
        taken = given_ids(block.get("id") for block in made)
        calls = tuple(_call(block, names, taken) for block in made)
        texts = _strings(blocks, "text", "text")
        thoughts = _strings(blocks, "thinking", "thinking")
        return ModelResponse(
            text="".join(texts) if texts else None,
            tool_calls=calls,
            reasoning_content="\n\n".join(thoughts) if thoughts else None,
            truncated=field(response, "stop_reason") in _TRUNCATED,
            metadata=SPELLING.kept(blocks),
        )

    def host_texts(self, messages: Any) -> HostTexts:
        return HostTexts(message_list(messages), texts_of_turn, candidate_turns)

    def tool_name(self, name: str) -> str:
        """The tool's name in a request, for fields such as `tool_choice`."""
        return wire_name(name, LONGEST_NAME)


def _without_space_at_the_end(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A final assistant turn is a beginning for the model to go on from: no white space at its end."""
    if messages and messages[-1]["role"] == "assistant":
        last = messages[-1]["content"][-1]
        if last["type"] == "text":
            messages[-1]["content"][-1] = {**last, "text": last["text"].rstrip()}
    return messages


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": str(text)}


def _results(answers: Iterable[tuple[str, ToolResult]]) -> list[dict[str, Any]]:
    """A block for each result, then what could not stand in it."""
    blocks, behind = [], []
    for wire_id, result in answers:
        inside = [shown for a in result.attachments if result.success and (shown := _shown(a))]
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": wire_id}
        if inside:
            texts = [] if is_blank(result.content) else [_text(result.content)]
            block["content"] = texts + inside
        else:
            block["content"] = shown_result(result.content)
        blocks.append(block if result.success else {**block, "is_error": True})
        behind += [a for a in result.attachments if not (result.success and _shown(a))]
    return blocks + _attached(behind)


def _attached(attachments: Iterable[Attachment]) -> list[dict[str, Any]]:
    blocks, others = [], []
    for attachment in attachments:
        if shown := _shown(attachment):
            blocks.append(shown)
        else:
            others.append(attachment)
    return [*blocks, _text(left_out(others))] if others else blocks


def _shown(attachment: Attachment) -> dict[str, Any] | None:
    """The block of an image or a PDF; None for what the provider does not take."""
    is_document = attachment.media_type == "application/pdf"
    if not (is_document or is_image(attachment)) or not is_sent_or_fetched(attachment):
        return None
    source = (
        {"type": "url", "url": str(attachment.url)}
        if attachment.data is None
        else {"type": "base64", "media_type": attachment.media_type, "data": str(attachment.data)}
    )
    return {"type": "document" if is_document else "image", "source": source}


def _strings(blocks: Iterable[dict[str, Any]], kind: str, key: str) -> list[str]:
    return [text for block in blocks if block.get("type") == kind and isinstance(text := block.get(key), str)]


def _call(block: dict[str, Any], names: dict[str, str], taken: set[str]) -> ToolCall:
    return ToolCall(
        id=reported_id(block.get("id"), taken),
        name=reported_name(block.get("name"), names),
        arguments=reported_arguments(block.get("input")),
    )
