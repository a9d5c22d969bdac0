"""Middlewares that stop a model that runs in circles."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from tooldialect.dialects import ParsedToolCall, ToolOutcome

from .middleware import Middleware, Spare, spare_nothing


class FailureBreaker(Middleware):
    """Stops the turn when a tool failed in `limit` rounds without succeeding in between."""

    def __init__(self, limit: int = 3, spare: Spare = spare_nothing) -> None:
        self._limit, self._spare = limit, spare
        self._failed: Counter[str] = Counter()

    def on_turn(self) -> None:
        self._failed.clear()

    def after_round(self, answered: Sequence[tuple[ParsedToolCall, ToolOutcome]]) -> str | None:
        counted = [outcome for _, outcome in answered if not self._spare(outcome.output)]
        succeeded = {outcome.name for outcome in counted if outcome.success}
        for name in succeeded:
            self._failed.pop(name, None)
        for name in {outcome.name for outcome in counted} - succeeded:
            self._failed[name] += 1
            if self._failed[name] >= self._limit:
                return f"{name} keeps failing"
        return None


class RepeatedCallGuard(Middleware):
    """Answers a call that was already answered `limit` times in this turn, byte for byte the same."""

    def __init__(self, limit: int = 2, spare: Spare = spare_nothing) -> None:
        self._limit, self._spare = limit, spare
        self._answered: Counter[str] = Counter()

    def on_turn(self) -> None:
        self._answered.clear()

    def before_call(self, call: ParsedToolCall) -> ToolOutcome | None:
        if self._answered[_identity(call)] < self._limit:
            return None
        return ToolOutcome.failed(
            call.name, "Not executed: this exact call was answered before. Read its result.", tool_call_id=call.id
        )

    def after_round(self, answered: Sequence[tuple[ParsedToolCall, ToolOutcome]]) -> str | None:
        self._answered.update(_identity(call) for call, outcome in answered if not self._spare(outcome.output))
        return None


def _identity(call: ParsedToolCall) -> str:
    return json.dumps([call.name, call.arguments], sort_keys=True)
