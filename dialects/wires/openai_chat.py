"""OpenAI Chat Completions, and the many servers that speak its shape.

Sources: types of `openai` 3.57; ids of more than 40 characters and a second answer to one
id are refused (reports in public issue threads, 2026).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from ..attachment import Attachment
from ..transcript import AssistantTurn, ChatMessage, ModelResponse, ToolSpec, TranscriptEntry
from .arguments import argument_text
from .attached import as_url, is_image, is_sent_or_fetched, left_out
from .base import Wire
from .chat_messages import ROLES, function_tools, host_texts_of
from .chat_reply import read_chat_reply
from .fixed_texts import is_blank, shown_result
from .ids import WireIds
from .layout import Cycle, Stray, lay_out
from .reply import copied
from .sent_tools import tools_to_send
from .tool_names import original_names, wire_name

Reasoning: TypeAlias = Literal["omit", "echo", "always"]

_LONGEST_ID = 40
_BESIDE = ("reasoning_details", "extra_content")


class OpenAIChatWire(Wire):
    """`reasoning`: what happens to a turn's reasoning. `omit`: it is not sent (OpenAI refuses
    the field); `echo`: sent where there is some; `always`: on every assistant message, empty
    where there is none (DeepSeek's thinking mode refuses call turns without the field).

    There is no failure flag: a failed output's own words must tell. Tool messages hold text
    alone: the images of a cycle's results are a user message behind them.
    """

    name: ClassVar[str] = "openai-chat"

    def __init__(self, reasoning: Reasoning = "omit") -> None:
        if reasoning not in get_args(Reasoning):
            raise ValueError(f"reasoning={reasoning!r}: use one of {', '.join(get_args(Reasoning))}")
        self._reasoning = reasoning

    def encode(self, entries: Iterable[TranscriptEntry], tools: Sequence[ToolSpec] = ()) -> dict[str, Any]:
        """`messages`, and `tools` where there are some. A tool result is a message whose content
        is exactly its text."""
        request: dict[str, Any] = {"messages": list(self._messages(entries))}
        if prepared := tools_to_send(tools):
            request["tools"] = function_tools(prepared, wire_name)
        return request

    def decode(self, response: Any, tools: Sequence[ToolSpec] = ()) -> ModelResponse:
        """The first choice of a chat completion. Raises WireError for what is none."""
        return read_chat_reply(response, original_names(tool.name for tool in tools), self.name)

    def host_texts(self, messages: Any) -> Iterator[str]:
        return host_texts_of(messages)

    def tool_name(self, name: str) -> str:
        """The tool's name in a request, for fields such as `tool_choice`."""
        return wire_name(name)

    def _messages(self, entries: Iterable[TranscriptEntry]) -> Iterator[dict[str, Any]]:
        ids = WireIds(lambda id_: bool(id_.strip()) and len(id_) <= _LONGEST_ID, request_wide=False)
        # Nothing may stand between the results of one turn, so what they show waits for their end.
        waiting: list[Attachment] = []
        for item in lay_out(entries, ids):
            if isinstance(item, Stray):
                yield _result(item.id, item.result.content)
                waiting += item.result.attachments
                continue
            yield from _said("user", "", waiting)
            waiting = []
            if isinstance(item, ChatMessage):
                yield from _said(ROLES[item.role], item.content, item.attachments)
            else:
                yield from self._cycle(item)
                waiting += [attachment for _, result in item.answers for attachment in result.attachments]
        yield from _said("user", "", waiting)

    def _cycle(self, cycle: Cycle) -> Iterator[dict[str, Any]]:
        turn = cycle.turn
        text = None if is_blank(turn.text) else str(turn.text)
        if text is None and not turn.tool_calls:
            return
        message: dict[str, Any] = {"role": "assistant", "content": text}
        kept = _kept(turn)
        message.update(self._reasoning_of(turn.reasoning_content, kept.get("reasoning_details")))
        if "extra_content" in kept:
            message["extra_content"] = kept["extra_content"]
        if turn.tool_calls:
            unknown = kept.get("calls", {})
            keys = [unknown[call.id].popleft() if unknown.get(call.id) else {} for call in turn.tool_calls]
            message["tool_calls"] = [
                {
                    **own,
                    "id": wire_id,
                    "type": "function",
                    "function": {"name": wire_name(call.name), "arguments": argument_text(call.arguments)},
                    **({} if call.extra_content is None else {"extra_content": copied(call.extra_content)}),
                }
                for own, wire_id, call in zip(keys, cycle.ids, turn.tool_calls, strict=True)
            ]
        yield message
        for wire_id, result in cycle.answers:
            yield _result(wire_id, result.content)

    def _reasoning_of(self, reasoning: str | None, details: Any = None) -> dict[str, Any]:
        if self._reasoning == "omit":
            return {}
        fields = {} if details is None else {"reasoning_details": details}
        if reasoning or self._reasoning == "always":
            fields["reasoning_content"] = str(reasoning or "")
        return fields


def _kept(turn: AssistantTurn) -> dict[str, Any]:
    """What this wire read beside text and calls. A transcript that others can write may hold anything."""
    kept = (turn.metadata or {}).get(OpenAIChatWire.name)
    if not isinstance(kept, dict):
        return {}
    calls = kept.get("calls")
    by_id: dict[str, deque[dict[str, Any]]] = {}
    for keys in calls.values() if isinstance(calls, dict) else ():
        # By id, since a host may have taken calls out of the turn.
        if isinstance(keys, dict) and isinstance(keys.get("id"), str):
            by_id.setdefault(keys["id"], deque()).append(copied(keys))
    return {**{key: copied(kept[key]) for key in _BESIDE if key in kept}, "calls": by_id}


def _said(role: str, text: str, attachments: Sequence[Attachment]) -> Iterator[dict[str, Any]]:
    """The message, if there is anything to say: a string, or parts where there is more than text."""
    if not attachments:
        if not is_blank(text):
            yield {"role": role, "content": str(text)}
        return
    parts: list[dict[str, Any]] = [] if is_blank(text) else [{"type": "text", "text": str(text)}]
    others = []
    for attachment in attachments:
        if is_image(attachment) and is_sent_or_fetched(attachment):
            parts.append({"type": "image_url", "image_url": {"url": as_url(attachment)}})
        else:
            others.append(attachment)
    yield {"role": role, "content": [*parts, {"type": "text", "text": left_out(others)}] if others else parts}


def _result(wire_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": wire_id, "content": shown_result(content)}
