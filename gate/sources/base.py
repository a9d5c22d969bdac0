"""The port every contract source implements.

A source may also have `peek(target) -> Contract | None`: what it knows without I/O;
`immediate = True`: its `lookup` does no I/O, so that it is asked without a thread and
without a time limit; and `lookup_blocking(target, timeout) -> Lookup`: for a coroutine
`lookup` that belongs to one event loop, how code outside of it asks. All are looked for by
name, so that a source of one method is enough.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from ..contract import Contract
from ..target import GateTarget


@dataclass(frozen=True, slots=True)
class Found:
    """The target exists and this is its contract."""

    contract: Contract


@dataclass(frozen=True, slots=True)
class NotFound:
    """The source is sure that there is no such target. `alternatives`: the valid names, each
    in full, as the model would spell it; the gate shows the closest. `part`: which of the
    target's parts they are for, counted from 0; None where they name whole targets."""

    alternatives: tuple[str, ...] = ()
    part: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The source cannot tell now; `why` goes to the log, never to the model."""

    why: str


Lookup: TypeAlias = Found | NotFound | Unavailable


class ContractSource(Protocol):
    """Answers `lookup`, directly or as a coroutine. What it raises counts as `Unavailable`."""

    def lookup(self, target: GateTarget, /) -> Lookup | Awaitable[Lookup]: ...
