"""A call's argument text as a wire sends it: always one JSON object.

Argument text that a model wrote wrong stays in the history for ever. Sent as it is, it
breaks every later request; sent as `{}` it teaches the model that its call was fine.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..call_arguments import read_arguments
from ..text import compact_json, read_json
from .reply import plain

UNREADABLE = "unreadable_arguments"
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def argument_object(raw: str) -> dict[str, Any]:
    """The arguments as an object; text that is none goes whole under `unreadable_arguments`."""
    try:
        return read_arguments(raw)
    except ValueError:
        return _unreadable(raw)


def argument_text(raw: str) -> str:
    """The arguments as JSON text: what already is one object keeps its bytes.

    But for one that escapes surrogates: a lone one would make the text unreadable to strict readers.
    """
    try:
        value = read_arguments(raw)
    except ValueError:
        return compact_json(_unreadable(raw))
    if not raw.strip() or _SURROGATE_ESCAPE.search(raw):
        return compact_json(value)
    is_string = raw.lstrip(" \t\r\n").startswith('"')
    return str(read_json(raw) if is_string else raw)


def _unreadable(raw: str) -> dict[str, Any]:
    return {UNREADABLE: str(raw)}


def reported_arguments(value: Any) -> str:
    """The argument text of a reply, whether the provider gave text, an object or nothing.

    What JSON cannot say is spelled so that it reads as malformed; no reply raises.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return f"unreadable: {type(value).__name__}"
