"""A run against an older one: what moved by more than the two can be trusted.

Ratios are compared as they are. A time depends on the machine's mood: it is divided by what all
times of the run have in common, and not judged where the machine or the Python is another.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .machine import busy
from .printable import cell, printable
from .targets import judge

# What a case was given, or counted: no figure that gets better or worse.
_GIVEN = frozenset({"rows", "MB", "bytes a delivery", "requests", "rows at the end", "model calls", "texts", "marked"})
# What a figure begins with that is a time.
_UNITS = frozenset({"ns", "us", "ms"})
_SPREADS = 2
_FLOOR = 0.05
# Five rounds in one process say less than they seem to, and nothing of other processes.
_QUICK_FLOOR = 0.15
_UNKNOWN_SPREAD = 0.1
_FEWEST_TIMES = 5


class Move(NamedTuple):
    """`ratio`: how many times the old figure the new one is; `noise`: the share up to which that may be noise."""

    case: str
    what: str
    old: float
    new: float
    ratio: float
    noise: float

    @property
    def beyond(self) -> bool:
        return abs(math.log(self.ratio)) > self.noise


@dataclass(frozen=True)
class Comparison:
    """`notes`: what else differs between the runs. `moves`: all figures that both have and that can be judged."""

    notes: list[str]
    moves: list[Move]

    def moved(self) -> list[Move]:
        """Those beyond noise, what became most costly first."""
        return sorted((move for move in self.moves if move.beyond), key=lambda move: -move.ratio)

    def slower(self, percent: float) -> list[Move]:
        """Those that cost more by at least so much, beyond noise."""
        return [move for move in self.moved() if move.ratio >= 1 + percent / 100]


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> Comparison:
    pairs = list(_pairs(old["results"], new["results"]))
    drift = _drift(pairs) if _same_place(old, new) else None
    floor = _QUICK_FLOOR if old.get("quick") or new.get("quick") else _FLOOR
    moves = []
    for case, what, (was, was_spread), (now, now_spread) in pairs:
        is_ratio = _is_ratio(what)
        if what in _GIVEN or was <= 0 or now <= 0 or (drift is None and not is_ratio):
            continue
        by = now / was if is_ratio or drift is None else now / was / drift
        spreads = (was_spread or _UNKNOWN_SPREAD) + (now_spread or _UNKNOWN_SPREAD)
        moves.append(Move(case, what, was, now, by, _SPREADS * spreads + floor))
    return Comparison([*_surroundings(old, new, drift), *_cases(old, new), *_given(pairs), *_targets(old, new)], moves)


def markdown(comparison: Comparison) -> str:
    """The comparison as Markdown."""
    lines = ["# Against the older run", "", *(f"* {printable(note)}" for note in comparison.notes)]
    if not comparison.moves:
        return "\n".join([*lines, "", "The two runs have no figure in common that can be judged."]) + "\n"
    moved = comparison.moved()
    steady = len(comparison.moves) - len(moved)
    if moved:
        lines += ["", "| case | figure | old | new | new / old | noise up to | |", "| --- |" + " --- |" * 6]
        lines += [
            f"| {cell(move.case)} | {move.what} | {move.old:.3g} | {move.new:.3g} | x {move.ratio:.2f} "
            f"| {move.noise:.0%} | {'slower' if move.ratio > 1 else 'faster'} |"
            for move in moved
        ]
    kept = f"{steady} of {len(comparison.moves)} figures moved by no more than noise would."
    return "\n".join([*lines, "", kept if moved else f"Nothing moved: {kept}"]) + "\n"


_Numbers = tuple[float, float]


def _pairs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, str, _Numbers, _Numbers]]:
    for case, metrics in new.items():
        for what, numbers in metrics.items():
            if what in old.get(case, {}):
                yield case, what, tuple(old[case][what]), tuple(numbers)


def _is_ratio(what: str) -> bool:
    return what.split(maxsplit=1)[0] not in _UNITS


def _drift(pairs: list[tuple[str, str, _Numbers, _Numbers]]) -> float | None:
    """How many times as long everything took; None where too few times tell the machine from the code."""
    times = [
        now / was
        for _, what, (was, _), (now, _) in pairs
        if was > 0 and now > 0 and what not in _GIVEN and not _is_ratio(what)
    ]
    return statistics.median(times) if len(times) >= _FEWEST_TIMES else None


def _same_place(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return all(old["machine"].get(key) == new["machine"].get(key) for key in ("python", "system", "processor", "cores"))


def _surroundings(old: Mapping[str, Any], new: Mapping[str, Any], drift: float | None) -> Iterator[str]:
    was, now = old["machine"], new["machine"]
    if was["python"] != now["python"]:
        yield f"another Python: {was['python']}, now {now['python']}"
    machines = [f"{one.get('processor')}, {one.get('cores')} cores, {one.get('system')}" for one in (was, now)]
    if machines[0] != machines[1]:
        yield f"another machine: {machines[0]}, now {machines[1]}"
    for name in sorted({*old["versions"], *new["versions"]}):
        before, after = old["versions"].get(name, "(unknown)"), new["versions"].get(name, "(unknown)")
        if before != after:
            yield f"another {name}: {before}, now {after}"
    if bool(old.get("quick")) != bool(new.get("quick")):
        yield f"the {'old' if old.get('quick') else 'new'} run was quick, the other one in full"
    elif old.get("quick"):
        yield "both runs were quick: only large moves are believed"
    for age, run in (("old", old), ("new", new)):
        if doubt := busy(run):
            yield f"the machine was busy in the {age} run: {doubt}"
    if drift is not None:
        yield f"all times together: {drift:.2f} times those of the old run, which is taken out of each"
    else:
        yield "times are not judged, ratios alone"


def _cases(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for age, one, other in (("old", old, new), ("new", new, old)):
        alone = [cell(case) for case in one["results"] if case not in other["results"]]
        if alone:
            yield f"only in the {age} run: {', '.join(alone)}"


def _given(pairs: list[tuple[str, str, _Numbers, _Numbers]]) -> Iterator[str]:
    for case, what, (was, _), (now, _) in pairs:
        if what in _GIVEN and was != now:
            yield f"{cell(case)} is no longer the same: {was:,.6g} {what}, now {now:,.6g}"


def _targets(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    before = {verdict.what: verdict for verdict in judge(old)}
    for verdict in judge(new):
        was = before[verdict.what]
        if None not in (was.kept, verdict.kept) and was.kept != verdict.kept:
            now = "kept now" if verdict.kept else "missed now"
            yield f"{now}: {verdict.what} ({verdict.wanted}): {was.measured:.3g}, now {verdict.measured:.3g}"
