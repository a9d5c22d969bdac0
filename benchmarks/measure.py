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
from time import perf_counter, process_time

Contender = Callable[[], object]
_LEAST_SAMPLE = 0.002


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

    def _ratios(self, name: str, to: str) -> list[float]:
        return [mine / theirs for mine, theirs in zip(self.seconds[name], self.seconds[to], strict=True)]


def _spread(values: list[float]) -> float:
    if len(values) < 4:
        return (max(values) - min(values)) / 2 / statistics.median(values)
    low, middle, high = statistics.quantiles(values, n=4)
    return (high - low) / 2 / middle


def measure(
    contenders: Mapping[str, Contender],
    rounds: int,
    between: Contender | None = None,
    budget: float = 8.0,
    seed: int = 0,
) -> Samples:
    """`rounds` rounds, fewer (but three) where they would take more than `budget` seconds.

    `between` runs before every single sample, untimed, to fill the caches with something else; then
    one sample is one run. Without it a sample is as many runs as take 2 ms.
    """
    draw = random.Random(seed)
    numbers = {name: 1 if between else _repeats(run) for name, run in contenders.items()}
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    started = perf_counter()
    gc.collect()
    gc.disable()
    try:
        for done in range(rounds):
            if done >= 3 and perf_counter() - started > budget:
                break
            draw.shuffle(names)
            for name in names:
                run, number = contenders[name], numbers[name]
                if between is not None:
                    between()
                began = process_time()
                for _ in range(number):
                    run()
                seconds[name].append((process_time() - began) / number)
    finally:
        gc.enable()
    return Samples(seconds)


def _repeats(run: Contender) -> int:
    run()
    began = process_time()
    run()
    return max(1, int(_LEAST_SAMPLE / max(process_time() - began, 1e-7)))
