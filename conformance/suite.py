"""The suites as pytest classes. The one file that imports pytest.

    class TestMine(DialectConformance):
        def make_dialect(self, tools):
            return MyDialect(tools)

Each clause is one test with its id in the test's id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest

from tooldialect.dialects import ToolDialect, ToolSpec

from .chapters import clauses
from .clause import Clause
from .description import Capability
from .harness import judge_harness
from .report import explain
from .run import Result, check_expectations, judge
from .scene import HarnessDriver
from .stores import CounterDriver, LedgerDriver, StoreDriver, judge_store
from .target import PythonTarget, Target
from .trial import PROFILES


class _Conformance:
    """What the suites share. `expected_failures`: `{"E3": "reason"}`; a clause listed there that
    holds, an id that is none and a reason that is missing are errors. `seed` and `profile` as on
    the command line."""

    expected_failures: ClassVar[Mapping[str, str]] = {}
    seed: ClassVar[int] = 0
    profile: ClassVar[str] = "quick"
    _clauses: ClassVar[tuple[Clause[Any], ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_expectations(cls.expected_failures, [clause.id for clause in cls._clauses])

    def _conclude(self, result: Result, clause: Clause[Any]) -> None:
        if result.status == "skip":
            pytest.skip(f"{clause.id} {result.detail}")
        if result.status == "expected_failure":
            pytest.xfail(f"{clause.id} {result.detail}")
        if result.status == "fail":
            pytest.fail("\n".join(explain(result, clause)), pytrace=False)

    def _judge_store(self, clause: Clause[Any], driver: StoreDriver[Any]) -> Result:
        expected = self.expected_failures.get(clause.id)
        return judge_store(clause, driver, expected, seed=self.seed, profile=PROFILES[self.profile])


def _by_id(clause: Clause[Any]) -> str:
    return clause.id


class DialectConformance(_Conformance):
    """Every clause of a dialect. `make_dialect` is all an implementer writes; `read_results`, where
    given, reads the dialect's envelope and makes the checks of bodies and names sharper."""

    _clauses = clauses("dialect")
    without: ClassVar[tuple[Capability, ...]] = ()
    """Methods that the dialect does without."""

    def make_dialect(self, tools: Sequence[ToolSpec]) -> ToolDialect:
        raise NotImplementedError("return your dialect, made for these tools")

    read_results: Any = None
    """`read_results(self, entries) -> [(name, success, body)]`, or None."""

    def make_target(self) -> Target:
        """What is tested; by default the Python object that `make_dialect` returns."""
        reader: Any = self.read_results
        return PythonTarget(self.make_dialect, name=type(self).__name__, read_results=reader, without=self.without)

    @pytest.mark.parametrize("clause", clauses("dialect"), ids=_by_id)
    def test_clause(self, clause: Clause[Any]) -> None:
        target = self.make_target()
        try:
            result = judge(
                clause, target, self.expected_failures.get(clause.id), seed=self.seed, profile=PROFILES[self.profile]
            )
        finally:
            target.close()
        self._conclude(result, clause)


class HarnessConformance(_Conformance):
    """Every clause of a host. `make_driver` is all an implementer writes."""

    _clauses = clauses("harness")

    def make_driver(self) -> HarnessDriver:
        raise NotImplementedError("return a HarnessDriver around your loop")

    @pytest.mark.parametrize("clause", clauses("harness"), ids=_by_id)
    def test_clause(self, clause: Clause[Any]) -> None:
        self._conclude(judge_harness(clause, self.make_driver(), self.expected_failures.get(clause.id)), clause)


class LedgerConformance(_Conformance):
    """Every clause of a ledger. `make_driver` is all an implementer writes."""

    _clauses = clauses("ledger")

    def make_driver(self) -> LedgerDriver:
        raise NotImplementedError("return a LedgerDriver that makes your ledgers")

    @pytest.mark.parametrize("clause", clauses("ledger"), ids=_by_id)
    def test_clause(self, clause: Clause[Any]) -> None:
        self._conclude(self._judge_store(clause, self.make_driver()), clause)


class TurnCounterConformance(_Conformance):
    """Every clause of a turn counter. `make_driver` is all an implementer writes."""

    _clauses = clauses("counter")

    def make_driver(self) -> CounterDriver:
        raise NotImplementedError("return a CounterDriver that makes your counters")

    @pytest.mark.parametrize("clause", clauses("counter"), ids=_by_id)
    def test_clause(self, clause: Clause[Any]) -> None:
        self._conclude(self._judge_store(clause, self.make_driver()), clause)
