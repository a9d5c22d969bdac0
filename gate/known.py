"""The contracts a gate has looked up last, so that it knows which version is wanted."""

from __future__ import annotations

import threading
from collections import OrderedDict

from .contract import Contract

_REMEMBERED = 4096


class KnownContracts:
    """`{key: contract}` of the last look-ups, bounded; forgetting one costs a look-up."""

    def __init__(self) -> None:
        self._contracts: OrderedDict[str, Contract] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Contract | None:
        """The contract last looked up for `key`."""
        return self._contracts.get(key)

    def remember(self, key: str, contract: Contract) -> None:
        """A look-up found this contract."""
        with self._lock:
            self._contracts[key] = contract
            self._contracts.move_to_end(key)
            while len(self._contracts) > _REMEMBERED:
                self._contracts.popitem(last=False)
