"""The names most like a wrong one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

_WORD = re.compile(r"[A-Za-z0-9]+")
# difflib compares in quadratic time; the rough order decides who is compared exactly.
_COMPARED = 200
_COMPARED_LENGTH = 100


def closest(parts: Sequence[str], names: Sequence[str], count: int) -> list[str]:
    """At most `count` of `names`, the likest first; equal ones in code-point order.

    The names may stand for any of the target's `parts` (a server or its tool): the likest counts.
    """
    wrong = [part[:_COMPARED_LENGTH].lower() for part in parts]
    words = [set(_WORD.findall(part)) for part in wrong]

    def roughly(name: str) -> tuple[int, int, str]:
        lowered = name[:_COMPARED_LENGTH].lower()
        found = set(_WORD.findall(lowered))
        likeness = ((-len(known & found), abs(len(lowered) - len(part))) for part, known in zip(wrong, words, strict=True))
        return *min(likeness), name

    def exactly(name: str) -> tuple[float, str]:
        lowered = name[:_COMPARED_LENGTH].lower()
        return -max(difflib.SequenceMatcher(None, part, lowered).ratio() for part in wrong), name

    return sorted(sorted(set(names), key=roughly)[:_COMPARED], key=exactly)[:count]
