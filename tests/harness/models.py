"""Scripted models: they get the provider's request and return the provider's reply."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from tooldialect.dialects import ParsedToolCall, ToolDialect, Wire

from .requests import seen_contracts
from .shop import GUESS, filled_in, gated_call, target
from .spelling import spell_reply

Said: TypeAlias = str | Sequence[ParsedToolCall]
Line: TypeAlias = Said | Callable[[dict[str, Any]], Said]


class ScriptedModel:
    """Says its lines in order: text, calls, or what a function of the request returns; then it is done.

    `requests` keeps a copy of each request as it was received.
    """

    def __init__(self, dialect: ToolDialect, wire: Wire, lines: Iterable[Line]) -> None:
        self._dialect, self._wire, self._lines = dialect, wire, iter(lines)
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(copy.deepcopy(request))
        line = next(self._lines, "Done.")
        said = line(request) if callable(line) else line
        text, calls = (said, ()) if isinstance(said, str) else ("Let me see.", said)
        return spell_reply(self._dialect, self._wire, text, calls)


class ReadingModel(ScriptedModel):
    """Calls the late-bound tools of each wish in one batch, guessing arguments; those whose contract it
    can read in its own context it calls, once, with arguments made from that. It goes on while guesses
    are left, `patience` rounds at most.

    A wish holds names of the shop's tools, and calls to make beside them, as they are, in every round.
    """

    def __init__(
        self, dialect: ToolDialect, wire: Wire, wishes: Iterable[Sequence[str | ParsedToolCall]], patience: int = 6
    ) -> None:
        super().__init__(dialect, wire, (line for wish in wishes for line in _pursue(wish, patience)))


def _pursue(wish: Sequence[str | ParsedToolCall], patience: int) -> Iterator[Line]:
    made: set[str] = set()

    def say(request: dict[str, Any]) -> Said:
        schemas = {seen.key: seen.schema for seen in seen_contracts(request)}
        calls = []
        for item in wish:
            if isinstance(item, ParsedToolCall):
                calls.append(item)
            elif item not in made:
                schema = schemas.get(target(item).key)
                calls.append(gated_call(item, GUESS if schema is None else filled_in(schema)))
                made.update([] if schema is None else [item])
        return calls

    for _ in range(patience):
        if made.issuperset(item for item in wish if isinstance(item, str)):
            return
        yield say
