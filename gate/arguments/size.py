"""How big a JSON value is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from typing import Any

# Deeper values cannot come from any JSON reader this project uses; the engine recurses.
MAX_DEPTH = 300
# A megabyte of text holds fewer. More are only met where parts are shared.
_MAX_VALUES = 1_500_000
_MAX_CONTAINERS = 300_000
_STRING = frozenset({str})
_CONTAINERS = frozenset({dict, list})
_PLAIN = frozenset({str, int, bool, float, dict, list, type(None)})


@dataclass(slots=True)
class Size:
    """How big a value is: values in it, characters in its strings, levels, containers."""

    values: int
    characters: int
    depth: int
    containers: int = 0

    @property
    def excessive(self) -> bool:
        """Too deep or too branching to be walked; only a value that was not read from text is
        endless or shares its parts."""
        return self.depth > MAX_DEPTH

    @property
    def units(self) -> int:
        """What one node costs that looks at all of it."""
        return self.values + self.characters // 16


def measure(value: Any) -> Size | None:
    """The size of a JSON value; None where something in it is not plain JSON (a tuple, NaN,
    a subclass). Levels below MAX_DEPTH, and what is too much to look at, count as infinite depth."""
    if type(value) not in (dict, list):
        return Size(1, len(value) if type(value) is str else 0, 1) if _is_plain(value) else None
    size = Size(1, 0, 1)
    level = [value]
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
        if not kinds <= _PLAIN or not _are_readable(items, kinds):
            return None
        if str in kinds:
            size.characters += sum(len(item) for item in items if type(item) is str)
        level = [item for item in items if item and type(item) in _CONTAINERS] if kinds & _CONTAINERS else []
        size.depth += bool(level)
    return size


# A JSON reader refuses a longer integer (4,300 digits), and the engine reads one as a float.
_LARGEST_INTEGER = 1 << 14_000


def _are_readable(items: list[Any], kinds: set[type]) -> bool:
    if float in kinds and not all(map(math.isfinite, [item for item in items if type(item) is float])):
        return False
    if int not in kinds:
        return True
    integers = items if len(kinds) == 1 else [item for item in items if type(item) is int]
    return min(integers) > -_LARGEST_INTEGER and max(integers) < _LARGEST_INTEGER


def _is_plain(value: Any) -> bool:
    return type(value) in _PLAIN and _are_readable([value], {type(value)})
