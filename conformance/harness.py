"""Running the clauses of a host: from the model's call to the request that the provider receives."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from .chapters import clauses
from .clause import Clause, Need, Violation
from .run import Result, check_expectations, conclude, select
from .scene import HarnessDriver
from .scripted_model import TurnNeverEnds
from .stage import Stage


def run_harness(
    make_driver: Callable[[], HarnessDriver],
    *,
    select_only: Iterable[str] = (),
    expected_failures: Mapping[str, str] | None = None,
) -> Iterator[Result]:
    """One result per clause. `make_driver` is called once a clause."""
    expected, every = dict(expected_failures or {}), clauses("harness")
    check_expectations(expected, [clause.id for clause in every])
    chosen = select(select_only, every)
    return (judge_harness(clause, make_driver(), expected.get(clause.id)) for clause in chosen)


def _place(error: Exception) -> str:
    """Where the host raised: the innermost line that is none of the suite's."""
    own = Path(__file__).parent
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent != own]
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def judge_harness(clause: Clause[Stage], driver: HarnessDriver, expected: str | None = None) -> Result:
    """One clause on one host. What the driver raises is the host's failure."""
    met: set[Need] = set(driver.offers)
    if driver.context_managers:
        met.add("managers")

    def check() -> None:
        stage = Stage(driver)
        try:
            clause.check(stage)
        except Violation:
            raise
        except TurnNeverEnds as ended:
            raise Violation(f"{ended}: the model had said its last word long before") from ended
        except Exception as error:  # a stranger's loop raises what it likes
            raise Violation(f"the host raised {type(error).__name__}: {error}{_place(error)}") from error

    return conclude(clause, met, check, lambda: None, expected)
