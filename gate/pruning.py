"""Bringing a contract under a length by leaving out descriptions, never a schema.

A model can call a tool whose parameters it must guess the meaning of; it cannot call one
whose parameters were cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tooldialect.dialects.schema_refs import NAMED_SCHEMAS
from tooldialect.dialects.text import compact_json

_SCHEMAS = frozenset(
    {
        "items",
        "prefixItems",
        "additionalItems",
        "contains",
        "contentSchema",
        "unevaluatedItems",
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
        "allOf",
        "anyOf",
        "oneOf",
    }
)


def fit_document(
    document: dict[str, Any], budget: int, render: Callable[[Any], str] = compact_json
) -> tuple[str, bool]:
    """`document` (with `description` and `input_schema`) as compact JSON of at most `budget`
    characters where leaving out descriptions, deepest first, can achieve it.

    Returns the JSON and whether anything was left out. The tool's own description goes last,
    and its beginning is kept as far as there is room.
    """
    whole = render(document)
    if len(whole) <= budget:
        return whole, False
    pruned = {**document, "input_schema": _copy(document["input_schema"])}
    described = sorted(_described(pruned["input_schema"]), key=lambda found: -found[0])
    excess = len(whole) - budget
    for _, schema in described:
        if excess <= 0:
            break
        # What goes is the pair and, where it was not alone, a comma: at least this much.
        excess -= len(render({"description": schema.pop("description")})) - len("{}")
    text = render(pruned)
    if len(text) <= budget:
        return text, True
    return _shorten_own_description(pruned, budget, render), True


def _shorten_own_description(document: dict[str, Any], budget: int, render: Callable[[Any], str]) -> str:
    full = document["description"]
    fits, too_long = 0, len(full)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if len(render({**document, "description": full[:middle]})) <= budget:
            fits = middle
        else:
            too_long = middle
    return render({**document, "description": full[:fits]})


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value


def _described(schema: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each schema with a description and its depth. Data (`enum`, `default`, `examples`) is
    not looked into: a `description` there is a value, not an annotation."""
    waiting = [(0, schema)]
    while waiting:
        depth, here = waiting.pop()
        if isinstance(here, list):
            waiting += [(depth, item) for item in here]
        if not isinstance(here, dict):
            continue
        if isinstance(here.get("description"), str):
            yield depth, here
        for keyword, value in here.items():
            if keyword in _SCHEMAS:
                waiting.append((depth + 1, value))
            elif keyword in NAMED_SCHEMAS and isinstance(value, dict):
                waiting += [(depth + 1, item) for item in value.values()]
