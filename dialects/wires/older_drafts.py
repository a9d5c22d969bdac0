"""JSON Schema as older drafts spelled it, in today's spelling.

Providers judge by draft 2020-12 whatever `$schema` says, and generators still write tuples
and exclusive bounds the old way. Only what an older draft defined is respelled.
Source: "JSON Schema: A Media Type for Describing JSON Documents", 2019-09 and 2020-12 changes.
"""

from __future__ import annotations

from typing import Any

from ..schema_refs import subschemas


def modernise(schema: dict[str, Any]) -> None:
    """Respell tuples (`items` as a list, before 2020-12) and boolean exclusive bounds (draft 4) in place."""
    for part in list(subschemas(schema)):
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
