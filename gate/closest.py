"""The names most like a wrong one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

_WORD = re.compile(r"[A-Za-z0-9]+")
# difflib compares in quadratic time; the rough order decides who is compared exactly.
_COMPARED = 200
_COMPARED_LENGTH = 100


def closest(wrong: str, names: Sequence[str], count: int) -> list[str]:
    """At most `count` of `names`, the likest first; equal ones in code-point order."""
    wrong = wrong[:_COMPARED_LENGTH].lower()
    words = set(_WORD.findall(wrong))

    def roughly(name: str) -> tuple[int, int, str]:
        lowered = name[:_COMPARED_LENGTH].lower()
        return -len(words & set(_WORD.findall(lowered))), abs(len(lowered) - len(wrong)), name

    def exactly(name: str) -> tuple[float, str]:
        return -difflib.SequenceMatcher(None, wrong, name[:_COMPARED_LENGTH].lower()).ratio(), name

    return sorted(sorted(set(names), key=roughly)[:_COMPARED], key=exactly)[:count]
