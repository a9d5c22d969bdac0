"""The conformance suite for dialects, hosts, ledgers and counters."""

from .chapters import clauses
from .clause import Clause, Violation
from .run import ExpectationError, Result, run
from .target import Description, PythonTarget, Target, TargetError, load_target
from .trial import PROFILES, Profile

__all__ = [
    "PROFILES",
    "Clause",
    "Description",
    "ExpectationError",
    "Profile",
    "PythonTarget",
    "Result",
    "Target",
    "TargetError",
    "Violation",
    "clauses",
    "load_target",
    "run",
]
