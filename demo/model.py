"""A scripted model. It stands where a provider would: it knows the request and nothing else.

So it reads requests with code of its own, and what it learns of a contract it learns from
the bytes that were delivered to it: were they lost on the way, it could only guess again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

MARKER = "[contract-gate:"
_DOCUMENT = '{"tool":'


class OffScript(Exception):
    """What the model is asked is not in its story."""


@dataclass(frozen=True)
class Call:
    """A call as the model means it, before it is spelled."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """What the model says next: text, and calls."""

    text: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Received:
    """A request as the model reads it. `rows`: each text that the host wrote, in order."""

    rows: tuple[str, ...]

    @property
    def deliveries(self) -> list[str]:
        """The rows that lead with a marker."""
        return [row for row in self.rows if row.startswith(MARKER)]

    def contract(self, key: str) -> dict[str, Any] | None:
        """The latest contract of `key` that can be read anywhere in the rows."""
        for row in reversed(self.rows):
            start = row.find(_DOCUMENT)
            if start >= 0:
                document, _ = json.JSONDecoder().raw_decode(row, start)
                if document["tool"] == key:
                    return dict(document)
        return None

    def fitted(self, key: str, known: dict[str, Any]) -> dict[str, Any]:
        """Arguments as the contract of `key` names them, from values known by other words.

        A parameter takes the value whose word its name holds (`repo_path` that of `repo`);
        without a contract the words themselves are the guess.
        """
        contract = self.contract(key)
        if contract is None:
            return known
        arguments = {}
        for parameter in contract["input_schema"]["required"]:
            words = [word for word in known if word in parameter]
            if not words:
                raise OffScript(f"the model knows nothing for {parameter!r} of {key}")
            arguments[parameter] = known[words[0]]
        return arguments


Script = Callable[[Received], Generator[Turn, Received, None]]


@dataclass
class ScriptedModel:
    """Plays `script`, spelled by `spell`: a generator that gets each request and yields each turn."""

    script: Script
    spell: Callable[[Turn, int], Any]
    received: list[Received] = field(default_factory=list)
    _steps: Generator[Turn, Received, None] | None = None

    def complete(self, request: dict[str, Any]) -> Any:
        """The reply to a request, in the shape of the provider."""
        received = read_request(request)
        self.received.append(received)
        try:
            if self._steps is None:
                self._steps = self.script(received)
                turn = next(self._steps)
            else:
                turn = self._steps.send(received)
        except StopIteration:
            raise OffScript(f"the model was asked {len(self.received)} times, its script has no more") from None
        return self.spell(turn, len(self.received))


def read_request(request: dict[str, Any]) -> Received:
    """The host's words in a request, of OpenAI's shape or of Anthropic's."""
    rows: list[str] = []
    for message in request["messages"]:
        if message["role"] in ("user", "tool"):
            rows += _texts(message["content"])
    return Received(tuple(rows))


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [text for block in content for text in _texts(block["text" if block["type"] == "text" else "content"])]
