"""Which run a context is in: runs nest, and a context remembers those around its own."""

from __future__ import annotations

import contextlib
import contextvars
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from .gate import ContractGate
    from .run import GateRun


class _Here(NamedTuple):
    """The run a context is in, and what that context was in before."""

    run: weakref.ref[GateRun]
    before: _Here | None


Entry: TypeAlias = contextvars.Token[_Here | None]
"""What `leave` takes of `enter`."""

_here: contextvars.ContextVar[_Here | None] = contextvars.ContextVar("tooldialect_gate_run", default=None)


def current_run(gate: ContractGate) -> GateRun | None:
    """The innermost run of `gate` that this context has entered and that has not ended."""
    return next((run for _, run in _going_on() if run.gate is gate), None)


def enter(run: GateRun) -> Entry:
    """Make `run` the context's current one."""
    # Only what goes on is remembered: runs left in another context would pile up.
    before = next((place for place, _ in _going_on()), None)
    return _here.set(_Here(weakref.ref(run), before))


def leave(entry: Entry) -> None:
    """Go back to what the context was in before."""
    # ValueError: left in another context than it was entered in, as an async generator may be;
    # `current_run` passes over runs that have ended.
    with contextlib.suppress(ValueError):
        _here.reset(entry)


def _going_on() -> Iterator[tuple[_Here, GateRun]]:
    """The runs of this context that have not ended, the innermost first."""
    place = _here.get()
    while place is not None:
        run = place.run()
        if run is not None and not run.ended:
            yield place, run
        place = place.before
