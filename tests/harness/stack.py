"""The middlewares real harnesses have, in their usual order."""

from __future__ import annotations

from collections.abc import Callable, Collection

from tooldialect.gate import ContractGate

from .breakers import FailureBreaker, RepeatedCallGuard
from .compaction import Microcompact, Summariser
from .images import ImageTrimmer
from .middleware import Middleware, Spare, spare_nothing
from .rewriters import Rewrite, TextRewriter, byte_cap, collapse_white_space

USUAL_ORDER = ("cleaner", "cap", "summariser", "microcompact", "trimmer", "breaker", "guard")


def usual_middlewares(
    gate: ContractGate | None,
    which: Collection[str] = USUAL_ORDER,
    *,
    guarded: bool = True,
    cap: int = 8_000,
    budget: int = 20_000,
    keep: int = 4,
    rows: int = 3,
    failures: int = 3,
    repeats: int = 2,
) -> list[Middleware]:
    """Fresh middlewares, those named in `which`; `guarded`: they leave the gate's deliveries alone.

    `cap`: bytes a text may have; `budget`: characters before the summariser and the trimmer
    act; `keep`: entries, `rows`: tool rows that stay.
    """
    if unknown := set(which) - set(USUAL_ORDER):
        raise ValueError(f"no middleware is named {sorted(unknown)}; known: {USUAL_ORDER}")
    spare: Spare = spare_nothing
    exempt: Callable[[Rewrite], Rewrite] = _same
    if gate is not None and guarded:
        spare, exempt = gate.is_contract_delivery, gate.exempt
    made: dict[str, Middleware] = {
        "cleaner": TextRewriter(exempt(collapse_white_space)),
        "cap": TextRewriter(exempt(byte_cap(cap))),
        "summariser": Summariser(budget, keep, spare),
        "microcompact": Microcompact(rows, spare),
        "trimmer": ImageTrimmer(budget, spare=spare),
        "breaker": FailureBreaker(failures, spare),
        "guard": RepeatedCallGuard(repeats, spare),
    }
    return [made[name] for name in USUAL_ORDER if name in which]


def _same(rewrite: Rewrite) -> Rewrite:
    return rewrite
