"""Contenders measured against each other: interleaved, in pairs, in one process.

A machine is never the same twice, and seldom the same for a second. So every round runs every
contender once, in an order drawn anew, and what is reported is the median over rounds of the
ratio within a round. Times are of the processor: what others do on the machine still fills the
caches, but does not count as ours.
"""

from __future__ import annotations

import gc
import random
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import get_clock_info, perf_counter, process_time

Contender = Callable[[], object]
# Where processor time comes in ticks of the scheduler, a sample of one run would often be zero.
_clock = process_time if get_clock_info("process_time").resolution <= 1e-6 else perf_counter
_LEAST_SAMPLE = 0.002
_SHORTEST = 1e-9
# A round that takes less leaves room for more of them: the shorter, the noisier.
_ROUND = 0.05
_MOST_ROUNDS = 8
_LONGEST_ROUND = 0.5


@dataclass(frozen=True)
class Samples:
    """Seconds of one run, by contender; the n-th of each belong to the n-th round."""

    seconds: Mapping[str, list[float]]

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])

    def spread(self, name: str) -> float:
        """Half the distance between the quartiles, as a share of the median."""
        return _spread(self.seconds[name])

    def ratio(self, name: str, to: str) -> float:
        return statistics.median(self._ratios(name, to))

    def ratio_spread(self, name: str, to: str) -> float:
        return _spread(self._ratios(name, to))

    def difference(self, name: str, less: str) -> float:
        """Median seconds that one takes more than the other."""
        pairs = zip(self.seconds[name], self.seconds[less], strict=True)
        return statistics.median(more - base for more, base in pairs)

    def difference_spread(self, name: str, less: str) -> float:
        """Half the distance between the quartiles of that difference, as a share of it."""
        pairs = zip(self.seconds[name], self.seconds[less], strict=True)
        return _spread([more - base for more, base in pairs])

    def _ratios(self, name: str, to: str) -> list[float]:
        return [mine / theirs for mine, theirs in zip(self.seconds[name], self.seconds[to], strict=True)]


def _spread(values: list[float]) -> float:
    middle = statistics.median(values)
    low, high = min(values), max(values)
    if len(values) >= 4:
        low, _, high = statistics.quantiles(values, n=4)
    return abs((high - low) / 2 / middle) if middle else 0.0


def measure(
    contenders: Mapping[str, Contender],
    rounds: int,
    between: Contender | None = None,
    budget: float | None = None,
    seed: int = 0,
    before: Mapping[str, Contender] | None = None,
) -> Samples:
    """Some `rounds` rounds: up to eight times as many where they are short, fewer (but three) where they
    would take more than `budget` seconds.

    `between` runs before every single sample, untimed, to fill the caches with something else, and
    `before` before those of one contender, to bring about what it starts from; then one sample is
    one run. Else a sample is as many runs as take 2 ms. Every contender runs once at first,
    untimed: what it makes once is no part of what it costs.
    """
    draw = random.Random(seed)
    prepare = {name: [run for run in (between, (before or {}).get(name)) if run] for name in contenders}
    numbers = {name: _repeats(run, once=bool(prepare[name])) for name, run in contenders.items()}
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    empty = _cost_of_the_clock()
    budget = rounds * _LONGEST_ROUND if budget is None else budget
    started = perf_counter()
    gc.collect()
    gc.disable()
    try:
        for done in range(rounds * _MOST_ROUNDS):
            passed = perf_counter() - started
            if (done >= 3 and passed > budget) or (done >= rounds and passed > rounds * _ROUND):
                break
            draw.shuffle(names)
            for name in names:
                run, number = contenders[name], numbers[name]
                for first in prepare[name]:
                    first()
                began = _clock()
                for _ in range(number):
                    run()
                seconds[name].append(max(_clock() - began - empty, _SHORTEST) / number)
    finally:
        gc.enable()
    return Samples(seconds)


def _repeats(run: Contender, *, once: bool) -> int:
    run()
    if once:
        return 1
    began = _clock()
    run()
    return max(1, int(_LEAST_SAMPLE / max(_clock() - began, 1e-7)))


def _cost_of_the_clock() -> float:
    readings = []
    for _ in range(101):
        began = _clock()
        readings.append(_clock() - began)
    return statistics.median(readings)
