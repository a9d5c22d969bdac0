"""The contract gate: a guessed call gets the contract, the retry runs."""

from typing import TYPE_CHECKING

from tooldialect.dialects.later import exports_later

from .arguments import ArgumentCheck, Violation, check_arguments
from .contract import Contract
from .counter import MemoryTurnCounter, TurnCounter
from .decision import Decision, Reason
from .errors import GateError
from .explain import Sighting, Verdict
from .gate import ContractGate
from .ledger import Ledger, MemoryLedger, SignedLedger
from .run import GateRun
from .settings import GateSettings
from .sources import ContractSource, Found, Lookup, NotFound, StaticSource, Unavailable
from .surface import Surface
from .target import GateTarget

if TYPE_CHECKING:
    from .sources import McpSource

__getattr__ = exports_later(__name__, {"McpSource": "sources"})

__all__ = [
    "ArgumentCheck",
    "Contract",
    "ContractGate",
    "ContractSource",
    "Decision",
    "Found",
    "GateError",
    "GateRun",
    "GateSettings",
    "GateTarget",
    "Ledger",
    "Lookup",
    "McpSource",
    "MemoryLedger",
    "MemoryTurnCounter",
    "NotFound",
    "Reason",
    "Sighting",
    "SignedLedger",
    "StaticSource",
    "Surface",
    "TurnCounter",
    "Unavailable",
    "Verdict",
    "Violation",
    "check_arguments",
]
