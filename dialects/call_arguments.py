"""The one reading of a call's argument text, for every dialect and every wire."""

from __future__ import annotations

from typing import Any

from .text import MAX_FIELD_DEPTH, read_json

KINDS_IN_WORDS = {
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    list: "an array",
    type(None): "null",
}


def read_arguments(raw: str) -> dict[str, Any]:
    """Argument text as an object: blank text is no arguments, a JSON string that holds an
    object is read once more.

    Raises ValueError, with a reason fit for the model, for anything that is not one JSON
    object: never an invented `{}`, which a gate would take for a call without arguments.
    """
    if not raw.strip(" \t\r\n"):
        return {}
    value = _read(raw)
    if isinstance(value, str):
        value = _read(value)
    if not isinstance(value, dict):
        raise ValueError(f"the arguments are {KINDS_IN_WORDS[type(value)]}, not one JSON object")
    return value


def _read(text: str) -> Any:
    try:
        return read_json(text, max_depth=MAX_FIELD_DEPTH)
    except ValueError as error:
        raise ValueError(f"the arguments are not valid JSON: {error}") from None
