"""What models write where they mean something else, read as what they mean.

A string that spells an integer, number, boolean, object or array is read as that where a
string is not allowed and that is; null for an optional name that may not be null is taken
away. A value that is allowed as it stands is never changed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from tooldialect.dialects.text import read_json

from .keywords import ARRAY, BOOLEAN, FRACTION, INTEGER, NULL, OBJECT, STRING, JsonType, json_type
from .node import Node
from .place import Exhausted, Place, Work

_MAX_PASSES = 8
_FIRST = {**dict.fromkeys("-0123456789", INTEGER | FRACTION), "t": BOOLEAN, "f": BOOLEAN, "[": ARRAY, "{": OBJECT}


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_ADJUSTABLE = frozenset({type(None), str, dict, list})


def adjusted(root: Node, arguments: dict[str, Any], work: Work) -> dict[str, Any]:
    """The arguments as meant, in a copy; `arguments` itself where nothing is to be changed.

    Adjusting what this returns changes nothing. What is too large to look at stays as it is.
    """
    changed = dict(arguments)
    try:
        place = Place([root], (), work)
        for done in range(_MAX_PASSES):
            if not _pass(place, changed, work):
                return changed if done else arguments
            if not work.conditional:
                return changed
    except Exhausted:
        pass
    return arguments


def _pass(root: Place, arguments: dict[str, Any], work: Work) -> bool:
    changed = False
    pending: list[tuple[Place, Any]] = [(root, arguments)]
    while pending:
        place, value = pending.pop()
        work.spend(1)
        live = place.live(value)
        members: Iterator[tuple[Any, Place]] = (
            _members(place, value, live) if type(value) is dict else _items(place, value, live)
        )
        for name, inner in members:
            if type(value) is list:
                work.spend(1)
            item = value[name]
            if item is None:
                if type(value) is dict and not inner.types() & NULL and not place.requires(name, value):
                    del value[name]
                    changed = True
                continue
            if type(item) is str:
                item, spelled = _decoded(item, inner.types())
                if spelled:
                    value[name] = item
                    changed = True
            if type(item) in (dict, list) and item and not inner.closes:
                # Only what is walked may change, and is copied for it.
                value[name] = item = item.copy()
                pending.append((inner, item))
    return changed


def _members(place: Place, value: dict[str, Any], live: Any) -> Iterator[tuple[str, Place]]:
    for name, item in list(value.items()):
        if type(item) in _ADJUSTABLE:
            inner = place.member(name, value, live)
            if not inner.unsaid:
                yield name, inner


def _items(place: Place, value: list[Any], live: Any) -> Iterator[tuple[int, Place]]:
    for index in range(min(place.prefix, len(value))):
        inner = place.item(index, value, live)
        if not inner.unsaid:
            yield index, inner
    if len(value) > place.prefix:
        rest = place.item(place.prefix, value, live)
        kinds = (dict, list) if rest.types() & STRING else (dict, list, str)
        if not rest.unsaid:
            for index in range(place.prefix, len(value)):
                if type(value[index]) in kinds:
                    yield index, rest


def _decoded(text: str, allowed: JsonType) -> tuple[Any, bool]:
    """What a string spells, and whether it does: JSON of a type that is allowed where no string is."""
    if allowed & STRING:
        return text, False
    bare = text.strip(" \t\r\n")
    wanted = allowed & _FIRST.get(bare[:1], 0)
    if not wanted:
        return text, False
    if wanted & BOOLEAN:
        return (bare == "true", True) if bare in ("true", "false") else (text, False)
    try:
        value = _number(bare) if wanted & (INTEGER | FRACTION) else read_json(bare)
    except ValueError:
        return text, False
    return (value, True) if json_type(value) & allowed else (text, False)


def _number(text: str) -> int | float:
    """A JSON number. Raises ValueError for anything else, and for what no reader takes back."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(text)
    if not found[1]:
        return int(text)
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value
