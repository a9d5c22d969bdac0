"""The clauses of ledgers and turn counters: kept by those built in, broken by each control in its own way."""

from __future__ import annotations

import itertools

import pytest

from broken_stores import BOUND, COUNTERS, LEDGERS, Counter, SqliteCounter
from tooldialect.conformance import (
    LedgerConformance,
    Profile,
    TurnCounterConformance,
    clauses,
    run_counter,
    run_ledger,
)
from tooldialect.gate import MemoryLedger, MemoryTurnCounter, SignedLedger

# Written inputs alone, so that the table does not hang on what is drawn.
WRITTEN = Profile("controls", examples=0, shrink=False)
_secrets = map("secret {}".format, itertools.count())


class TestMemoryLedger(LedgerConformance):
    bound = 48

    def make_ledger(self):
        return MemoryLedger(capacity=self.bound)


class _KnownSecret(SignedLedger):
    def __init__(self, secret):
        super().__init__(secret)
        self.secret = secret


class TestSignedLedger(LedgerConformance):
    def make_ledger(self):
        return _KnownSecret(next(_secrets))

    def reopen(self, ledger):
        return SignedLedger(ledger.secret)


class TestMemoryTurnCounter(TurnCounterConformance):
    bound = 48

    def make_counter(self):
        return MemoryTurnCounter(max_turns=self.bound)


class TestACounterWithALifetime(TurnCounterConformance):
    bound = BOUND
    lifetime = Counter.lifetime

    def make_counter(self):
        return Counter()

    def pass_time(self, counter, seconds):
        counter.pass_time(seconds)


class TestACounterInAFile(TurnCounterConformance):
    @pytest.fixture(autouse=True)
    def _paths(self, tmp_path):
        self.paths = map("{}/{}.sqlite".format, itertools.repeat(tmp_path), itertools.count())

    def make_counter(self):
        return SqliteCounter(next(self.paths))

    def reopen(self, counter):
        return counter.reopen()


def failing(results):
    return {result.id for result in results if result.status == "fail"}


@pytest.mark.parametrize("control", LEDGERS, ids=lambda control: control.name)
def test_a_broken_ledger_is_caught_by_its_clause_and_no_other(control):
    assert failing(run_ledger(control.target, profile=WRITTEN)) == control.caught_by


@pytest.mark.parametrize("control", COUNTERS, ids=lambda control: control.name)
def test_a_broken_counter_is_caught_by_its_clause_and_no_other(control):
    assert failing(run_counter(control.target, profile=WRITTEN)) == control.caught_by


@pytest.mark.parametrize(("of", "controls"), [("ledger", LEDGERS), ("counter", COUNTERS)])
def test_every_clause_of_a_store_has_a_control(of, controls):
    assert {control.meant for control in controls} == {clause.id for clause in clauses(of)}
