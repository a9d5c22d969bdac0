"""The verbatim split: one rule for every dialect, for fresh results and for replay.

A marked text must reach the model at byte 0 of a message of its own. Whatever stands
before it ends there, and what follows begins anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def is_verbatim_turn(text: str, marked: bool) -> bool:
    """Whether the text stands alone: marked and not blank, since providers refuse a blank turn."""
    return marked and bool(text) and not text.isspace()


def split_verbatim(items: Iterable[T], alone: Callable[[T], bool]) -> Iterator[tuple[bool, list[T]]]:
    """`(True, [item])` for each item that stands alone, `(False, run)` for each longest run
    of the others, in order; a run is never empty."""
    run: list[T] = []
    for item in items:
        if not alone(item):
            run.append(item)
            continue
        if run:
            yield False, run
            run = []
        yield True, [item]
    if run:
        yield False, run
