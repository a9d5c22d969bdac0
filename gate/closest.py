"""The names most like a wrong one."""

from __future__ import annotations

from collections.abc import Sequence

# difflib compares in quadratic time; the rough order decides who is compared exactly.
_COMPARED = 200
_COMPARED_LENGTH = 100


def closest(parts: Sequence[str], names: Sequence[str], count: int) -> list[str]:
    """At most `count` of `names`, the likest first; equal ones in code-point order.

    The names may stand for any of the target's `parts` (a server or its tool): the likest counts.
    """
    import difflib  # a wrong name is rare, and difflib large

    wrong = [_shortened(part) for part in parts]
    wrong_pairs = [_pairs(part) for part in wrong]

    def roughly(name: str) -> tuple[float, str]:
        pairs = _pairs(_shortened(name))
        return -max(2 * len(pairs & others) / (len(pairs) + len(others)) for others in wrong_pairs), name

    def exactly(name: str) -> tuple[float, str]:
        shortened = _shortened(name)
        return -max(difflib.SequenceMatcher(None, part, shortened).ratio() for part in wrong), name

    return sorted(sorted(set(names), key=roughly)[:_COMPARED], key=exactly)[:count]


def _shortened(name: str) -> str:
    return name[:_COMPARED_LENGTH].lower()


def _pairs(name: str) -> set[str]:
    """Neighbouring letters, the ends of the name included."""
    framed = f" {name} "
    return {framed[at : at + 2] for at in range(len(framed) - 1)}
