"""What a host may tune."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

from .contract import Contract
from .errors import GateError
from .target import GateTarget

_KILL_SWITCHES = ("TOOLDIALECT_CONTRACT_GATE", "OPENHUMAN_CONTRACT_GATE")
_OFF = frozenset({"0", "false", "off", "no"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """`max_contract_chars`: length in characters that a delivery is brought under by leaving
    out descriptions; a schema is never cut. `lookup_timeout`: seconds a source has to answer.
    `must_read(target, contract)`: whether a target's contract is shown once even where the
    first arguments already satisfy it.

    For instance `must_read=lambda target, contract: contract.effect == "write"`.

    Raises GateError for values that cannot work.
    """

    max_contract_chars: int = 24_000
    lookup_timeout: float = 10.0
    must_read: Callable[[GateTarget, Contract], bool] | None = None

    def __post_init__(self) -> None:
        if self.max_contract_chars < 1:
            raise GateError(f"max_contract_chars is {self.max_contract_chars}: give a positive number of characters")
        if not 0 < self.lookup_timeout <= threading.TIMEOUT_MAX:
            raise GateError(f"lookup_timeout is {self.lookup_timeout}: give a positive, finite number of seconds")
        if self.must_read is not None and not callable(self.must_read):
            raise GateError(
                f"must_read is {type(self.must_read).__name__}: give a function of target and contract that says "
                "whether the contract must be read"
            )


def switched_off() -> bool:
    """Whether either kill switch of the environment says so now (`0 false off no`)."""
    return any(os.environ.get(name, "").strip().lower() in _OFF for name in _KILL_SWITCHES)
