"""Errors and reasons as the log shows them: a server may have written them, of any length."""

from __future__ import annotations

import traceback

_LONGEST_LINE = 300
_LONGEST_REASON = 200


def one_line(text: object, longest: int = _LONGEST_LINE) -> str:
    """The beginning of a text, without line breaks."""
    return " ".join(str(text)[: 4 * longest].split())[:longest]


def reason_of(error: BaseException) -> str:
    """An error's type and message in one short line."""
    return one_line(f"{type(error).__name__}: {error}", _LONGEST_REASON)


def where_raised(error: BaseException) -> str:
    """An error's type and the place it came from, for errors whose message may hold arguments."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return type(error).__name__ + place
