"""What is tested of a store (a ledger or a turn counter), and how its clauses are run."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from tooldialect.gate import Ledger, TurnCounter

from .clause import Clause, Need
from .faults import Refused
from .run import Result, conclude
from .trial import Profile, Search

_T = TypeVar("_T")
StoreT = TypeVar("StoreT")

THREADS = 8


class StoreDriver(ABC, Generic[StoreT]):
    """Makes stores to test. `capacity`: how much one that `make` returns remembers (a ledger:
    deliveries; a counter: turns), None where that is not bounded by number; small is fast.
    `lifetime`: seconds after which a counter forgets a turn that nobody wrote to."""

    capacity: int | None = None
    lifetime: float | None = None

    @abstractmethod
    def make(self) -> StoreT:
        """A new store that shares nothing with those made before."""

    def reopen(self, store: StoreT) -> StoreT | None:
        """A second object on the same store, as another process opens it; None where there is no such thing."""
        return None

    def advance(self, seconds: float) -> None:
        """Moves the stores' clock; only asked where there is a `lifetime`."""
        raise NotImplementedError

    def meets(self) -> frozenset[Need]:
        """The needs of clauses that this driver meets."""
        met: set[Need] = set()
        if answered("reopening a store", lambda: self.reopen(self.make())) is not None:
            met.add("reopen")
        if self.lifetime is not None:
            met.add("clock")
        return frozenset(met)


class LedgerDriver(StoreDriver[Ledger]):
    """`stranger`: a ledger that must not vouch for ours, nor ours for its: by default another one that
    `make` returns, so override it where those share a secret."""

    def stranger(self) -> Ledger:
        return self.make()


class CounterDriver(StoreDriver[TurnCounter]):
    """Makes turn counters."""


class StoreTrial(Generic[StoreT]):
    """One clause on one kind of store."""

    def __init__(self, driver: StoreDriver[StoreT], clause_id: str, *, seed: int, profile: Profile) -> None:
        self.driver, self.capacity = driver, driver.capacity
        self.search = Search(seed ^ zlib.crc32(clause_id.encode()), profile)

    def new(self) -> StoreT:
        return answered("making a store", self.driver.make)

    def reopened(self, store: StoreT) -> StoreT:
        other = answered("reopening a store", lambda: self.driver.reopen(store))
        assert other is not None
        return other

    def pass_time(self, lifetimes: float) -> None:
        assert self.driver.lifetime is not None
        self.driver.advance(self.driver.lifetime * lifetimes)


def answered(request: str, ask: Callable[[], _T]) -> _T:
    """What the store answers. Raises Refused where it raises, whatever it raises."""
    try:
        return ask()
    except Exception as error:
        raise Refused(request, type(error).__name__, str(error)) from error


def judge_store(
    clause: Clause[Any], driver: StoreDriver[Any], expected: str | None = None, *, seed: int, profile: Profile
) -> Result:
    """One clause on one kind of store."""
    trial = StoreTrial(driver, clause.id, seed=seed, profile=profile)
    try:
        met = driver.meets()
    except Refused as refusal:
        return Result(clause.id, "fail", str(refusal))
    return conclude(clause, met, lambda: clause.check(trial), lambda: trial.search.example, expected)


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
