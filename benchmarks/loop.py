"""200 turns of the reference harness of the tests, gate on and off."""

from __future__ import annotations

import gc
import json
import statistics
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from tooldialect.dialects import ParsedToolCall, ToolOutcome

from .case import Case, Metric, Metrics

# The harness lies with the tests, which import it by its bare name.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from harness.loop import Harness
from harness.models import ScriptedModel
from harness.setups import Host
from harness.shop import GUESS, RIGHT, Shop, clock_call, gated_call

GROUP = "loop"
# What an ordinary tool answers, beside the gated one: a page of 2 KiB.
_PAGE = "It is noon in every zone that was asked for. " * 45
_TOOLS = ("create_order", "refund", "ship")


def cases() -> list[Case]:
    return [
        Case(
            GROUP,
            f"{dialect} on {wire} {turns} turns",
            partial(_loop, dialect, wire, turns),
            quick=turns < 200,
            rounds=9 if turns < 200 else 3,
        )
        for dialect, wire in (("native", "openai"), ("xml", "openai"), ("native", "anthropic"))
        for turns in (40, 200)
    ]


class _Forgetful(ScriptedModel):
    """Keeps no copies of requests: with 600 of them that is what would be measured."""

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        reply = super().__call__({})
        self.requests.clear()
        return reply


class _Watched:
    """A run whose own time is added up: rescans, and consults without the tool they let run."""

    def __init__(self, run: Any) -> None:
        self._run, self.rescans, self.consults = run, 0.0, 0.0

    def encode(self, history: Any, dialect: Any, wire: Any, tools: Any) -> dict[str, Any]:
        request: dict[str, Any] = wire.encode(dialect.replay(history), tools if dialect.sends_tool_specs else ())
        began = process_time()
        self._run.refresh(wire.host_texts(request))
        self.rescans += process_time() - began
        return request

    def guard(self, call: ParsedToolCall, execute: Callable[[ParsedToolCall], ToolOutcome]) -> ToolOutcome:
        inside = 0.0

        def timed(effective: ParsedToolCall) -> ToolOutcome:
            nonlocal inside
            began = process_time()
            try:
                return execute(effective)
            finally:
                inside = process_time() - began

        began = process_time()
        outcome: ToolOutcome = self._run.guard(call, timed)
        self.consults += process_time() - began - inside
        return outcome


def _loop(dialect: str, wire: str, turns: int, rounds: int) -> Metrics:
    shares, rescans, consults, whole = [], [], [], []
    # What is made once, and imported late, is no part of a turn.
    for gate in (True, False):
        _play(dialect, wire, 8, gate=gate)
    for number in range(rounds):
        # In turn the first, which finds the caches as the round before left them.
        played = {gate: _play(dialect, wire, turns, gate=gate) for gate in (number % 2 == 0, number % 2 == 1)}
        gated = played[True]
        shares.append((gated["rescans"] + gated["consults"]) / gated["dumps"])
        rescans.append(gated["rescans"] / gated["requests"])
        consults.append(gated["consults"] / gated["calls"])
        whole.append(gated["seconds"] / played[False]["seconds"])
        rows, requests = gated["rows"], gated["requests"]
    return {
        "of json.dumps": _median(shares),
        "us a rescan": _median([value * 1e6 for value in rescans]),
        "us a consult": _median([value * 1e6 for value in consults]),
        "loop on to off": _median(whole),
        "requests": Metric(requests),
        "rows at the end": Metric(rows),
    }


def _median(values: list[float]) -> Metric:
    middle = statistics.median(values)
    return Metric(middle, (max(values) - min(values)) / 2 / middle)


def _play(dialect: str, wire: str, turns: int, *, gate: bool) -> dict[str, float]:
    """Every turn calls one tool: guessing, and again as its contract says; three turns in four know it already."""
    host = Host(dialect, wire, Shop(clock_text=lambda _: _PAGE))
    harness: Harness = host.harness(middlewares=())

    # What earlier plays left is collected on nobody's account.
    gc.collect()
    totals = dict.fromkeys(("rescans", "consults", "dumps", "seconds", "requests", "calls", "rows"), 0.0)
    for turn in range(turns):
        name = _TOOLS[turn % len(_TOOLS)]
        guess, call = gated_call(name, GUESS), gated_call(name, RIGHT[name])
        asked = [clock_call("UTC"), call]
        model = _Forgetful(host.dialect, host.wire, ([guess], asked) if turn % 4 == 0 else (asked,))
        began = process_time()
        if gate:
            with host.gate.run() as run:
                watched: Any = _Watched(run)
                report = harness.play(watched, model, f"Please {name} number {turn}.")
            totals["rescans"] += watched.rescans
            totals["consults"] += watched.consults
        else:
            report = harness.play(None, model, f"Please {name} number {turn}.")
        totals["seconds"] += process_time() - began
        began = process_time()
        for request in report.requests:
            json.dumps(request)
        totals["dumps"] += process_time() - began
        totals["requests"] += len(report.requests)
        totals["calls"] += len(report.outcomes)
    totals["rows"] = len(harness.history)
    return totals
