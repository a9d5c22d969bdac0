"""The clauses of ledgers and turn counters: kept by those built in, broken by each control in its own way."""

from __future__ import annotations

import itertools

import pytest

from broken_stores import BOUND, COUNTERS, LEDGERS, Counter, Counters, Ledgers, Signed, SqliteCounter
from control_table import control_table
from tooldialect.conformance import (
    CounterDriver,
    LedgerConformance,
    LedgerDriver,
    Profile,
    TurnCounterConformance,
    clauses,
    run_counter,
    run_ledger,
)
from tooldialect.gate import MemoryLedger, MemoryTurnCounter, SignedLedger

# Written inputs alone, so that the table does not hang on what is drawn.
WRITTEN = Profile("controls", examples=0, shrink=False)


class TestMemoryLedger(LedgerConformance):
    def make_driver(self):
        return Ledgers(lambda: MemoryLedger(BOUND), BOUND)


class TestSignedLedger(LedgerConformance):
    def make_driver(self):
        return Ledgers(Signed)


class OneSecret(LedgerDriver):
    """All of them share a secret, as the machines of one host do."""

    def make(self):
        return SignedLedger("secret")

    def stranger(self):
        return SignedLedger("another")

    def reopen(self, store):
        return SignedLedger("secret")


class TestLedgersOfOneSecret(LedgerConformance):
    def make_driver(self):
        return OneSecret()


class TestMemoryTurnCounter(TurnCounterConformance):
    def make_driver(self):
        class Memory(CounterDriver):
            capacity = BOUND

            def make(self):
                return MemoryTurnCounter(BOUND)

        return Memory()


class TestACounterWithALifetime(TurnCounterConformance):
    def make_driver(self):
        return Counters(Counter)


class TestACounterInAFile(TurnCounterConformance):
    @pytest.fixture(autouse=True)
    def _paths(self, tmp_path):
        self.paths = map("{}/{}.sqlite".format, itertools.repeat(tmp_path), itertools.count())

    def make_driver(self):
        driver = Counters(lambda: SqliteCounter(next(self.paths)), None)
        driver.lifetime = None
        return driver


def failing(results):
    return {result.id for result in results if result.status == "fail"}


@pytest.mark.parametrize("control", LEDGERS, ids=lambda control: control.name)
def test_a_broken_ledger_is_caught_by_its_clause_and_no_other(control):
    assert failing(run_ledger(control.driver, profile=WRITTEN)) == control.caught_by


@pytest.mark.parametrize("control", COUNTERS, ids=lambda control: control.name)
def test_a_broken_counter_is_caught_by_its_clause_and_no_other(control):
    assert failing(run_counter(control.driver, profile=WRITTEN)) == control.caught_by


@pytest.mark.parametrize(("of", "controls"), [("ledger", LEDGERS), ("counter", COUNTERS)])
def test_every_clause_of_a_store_has_a_control_and_the_table_is_complete(of, controls, capsys):
    with capsys.disabled():
        print("\n" + control_table(of, [(control.name, control.meant, control.caught_by) for control in controls]))
    ids = {clause.id for clause in clauses(of)}
    assert {control.meant for control in controls} == ids
    assert [control.name for control in controls if not control.caught_by <= ids] == []


def test_a_store_that_cannot_be_made_fails_and_does_not_end_the_run():
    class Broken(LedgerDriver):
        def make(self):
            raise OSError("no disk")

    results = list(run_ledger(Broken()))
    assert {result.status for result in results} == {"fail"}
    assert "OSError: no disk" in results[0].detail


def test_what_a_store_does_without_is_skipped_with_the_reason():
    results = run_ledger(Ledgers(lambda: MemoryLedger(BOUND), BOUND), profile=WRITTEN)
    assert {result.id: result.detail for result in results if result.status == "skip"} == {
        "L13": "needs a second one on the same state"
    }


def test_a_failure_that_is_expected_is_told_as_one():
    [control] = [control for control in LEDGERS if control.name == "tokens too long to be read"]
    [result] = run_ledger(control.driver, select_only=["L2"], expected_failures={"L2": "issue 12"}, profile=WRITTEN)
    assert result.status == "expected_failure"
    assert result.detail.startswith("issue 12: ")
