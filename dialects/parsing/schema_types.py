"""Which JSON types a parameter's schema allows, and a slot's text read by them.

Only what is local counts (`#/…` references, combinators, `enum` and `const`), within a
budget: nested references double, and a schema may come from any server. Past the budget
everything is allowed, so the text stays text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..schema_refs import resolve
from .json_form import read_loose_json

ANY_TYPE = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_MOST_SCHEMAS = 100


def allowed_types(schema: Any, root: Any) -> frozenset[str]:
    """The JSON type names a value may have; `number` brings `integer` with it."""
    return _allowed(schema, root, iter(range(_MOST_SCHEMAS)))


def read_slot(text: str, types: frozenset[str]) -> Any:
    """The value a slot's text spells: JSON of an allowed type, else the text.

    Where a string is allowed the text is the value: `007` is then no number.
    """
    if "string" in types:
        return text
    try:
        value = read_loose_json(text)
    except ValueError:
        return text
    return value if _is_allowed(value, types) else text


def parameters_of(schema: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """A tool's parameters by name, and the required ones, through local `$ref` and `allOf`."""
    properties: dict[str, Any] = {}
    required: set[str] = set()
    for part in _parts(schema):
        named = part.get("properties")
        if isinstance(named, dict):
            properties = {**named, **properties}
        listed = part.get("required")
        if isinstance(listed, list):
            required.update(name for name in listed if isinstance(name, str))
    return properties, frozenset(required)


def _parts(root: Any) -> Iterator[Mapping[str, Any]]:
    waiting = [root]
    for _ in range(_MOST_SCHEMAS):
        if not waiting:
            return
        schema = waiting.pop(0)
        if isinstance(schema, dict):
            yield schema
            if "$ref" in schema:
                waiting.append(resolve(root, schema["$ref"]))
            if isinstance(schema.get("allOf"), list):
                waiting += schema["allOf"][:_MOST_SCHEMAS]


def _allowed(schema: Any, root: Any, budget: Iterator[int]) -> frozenset[str]:
    if not isinstance(schema, dict) or next(budget, None) is None:
        return ANY_TYPE
    types = _named(schema.get("type"))
    if schema.get("nullable") is True and types != ANY_TYPE:
        types |= {"null"}
    if isinstance(schema.get("enum"), list):
        types &= _types_of(schema["enum"])
    if "const" in schema:
        types &= _types_of([schema["const"]])
    if "$ref" in schema:
        types &= _allowed(resolve(root, schema["$ref"]), root, budget)
    for part in _listed(schema.get("allOf")):
        types &= _allowed(part, root, budget)
    for keyword in ("anyOf", "oneOf"):
        parts = _listed(schema.get(keyword))
        if parts:
            types &= frozenset().union(*(_allowed(part, root, budget) for part in parts))
    return types


def _named(declared: Any) -> frozenset[str]:
    names = declared if isinstance(declared, list) else [declared]
    types = ANY_TYPE.intersection(name for name in names if isinstance(name, str))
    if "number" in types:
        types |= {"integer"}
    return types or ANY_TYPE


def _listed(parts: Any) -> list[Any]:
    return parts if isinstance(parts, list) else []


def _types_of(values: list[Any]) -> frozenset[str]:
    types = {json_type(value) for value in values}
    # A float and an integer of one value are equal to JSON Schema: `enum: [1]` takes `1.0`.
    if "integer" in types or "number" in types:
        types |= {"integer", "number"}
    return frozenset(types)


def json_type(value: Any) -> str:
    """The JSON type of a value; an integer is `integer`, a float is `number`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _is_allowed(value: Any, types: frozenset[str]) -> bool:
    kind = json_type(value)
    # `3.0` is an integer to JSON Schema.
    return kind in types or (kind == "number" and "integer" in types and value.is_integer())
