"""What was promised, and whether this run kept it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

# Figures that are divided by here, or whose logarithm is taken.
POSITIVE = frozenset({"rows", "ns a row", "4n to n", "of search"})

Results: TypeAlias = Mapping[str, Mapping[str, Any]]
"""`{case id: {metric: [value, spread]}}`"""


@dataclass(frozen=True)
class Verdict:
    what: str
    wanted: str
    measured: float | None
    kept: bool | None


@dataclass(frozen=True)
class _Target:
    what: str
    limit: float
    measured: Callable[[Results], float | None]
    unit: str = ""
    at_least: bool = False
    # From CPython 3.13 on, where that can do more.
    newer: float | None = None


def judge(run: Mapping[str, Any]) -> list[Verdict]:
    """Each target with the worst case that was measured for it; None where none was."""
    verdicts = []
    newer = _version(run) >= (3, 13)
    for target in _TARGETS:
        limit = target.newer if newer and target.newer is not None else target.limit
        measured = target.measured(run["results"])
        kept = None
        if measured is not None:
            kept = measured >= limit if target.at_least else measured <= limit
        sign = "≥" if target.at_least else "≤"
        verdicts.append(Verdict(target.what, f"{sign} {limit:g} {target.unit}".strip(), measured, kept))
    return verdicts


def _version(run: Mapping[str, Any]) -> tuple[int, int]:
    """Of the Python that was measured, which need not be the one that judges."""
    found = re.search(r"(\d+)\.(\d+)", run["machine"]["python"])
    return (int(found[1]), int(found[2])) if found else (3, 11)


_FITTED_FROM = 1000


def exponent(results: Results, kind: str) -> float | None:
    """The power of the row count by which the time of a refresh grows, fitted from 1,000 rows on."""
    points = [(math.log(rows), math.log(rows * ns)) for rows, ns in growth(results, kind) if rows >= _FITTED_FROM]
    if len(points) < 2:
        return None
    middle = sum(x for x, _ in points) / len(points)
    level = sum(y for _, y in points) / len(points)
    width = sum((x - middle) ** 2 for x, _ in points)
    return sum((x - middle) * (y - level) for x, y in points) / width if width else None


def growth(results: Results, kind: str) -> list[tuple[float, float]]:
    """`(rows, ns a row)` of the cases of this kind that differ in rows alone."""
    found = [
        (metrics["rows"][0], metrics["ns a row"][0])
        for case, metrics in results.items()
        if case.startswith(f"rescan/{kind} ") and case.endswith(" rows") and {"rows", "ns a row"} <= metrics.keys()
    ]
    return sorted(found)


def _worst(prefix: str, metric: str, *, suffix: str = "") -> Callable[[Results], float | None]:
    def find(results: Results) -> float | None:
        values = [
            metrics[metric][0]
            for case, metrics in results.items()
            if case.startswith(prefix) and case.endswith(suffix) and metric in metrics
        ]
        return max(values, default=None)

    return find


def _inverse(find: Callable[[Results], float | None]) -> Callable[[Results], float | None]:
    def inverted(results: Results) -> float | None:
        value = find(results)
        return None if value is None else 1 / value

    return inverted


def _power(prefix: str) -> Callable[[Results], float | None]:
    find = _worst(prefix, "4n to n")

    def power(results: Results) -> float | None:
        value = find(results)
        return None if value is None else math.log(value, 4)

    return power


_REFRESH = "rescan/openai-chat 10000 rows"
_TARGETS = (
    _Target("refresh of 10,000 dict rows, of json.dumps", 0.045, _worst(_REFRESH, "of json.dumps", suffix=" rows")),
    _Target("the same, of orjson.dumps", 0.5, _worst(_REFRESH, "of orjson.dumps", suffix=" rows")),
    _Target(
        "the same, times faster than a marker search",
        3,
        _inverse(_worst(_REFRESH, "of search", suffix=" rows")),
        at_least=True,
    ),
    _Target("the same, of a bare touch loop", 4, _worst(_REFRESH, "of touch", suffix=" rows"), newer=2),
    _Target(
        "growth of a refresh from 1,000 to 100,000 rows",
        1.15,
        lambda results: exponent(results, "openai-chat"),
        "(exponent)",
    ),
    _Target("a marked 4 KiB row once seen", 1, _worst("rescan/marked", "us a marked row more"), "µs more"),
    _Target("a marked 4 KiB row the first time", 8, _worst("rescan/marked", "us the first time"), "µs more"),
    _Target(
        "format_results, plain bodies ≥ 4 KiB, of a join of ready parts",
        2,
        _worst("serialise/plain", "to a join", suffix="KiB"),
    ),
    _Target(
        "the same, of a join by hand of the outcomes", 2, _worst("serialise/plain", "to a join by hand", suffix="KiB")
    ),
    _Target(
        "code of 64 KiB without control tokens",
        0.6,
        _worst("serialise/code", "ns a byte without", suffix=" 64 KiB"),
        "ns a byte",
    ),
    _Target(
        "code of 64 KiB with control tokens",
        1.0,
        _worst("serialise/code", "ns a byte with tokens", suffix=" 64 KiB"),
        "ns a byte",
    ),
    _Target("one hostile tag in every line", 2.5, _worst("serialise/hostile", "ns a byte", suffix="KiB"), "ns a byte"),
    _Target("any dense body", 9, _worst("serialise/dense", "ns a byte"), "ns a byte"),
    _Target("growth of dense bodies", 1.1, _power("serialise/dense"), "(exponent)"),
    _Target(
        "64 results of 200 B, beyond the record",
        250,
        _worst("serialise/plain 64 x 200 B", "ns beyond the record"),
        "ns a result",
    ),
    _Target(
        "check_arguments, validator cached, of json.loads", 0.5, _worst("consult/check_arguments", "of json.loads")
    ),
    _Target("importing dialects and gate, of pydantic alone", 1.5, _worst("import/dialects and gate", "to pydantic")),
    _Target(
        "importing all that a harness names, of pydantic with one model",
        1.5,
        _worst("import/ready to work", "to one model"),
    ),
)
