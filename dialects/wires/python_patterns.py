r"""Patterns of a schema for a reader that compiles them with Python's `re`.

JSON Schema means ECMA-262. What only that knows (`\p{L}`, `(?<name>…)`) is refused there, and
what only Python knows (`(?i)x`, `[a-z]++`) is taken.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Any

from ..schema_refs import subschemas

# `re` takes seconds to compile a text made for that; hand-written patterns are far shorter.
_LONGEST = 4096


def drop_foreign_patterns(schema: dict[str, Any]) -> list[str]:
    """Removes, in place, the patterns that `re.compile` refuses: the rest still holds. Returns
    what is wrong, sorted. Raises ValueError where one is negated, so that less would mean more."""
    parts = list(subschemas(schema))
    negated = {id(inner) for part in parts if "not" in part for inner in subschemas(part["not"])}
    details = set()
    for part in parts:
        wrong = set()
        pattern = part.get("pattern")
        if isinstance(pattern, str) and (fault := _fault(pattern)):
            wrong.add(f"its pattern {_shown(pattern)} is none in Python: {fault}")
            del part["pattern"]
        named = part.get("patternProperties")
        for pattern in list(named) if isinstance(named, dict) else ():
            if fault := _fault(pattern):
                wrong.add(f"its pattern {_shown(pattern)} of names is none in Python: {fault}")
                del part["patternProperties"][pattern]
                # Names that it let in would be refused now.
                part.pop("additionalProperties", None)
                part.pop("unevaluatedProperties", None)
        if wrong and id(part) in negated:
            raise ValueError(min(wrong))
        details |= wrong
    return sorted(details)


@lru_cache(maxsize=1024)
def _fault(pattern: str) -> str | None:
    if len(pattern) > _LONGEST:
        return f"it has more than {_LONGEST:,} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error) or type(error).__name__
    return None


def _shown(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 80 else f"{pattern[:79]}…")
