"""Mistral's chat completions.

Sources: validators, normalizers and tokenizers of `mistral_common` 1.13; the hosted API refused
a user turn right after a tool turn (code 3230) at least until December 2025.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, ClassVar

import jsonschema_rs

from ..attachment import Attachment
from ..splitting import is_verbatim_turn
from ..transcript import ModelResponse, ToolSpec, TranscriptEntry
from .arguments import argument_text
from .attached import as_url, is_image, is_sent_or_fetched, left_out
from .base import Wire
from .chat_messages import function_tools, host_texts_of
from .chat_reply import read_chat_reply
from .fixed_texts import BETWEEN_USERS, OPENING_USER, is_blank, shown_result
from .ids import WireIds
from .layout import Cycle, Stray, lay_out
from .older_drafts import DRAFT_7, as_draft_7
from .prepared_tools import PreparedTool, ToolIssue
from .python_patterns import drop_foreign_patterns
from .sent_tools import tools_to_send
from .tool_names import original_names, wire_name
from .tool_specs import prepare_tools

_ID = re.compile(r"[a-zA-Z0-9]{9}")
_DIGITS = string.digits + string.ascii_lowercase
# Patterns are judged apart.
_DRAFT_7 = jsonschema_rs.Draft7Validator({"$ref": DRAFT_7}, validate_formats=False)

Message = dict[str, Any]


class MistralWire(Wire):
    """Call ids become nine letters or digits where they are not. A fixed assistant turn stands
    between a tool turn and a user turn, and between a verbatim user text and its user
    neighbours. System texts go first. A final assistant text is a beginning that the model
    goes on from (`prefix`). Reasoning is not sent: older models refuse it.

    `text_with_calls=False`: for models of the tokenizers before v7, which refuse text and calls
    in one assistant turn, and images; the text gets a turn of its own, a fixed user turn behind it.

    There is no failure flag: a failed output's own words must tell. Tool messages hold text
    alone: the images of a cycle's results are a user message behind them.

    What Mistral changes before the model reads it: neighbours of one role are joined with a
    blank line, arguments of calls are written anew. Before v7 a result is written as a JSON
    string, quotes and line ends escaped, or anew where it is JSON itself (`1e3` becomes `1000.0`,
    repeated keys go), and the system texts stand in front of the last user text (v1: the first).
    So a verbatim result is exact from v7 on; with older models a text dialect keeps its bytes.
    v2 also leaves out every cycle before the last user text and refuses two results in one.
    """

    name: ClassVar[str] = "mistral"

    def __init__(self, *, text_with_calls: bool = True) -> None:
        self._text_with_calls = text_with_calls

    def encode(self, entries: Iterable[TranscriptEntry], tools: Sequence[ToolSpec] = ()) -> dict[str, Any]:
        """`messages`, and `tools` where there are some. A tool result is a message whose content
        is exactly its text."""
        request: dict[str, Any] = {"messages": self._messages(entries)}
        if prepared := tools_to_send(tools, _prepare):
            request["tools"] = function_tools(prepared, wire_name)
        return request

    def decode(self, response: Any, tools: Sequence[ToolSpec] = ()) -> ModelResponse:
        """The first choice of a chat completion. Raises WireError for what is none."""
        return read_chat_reply(response, original_names(tool.name for tool in tools), self.name)

    def host_texts(self, messages: Any) -> Iterator[str]:
        return host_texts_of(messages)

    def tool_issues(self, tools: Iterable[ToolSpec]) -> list[ToolIssue]:
        """What is wrong with the tools' schemas, by tool; `encode` logs the same once."""
        return _prepare(tools)[1]

    def tool_name(self, name: str) -> str:
        """The tool's name in a request, for fields such as `tool_choice`."""
        return wire_name(name)

    def _messages(self, entries: Iterable[TranscriptEntry]) -> list[Message]:
        system: list[Message] = []
        turns = _Turns(images=self._text_with_calls)
        ids = WireIds(lambda id_: _ID.fullmatch(id_) is not None, request_wide=False, mint=_nine)
        # Nothing may stand between the results of one turn, so what they show waits for their end.
        waiting: list[Attachment] = []
        for item in lay_out(entries, ids):
            if isinstance(item, Stray):
                turns.add(_result(item.id, item.result.name, item.result.content))
                waiting += item.result.attachments
                continue
            turns.add_user("", waiting)
            waiting = []
            if isinstance(item, Cycle):
                self._cycle(item, turns)
                waiting += [attachment for _, result in item.answers for attachment in result.attachments]
            elif item.role != "system":
                alone = is_verbatim_turn(item.content, item.trusted_verbatim)
                turns.add_user(item.content, item.attachments, alone=alone)
            elif not is_blank(item.content):
                system.append({"role": "system", "content": str(item.content)})
        turns.add_user("", waiting)
        return system + turns.finish()

    def _cycle(self, cycle: Cycle, turns: _Turns) -> None:
        text = None if is_blank(cycle.turn.text) else str(cycle.turn.text)
        if not cycle.turn.tool_calls:
            if text is not None:
                turns.add({"role": "assistant", "content": text})
            return
        if not self._text_with_calls:
            if text is not None:
                turns.add({"role": "assistant", "content": text})
            if turns.last_role == "assistant":
                turns.add({"role": "user", "content": OPENING_USER})
            text = None
        calls = [
            {
                "id": wire_id,
                "type": "function",
                "function": {"name": wire_name(call.name), "arguments": argument_text(call.arguments)},
            }
            for wire_id, call in zip(cycle.ids, cycle.turn.tool_calls, strict=True)
        ]
        turns.add({"role": "assistant", "content": text, "tool_calls": calls})
        names = {wire_id: call.name for wire_id, call in zip(cycle.ids, cycle.turn.tool_calls, strict=True)}
        for wire_id, result in cycle.answers:
            turns.add(_result(wire_id, names[wire_id], result.content))


class _Turns:
    """Messages under construction, with the fixed turns that must stand between them."""

    def __init__(self, *, images: bool) -> None:
        self._messages: list[Message] = []
        self._images = images
        self._alone = False

    @property
    def last_role(self) -> str | None:
        return self._messages[-1]["role"] if self._messages else None

    def add(self, message: Message) -> None:
        if not self._messages and message["role"] == "assistant":
            self._messages.append({"role": "user", "content": OPENING_USER})
        self._messages.append(message)
        self._alone = False

    def add_user(self, text: str, attachments: Sequence[Attachment], *, alone: bool = False) -> None:
        content = self._user_content(text, attachments)
        if not content:
            return
        if self.last_role == "tool" or (self.last_role == "user" and (alone or self._alone)):
            self.add({"role": "assistant", "content": BETWEEN_USERS})
        self.add({"role": "user", "content": content})
        self._alone = alone

    def _user_content(self, text: str, attachments: Sequence[Attachment]) -> str | list[Message]:
        """A string, or parts where there is more than text; empty where there is nothing to say."""
        if not attachments:
            return "" if is_blank(text) else str(text)
        parts: list[Message] = [] if is_blank(text) else [{"type": "text", "text": str(text)}]
        others = []
        for attachment in attachments:
            if self._images and is_image(attachment) and is_sent_or_fetched(attachment):
                parts.append({"type": "image_url", "image_url": {"url": as_url(attachment)}})
            else:
                others.append(attachment)
        return [*parts, {"type": "text", "text": left_out(others)}] if others else parts

    def finish(self) -> list[Message]:
        if self.last_role == "assistant" and not self._messages[-1].get("tool_calls"):
            self._messages[-1] = {**self._messages[-1], "prefix": True}
        return self._messages


def _nine(turn: int, position: int, attempt: int) -> str:
    number = int.from_bytes(blake2b(f"{turn}.{position}.{attempt}".encode(), digest_size=8).digest())
    made = ""
    for _ in range(9):
        number, digit = divmod(number, len(_DIGITS))
        made += _DIGITS[digit]
    return made


def _result(wire_id: str, name: str | None, content: str) -> Message:
    named = {} if name is None else {"name": wire_name(name)}
    return {"role": "tool", "tool_call_id": wire_id, **named, "content": shown_result(content)}


def _prepare(tools: Iterable[ToolSpec]) -> tuple[list[PreparedTool], list[ToolIssue]]:
    return prepare_tools(tools, _respell)


def _respell(schema: dict[str, Any]) -> list[str]:
    """Mistral judges schemas by draft 7, which gives words a meaning that later drafts took
    away, and patterns by Python's `re`. Raises ValueError for what is none by draft 7."""
    as_draft_7(schema)
    details = drop_foreign_patterns(schema)
    if error := next(_DRAFT_7.iter_errors(schema), None):
        raise ValueError(f"its schema is none by draft 7: {str(error).splitlines()[0]}")
    return details
