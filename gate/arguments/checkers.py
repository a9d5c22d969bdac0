"""The contracts made ready last."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any

from ..contract import Contract
from .checker import Checker

_MAX_CACHED = 256
_MAX_ALIASES = 1024


class Checkers:
    """Checkers by contract: found by the object itself, or else by what it says, for a source
    that builds a new contract at every lookup."""

    def __init__(self) -> None:
        self._by_version: OrderedDict[tuple[str, frozenset[str]], Checker] = OrderedDict()
        # Each entry keeps its contract, so that the id stays its own.
        self._by_identity: dict[Any, tuple[Contract, Checker]] = {}
        # By `id(contract)`, or by that and what is injected where anything is.
        self.at_hand = self._by_identity.get
        self._lock = Lock()

    def get(self, contract: Contract, injected: frozenset[str]) -> Checker:
        """The checker of a contract that is not at hand under this object."""
        version = (contract.version, injected)
        made = self._by_version.get(version)
        # A version is no proof against one who writes two contracts of the same hash.
        if made is None or made.contract != contract:
            made = Checker(contract, injected)
        with self._lock:
            self._by_version[version] = made
            self._by_version.move_to_end(version)
            while len(self._by_version) > _MAX_CACHED:
                self._by_version.popitem(last=False)
            if len(self._by_identity) >= _MAX_ALIASES:
                self._by_identity.clear()
            self._by_identity[(id(contract), injected) if injected else id(contract)] = (contract, made)
        return made
