"""The root of a tool's input schema, in the one form that providers take.

They want an object with `properties` at the root and refuse `anyOf`, `oneOf`, `allOf`,
`enum` and `not` there. What was only in a branch is drawn up, so the model is still offered
every property; a gate goes on checking the schema as it was published.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from ..text import canonical_json
from .schema_refs import resolve, subschemas

Schema: TypeAlias = dict[str, Any]

_COMBINED = ("allOf", "anyOf", "oneOf")
_REFUSED_AT_ROOT = (*_COMBINED, "enum", "const", "not", "$ref", "$dynamicRef")
_NAMED = ("properties", "patternProperties")
# A root that leads through more references than this to its properties is not met in the field.
_MAX_DEPTH = 100


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
    drawn = _Drawn(schema)
    for keyword in _NAMED:
        if drawn.named[keyword]:
            root[keyword] = {name: _merged(found) for name, found in drawn.named[keyword].items()}
    root.pop("required", None)
    if drawn.required:
        root["required"] = sorted(drawn.required)
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


class _Drawn:
    """Every property that some branch describes, and the names that all branches require."""

    def __init__(self, schema: Schema) -> None:
        self.named: dict[str, dict[str, list[tuple[bool, Any]]]] = {keyword: {} for keyword in _NAMED}
        self._schema = schema
        # Each part once in either role: references may double with every level.
        self._known: dict[tuple[int, bool], frozenset[str]] = {}
        self.required = self._draw(schema, always=True, depth=0)

    def _draw(self, part: Any, *, always: bool, depth: int) -> frozenset[str]:
        """Collects the properties of a branch and of those in it; the names that it requires."""
        key = (id(part), always)
        if not isinstance(part, dict) or depth > _MAX_DEPTH:
            return frozenset()
        if key in self._known:
            return self._known[key]
        self._known[key] = frozenset()
        for keyword in _NAMED:
            for name, subschema in part.get(keyword, {}).items():
                self.named[keyword].setdefault(name, []).append((always, subschema))
        required = frozenset(part.get("required", ()))
        for inner in self._always(part):
            required |= self._draw(inner, always=always, depth=depth + 1)
        for keyword in ("anyOf", "oneOf"):
            if choices := part.get(keyword):
                needs = [self._draw(choice, always=False, depth=depth + 1) for choice in choices]
                required |= frozenset.intersection(*needs)
        self._known[key] = required
        return required

    def _always(self, part: Schema) -> Iterator[Any]:
        yield from part.get("allOf", ())
        if isinstance(reference := part.get("$ref"), str):
            yield resolve(self._schema, reference)


def _merged(found: list[tuple[bool, Any]]) -> Any:
    always = _distinct([schema for every, schema in found if every])
    choices = _distinct([schema for every, schema in found if not every])
    if choices:
        always.append(choices[0] if len(choices) == 1 else {"anyOf": choices})
    return always[0] if len(always) == 1 else {"allOf": always}


def _distinct(schemas: list[Any]) -> list[Any]:
    return list({canonical_json(schema): schema for schema in schemas}.values())
