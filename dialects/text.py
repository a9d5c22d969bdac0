"""Strings that can be sent: every record's text is valid UTF-8 from the start.

One lone surrogate in one tool result makes the whole request body invalid, and since
history is replayed, every later request with it. So texts are cleaned where they enter.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

# Compiled by the first text that has to be repaired; most processes see none.
_SURROGATE = "[\ud800-\udfff]"
_PAIR = "([\ud800-\udbff])([\udc00-\udfff])"

# CPython refuses to write or read a longer integer (sys.int_info.default_max_str_digits).
_MAX_INTEGER_DIGITS = 4300
_MAX_INTEGER_BITS = int(_MAX_INTEGER_DIGITS * math.log2(10))
# Of any JSON text, in levels. Deeper ones cannot be read back: json's C scanner recurses once a level.
MAX_DEPTH = 300
# Of a value in a field of a record. Less, since a saved entry wraps it in a few levels more, a
# host's log perhaps in others, and the whole must be read back.
MAX_FIELD_DEPTH = 250
# Of a part that is yet to be wrapped, a few levels deep, in what such a field holds.
MAX_PART_DEPTH = 240
_SHOWN_PATH = 40
# What some readers take for the end of a line, and JSON leaves in strings as it is.
LINE_ENDS = str.maketrans({end: f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"})


class RepairedText(str):
    """A text in which a lone surrogate became U+FFFD: equal to and dumped as plain text.

    The type is the memory that it was repaired. A text that was changed must not be
    marked `trusted_verbatim` afterwards, however many records it has passed through.
    """

    __slots__ = ()


def clean_text(text: str) -> str:
    """Join split surrogate pairs; a lone surrogate becomes U+FFFD (and the text `RepairedText`)."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = re.sub(_PAIR, _join_pair, text)
        repaired, lone = re.subn(_SURROGATE, "\ufffd", joined)
        return RepairedText(repaired) if lone else joined
    return text


def _join_pair(pair: re.Match[str]) -> str:
    high, low = pair.groups()
    return chr(0x10000 + ((ord(high) - 0xD800) << 10) + (ord(low) - 0xDC00))


def clean_json(value: Any, where: str = "$", *, max_depth: int = MAX_DEPTH) -> Any:
    """A copy of a JSON value with clean strings and lists for tuples.

    Raises ValueError, naming the place, for what is not JSON: NaN and infinities, keys
    that are not strings, other types, integers that no JSON reader takes back; and for more
    than `max_depth` levels.
    """
    return _clean(value, where, max_depth, max_depth)


def _clean(value: Any, where: str, max_depth: int, left: int) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > _MAX_INTEGER_BITS:
            raise ValueError(f"{where}: an integer of more than {_MAX_INTEGER_DIGITS:,} digits cannot be read back")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where}: {value!r} is not JSON; send null or a string instead")
        return float(value)
    if not left:
        # The end of so long a path helps nobody.
        raise ValueError(f"{where[:_SHOWN_PATH]}…: nested deeper than {max_depth} levels")
    if isinstance(value, dict):
        cleaned = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError(f"{where}: key {key!r} is not a string")
            cleaned[clean_text(key)] = _clean(item, f"{where}.{key}", max_depth, left - 1)
        return cleaned
    if isinstance(value, (list, tuple)):
        return [_clean(item, f"{where}[{index}]", max_depth, left - 1) for index, item in enumerate(value)]
    raise ValueError(f"{where}: {type(value).__name__} is not JSON")


def refuse_constant(constant: str) -> None:
    """The `parse_constant` of a strict reader: `json` takes NaN and infinities, JSON has none."""
    raise ValueError(f"{constant} is not JSON")


# `json.loads` with an option would make one at every call, at ten times the cost of a short text.
_STRICT = json.JSONDecoder(parse_constant=refuse_constant)


def read_json(text: str, *, max_depth: int = MAX_DEPTH) -> Any:
    """Parse strict JSON (no NaN, no infinities, bounded depth), strings cleaned.

    Raises ValueError for everything else, also where the standard library would raise
    RecursionError (deep nesting) or read `1e400` as infinity.
    """
    try:
        return clean_json(_STRICT.decode(text), max_depth=max_depth)
    except RecursionError:
        raise ValueError(f"nested deeper than {max_depth} levels") from None


def compact_json(value: Any) -> str:
    """JSON without white space, non-ASCII kept, keys in the order given."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def single_line_json(value: Any) -> str:
    """The same, in which nothing ends a line, whatever the reader takes for that
    (`str.splitlines`: U+0085, U+2028 and U+2029 too; JSON escapes the rest)."""
    text = compact_json(value)
    return text if text.isascii() else text.translate(LINE_ENDS)


def canonical_json(value: Any) -> str:
    """Compact JSON with sorted keys: equal objects give equal texts, whatever their key order."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
