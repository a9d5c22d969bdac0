"""The conformance suite: run it on any dialect, host, ledger or counter, trust it when it is green.

`DialectConformance` and the other suites are pytest classes: they alone import pytest, and only
when they are asked for.
"""

from typing import TYPE_CHECKING, Any

from tooldialect.dialects.errors import MissingExtraError

try:
    from .chapters import clauses
    from .clause import Clause, Violation
    from .harness import run_harness
    from .loopback import ModelServer
    from .process import ProcessTarget
    from .run import ExpectationError, Result, run
    from .scene import HarnessDriver, Scene, SceneTool, Turn
    from .scripted_model import Said, ScriptedModel
    from .stores import CounterDriver, LedgerDriver, run_counter, run_ledger
    from .target import Description, PythonTarget, Target, TargetError, load_target
    from .trial import PROFILES, Profile
except ModuleNotFoundError as error:
    if (error.name or "").startswith(__name__):
        raise
    raise MissingExtraError(f"{error}: the suite needs its extra, pip install 'tooldialect[conformance]'") from error

if TYPE_CHECKING:
    from .suite import DialectConformance, HarnessConformance, LedgerConformance, TurnCounterConformance

__all__ = [
    "PROFILES",
    "Clause",
    "CounterDriver",
    "Description",
    "DialectConformance",
    "ExpectationError",
    "HarnessConformance",
    "HarnessDriver",
    "LedgerConformance",
    "LedgerDriver",
    "ModelServer",
    "ProcessTarget",
    "Profile",
    "PythonTarget",
    "Result",
    "Said",
    "Scene",
    "SceneTool",
    "ScriptedModel",
    "Target",
    "TargetError",
    "Turn",
    "TurnCounterConformance",
    "Violation",
    "clauses",
    "load_target",
    "run",
    "run_counter",
    "run_harness",
    "run_ledger",
]

_SUITES = frozenset(name for name in __all__ if name.endswith("Conformance"))


def __getattr__(name: str) -> Any:
    if name in _SUITES:
        from . import suite

        return getattr(suite, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
