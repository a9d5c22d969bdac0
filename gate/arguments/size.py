"""How big a JSON value is."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

# Deeper values cannot come from any JSON reader this project uses; the engine recurses.
MAX_DEPTH = 300
# A megabyte of text holds fewer. More are only met where parts are shared.
_MAX_VALUES = 1_500_000
_MAX_CONTAINERS = 300_000
_STRING = frozenset({str})
_CONTAINERS = frozenset({dict, list})
# A JSON reader refuses a longer integer (4,300 digits), and the engine reads one as a float.
_LARGEST_INTEGER = 1 << 14_000
_FAST_INTEGER = 1 << 63
_PLAIN = frozenset({str, int, bool, float, dict, list, type(None)})


class Size:
    """How big a value is: values in it, characters in its strings, levels, containers, and
    integers of more than 63 bits, which the engine compares one by one to find equal items."""

    __slots__ = ("characters", "containers", "depth", "large_integers", "values")

    def __init__(self, values: int, characters: int, depth: int) -> None:
        self.values = values
        self.characters = characters
        self.depth = depth
        self.containers = 0
        self.large_integers = 0

    @property
    def excessive(self) -> bool:
        """Too deep or too branching to be walked; only a value that was not read from text is
        endless or shares its parts."""
        return self.depth > MAX_DEPTH

    @property
    def units(self) -> int:
        """What one node costs that looks at all of it."""
        return self.values + self.characters // 16


def measure(value: dict[str, Any] | list[Any]) -> Size | None:
    """The size of a JSON container; None where something in it is not plain JSON (a tuple, NaN,
    a subclass). Levels below MAX_DEPTH, and what is too much to look at, count as infinite depth."""
    size = Size(1, 0, 1)
    level: list[Any] = [value]
    # Level by level, so that no container costs a step of Python.
    while level:
        size.containers += len(level)
        size.values += sum(map(len, level))
        if size.depth > MAX_DEPTH or size.values > _MAX_VALUES or size.containers > _MAX_CONTAINERS:
            size.depth = MAX_DEPTH + 1
            return size
        objects = [container for container in level if type(container) is dict]
        arrays = level if not objects else [container for container in level if type(container) is list]
        if not _STRING.issuperset(map(type, chain.from_iterable(objects))):
            return None
        size.characters += sum(map(len, chain.from_iterable(objects)))
        items = [*chain.from_iterable(arrays), *chain.from_iterable(map(dict.values, objects))]
        kinds = set(map(type, items))
        if not kinds <= _PLAIN or (float in kinds and not _are_finite(items)):
            return None
        if int in kinds:
            integers = items if len(kinds) == 1 else [item for item in items if type(item) is int]
            if min(integers) < -_FAST_INTEGER or max(integers) >= _FAST_INTEGER:
                if not -_LARGEST_INTEGER < min(integers) <= max(integers) < _LARGEST_INTEGER:
                    return None
                size.large_integers += sum(not -_FAST_INTEGER <= item < _FAST_INTEGER for item in integers)
        if str in kinds:
            size.characters += sum(len(item) for item in items if type(item) is str)
        level = [item for item in items if item and type(item) in _CONTAINERS] if kinds & _CONTAINERS else []
        size.depth += bool(level)
    return size


def _are_finite(items: list[Any]) -> bool:
    return all(map(math.isfinite, [item for item in items if type(item) is float]))


def depth(value: Any) -> int:
    """The levels of a JSON value; a scalar has none."""
    levels = 0
    level = [value]
    while level := [item for item in level if type(item) in _CONTAINERS]:
        levels += 1
        level = [inner for item in level for inner in (item.values() if type(item) is dict else item)]
    return levels


def are_unique(items: list[Any]) -> bool:
    """Whether no two JSON values are equal: 1 and 1.0 are, 1 and `True` are not."""
    return len({_identity(item) for item in items}) == len(items)


def _identity(value: Any) -> Any:
    if type(value) is dict:
        return dict, frozenset((name, _identity(item)) for name, item in value.items())
    if type(value) is list:
        return list, tuple(map(_identity, value))
    return (bool, value) if type(value) is bool else value
