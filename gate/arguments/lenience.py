"""What models write where they mean something else, read as what they mean.

A string that spells an integer, number, boolean, object or array is read as that where a
string is not allowed and that is; null for an optional name that may not be null is taken
away. A value that is allowed as it stands is never changed. Types are told from `$ref`, `allOf`,
`anyOf`, `oneOf`, `properties`, `patternProperties`, `additionalProperties`, `prefixItems`,
`items` and `dependentSchemas`; what stands under `if`, `then`, `else`, `not` and `unevaluated*`
gets no lenience.
"""

from __future__ import annotations

import math
import re
from typing import Any

from tooldialect.dialects.text import read_json

from .keywords import ARRAY, BOOLEAN, FRACTION, INTEGER, NULL, OBJECT, STRING, JsonType, json_type
from .node import Node
from .place import Exhausted, Place, Places, View
from .size import depth

_MAX_PASSES = 8
_FIRST = {**dict.fromkeys("-0123456789", INTEGER | FRACTION), "t": BOOLEAN, "f": BOOLEAN, "[": ARRAY, "{": OBJECT}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_CONTAINERS = frozenset({dict, list})
_ADJUSTABLE = frozenset({type(None), str, dict, list})
# More values are taken to hold something that is meant otherwise.
_MAX_LOOKED_AT = 10_000
# What was in a string may not make the arguments so deep that the call around them cannot be
# written any more: JSON is read down to 300 levels.
MAX_LEVELS = 200


def adjusted(root: Node, arguments: dict[str, Any], places: Places) -> dict[str, Any]:
    """The arguments as meant, in a copy; `arguments` itself where nothing is to be changed.

    Adjusting what this returns changes nothing, unless `places` is exhausted: then a part of it
    was not looked at and stays as it is.
    """
    changed = dict(arguments)
    done = False
    try:
        place = places.of([root])
        for _ in range(_MAX_PASSES):
            reading = _Reading(places)
            try:
                reading.read(place, changed)
            finally:
                done |= reading.changed
            if not reading.changed or not places.conditional:
                break
    except Exhausted:
        pass
    return changed if done else arguments


def may_be_meant_otherwise(value: Any) -> bool:
    """Whether lenience might change something in `value`, where the schema allows it."""
    pending = [value]
    for item in pending:
        if item is None or (type(item) is str and item.strip(" \t\r\n")[:1] in _FIRST):
            return True
        if type(item) in _CONTAINERS:
            pending += item.values() if type(item) is dict else item
        if len(pending) > _MAX_LOOKED_AT:
            return True
    return False


class _Reading:
    """One pass over the arguments; `changed` where it changed something."""

    def __init__(self, places: Places) -> None:
        self.changed = False
        self._places = places
        # Containers to look into, each with its place and level.
        self._pending: list[tuple[Place, Any, int]] = []

    def read(self, place: Place, arguments: dict[str, Any]) -> None:
        self._pending.append((place, arguments, 1))
        while self._pending:
            place, value, level = self._pending.pop()
            self._places.spend(1)
            view = self._places.view(place, value)
            if type(value) is dict:
                self._members(view, value, level)
            else:
                self._items(view, value, level)

    def _members(self, view: View, value: dict[str, Any], level: int) -> None:
        for name, item in list(value.items()):
            if type(item) in _ADJUSTABLE:
                self._places.spend(1)
                inner = view.member(name, self._places)
                if item is None:
                    if not inner.types & NULL and name not in view.required:
                        del value[name]
                        self.changed = True
                else:
                    self._value(inner, value, name, item, level)

    def _items(self, view: View, value: list[Any], level: int) -> None:
        for index in range(min(view.prefix, len(value))):
            self._value(view.item(index, self._places), value, index, value[index], level)
        if len(value) > view.prefix:
            rest = view.item(view.prefix, self._places)
            kinds = {dict, list} if rest.types & STRING else {dict, list, str}
            if not rest.unsaid and not (rest.closes and rest.types & STRING):
                for index in range(view.prefix, len(value)):
                    if type(value[index]) in kinds:
                        self._places.spend(1)
                        self._value(rest, value, index, value[index], level)

    def _value(self, place: Place, holder: Any, key: Any, item: Any, level: int) -> None:
        if type(item) is str and not place.types & STRING:
            item, spelled = _decoded(item, place.types, level)
            if spelled:
                holder[key] = item
                self.changed = True
        if type(item) in _CONTAINERS and item and not place.closes:
            # Only what is walked may change, and is copied for it.
            holder[key] = item = item.copy()
            self._pending.append((place, item, level + 1))


def _decoded(text: str, allowed: JsonType, level: int) -> tuple[Any, bool]:
    """What a string spells, and whether it does: JSON of a type that is allowed where no string is."""
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
    if not json_type(value) & allowed or (type(value) in _CONTAINERS and level + depth(value) > MAX_LEVELS):
        return text, False
    return value, True


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
