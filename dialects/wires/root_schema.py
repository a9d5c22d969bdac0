"""The root of a tool's input schema, in the one form that providers take.

They want an object with `properties` at the root and refuse `anyOf`, `oneOf`, `allOf`,
`enum` and `not` there. What was only in a branch is drawn up, so the model is still offered
every property; a gate goes on checking the schema as it was published.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from functools import reduce
from operator import and_
from typing import Any, TypeAlias

from ..schema_refs import subschemas
from ..text import canonical_json
from .named_places import ANCHORS, REFERENCES, Places

Schema: TypeAlias = dict[str, Any]

_COMBINED = ("allOf", "anyOf", "oneOf")
_REFUSED_AT_ROOT = (*_COMBINED, "enum", "const", "not", *REFERENCES)
_NAMED = ("properties", "patternProperties")
_MOST_NEEDS = 1 << 26


class _Role(IntEnum):
    """How a part speaks of the object, the most binding first."""

    ALWAYS = 0
    CHOICE = 1
    CONDITION_MET = 2
    CONDITION = 3


def object_root(schema: Schema) -> tuple[Schema, list[str]]:
    """The schema, and what is wrong with it, sorted. The schema has `type: object` and `properties` at its root and nothing there that is refused.

    A property that several branches describe accepts what any of them does (for `allOf`, what
    all do); one that only conditions speak of accepts what any of them grants. Required is
    what every branch requires. Where a reference leads to what is not here, other properties
    are left open. Raises ValueError where the root cannot be an object.
    """
    kinds = schema.get("type", "object")
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        raise ValueError(f"the root of its schema is of type {kinds!r}, not object")
    root = {key: value for key, value in schema.items() if key not in _REFUSED_AT_ROOT}
    root["type"] = "object"
    root.setdefault("properties", {})
    if not any(key in schema for key in (*_COMBINED, *REFERENCES)):
        return root, []
    places = Places(schema)
    _draw_up(schema, places, root)
    if places.missing:
        root.pop("additionalProperties", None)
        root.pop("unevaluatedProperties", None)
    return root, [f"its schema refers to {reference!r}, which is not in it" for reference in sorted(places.missing)]


def _draw_up(schema: Schema, places: Places, root: Schema) -> None:
    reached = _reached(schema, places)
    for keyword in _NAMED:
        named: dict[str, list[tuple[_Role, Any]]] = {}
        for part, role in reached:
            for name, subschema in part.get(keyword, {}).items():
                named.setdefault(name, []).append((role, subschema))
        if named:
            root[keyword] = {name: _merged(found) for name, found in named.items()}
    root.pop("required", None)
    if required := _required(schema, places, reached):
        root["required"] = sorted(required)
    moved = {key: schema[key] for key in _REFUSED_AT_ROOT if key in schema}
    aimed = [part for part in subschemas(root) if _aims_at(part.get("$ref"), moved)]
    if aimed or any(key in part for part in subschemas(moved) for key in ANCHORS):
        definitions = dict(root.get("$defs", {}))
        name = "root"
        while name in definitions:
            name += "_"
        root["$defs"] = {**definitions, name: moved}
        for part in {id(part): part for part in [*aimed, *subschemas(moved)]}.values():
            if _aims_at(part.get("$ref"), moved):
                part["$ref"] = f"#/$defs/{name}{part['$ref'][1:]}"


def _aims_at(reference: Any, keys: Schema) -> bool:
    return isinstance(reference, str) and reference.startswith("#/") and reference[2:].split("/", 1)[0] in keys


def _reached(schema: Schema, places: Places) -> list[tuple[Schema, _Role]]:
    """The schema and the branches it leads to, each once a role.

    Once, since references may double with every level; without recursion, since they may be any number deep.
    """
    reached: list[tuple[Schema, _Role]] = []
    known: set[tuple[int, _Role]] = set()
    pending: list[tuple[Any, _Role]] = [(schema, _Role.ALWAYS)]
    while pending:
        part, role = pending.pop()
        if not isinstance(part, dict) or (id(part), role) in known:
            continue
        known.add((id(part), role))
        reached.append((part, role))
        inner = [(branch, role) for branch in _always(places, part)]
        inner += [(branch, max(role, _Role.CHOICE)) for choices in _choices(part) for branch in choices]
        inner += [(branch, max(role, _Role.CONDITION_MET)) for branch in _conditional(part)]
        inner += [(part[key], _Role.CONDITION) for key in ("if",) if key in part]
        pending.extend(reversed(inner))
    return reached


def _required(schema: Schema, places: Places, reached: list[tuple[Schema, _Role]]) -> set[str]:
    """The names that every reading of the schema requires; a circle of references adds none.

    Which names each part requires can be its number of parts times that of names: past
    `_MOST_NEEDS`, only what always applies is asked.
    """
    parts = {id(part) for part, _ in reached}
    bits: dict[str, int] = {}
    for part, _ in reached:
        for name in part.get("required", ()):
            bits.setdefault(name, 1 << len(bits))
    if len(parts) * len(bits) > _MOST_NEEDS:
        return {name for part, role in reached if role is _Role.ALWAYS for name in part.get("required", ())}
    needs = _needs(schema, places, bits)
    return {name for name, bit in bits.items() if needs & bit}


def _needs(schema: Schema, places: Places, bits: dict[str, int]) -> int:
    """The required names as a set of bits: sets of strings take a thousand times as much."""
    needs: dict[int, int] = {}
    pending: list[tuple[Any, bool]] = [(schema, False)]
    while pending:
        part, inner_known = pending.pop()
        if not isinstance(part, dict) or (id(part) in needs and not inner_known):
            continue
        if not inner_known:
            needs[id(part)] = 0
            pending.append((part, True))
            pending.extend((branch, False) for branch in _always(places, part))
            pending.extend((branch, False) for choices in _choices(part) for branch in choices)
            continue
        names = 0
        for name in part.get("required", ()):
            names |= bits[name]
        for branch in _always(places, part):
            names |= needs.get(id(branch), 0)
        for choices in _choices(part):
            names |= reduce(and_, (needs.get(id(branch), 0) for branch in choices))
        needs[id(part)] = names
    return needs[id(schema)]


def _always(places: Places, part: Schema) -> list[Any]:
    return [*part.get("allOf", ()), *places.referred(part)]


def _choices(part: Schema) -> Iterator[list[Any]]:
    for keyword in ("anyOf", "oneOf"):
        if choices := part.get(keyword):
            yield choices


def _conditional(part: Schema) -> list[Any]:
    """What applies where a condition is met, or not met."""
    named = [*part.get("dependentSchemas", {}).values(), *part.get("dependencies", {}).values()]
    return [*(part[key] for key in ("then", "else") if key in part), *named]


def _merged(found: list[tuple[_Role, Any]]) -> Any:
    always = _distinct([schema for role, schema in found if role is _Role.ALWAYS])
    choices = _distinct([schema for role, schema in found if role is _Role.CHOICE])
    if not always and not choices:
        # What a condition asks for is no limit, and what it grants none where more is known.
        choices = _distinct([schema for role, schema in found if role is _Role.CONDITION_MET]) or [{}]
    if choices:
        always.append(choices[0] if len(choices) == 1 else {"anyOf": choices})
    return always[0] if len(always) == 1 else {"allOf": always}


def _distinct(schemas: list[Any]) -> list[Any]:
    return list({canonical_json(schema): schema for schema in schemas}.values())
