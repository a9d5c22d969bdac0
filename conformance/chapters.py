"""All clauses, in the order of their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from .arrival import ARRIVAL
from .calls import C
from .catalogue import CATALOGUE
from .clause import Chapter, Clause
from .counters import T
from .envelope import E
from .execution import EXECUTION
from .forgeries import FORGERIES
from .framing import F
from .gating import G
from .ledger_memory import MEMORY
from .ledgers import L
from .linear import LINEAR
from .misread import MISREAD
from .names import NAMES
from .native import N
from .repair import REPAIR
from .replayed import REPLAYED
from .spelling import SPELLING
from .verbatim import V

Tested: TypeAlias = Literal["dialect", "harness", "ledger", "counter"]

CHAPTERS: dict[Tested, tuple[Chapter[Any], ...]] = {
    "dialect": (V, F, REPLAYED, E, NAMES, FORGERIES, LINEAR, N, REPAIR, C, MISREAD, SPELLING, CATALOGUE, G),
    "harness": (ARRIVAL, EXECUTION),
    "ledger": (L, MEMORY),
    "counter": (T,),
}


def clauses(of: Tested | None = None) -> tuple[Clause[Any], ...]:
    """Every clause in a fixed order; with `of`, those that a dialect, a host's harness, a ledger or
    a turn counter has to keep."""
    kept = CHAPTERS.values() if of is None else [CHAPTERS[of]]
    return tuple(clause for chapters in kept for clause in _in_order(chapters))


def _in_order(chapters: Sequence[Chapter[Any]]) -> list[Clause[Any]]:
    """A letter may have several files; its clauses are counted through."""
    letters = [chapter.letter for chapter in chapters]
    found = [(chapter.letter, clause) for chapter in chapters for clause in chapter]
    found.sort(key=lambda pair: (letters.index(pair[0]), int(pair[1].id.removeprefix(pair[0]))))
    return [clause for _, clause in found]
