"""Errors and reasons as the log shows them: a server may have written them, of any length."""

from __future__ import annotations

_LONGEST_LINE = 300
_LONGEST_REASON = 200


def one_line(text: object, longest: int = _LONGEST_LINE) -> str:
    """The beginning of a text, without line breaks."""
    return " ".join(str(text)[: 4 * longest].split())[:longest]


def reason_of(error: BaseException) -> str:
    """An error's type and message in one short line."""
    return one_line(f"{type(error).__name__}: {error}", _LONGEST_REASON)
