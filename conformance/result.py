"""What came of a clause, and what was expected of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel

from .clause import NEEDS, Clause, Violation
from .trial import violation

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
        if not isinstance(reason, str) or not reason.strip():
            raise ExpectationError(f"expected_failures[{id_!r}] gives no reason")


def select(patterns: Iterable[str], known: Iterable[Clause[TrialT]]) -> list[Clause[TrialT]]:
    """Clauses by id (`E3`) or letter (`V`). Raises ExpectationError for one that selects nothing."""
    found = list(known)
    wanted = [pattern.strip() for pattern in patterns if pattern.strip()]
    for pattern in wanted:
        if not any(_selects(pattern, clause.id) for clause in found):
            raise ExpectationError(f"{pattern!r} selects no clause; known: {', '.join(clause.id for clause in found)}")
    return [clause for clause in found if not wanted or any(_selects(pattern, clause.id) for pattern in wanted)]


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
            else replace(result, status="expected_failure", detail=f"{expected}: {result.detail}")
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
