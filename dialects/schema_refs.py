"""References inside one JSON Schema document. Nothing outside it is ever opened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

# JSON Pointer, RFC 6901, section 4; more digits than any list has elements would not convert.
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_LITERALS = frozenset({"const", "enum", "default", "examples", "example", "required"})
# Keywords whose value holds schemas by names of the author's.
NAMED_SCHEMAS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)


def resolve(document: Any, reference: Any) -> Any:
    """What a reference such as `#/$defs/Mode` points at in the document; None where it is none,
    leads out of the document or dangles."""
    if reference == "#":
        return document
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    place = document
    for step in reference[2:].split("/"):
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict) and key in place:
            place = place[key]
        elif isinstance(place, list) and _INDEX.fullmatch(key) and int(key) < len(place):
            place = place[int(key)]
        else:
            return None
    return place


def subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object of a schema in which a keyword could stand, the schema itself first.

    Literal values (`const`, `enum`, `default`, `examples`) are not schemas, and a property
    may be named as a keyword is.
    """
    pending: list[tuple[Any, bool]] = [(schema, False)]
    while pending:
        value, is_map = pending.pop()
        if isinstance(value, list):
            pending.extend((item, False) for item in value)
        elif isinstance(value, dict):
            if is_map:
                pending.extend((item, False) for item in value.values())
            else:
                yield value
                pending.extend((item, key in NAMED_SCHEMAS) for key, item in value.items() if key not in _LITERALS)
