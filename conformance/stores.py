"""What is tested of a store (a ledger or a turn counter), and how its clauses are run."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .clause import Clause, Need
from .result import Result, conclude
from .target import Refused
from .trial import Profile, Search

_T = TypeVar("_T")
StoreT = TypeVar("StoreT")

THREADS = 8


@dataclass(frozen=True)
class StoreTarget(Generic[StoreT]):
    """`make()`: a new store that shares nothing with those made before. `reopen(store)`: a second
    object on the same store, as another process would open it. `bound`: how many deliveries a
    ledger, or turns a counter, remembers; None where that is not bounded by number.

    `lifetime`: seconds after which a counter forgets a turn that nobody wrote to;
    `pass_time(store, seconds)` lets them pass.
    """

    make: Callable[[], StoreT]
    reopen: Callable[[StoreT], StoreT] | None = None
    bound: int | None = None
    lifetime: float | None = None
    pass_time: Callable[[StoreT, float], object] | None = None

    def meets(self) -> frozenset[Need]:
        met: set[Need] = set()
        if self.reopen is not None:
            met.add("reopen")
        if self.lifetime is not None and self.pass_time is not None:
            met.add("clock")
        return frozenset(met)


class StoreTrial(Generic[StoreT]):
    """One clause on one store."""

    def __init__(self, target: StoreTarget[StoreT], clause_id: str, *, seed: int, profile: Profile) -> None:
        self.target, self.bound = target, target.bound
        self.search = Search(seed ^ zlib.crc32(clause_id.encode()), profile)

    def new(self) -> StoreT:
        return answered("making a store", self.target.make)

    def reopened(self, store: StoreT) -> StoreT:
        reopen = self.target.reopen
        assert reopen is not None
        return answered("reopening a store", lambda: reopen(store))

    def pass_time(self, store: StoreT, lifetimes: float) -> None:
        lifetime, pass_time = self.target.lifetime, self.target.pass_time
        assert lifetime is not None
        assert pass_time is not None
        pass_time(store, lifetime * lifetimes)


def answered(request: str, ask: Callable[[], _T]) -> _T:
    """What the store answers. Raises Refused where it raises, whatever it raises."""
    try:
        return ask()
    except Exception as error:
        raise Refused(request, type(error).__name__, str(error)) from error


def judge_store(
    clause: Clause[Any], target: StoreTarget[Any], expected: str | None = None, *, seed: int, profile: Profile
) -> Result:
    """One clause on one store."""
    trial = StoreTrial(target, clause.id, seed=seed, profile=profile)
    return conclude(clause, target.meets(), lambda: clause.check(trial), lambda: trial.search.example, expected)


def at_once(work: Callable[[int], None]) -> None:
    """`work(number)` in each of some threads, as interleaved as the interpreter can. Raises what one raised."""
    start = threading.Barrier(THREADS)
    failed: list[Exception] = []

    def run(number: int) -> None:
        start.wait()
        try:
            work(number)
        except Exception as error:
            failed.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    if failed:
        raise failed[0]


def memory_kept(work: Callable[[], object]) -> int:
    """Bytes of this process's memory that `work` leaves behind."""
    gc.collect()
    is_first = not tracemalloc.is_tracing()
    if is_first:
        tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        if is_first:
            tracemalloc.stop()
