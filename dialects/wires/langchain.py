"""LangChain messages as plain dicts, as `convert_to_messages` and every chat model take them.

Sources: `langchain-core` 1.8 (`messages`). A string in `args` is refused; a message's unknown
keys are kept as extra data; tool content that is neither text nor a list becomes Python repr.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ..attachment import Attachment
from ..errors import WireError
from ..host_words import HostTexts
from ..transcript import ChatMessage, ModelResponse, ToolResult, ToolSpec, TranscriptEntry
from .attached import is_document, is_image, is_sent_or_fetched, left_out
from .base import Wire
from .candidates import candidates, content_may_begin
from .chat_messages import function_tools
from .fixed_texts import is_blank, shown_result
from .ids import WireIds
from .langchain_turn import NAMESPACE, Message, assistant_message, kept_fields, reported_calls, thoughts
from .layout import Stray, lay_out
from .reply import field, message_list, text_parts
from .sent_tools import tools_to_send
from .tool_names import original_names, wire_name

_ROLES = {"system": "system", "user": "user", "tool": "user"}
_HOST = ("user", "human", "HumanMessageChunk", "tool", "ToolMessageChunk", "function", "FunctionMessageChunk")
_NO_ANSWER = (*_HOST, "system", "SystemMessageChunk", "developer")
_LIMITS = ("length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded", "max_output_tokens")


class LangChainWire(Wire):
    """Messages with `role` and `content`; calls in `tool_calls` with `args` as objects, failures
    in `status`. Names are such that any provider behind LangChain takes them.

    Images and PDF documents stand in their message as LangChain's own content blocks; a chat
    model whose provider takes none there converts or refuses them.

    What a chat model does to neighbours, ids and text of a request is its own affair; the
    messages themselves hold every text as it was.
    """

    name: ClassVar[str] = NAMESPACE

    def encode(self, entries: Iterable[TranscriptEntry], tools: Sequence[ToolSpec] = ()) -> dict[str, Any]:
        """`messages` for `invoke`, and `tools` for `bind_tools` where there are some. A tool result
        is a message whose content is exactly its text."""
        request: dict[str, Any] = {"messages": list(_messages(entries))}
        if prepared := tools_to_send(tools):
            request["tools"] = function_tools(prepared, wire_name)
        return request

    def decode(self, response: Any, tools: Sequence[ToolSpec] = ()) -> ModelResponse:
        """An AI message, as object or dict. Its content blocks and extra data are kept in the
        metadata where they hold more than text and calls. Raises WireError for what is none."""
        message = _opened(response)
        if (kind := field(message, "role", field(message, "type"))) in _NO_ANSWER:
            raise WireError(f"the reply is a message of {kind}, not an AI message")
        content = field(message, "content")
        if not isinstance(content, (str, list)):
            raise WireError(f"the reply ({type(response).__name__}) has no content: is it an AI message?")
        names = original_names(tool.name for tool in tools)
        text = "".join(text_parts(content))
        kept = kept_fields(message)
        return ModelResponse(
            text=text if text or content == "" else None,
            tool_calls=reported_calls(message, names),
            reasoning_content=thoughts(message),
            truncated=_stop(message) in _LIMITS,
            metadata={NAMESPACE: kept} if kept else None,
        )

    def host_texts(self, messages: Any) -> HostTexts:
        """From dicts and message objects, also in LangChain's saved forms, its pairs and its bare strings."""
        return HostTexts(message_list(messages), _host_texts_of, candidates(_may_begin))

    def tool_name(self, name: str) -> str:
        """The tool's name in a request, for fields such as `tool_choice`."""
        return wire_name(name)


def _host_texts_of(given: Any) -> Iterator[str]:
    if isinstance(given, str):
        yield given
        return
    message = _opened(given)
    if field(message, "role", field(message, "type")) in _HOST:
        yield from text_parts(field(message, "content"))


def _may_begin(message: Any, prefix: str) -> bool:
    if type(message) is not dict or "data" in message or "kwargs" in message:
        return True
    return message.get("role", message.get("type")) in _HOST and content_may_begin(message.get("content"), prefix)


def _messages(entries: Iterable[TranscriptEntry]) -> Iterator[Message]:
    # Nothing may stand between the results of one turn, so what is said of them waits for their end.
    waiting: list[Attachment] = []
    for item in lay_out(entries, WireIds(lambda id_: bool(id_.strip()), request_wide=False)):
        if isinstance(item, Stray):
            yield _result(item.id, item.result.name, item.result)
            waiting += _others(item.result.attachments)
            continue
        yield from _said("user", left_out(waiting))
        waiting = []
        if isinstance(item, ChatMessage):
            yield from _said(_ROLES[item.role], item.content, item.attachments)
        else:
            yield from assistant_message(item)
            names = {wire_id: call.name for wire_id, call in zip(item.ids, item.turn.tool_calls, strict=True)}
            for wire_id, result in item.answers:
                yield _result(wire_id, names[wire_id], result)
                waiting += _others(result.attachments)
    yield from _said("user", left_out(waiting))


def _said(role: str, text: str, attachments: Sequence[Attachment] = ()) -> Iterator[Message]:
    if not attachments:
        if not is_blank(text):
            yield {"role": role, "content": str(text)}
        return
    yield {"role": role, "content": [*_blocks(text, attachments), *_blocks(left_out(_others(attachments)))]}


def _result(wire_id: str, name: str | None, result: ToolResult) -> Message:
    named = {} if name is None else {"name": wire_name(name)}
    blocks = _blocks(result.content, result.attachments)
    shown = any(block["type"] != "text" for block in blocks)
    return {
        "role": "tool",
        "tool_call_id": wire_id,
        **named,
        "content": blocks if shown else shown_result(result.content),
        "status": "success" if result.success else "error",
    }


def _blocks(text: str, attachments: Iterable[Attachment] = ()) -> list[Message]:
    blocks: list[Message] = [] if is_blank(text) else [{"type": "text", "text": str(text)}]
    return blocks + [block for attachment in attachments if (block := _block(attachment))]


def _block(attachment: Attachment) -> Message | None:
    if not is_sent_or_fetched(attachment) or not (is_image(attachment) or is_document(attachment)):
        return None
    where = {"url": str(attachment.url)} if attachment.data is None else {"base64": str(attachment.data)}
    return {"type": "image" if is_image(attachment) else "file", **where, "mime_type": str(attachment.media_type)}


def _others(attachments: Iterable[Attachment]) -> list[Attachment]:
    return [attachment for attachment in attachments if _block(attachment) is None]


def _opened(message: Any) -> Any:
    """The message in what LangChain wraps it in: a pair, `{"type", "data"}`, or a constructor's record."""
    if isinstance(message, (tuple, list)):
        return {"role": message[0], "content": message[1]} if len(message) == 2 else {}
    if isinstance(message, Mapping):
        if isinstance(data := message.get("data"), Mapping) and "content" not in message:
            return {"type": message.get("type"), **data}
        path, inner = message.get("id"), message.get("kwargs")
        if message.get("type") == "constructor" and isinstance(path, list) and path and isinstance(inner, Mapping):
            return {"type": _CLASSES.get(str(path[-1])), **inner}
    return message


_CLASSES = {"HumanMessage": "human", "ToolMessage": "tool", "FunctionMessage": "function", "AIMessage": "ai"}


def _stop(message: Any) -> Any:
    told = field(message, "response_metadata")
    if not isinstance(told, Mapping):
        return None
    return next(
        (told[key] for key in ("finish_reason", "stop_reason", "stopReason", "done_reason") if key in told), None
    )
