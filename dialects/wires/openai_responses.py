"""OpenAI Responses: one flat list of items.

Sources: types of `openai` 3.57 (`types.responses`); call ids of more than 64 characters, item
ids that do not begin with `fc`, and reasoning that leads to no item are refused (reports in
public issue threads, 2025 and 2026).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ..attachment import Attachment
from ..errors import WireError
from ..host_words import HostTexts
from ..transcript import ChatMessage, ModelResponse, ToolCall, ToolResult, ToolSpec, TranscriptEntry
from .arguments import reported_arguments
from .attached import as_url, is_document, is_image, is_sent_or_fetched, left_out
from .base import Wire
from .candidates import candidates, content_may_begin
from .fixed_texts import is_blank, shown_result
from .ids import WireIds, given_ids, reported_id
from .layout import Stray, lay_out
from .openai_responses_turn import NAMESPACE, Item, assistant_items, item_text, kept_items
from .reply import field, fields, items, json_or_none, message_list, refuse_error, text_or_empty, text_parts
from .sent_tools import tools_to_send
from .tool_names import original_names, wire_name

_LONGEST_ID = 64
_ROLES = {"system": "system", "user": "user", "tool": "user"}
_UNFINISHED = ("queued", "in_progress")
_FAILED = ("failed", "cancelled")
_CALLS = ("function_call", "custom_tool_call")
_INPUT_TEXT = ("input_text", "text")


class OpenAIResponsesWire(Wire):
    """Calls and results are items of their own, paired by `call_id` alone, which is therefore
    unique in the request. Assistant text goes back as a plain string with its `phase`, before
    the calls; reasoning and what OpenAI's own tools did go back as they came, each directly
    before the item it led to.

    There is no failure flag: a failed output's own words must tell. Images and PDF documents
    stand in their result behind its text, which is then a part of its own.
    """

    name: ClassVar[str] = NAMESPACE

    def encode(self, entries: Iterable[TranscriptEntry], tools: Sequence[ToolSpec] = ()) -> dict[str, Any]:
        """`input`, and `tools` where there are some. A tool result is an item whose `output` is
        exactly its text, a user text an item whose `content` is."""
        request: dict[str, Any] = {"input": list(_items(entries))}
        if prepared := tools_to_send(tools):
            request["tools"] = [
                {
                    "type": "function",
                    "name": wire_name(tool.name),
                    **({"description": tool.description} if tool.description.strip() else {}),
                    "parameters": tool.parameters,
                    # Left out it would mean true, which refuses every schema with an optional property.
                    "strict": False,
                }
                for tool in prepared
            ]
        return request

    def decode(self, response: Any, tools: Sequence[ToolSpec] = ()) -> ModelResponse:
        """A finished response. Items whose order, phase or content must come back are kept in
        the metadata. Raises WireError for what is no response, or one that still runs."""
        refuse_error(response)
        if field(response, "output") is None:
            raise WireError(f"the reply ({type(response).__name__}) has no output: is it a response?")
        if (status := field(response, "status")) in _UNFINISHED:
            raise WireError(f"the response is {status}: wait until it is completed")
        if status in _FAILED and not field(response, "output"):
            raise WireError(f"the response is {status} and says nothing")
        output = [fields(item) for item in items(field(response, "output"), "output")]
        if not all(isinstance(item.get("type"), str) for item in output):
            raise WireError("an item of the reply has no type")
        names = original_names(tool.name for tool in tools)
        made = [item for item in output if item["type"] in _CALLS]
        taken = given_ids(item.get("call_id") for item in made)
        calls = tuple(_call(item, names, taken) for item in made)
        texts = [item_text(item) for item in output if item["type"] == "message"]
        thoughts = [text for item in output if item["type"] == "reasoning" for text in _thoughts(item)]
        kept = kept_items(output, calls)
        return ModelResponse(
            text="".join(texts) if texts else None,
            tool_calls=calls,
            reasoning_content="\n\n".join(thoughts) if thoughts else None,
            truncated=field(field(response, "incomplete_details"), "reason") == "max_output_tokens",
            metadata={NAMESPACE: {"items": kept}} if kept else None,
        )

    def messages(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        conversation: list[dict[str, Any]] = request["input"]
        return conversation

    def host_texts(self, messages: Any) -> HostTexts:
        given = field(messages, "input", messages)
        if isinstance(given, str):
            return HostTexts([{"role": "user", "content": given}], _host_texts_of, candidates(_may_begin))
        return HostTexts(message_list(given), _host_texts_of, candidates(_may_begin))

    def tool_name(self, name: str) -> str:
        """The tool's name in a request, for fields such as `tool_choice`."""
        return wire_name(name)


def _host_texts_of(item: Any) -> Iterator[str]:
    if field(item, "role") == "user":
        yield from text_parts(field(item, "content"), _INPUT_TEXT)
    elif text_or_empty(field(item, "type")).endswith("_call_output"):
        yield from text_parts(field(item, "output"), _INPUT_TEXT)


def _may_begin(item: Any, prefix: str) -> bool:
    if type(item) is not dict:
        return True
    if item.get("role") == "user":
        return content_may_begin(item.get("content"), prefix)
    return text_or_empty(item.get("type")).endswith("_call_output") and content_may_begin(item.get("output"), prefix)


def _items(entries: Iterable[TranscriptEntry]) -> Iterator[Item]:
    ids = WireIds(lambda id_: bool(id_.strip()) and len(id_) <= _LONGEST_ID, request_wide=True)
    # Nothing may stand between the results of one turn, so what is said of them waits for their end.
    waiting: list[Attachment] = []
    for item in lay_out(entries, ids):
        if isinstance(item, Stray):
            yield _result(item.id, item.result)
            waiting += _others(item.result.attachments)
            continue
        yield from _said("user", left_out(waiting))
        waiting = []
        if isinstance(item, ChatMessage):
            yield from _said(_ROLES[item.role], item.content, item.attachments)
        else:
            yield from assistant_items(item)
            for wire_id, result in item.answers:
                yield _result(wire_id, result)
                waiting += _others(result.attachments)
    yield from _said("user", left_out(waiting))


def _said(role: str, text: str, attachments: Sequence[Attachment] = ()) -> Iterator[Item]:
    if not attachments:
        if not is_blank(text):
            yield {"role": role, "content": str(text)}
        return
    yield {"role": role, "content": [*_parts(text, attachments), *_parts(left_out(_others(attachments)))]}


def _result(wire_id: str, result: ToolResult) -> Item:
    parts = _parts(result.content, result.attachments)
    shown = any(part["type"] != "input_text" for part in parts)
    return {
        "type": "function_call_output",
        "call_id": wire_id,
        "output": parts if shown else shown_result(result.content),
    }


def _parts(text: str, attachments: Iterable[Attachment] = ()) -> list[Item]:
    parts: list[Item] = [] if is_blank(text) else [{"type": "input_text", "text": str(text)}]
    return parts + [part for attachment in attachments if (part := _part(attachment))]


def _part(attachment: Attachment) -> Item | None:
    if not is_sent_or_fetched(attachment):
        return None
    if is_image(attachment):
        return {"type": "input_image", "detail": "auto", "image_url": as_url(attachment)}
    if not is_document(attachment):
        return None
    if attachment.url is not None:
        return {"type": "input_file", "file_url": str(attachment.url)}
    return {"type": "input_file", "filename": "attachment.pdf", "file_data": as_url(attachment)}


def _others(attachments: Iterable[Attachment]) -> list[Attachment]:
    return [attachment for attachment in attachments if _part(attachment) is None]


def _thoughts(item: Item) -> list[str]:
    return list(text_parts(item.get("summary"), ("summary_text",))) or list(
        text_parts(item.get("content"), ("reasoning_text",))
    )


def _call(item: Item, names: dict[str, str], taken: set[str]) -> ToolCall:
    name = text_or_empty(item.get("name"))
    extra = json_or_none(item.get("extra_content"))
    return ToolCall(
        id=reported_id(item.get("call_id"), taken),
        name=names.get(name, name),
        # A custom tool's input is free text; as arguments it is read, or reported, like any.
        arguments=reported_arguments(item.get("arguments", item.get("input"))),
        extra_content=extra if isinstance(extra, dict) else None,
    )
