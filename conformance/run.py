"""Running clauses. Yields results one by one; knows no test framework and prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tooldialect.gate import Ledger, TurnCounter

from .chapters import Tested, clauses
from .clause import Clause
from .harness import judge_harness
from .result import Result, check_expectations, conclude, select
from .scene import HarnessDriver
from .stores import StoreTarget, judge_store
from .target import Target
from .trial import PROFILES, Profile, ProgramFault, Trial


def run(
    target: Target,
    *,
    select_only: Iterable[str] = (),
    expected_failures: Mapping[str, str] | None = None,
    seed: int = 0,
    profile: Profile = PROFILES["quick"],
) -> Iterator[Result]:
    """One result per selected clause, in order. The same seed looks at the same inputs.

    Raises ExpectationError before the first result where `select_only` or `expected_failures`
    names what does not exist.
    """
    return _run("dialect", select_only, expected_failures, lambda c, e: judge(c, target, e, seed=seed, profile=profile))


def run_harness(
    make_driver: Callable[[], HarnessDriver],
    *,
    select_only: Iterable[str] = (),
    expected_failures: Mapping[str, str] | None = None,
) -> Iterator[Result]:
    """`run` for a host. `make_driver` is called once a clause."""
    return _run("harness", select_only, expected_failures, lambda c, e: judge_harness(c, make_driver(), e))


def run_ledger(
    target: StoreTarget[Ledger],
    *,
    select_only: Iterable[str] = (),
    expected_failures: Mapping[str, str] | None = None,
    seed: int = 0,
    profile: Profile = PROFILES["quick"],
) -> Iterator[Result]:
    """`run` for a ledger."""
    return _run(
        "ledger", select_only, expected_failures, lambda c, e: judge_store(c, target, e, seed=seed, profile=profile)
    )


def run_counter(
    target: StoreTarget[TurnCounter],
    *,
    select_only: Iterable[str] = (),
    expected_failures: Mapping[str, str] | None = None,
    seed: int = 0,
    profile: Profile = PROFILES["quick"],
) -> Iterator[Result]:
    """`run` for a turn counter."""
    return _run(
        "counter", select_only, expected_failures, lambda c, e: judge_store(c, target, e, seed=seed, profile=profile)
    )


def _run(
    of: Tested,
    select_only: Iterable[str],
    expected_failures: Mapping[str, str] | None,
    judged: Callable[[Clause[Any], str | None], Result],
) -> Iterator[Result]:
    expected = dict(expected_failures or {})
    everything = clauses(of)
    check_expectations(expected, [clause.id for clause in everything])
    return (judged(clause, expected.get(clause.id)) for clause in select(select_only, everything))


def judge(clause: Clause[Trial], target: Target, expected: str | None = None, *, seed: int, profile: Profile) -> Result:
    """One clause on one dialect."""
    trial = Trial(target, clause.id, seed=seed, profile=profile)
    try:
        about = trial.about
    except ProgramFault as fault:
        return Result(clause.id, "fail", str(fault))
    return conclude(clause, about.meets(), lambda: clause.check(trial), lambda: trial.search.example, expected)
