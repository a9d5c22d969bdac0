"""Which messages may hold a text that begins with a prefix: those in the plain shapes of a wire are
told at once, any other is left to a closer look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..host_words import Candidates


def candidates(may_begin: Callable[[Any, str], bool]) -> Candidates:
    """Those rows of which `may_begin(row, prefix)` is true, or cannot tell: it may raise anything."""

    def chosen(rows: list[Any], prefix: str) -> list[Any]:
        found = []
        for row in rows:
            try:
                if may_begin(row, prefix):
                    found.append(row)
            except Exception:  # a host's row may be anything, and say no in any way
                found.append(row)
        return found

    return chosen


def content_may_begin(content: Any, prefix: str) -> bool:
    """Whether a content field, a text or a list of parts, may hold a text that begins so. Raises for what is neither."""
    if type(content) is str:
        return content.removeprefix(prefix) is not content
    if type(content) is not list:
        return content is not None
    for part in content:
        text = part
        if type(part) is not str:
            if type(part) is not dict:
                return True
            text = part.get("text")
        if text is not None and text.removeprefix(prefix) is not text:
            return True
    return False
