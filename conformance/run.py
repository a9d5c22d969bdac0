"""Running clauses. Yields results one by one; knows no test framework and prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel

from .clause import NEEDS, Clause, Violation
from .faults import ProgramFault
from .target import Target
from .trial import PROFILES, Profile, Trial, violation

Status: TypeAlias = Literal["pass", "fail", "skip", "expected_failure"]

TrialT = TypeVar("TrialT")


@dataclass(frozen=True)
class Result:
    """What came of one clause.

    `detail`: why it failed or was skipped. `example`: the input on which it failed, as JSON.
    `want`, `got`: the texts that differ, where it is about texts.
    """

    id: str
    status: Status
    detail: str = ""
    example: Any = None
    want: str | None = None
    got: str | None = None


class ExpectationError(ValueError):
    """The list of expected failures is wrong: an unknown id, or no reason."""


def check_expectations(expected: Mapping[str, str], known: Collection[str]) -> None:
    """Raises ExpectationError for an id that is no clause and for a failure without a reason."""
    for id_, reason in expected.items():
        if id_ not in known:
            raise ExpectationError(f"expected_failures names {id_!r}, which is no clause; known: {', '.join(known)}")
        if not reason.strip():
            raise ExpectationError(f"expected_failures[{id_!r}] gives no reason")


def select(patterns: Iterable[str], known: Iterable[Clause[TrialT]]) -> list[Clause[TrialT]]:
    """Clauses by id (`E3`) or letter (`V`). Raises ExpectationError for one that selects nothing."""
    found = list(known)
    wanted = [pattern.strip() for pattern in patterns if pattern.strip()]
    for pattern in wanted:
        if not any(_selects(pattern, clause.id) for clause in found):
            raise ExpectationError(f"{pattern!r} selects no clause; known: {', '.join(clause.id for clause in found)}")
    return [clause for clause in found if not wanted or any(_selects(pattern, clause.id) for pattern in wanted)]


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
    from .chapters import clauses  # it lists those of hosts and stores too, which stand on this file

    expected = dict(expected_failures or {})
    everything = clauses("dialect")
    check_expectations(expected, [clause.id for clause in everything])
    chosen = select(select_only, everything)
    return _results(target, chosen, expected, seed, profile)


def _results(
    target: Target, chosen: list[Clause[Trial]], expected: Mapping[str, str], seed: int, profile: Profile
) -> Iterator[Result]:
    for clause in chosen:
        yield judge(clause, target, expected.get(clause.id), seed=seed, profile=profile)


def judge(clause: Clause[Trial], target: Target, expected: str | None = None, *, seed: int, profile: Profile) -> Result:
    """One clause on one dialect."""
    trial = Trial(target, clause.id, seed=seed, profile=profile)
    try:
        about = trial.about
    except ProgramFault as fault:
        return Result(clause.id, "fail", str(fault))
    return conclude(clause, about.meets(), lambda: clause.check(trial), lambda: trial.search.example, expected)


def conclude(
    clause: Clause[Any],
    met: Collection[str],
    check: Callable[[], None],
    example: Callable[[], Any],
    expected: str | None,
) -> Result:
    """What came of a check, seen beside what was expected. Bugs of the suite are not caught."""
    missing = [need for need in clause.needs if need not in met]
    if missing:
        reason = f"needs {', '.join(NEEDS[need] for need in missing)}"
        return Result(clause.id, "skip", reason)
    try:
        check()
    except Exception as error:
        found = violation(error)
        if found is None:
            raise
        result = _failed(clause.id, found, example())
        return (
            result
            if expected is None
            else Result(**{**result.__dict__, "status": "expected_failure", "detail": f"{expected}: {result.detail}"})
        )
    if expected is not None:
        return Result(clause.id, "fail", f"it holds, though a failure was expected ({expected}): take it off the list")
    return Result(clause.id, "pass")


def _failed(id: str, found: Violation, example: Any) -> Result:
    return Result(id, "fail", found.detail, as_json(example), found.want, found.got)


def as_json(value: Any) -> Any:
    """The value with records as their JSON objects, for reports."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, Mapping):
        return {str(key): as_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(inner) for inner in value]
    return value if value is None or isinstance(value, str | int | float | bool) else repr(value)


def _selects(pattern: str, id: str) -> bool:
    return id == pattern or id.rstrip("0123456789") == pattern
