"""Which regular expressions the engine takes, and how it says no."""

from __future__ import annotations

from functools import lru_cache

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


@lru_cache(maxsize=4096)
def pattern_compiles(pattern: str) -> bool:
    """Whether the linear-time engine takes a pattern: no look-around, no back-references, no
    counted repetition beyond its size limit."""
    if len(pattern) > _MAX_PATTERN:
        return False
    try:
        jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=PATTERN_OPTIONS, offline=True)
    except BaseException as error:
        if not is_refusal(error):
            raise
        return False
    return True
