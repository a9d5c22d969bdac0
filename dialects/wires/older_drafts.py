"""JSON Schema as older drafts spelled it, in today's spelling, and back in that of draft 7.

Providers judge by draft 2020-12 whatever `$schema` says, and generators still write tuples
and exclusive bounds the old way. Only what an older draft defined is respelled.
Source: "JSON Schema: A Media Type for Describing JSON Documents", 2019-09 and 2020-12 changes.
"""

from __future__ import annotations

from typing import Any

from ..schema_refs import subschemas

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def modernise(schema: dict[str, Any]) -> None:
    """Respell in place tuples (`items` as a list, before 2020-12), anchors (`$id` as one, before
    2019-09) and boolean exclusive bounds (draft 4).

    `$schema` goes: it would give the new words their old meaning.
    """
    for part in list(subschemas(schema)):
        part.pop("$schema", None)
        if isinstance(own := part.get("$id"), str) and own.startswith("#"):
            part["$anchor"] = part.pop("$id")[1:]
        if isinstance(part.get("items"), list):
            part["prefixItems"] = part.pop("items")
            if "additionalItems" in part:
                part["items"] = part.pop("additionalItems")
        for bound in ("minimum", "maximum"):
            exclusive = "exclusive" + bound.title()
            if isinstance(flag := part.get(exclusive), bool):
                del part[exclusive]
                if flag and bound in part:
                    part[exclusive] = part.pop(bound)


def as_draft_7(schema: dict[str, Any]) -> None:
    """Respell tuples in place for a reader of draft 7: there `items` beside an unknown
    `prefixItems` speaks of every item, and `items: false` of an empty list."""
    tuples = [part for part in subschemas(schema) if isinstance(part.get("prefixItems"), list)]
    if tuples:
        schema["$schema"] = DRAFT_7
    for part in tuples:
        part.pop("additionalItems", None)
        if "items" in part:
            part["additionalItems"] = part.pop("items")
        part["items"] = part.pop("prefixItems")
