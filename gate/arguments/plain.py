"""Python values read as the JSON they stand for."""

from __future__ import annotations

from enum import Enum
from typing import Any

from tooldialect.dialects.text import clean_json, clean_text

from .size import MAX_DEPTH

_MAX_VALUES = 250_000


class NotJson(Exception):
    """A value that JSON cannot say. `path` holds the names and indices that lead to it."""

    def __init__(self, path: list[str | int]) -> None:
        super().__init__(path)
        self.path = path


def plain_copy(value: Any) -> Any:
    """A copy in dicts, lists and scalars alone: a tuple counts as an array, an enum member as
    its value, an instance of a subclass as one of its base.

    Raises NotJson for everything else, for NaN, and for more values or levels than are read.
    """
    holder: list[Any] = [None]
    # Where a value goes, and the trail back to the root.
    pending: list[tuple[Any, Any, Any, Any, int]] = [(holder, 0, value, None, 0)]
    for _ in range(_MAX_VALUES):
        if not pending:
            return holder[0]
        target, token, item, trail, depth = pending.pop()
        if isinstance(item, Enum) and not isinstance(item, (str, int, float)):
            item = item.value
        if depth > MAX_DEPTH:
            raise NotJson(_path(trail))
        if isinstance(item, dict):
            if not all(isinstance(name, str) for name in item):
                raise NotJson(_path(trail))
            target[token] = inner = {_plain_text(name): None for name in item}
            pending += [(inner, _plain_text(name), item[name], (trail, name), depth + 1) for name in reversed(item)]
        elif isinstance(item, (list, tuple)):
            target[token] = members = [None] * len(item)
            pending += [
                (members, index, item[index], (trail, index), depth + 1) for index in reversed(range(len(item)))
            ]
        else:
            try:
                target[token] = _plain_text(item) if isinstance(item, str) else clean_json(item)
            except ValueError:
                raise NotJson(_path(trail)) from None
        if len(pending) > _MAX_VALUES:
            break
    raise NotJson([])


def _plain_text(text: str) -> str:
    # A repaired text is of a class of its own, whose instances are no plain values.
    return str.__str__(clean_text(text))


def _path(trail: Any) -> list[str | int]:
    path: list[str | int] = []
    while trail is not None:
        trail, token = trail
        path.append(token)
    return path[::-1]
