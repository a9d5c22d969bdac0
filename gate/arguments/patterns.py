"""Which regular expressions the engine takes, and how it says no."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jsonschema_rs

# Enough for `\p{L}+`, and small enough that a long string is read in bounded time.
PATTERN_OPTIONS = jsonschema_rs.RegexOptions(size_limit=1 << 17, dfa_size_limit=1 << 20)
_MAX_PATTERN = 10_000


def is_refusal(error: BaseException) -> bool:
    """Whether the engine says by `error` that it takes no such schema or value.

    A fault in its native code arrives as a PanicException, which no class below Exception is
    and no module exports.
    """
    return isinstance(error, (ValueError, OverflowError, RecursionError)) or type(error).__name__ == "PanicException"


def pattern_compiles(pattern: str) -> bool:
    """Whether the linear-time engine takes a pattern: no look-around, no back-references, no
    counted repetition beyond its size limit."""
    return _compiled(pattern) is not None


def pattern_matches(pattern: str, text: str) -> bool:
    """Whether a pattern is found in `text`; not where either cannot be read."""
    ask = _compiled(pattern)
    try:
        return ask is not None and ask(text)
    except BaseException as error:
        if not is_refusal(error):
            raise
        return False


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> Callable[[Any], bool] | None:
    if len(pattern) > _MAX_PATTERN:
        return None
    try:
        made = jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=PATTERN_OPTIONS, offline=True)
    except BaseException as error:
        if not is_refusal(error):
            raise
        return None
    return made.is_valid
