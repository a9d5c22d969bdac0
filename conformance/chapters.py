"""All clauses of a dialect, in the order of their ids."""

from __future__ import annotations

from .calls import C
from .clause import Clause
from .envelope import E
from .framing import F
from .gating import G
from .native import N
from .trial import Trial
from .verbatim import V

CHAPTERS = (V, F, E, N, C, G)


def clauses() -> tuple[Clause[Trial], ...]:
    """Every clause that a dialect has to keep, in a fixed order."""
    return tuple(clause for chapter in CHAPTERS for clause in chapter)
