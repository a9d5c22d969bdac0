"""The clauses of ledgers and turn counters: the built-in ones keep them, broken ones are caught."""

from __future__ import annotations

import contextlib
import itertools
import threading

import pytest
import xxhash

from tooldialect.conformance import (
    CounterDriver,
    LedgerConformance,
    LedgerDriver,
    TurnCounterConformance,
    counter_clauses,
    ledger_clauses,
    run_counter,
    run_ledger,
)
from tooldialect.gate import MemoryLedger, MemoryTurnCounter, SignedLedger


class Memory(LedgerDriver):
    capacity = 64

    def make(self):
        return MemoryLedger(self.capacity)


class Signed(LedgerDriver):
    def make(self):
        return SignedLedger("secret")

    def stranger(self):
        return SignedLedger("another")

    def reopen(self, store):
        return SignedLedger("secret")


class Counting(CounterDriver):
    capacity = 32

    def make(self):
        return MemoryTurnCounter(self.capacity)


class TestMemoryLedger(LedgerConformance):
    def make_driver(self):
        return Memory()


class TestSignedLedger(LedgerConformance):
    def make_driver(self):
        return Signed()


class TestMemoryTurnCounter(TurnCounterConformance):
    def make_driver(self):
        return Counting()


# Ledgers, broken


class ForgetsOnceAsked(MemoryLedger):
    def __init__(self, capacity=64):
        super().__init__(capacity)
        self._seen = set()

    def verify(self, token, payload, claims):
        known = super().verify(token, payload, claims) and token not in self._seen
        self._seen.add(token)
        return known


class Upper(MemoryLedger):
    def issue(self, payload, claims):
        return super().issue(payload, claims).upper()

    def verify(self, token, payload, claims):
        return super().verify(token.lower(), payload, claims) and token == token.upper()


class DigestOnly(MemoryLedger):
    """Whoever can compute the digest is believed."""

    def verify(self, token, payload, claims):
        return token == xxhash.xxh3_64_hexdigest(payload.encode(errors="replace"))


class Unbound(SignedLedger):
    """Signs the payload without the claims."""

    def issue(self, payload, claims):
        return super().issue(payload, {})

    def verify(self, token, payload, claims):
        return super().verify(token, payload, {})


class OneSecret(SignedLedger):
    def __init__(self, secret):
        super().__init__("the same for everybody")


class Raises(MemoryLedger):
    def verify(self, token, payload, claims):
        int(token, 16)
        return super().verify(token, payload, claims)


class Unbounded(MemoryLedger):
    def __init__(self, capacity=64):
        super().__init__(10**9)


class FakesEvict(MemoryLedger):
    def verify(self, token, payload, claims):
        known = super().verify(token, payload, claims)
        if not known:
            super().issue(payload.encode(errors="replace").decode(), {"asked": "0" * 16})
        return known


class Racy(MemoryLedger):
    """Keeps what it issued last for one thread at a time."""

    def __init__(self, capacity=64):
        super().__init__(capacity)
        self._last, self._turnstile = None, threading.Barrier(8, timeout=5)

    def issue(self, payload, claims):
        self._last = payload
        with contextlib.suppress(threading.BrokenBarrierError):
            self._turnstile.wait()
        return super().issue(payload if self._last == payload else "lost", claims)[:0] + xxhash.xxh3_64_hexdigest(
            payload.encode()
        )


class FreshSecret(SignedLedger):
    _numbers = itertools.count()

    def __init__(self, secret):
        super().__init__(f"{secret} {next(self._numbers)}")


def memory(cls):
    return type(cls.__name__, (Memory,), {"make": lambda self: cls(self.capacity)})()


def signed(cls):
    members = {
        "make": lambda self: cls("secret"),
        "stranger": lambda self: cls("another"),
        "reopen": lambda self, _: cls("secret"),
    }
    return type(cls.__name__, (Signed,), members)()


@pytest.mark.parametrize(
    ("driver", "caught"),
    [
        (memory(ForgetsOnceAsked), {"L1", "L6"}),
        (memory(Upper), {"L2"}),
        (memory(DigestOnly), {"L3", "L4", "L5", "L6"}),
        (signed(Unbound), {"L4"}),
        (signed(OneSecret), {"L5"}),
        (memory(Raises), {"L5"}),
        (memory(Unbounded), {"L6"}),
        (memory(FakesEvict), {"L6"}),
        (signed(FreshSecret), {"L8"}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, LedgerDriver) else None,
)
def test_a_broken_ledger_is_caught(driver, caught):
    assert {r.id for r in run_ledger(driver) if r.status == "fail"} == caught


def test_a_ledger_that_loses_in_a_race_is_caught():
    assert {r.id for r in run_ledger(memory(Racy), select_only=["L7"]) if r.status == "fail"} == {"L7"}


# Counters, broken


class StartsAtOne(MemoryTurnCounter):
    def count(self, turn_id, key):
        return super().count(turn_id, key) or 1


class CountsReads(MemoryTurnCounter):
    def count(self, turn_id, key):
        seen = super().count(turn_id, key)
        if seen:
            self.add(turn_id, key)
        return seen


class Joins(MemoryTurnCounter):
    def add(self, turn_id, key):
        return super().add("all", f"{turn_id}:{key}")

    def count(self, turn_id, key):
        return super().count("all", f"{turn_id}:{key}")


class Folds(MemoryTurnCounter):
    def add(self, turn_id, key):
        return super().add(turn_id.strip(), key.lower())

    def count(self, turn_id, key):
        return super().count(turn_id.strip(), key.lower())


class LosesWrites:
    def __init__(self, _capacity):
        self._counts = {}
        self._turnstile = threading.Barrier(8, timeout=0.05)

    def add(self, turn_id, key):
        seen = self.count(turn_id, key)
        with contextlib.suppress(threading.BrokenBarrierError):
            self._turnstile.wait()
        self._counts[turn_id, key] = seen + 1
        return seen + 1

    def count(self, turn_id, key):
        return self._counts.get((turn_id, key), 0)


class ForgetsFirstIn(MemoryTurnCounter):
    """Forgets by when a turn began, not by when it was last counted."""

    def add(self, turn_id, key):
        order = list(self._turns)
        added = super().add(turn_id, key)
        if turn_id in order:
            for turn in order[order.index(turn_id) + 1 :]:
                self._turns.move_to_end(turn)
        return added


class RemembersAll(MemoryTurnCounter):
    def __init__(self, max_turns):
        super().__init__(10**9)


def counting(cls, **members):
    return type(cls.__name__, (Counting,), {"make": lambda self: cls(self.capacity), **members})()


@pytest.mark.parametrize(
    ("driver", "caught"),
    [
        (counting(StartsAtOne), {"T1", "T5"}),
        (counting(CountsReads), {"T1"}),
        (counting(Joins), {"T2", "T5"}),
        (counting(Folds), {"T2"}),
        (counting(LosesWrites, capacity=None), {"T3"}),
        (counting(ForgetsFirstIn), {"T5"}),
        (counting(RemembersAll), {"T5"}),
        (counting(MemoryTurnCounter, reopen=lambda self, _: MemoryTurnCounter()), {"T3", "T4"}),
        (counting(MemoryTurnCounter, lifetime=60.0, advance=lambda self, seconds: None), {"T6"}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, CounterDriver) else None,
)
def test_a_broken_counter_is_caught(driver, caught):
    assert {r.id for r in run_counter(driver) if r.status == "fail"} == caught


class Clocked(CounterDriver):
    """A counter that expires, on a clock of the test's."""

    lifetime = 60.0

    def __init__(self):
        self.now = 0.0

    def advance(self, seconds):
        self.now += seconds

    def make(self):
        driver, counts = self, {}

        class Expiring:
            def add(self, turn_id, key):
                counts[turn_id, key] = (self.count(turn_id, key) + 1, driver.now)
                return counts[turn_id, key][0]

            def count(self, turn_id, key):
                number, at = counts.get((turn_id, key), (0, 0.0))
                return number if driver.now - at < driver.lifetime else 0

        return Expiring()


def test_a_counter_that_expires_keeps_the_clause_about_it():
    results = {r.id: r.status for r in run_counter(Clocked(), select_only=["T1", "T2", "T6"])}
    assert results == {"T1": "pass", "T2": "pass", "T6": "pass"}


def test_what_a_store_does_without_is_skipped():
    assert {r.id for r in run_ledger(Signed()) if r.status == "skip"} == {"L6"}
    assert {r.id for r in run_ledger(Memory()) if r.status == "skip"} == {"L8"}
    assert {r.id for r in run_counter(Counting()) if r.status == "skip"} == {"T4", "T6"}
    assert [clause.id for clause in ledger_clauses()] == [f"L{n}" for n in range(1, 9)]
    assert [clause.id for clause in counter_clauses()] == [f"T{n}" for n in range(1, 7)]
