"""Ledgers and turn counters: their clauses, and running them. Knows no test framework and prints nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from .chapters import clauses
from .clause import Clause
from .run import Result, check_expectations, select
from .store_trial import CounterDriver, LedgerDriver, StoreDriver, StoreT, StoreTrial, judge_store
from .trial import PROFILES, Profile

__all__ = [
    "CounterDriver",
    "LedgerDriver",
    "StoreDriver",
    "judge_store",
    "run_counter",
    "run_ledger",
]


def run_ledger(
    driver: LedgerDriver,
    *,
    select_only: Iterable[str] = (),
    expected_failures: Mapping[str, str] | None = None,
    seed: int = 0,
    profile: Profile = PROFILES["quick"],
) -> Iterator[Result]:
    """One result per selected clause of a ledger, as `run` does for dialects. Raises ExpectationError likewise."""
    return _run(clauses("ledger"), driver, select_only, expected_failures, seed, profile)


def run_counter(
    driver: CounterDriver,
    *,
    select_only: Iterable[str] = (),
    expected_failures: Mapping[str, str] | None = None,
    seed: int = 0,
    profile: Profile = PROFILES["quick"],
) -> Iterator[Result]:
    """One result per selected clause of a turn counter, as `run` does for dialects. Raises ExpectationError likewise."""
    return _run(clauses("counter"), driver, select_only, expected_failures, seed, profile)


def _run(
    every: Sequence[Clause[StoreTrial[StoreT]]],
    driver: StoreDriver[StoreT],
    select_only: Iterable[str],
    expected_failures: Mapping[str, str] | None,
    seed: int,
    profile: Profile,
) -> Iterator[Result]:
    expected = dict(expected_failures or {})
    check_expectations(expected, [clause.id for clause in every])
    chosen = select(select_only, every)
    return (judge_store(clause, driver, expected.get(clause.id), seed=seed, profile=profile) for clause in chosen)
