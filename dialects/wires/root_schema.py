"""The root of a tool's input schema, in the one form that providers take.

They want an object with `properties` at the root and refuse `anyOf`, `oneOf`, `allOf`,
`enum` and `not` there. What was only in a branch is drawn up, so the model is still offered
every property; a gate goes on checking the schema as it was published.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import and_
from typing import Any, TypeAlias

from ..schema_refs import resolve, subschemas
from ..text import canonical_json

Schema: TypeAlias = dict[str, Any]

_COMBINED = ("allOf", "anyOf", "oneOf")
_REFUSED_AT_ROOT = (*_COMBINED, "enum", "const", "not", "$ref", "$dynamicRef")
_NAMED = ("properties", "patternProperties")
_MOST_NEEDS = 1 << 26


def object_root(schema: Schema) -> Schema:
    """The schema with `type: object` and `properties` at its root and nothing there that is refused.

    A property that several branches describe accepts what any of them does (for `allOf`, what
    all do). Required is what every branch requires. Raises ValueError where the root cannot
    be an object.
    """
    kinds = schema.get("type", "object")
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        raise ValueError(f"the root of its schema is of type {kinds!r}, not object")
    root = {key: value for key, value in schema.items() if key not in _REFUSED_AT_ROOT}
    root["type"] = "object"
    root.setdefault("properties", {})
    if any(key in schema for key in (*_COMBINED, "$ref")):
        _draw_up(schema, root)
    return root


def _draw_up(schema: Schema, root: Schema) -> None:
    reached = _reached(schema)
    for keyword in _NAMED:
        named: dict[str, list[tuple[bool, Any]]] = {}
        for part, always in reached:
            for name, subschema in part.get(keyword, {}).items():
                named.setdefault(name, []).append((always, subschema))
        if named:
            root[keyword] = {name: _merged(found) for name, found in named.items()}
    root.pop("required", None)
    if required := _required(schema, reached):
        root["required"] = sorted(required)
    moved = {key: schema[key] for key in _REFUSED_AT_ROOT if key in schema}
    aimed = [part for part in subschemas(root) if _aims_at(part.get("$ref"), moved)]
    if aimed:
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


def _reached(schema: Schema) -> list[tuple[Schema, bool]]:
    """The schema and the branches it leads to, each once a role: whether it always applies, or is a choice.

    Once, since references may double with every level; without recursion, since they may be any number deep.
    """
    reached: list[tuple[Schema, bool]] = []
    known: set[tuple[int, bool]] = set()
    pending: list[tuple[Any, bool]] = [(schema, True)]
    while pending:
        part, always = pending.pop()
        if not isinstance(part, dict) or (id(part), always) in known:
            continue
        known.add((id(part), always))
        reached.append((part, always))
        inner = [(branch, always) for branch in _always(schema, part)]
        inner += [(branch, False) for choices in _choices(part) for branch in choices]
        pending.extend(reversed(inner))
    return reached


def _required(schema: Schema, reached: list[tuple[Schema, bool]]) -> set[str]:
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
        return {name for part, always in reached if always for name in part.get("required", ())}
    needs = _needs(schema, bits)
    return {name for name, bit in bits.items() if needs & bit}


def _needs(schema: Schema, bits: dict[str, int]) -> int:
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
            pending.extend((branch, False) for branch in _always(schema, part))
            pending.extend((branch, False) for choices in _choices(part) for branch in choices)
            continue
        names = 0
        for name in part.get("required", ()):
            names |= bits[name]
        for branch in _always(schema, part):
            names |= needs.get(id(branch), 0)
        for choices in _choices(part):
            names |= reduce(and_, (needs.get(id(branch), 0) for branch in choices))
        needs[id(part)] = names
    return needs[id(schema)]


def _always(schema: Schema, part: Schema) -> list[Any]:
    reference = part.get("$ref")
    referred = [resolve(schema, reference)] if isinstance(reference, str) else []
    return [*part.get("allOf", ()), *referred]


def _choices(part: Schema) -> Iterator[list[Any]]:
    for keyword in ("anyOf", "oneOf"):
        if choices := part.get(keyword):
            yield choices


def _merged(found: list[tuple[bool, Any]]) -> Any:
    always = _distinct([schema for every, schema in found if every])
    choices = _distinct([schema for every, schema in found if not every])
    if choices:
        always.append(choices[0] if len(choices) == 1 else {"anyOf": choices})
    return always[0] if len(always) == 1 else {"allOf": always}


def _distinct(schemas: list[Any]) -> list[Any]:
    return list({canonical_json(schema): schema for schema in schemas}.values())
