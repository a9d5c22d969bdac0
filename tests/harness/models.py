"""Scripted models: they get the provider's request and return the provider's reply."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from tooldialect.dialects import ParsedToolCall, ToolDialect, Wire

from .requests import seen_contracts
from .shop import GUESS, filled_in, gated_call
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
    """Calls the late-bound tools of each wish in one batch, guessing arguments, until it has read
    their contracts in its own context; then it calls with arguments made from them.

    A wish holds names of the shop's tools, and calls to make beside them as they are.
    """

    def __init__(
        self, dialect: ToolDialect, wire: Wire, wishes: Iterable[Sequence[str | ParsedToolCall]], patience: int = 6
    ) -> None:
        super().__init__(dialect, wire, (line for wish in wishes for line in self._pursue(wish, patience)))
        self._fulfilled = False

    def _pursue(self, wish: Sequence[str | ParsedToolCall], patience: int) -> Iterable[Line]:
        self._fulfilled = False
        for _ in range(patience):
            if self._fulfilled:
                return
            yield lambda request: self._calls(wish, request)

    def _calls(self, wish: Sequence[str | ParsedToolCall], request: dict[str, Any]) -> Said:
        schemas = {seen.key: seen.schema for seen in seen_contracts(request)}
        names = {name: schemas.get(f"mcp:shop:{name}") for name in wish if isinstance(name, str)}
        self._fulfilled = all(schema is not None for schema in names.values())
        made = []
        for item in wish:
            if isinstance(item, str):
                schema = names[item]
                made.append(gated_call(item, GUESS if schema is None else filled_in(schema)))
            else:
                made.append(item)
        return made
