"""LangChain messages as plain dicts, as `convert_to_messages` and every chat model take them.

Sources: `langchain-core` 1.8 (`messages`). A string in `args` is refused; a message's unknown
keys are kept as extra data; tool content that is neither text nor a list becomes Python repr.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ..errors import WireError
from ..transcript import ChatMessage, ModelResponse, ToolSpec, TranscriptEntry
from .base import Wire
from .chat_messages import function_tools
from .fixed_texts import is_blank, shown_result
from .ids import WireIds
from .langchain_turn import NAMESPACE, Message, assistant_message, kept_fields, reported_calls, thoughts
from .layout import Cycle, Stray, lay_out
from .reply import field, message_list, text_parts
from .tool_names import original_names, wire_name
from .tool_specs import ToolIssue, prepare_tools, report_issues

_ROLES = {"system": "system", "user": "user", "tool": "user"}
_HOST = ("user", "human", "HumanMessageChunk", "tool", "ToolMessageChunk", "function", "FunctionMessageChunk")
_LIMITS = ("length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded", "max_output_tokens")


class LangChainWire(Wire):
    """Messages with `role` and `content`; calls in `tool_calls` with `args` as objects, failures
    in `status`. Names are such that any provider behind LangChain takes them.

    What a chat model does to neighbours, ids and text of a request is its own affair; the
    messages themselves hold every text as it was.
    """

    name: ClassVar[str] = NAMESPACE

    def encode(self, entries: Iterable[TranscriptEntry], tools: Sequence[ToolSpec] = ()) -> dict[str, Any]:
        """`messages` for `invoke`, and `tools` for `bind_tools` where there are some. A tool result
        is a message whose content is exactly its text."""
        request: dict[str, Any] = {"messages": list(_messages(entries))}
        prepared, issues = prepare_tools(tools)
        report_issues(issues)
        if prepared:
            request["tools"] = function_tools(prepared, wire_name)
        return request

    def decode(self, response: Any, tools: Sequence[ToolSpec] = ()) -> ModelResponse:
        """An AI message, as object or dict. Its content blocks and extra data are kept in the
        metadata where they hold more than text and calls. Raises WireError for what is none."""
        message = _opened(response)
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

    def messages(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        conversation: list[dict[str, Any]] = request["messages"]
        return conversation

    def host_texts(self, messages: Any) -> Iterator[str]:
        """From dicts and message objects, also in LangChain's saved forms, its pairs and its bare strings."""
        for given in message_list(messages):
            if isinstance(given, str):
                yield given
                continue
            message = _opened(given)
            if field(message, "role", field(message, "type")) in _HOST:
                yield from text_parts(field(message, "content"))

    def tool_issues(self, tools: Iterable[ToolSpec]) -> list[ToolIssue]:
        """What is wrong with the tools' schemas, by tool; `encode` logs the same once."""
        return prepare_tools(tools)[1]

    def tool_name(self, name: str) -> str:
        """The tool's name in a request, for fields such as `tool_choice`."""
        return wire_name(name)


def _messages(entries: Iterable[TranscriptEntry]) -> Iterator[Message]:
    for item in lay_out(entries, WireIds(lambda id_: bool(id_.strip()), request_wide=False)):
        if isinstance(item, ChatMessage):
            if not is_blank(item.content):
                yield {"role": _ROLES[item.role], "content": str(item.content)}
        elif isinstance(item, Stray):
            yield _result(item.id, item.result.name, item.result.content, success=item.result.success)
        else:
            yield from _cycle(item)


def _cycle(cycle: Cycle) -> Iterator[Message]:
    yield from assistant_message(cycle)
    names = {wire_id: call.name for wire_id, call in zip(cycle.ids, cycle.turn.tool_calls, strict=True)}
    for wire_id, result in cycle.answers:
        yield _result(wire_id, names[wire_id], result.content, success=result.success)


def _result(wire_id: str, name: str | None, content: str, *, success: bool) -> Message:
    named = {} if name is None else {"name": wire_name(name)}
    return {
        "role": "tool",
        "tool_call_id": wire_id,
        **named,
        "content": shown_result(content),
        "status": "success" if success else "error",
    }


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
    told = field(message, "response_metadata") or {}
    return next(
        (told[key] for key in ("finish_reason", "stop_reason", "stopReason", "done_reason") if key in told), None
    )
