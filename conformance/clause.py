"""A clause: one promise, with the reason it exists and the failure it prevents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

Need: TypeAlias = Literal[
    "text",
    "native",
    "replay",
    "parsing",
    "calls",
    "catalogue",
    "control_tokens",
    "gate",
    "reopen",
    "clock",
    "managers",
    "resume",
    "delegation",
    "breaker",
    "rewriting",
]
NEEDS: dict[str, str] = {
    "text": "results as text",
    "native": "results as records with call ids",
    "replay": "replaying a history",
    "parsing": "reading a model's response",
    "calls": "spelling a call",
    "catalogue": "a protocol block with the tools in it",
    "control_tokens": "control tokens that it declares to break",
    "gate": "",  # the suite brings it
    "reopen": "a second one on the same state",
    "clock": "a clock that the test sets",
    "managers": "context managers that the driver names",
    "resume": "saving and resuming a transcript",
    "delegation": "sub-agents",
    "breaker": "a failure breaker",
    "rewriting": "a place for a context manager of the suite's",
}
"""What a clause needs of what is tested, in words; what is missing is why a clause is skipped."""

TrialT = TypeVar("TrialT")


class Violation(AssertionError):
    """What is tested broke a promise: what was seen and, where texts differ, both of them."""

    def __init__(self, detail: str, *, want: str | None = None, got: str | None = None) -> None:
        super().__init__(detail)
        self.detail, self.want, self.got = detail, want, got


@dataclass(frozen=True)
class Clause(Generic[TrialT]):
    """`id` is stable. `check` raises Violation; `needs` says when the clause applies."""

    id: str
    promise: str
    reason: str
    prevents: str
    needs: tuple[Need, ...]
    check: Callable[[TrialT], None]


class Chapter(Generic[TrialT]):
    """The clauses of one file, in the order they are written; a letter may have several files."""

    def __init__(self, letter: str, title: str) -> None:
        self.letter, self.title = letter, title
        self._clauses: list[Clause[TrialT]] = []

    def __iter__(self) -> Iterator[Clause[TrialT]]:
        return iter(self._clauses)

    def clause(
        self, id: str, promise: str, *, reason: str, prevents: str, needs: tuple[Need, ...] = ()
    ) -> Callable[[Callable[[TrialT], None]], Callable[[TrialT], None]]:
        """Adds the decorated check as clause `id`."""

        def add(check: Callable[[TrialT], None]) -> Callable[[TrialT], None]:
            assert id.startswith(self.letter)
            assert all(clause.id != id for clause in self._clauses)
            self._clauses.append(Clause(id, promise, reason, prevents, needs, check))
            return check

        return add


def require(holds: Any, detail: str, *, want: str | None = None, got: str | None = None) -> None:
    """Raises Violation unless `holds`."""
    if not holds:
        raise Violation(detail, want=want, got=got)


def require_same(want: str, got: str, detail: str) -> None:
    """Raises Violation, with both texts, unless they are identical."""
    require(want == got, detail, want=want, got=got)
