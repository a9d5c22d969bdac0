"""A case: what one fresh process measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Unusable(Exception):
    """What a user gave cannot be used. Its words are for them, and hold nothing of what a file holds."""


class Metric(NamedTuple):
    """A median and its spread (half the distance between the quartiles, as a share of it)."""

    value: float
    spread: float = 0.0


Metrics = Mapping[str, Metric]


@dataclass(frozen=True)
class Case:
    """`group` is a section of the report; `run(rounds)` gives its numbers, by what they are."""

    group: str
    name: str
    run: Callable[[int], Metrics]
    quick: bool = True
    rounds: int = 15

    @property
    def id(self) -> str:
        return f"{self.group}/{self.name}"
