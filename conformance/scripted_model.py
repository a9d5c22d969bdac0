"""A model that says what a script tells it."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tooldialect.dialects import ParsedToolCall, ToolDialect


@dataclass(frozen=True)
class Said:
    """One reply: text, and calls behind it."""

    text: str = "Let me see."
    calls: Sequence[ParsedToolCall] = ()


Line: TypeAlias = Said | Callable[[dict[str, Any]], Said]
"""A reply, or a function of the request that gives one."""

Speaker: TypeAlias = Callable[[dict[str, Any], int], Said]


MOST_REQUESTS = 120
"""Requests in one turn; more is a host that never ends."""


class TurnNeverEnds(Exception):
    """The host asks and asks, though the model has said its last word."""


class ScriptedModel:
    """Called with a provider's request, returns that provider's reply (OpenAI Chat's or Anthropic's shape).

    `requests`: a copy of each request as it was received. When the script is at its end, the
    model says `Done.` Calls have ids that are unique in the script.
    """

    def __init__(self, dialect: ToolDialect, wire_name: str, script: Iterable[Line] | Speaker) -> None:
        self._dialect, self._wire_name = dialect, wire_name
        self._speaker = script if callable(script) else _in_order(script)
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self.requests.append(copy.deepcopy(request))
            number = len(self.requests)
            if number > MOST_REQUESTS:
                raise TurnNeverEnds(f"the host asked the model {number} times in one turn")
            said = self._speaker(request, number)
        return self.reply(said, number)

    def reply(self, said: Said, number: int) -> dict[str, Any]:
        """What is said, as the provider reports it."""
        calls = [(f"call_{number}_{place}", call) for place, call in enumerate(said.calls)]
        text = said.text
        if self._dialect.call_format != "native":
            text, calls = "\n".join([said.text, *map(self._dialect.render_call, said.calls)]), []
        if self._wire_name == "anthropic":
            uses = [{"type": "tool_use", "id": id, "name": call.name, "input": call.arguments} for id, call in calls]
            return {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "model": "scripted",
                "content": [{"type": "text", "text": text}, *uses],
                "stop_reason": "tool_use" if calls else "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
                for id, call in calls
            ]
        choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted",
            "choices": [choice],
        }


def _in_order(script: Iterable[Line]) -> Speaker:
    lines = iter(script)

    def speak(request: dict[str, Any], _number: int) -> Said:
        line = next(lines, Said("Done."))
        return line(request) if callable(line) else line

    return speak
