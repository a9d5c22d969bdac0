"""The contract gate: a guessed call gets the contract, the retry runs."""

from typing import TYPE_CHECKING

from tooldialect.dialects.later import exports_later

if TYPE_CHECKING:
    from .arguments.check import check_arguments
    from .arguments.checker import ArgumentCheck
    from .arguments.descent import Violation
    from .contract import Contract
    from .counter import MemoryTurnCounter, TurnCounter
    from .decision import Decision, Reason
    from .errors import GateError
    from .explain import Sighting, Verdict
    from .gate import ContractGate
    from .ledger import Ledger, MemoryLedger, SignedLedger
    from .run import GateRun
    from .settings import GateSettings
    from .sources.base import (
        ContractSource,
        Found,
        Lookup,
        NotFound,
        Unavailable,
    )
    from .sources.mcp import McpSource
    from .sources.static import StaticSource
    from .surface import Surface
    from .target import GateTarget

exports_later(
    __name__,
    {
        "arguments.check": ["check_arguments"],
        "arguments.checker": ["ArgumentCheck"],
        "arguments.descent": ["Violation"],
        "contract": ["Contract"],
        "counter": ["MemoryTurnCounter", "TurnCounter"],
        "decision": ["Decision", "Reason"],
        "errors": ["GateError"],
        "explain": ["Sighting", "Verdict"],
        "gate": ["ContractGate"],
        "ledger": ["Ledger", "MemoryLedger", "SignedLedger"],
        "run": ["GateRun"],
        "settings": ["GateSettings"],
        "sources.base": ["ContractSource", "Found", "Lookup", "NotFound", "Unavailable"],
        "sources.mcp": ["McpSource"],
        "sources.static": ["StaticSource"],
        "surface": ["Surface"],
        "target": ["GateTarget"],
    },
)

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
