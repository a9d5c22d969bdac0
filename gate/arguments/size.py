"""How big a JSON value is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

# Deeper values cannot come from any JSON reader this project uses; the engine recurses.
MAX_DEPTH = 300
_MAX_CONTAINERS = 500_000
_SCALARS = frozenset({str, int, bool, type(None)})


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
    size = Size(1, 0, 1)
    if type(value) not in (dict, list):
        size.characters = len(value) if type(value) is str else 0
        return size if _is_plain(value) else None
    level = [value]
    while level:
        inner: list[Any] = []
        size.containers += len(level)
        for container in level:
            items: Any = container
            if type(container) is dict:
                if not all(type(name) is str for name in container):
                    return None
                size.characters += sum(map(len, container))
                items = container.values()
            size.values += len(container)
            kinds = set(map(type, items))
            if str in kinds:
                size.characters += sum(len(item) for item in items if type(item) is str)
            if int in kinds and not _are_readable(items, kinds):
                return None
            if kinds <= _SCALARS:
                continue
            if float in kinds and not all(math.isfinite(item) for item in items if type(item) is float):
                return None
            if not kinds <= _PLAIN:
                return None
            if dict in kinds or list in kinds:
                inner += [item for item in items if item and type(item) in (dict, list)]
                if len(inner) > _MAX_CONTAINERS:
                    break
        if inner and (size.depth >= MAX_DEPTH or len(inner) + size.containers > _MAX_CONTAINERS):
            size.depth = MAX_DEPTH + 1
            return size
        size.depth += 1
        level = inner
    return size


_PLAIN = _SCALARS | {float, dict, list}


# A JSON reader refuses a longer integer (4,300 digits), and the engine reads one as a float.
_LARGEST_INTEGER = 1 << 14_000


def _are_readable(items: Any, kinds: set[type]) -> bool:
    integers = items if len(kinds) == 1 else [item for item in items if type(item) is int]
    return min(integers) > -_LARGEST_INTEGER and max(integers) < _LARGEST_INTEGER


def _is_plain(value: Any) -> bool:
    return type(value) in _SCALARS or (type(value) is float and math.isfinite(value))
