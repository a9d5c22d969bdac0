"""Chat templates that take one string per turn, as local models have them.

Sources: 34 templates rendered. Many trim a turn's outer white space and leave control
tokens in it alive, so what must arrive exactly carries neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..attachment import Attachment
from ..pairing import stands_alone
from ..splitting import is_verbatim_turn
from ..text import compact_json
from ..transcript import ChatMessage, ModelResponse, ToolCall, ToolSpec, TranscriptEntry
from .arguments import argument_object
from .attached import left_out
from .base import Wire
from .chat_messages import ROLES, function_tools, host_texts_of
from .chat_reply import read_chat_reply
from .fixed_texts import BETWEEN_USERS, OPENING_USER, is_blank, shown_result
from .ids import WireIds
from .layout import Cycle, Stray, lay_out
from .reply import field, items
from .sent_tools import tools_to_send

_JOIN = "\n\n"


class PlainChatWire(Wire):
    """One string per turn, made for the text dialects.

    `strict_alternation`: for templates that refuse two turns of one role in a row, a system
    text that is not first, or an assistant turn that is. Ordinary neighbours are joined with
    a blank line; a verbatim turn stays alone, a short fixed assistant turn between it and
    its user neighbours, and a fixed user turn before it where it is the first beside a system
    text, which some templates write into the first turn; later system text joins the first.

    Structured calls and results of a native history go to the template as `tool_calls` (with
    arguments as objects, which templates want) and `tool` turns. Strict templates know
    neither, so there a call is a JSON line in the assistant's text and a result a user turn.

    Attachments are named in a user turn behind the text they came with; none is sent.
    """

    name: ClassVar[str] = "plain-chat"

    def __init__(self, strict_alternation: bool = False) -> None:
        self._strict = strict_alternation

    def encode(self, entries: Iterable[TranscriptEntry], tools: Sequence[ToolSpec] = ()) -> dict[str, Any]:
        """`messages`, and `tools` (as the template's argument of that name takes them) where there are some."""
        ids = WireIds(lambda id_: bool(id_.strip()), request_wide=False)
        laid_out = lay_out(entries, ids)
        messages = _alternating(_flat(laid_out)) if self._strict else list(_structured(laid_out))
        request: dict[str, Any] = {"messages": messages}
        if prepared := tools_to_send(tools):
            request["tools"] = function_tools(prepared)
        return request

    def decode(self, response: Any, tools: Sequence[ToolSpec] = ()) -> ModelResponse:
        """The generated text itself, a chat completion or a text completion. Raises WireError for others."""
        if isinstance(response, str):
            return ModelResponse(text=response)
        choice = next(iter(items(field(response, "choices"), "choices")), None)
        text = field(choice, "text")
        if field(choice, "message") is None and isinstance(text, str):
            return ModelResponse(text=text, truncated=field(choice, "finish_reason") == "length")
        return read_chat_reply(response, {}, self.name)

    def host_texts(self, messages: Any) -> Iterator[str]:
        return host_texts_of(messages)


def _structured(items: Iterable[ChatMessage | Cycle | Stray]) -> Iterator[dict[str, Any]]:
    waiting: list[Attachment] = []
    for item in items:
        if waiting and not isinstance(item, Stray):
            yield {"role": "user", "content": left_out(waiting)}
            waiting = []
        if isinstance(item, ChatMessage):
            if not is_blank(item.content):
                yield {"role": ROLES[item.role], "content": str(item.content)}
            waiting += item.attachments
        elif isinstance(item, Stray):
            yield {"role": "tool", "tool_call_id": item.id, "content": shown_result(item.result.content)}
            waiting += item.result.attachments
        elif item.turn.tool_calls or not is_blank(item.turn.text):
            text = str(item.turn.text or "")
            message: dict[str, Any] = {"role": "assistant", "content": "" if is_blank(text) else text}
            if item.turn.tool_calls:
                message["tool_calls"] = [
                    {"id": wire_id, "type": "function", "function": _function(call)}
                    for wire_id, call in zip(item.ids, item.turn.tool_calls, strict=True)
                ]
            yield message
            names = dict(zip(item.ids, item.turn.tool_calls, strict=True))
            for wire_id, result in item.answers:
                yield {
                    "role": "tool",
                    "tool_call_id": wire_id,
                    "name": names[wire_id].name,
                    "content": shown_result(result.content),
                }
                waiting += result.attachments
    if waiting:
        yield {"role": "user", "content": left_out(waiting)}


def _function(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": argument_object(call.arguments)}


@dataclass(frozen=True, slots=True)
class _Turn:
    role: str
    text: str
    alone: bool = False


def _flat(items: Iterable[ChatMessage | Cycle | Stray]) -> Iterator[_Turn]:
    for item in items:
        if isinstance(item, ChatMessage):
            role = ROLES[item.role]
            alone = role == "user" and is_verbatim_turn(item.content, item.trusted_verbatim)
            yield _Turn(role, item.content, alone)
            yield _Turn("user", left_out(item.attachments))
            continue
        results = [item.result] if isinstance(item, Stray) else [result for _, result in item.answers]
        if isinstance(item, Cycle):
            texts = [item.turn.text or "", *(compact_json(_function(call)) for call in item.turn.tool_calls)]
            yield _Turn("assistant", _JOIN.join(text for text in texts if not is_blank(text)))
        for result in results:
            yield _Turn("user", shown_result(result.content), stands_alone(result))
        yield _Turn("user", left_out(attachment for result in results for attachment in result.attachments))


def _alternating(turns: Iterable[_Turn]) -> list[dict[str, Any]]:
    system: list[str] = []
    runs: list[tuple[str, bool, list[str]]] = []
    for turn in turns:
        if is_blank(turn.text):
            continue
        if turn.role == "system":
            system.append(turn.text)
            continue
        if not runs and turn.role == "assistant":
            runs.append(("user", False, [OPENING_USER]))
        if runs and runs[-1][0] == turn.role:
            if not (turn.alone or runs[-1][1]):
                runs[-1][2].append(turn.text)
                continue
            runs.append(("assistant", False, [BETWEEN_USERS]))
        runs.append((turn.role, turn.alone, [turn.text]))
    if system and runs and runs[0][1]:
        # Gemma 3 and Llama 2 write the system text at the head of the first user turn.
        runs = [("user", False, [OPENING_USER]), ("assistant", False, [BETWEEN_USERS]), *runs]
    messages = [{"role": role, "content": _JOIN.join(texts)} for role, _, texts in runs]
    return [{"role": "system", "content": _JOIN.join(system)}, *messages] if system else messages
