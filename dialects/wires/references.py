"""The references in a tool's schema: each leads to a schema, or it goes.

The meta-schema judges a schema where one may stand. A reference may lead anywhere in the
document, into a default or an unknown keyword, and what stands there was judged by nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..schema_refs import NAMED_SCHEMAS, resolve, subschemas
from ..text import canonical_json

_SCHEMA_AT = (
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_SCHEMAS_AT = ("allOf", "anyOf", "oneOf", "prefixItems")
_BASES = ("$id", "$anchor", "$dynamicAnchor", "id")
# Targets may lie in one another: so much is judged, in lengths of the whole schema.
_MOST_JUDGED = 8


def drop_bad_references(schema: dict[str, Any], fault: Callable[[Any], str | None]) -> list[str]:
    """Removes references that lead nowhere, or to what is no schema: what they said is
    unknown, the rest still holds. Returns what is wrong, sorted.

    `fault`: what is wrong with a schema, as `schema` itself was already asked.
    """
    pending = list(subschemas(schema))
    is_one_document = not any(key in part for part in pending for key in _BASES)
    room = _MOST_JUDGED * len(canonical_json(schema))
    judged: dict[int, str | None] = dict.fromkeys(judged_places(schema))
    seen: set[int] = set()
    details = []
    while pending:
        part = pending.pop()
        reference = part.get("$ref")
        if id(part) in seen or not isinstance(reference, str):
            continue
        seen.add(id(part))
        target = resolve(schema, reference)
        if target is None:
            # With a base of its own a part may mean another document, or a name in this one.
            wrong = "is not in it" if is_one_document else None
        else:
            if id(target) not in judged:
                room -= len(canonical_json(target))
                judged[id(target)] = "overlaps too many others" if room < 0 else _no_schema(fault(target))
                if judged[id(target)] is None:
                    judged.update(dict.fromkeys(judged_places(target)))
                    pending.extend(subschemas(target))
            wrong = judged[id(target)]
        if wrong is not None:
            del part["$ref"]
            details.append(f"its schema refers to {reference!r}, which {wrong}")
    return sorted(details)


def _no_schema(fault: str | None) -> str | None:
    return None if fault is None else f"is no JSON Schema: {fault}"


def judged_places(schema: Any) -> Iterator[int]:
    """Where in a schema the meta-schema has judged each value to be one, by `id`."""
    pending = [schema]
    while pending:
        part = pending.pop()
        yield id(part)
        if not isinstance(part, dict):
            continue
        pending += [part[key] for key in _SCHEMA_AT if key in part]
        for key in _SCHEMAS_AT:
            pending += part.get(key, ())
        for key in NAMED_SCHEMAS:
            # A dependency may be a list of names.
            pending += [inner for inner in part.get(key, {}).values() if not isinstance(inner, list)]
