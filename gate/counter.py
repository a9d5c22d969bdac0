"""How many runs of a turn were shown a contract and ended without using it.

A sub-agent that cannot get past the gate is started again by its parent; every fresh run
has an empty transcript, so no run can see the loop. The turn can.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Protocol

from .errors import GateError


class TurnCounter(Protocol):
    """Counts per turn and key, shared by all processes that work on the turn."""

    def add(self, turn_id: str, key: str, /) -> int:
        """Count one more run; the new count."""
        ...

    def count(self, turn_id: str, key: str, /) -> int:
        """The count so far, 0 where nothing is known."""
        ...


class MemoryTurnCounter:
    """Counts of this process, for the `max_turns` turns last written to. Thread-safe."""

    def __init__(self, max_turns: int = 4096) -> None:
        if max_turns < 1:
            raise GateError(f"MemoryTurnCounter needs room for at least one turn, not {max_turns}")
        self._max_turns = max_turns
        self._turns: OrderedDict[str, dict[str, int]] = OrderedDict()
        # Re-entrant: a run is counted when it is collected, which can happen inside this very lock.
        self._lock = threading.RLock()

    def add(self, turn_id: str, key: str, /) -> int:
        """Count one more run; the new count."""
        with self._lock:
            counts = self._turns.setdefault(turn_id, {})
            self._turns.move_to_end(turn_id)
            counts[key] = counts.get(key, 0) + 1
            while len(self._turns) > self._max_turns:
                self._turns.popitem(last=False)
            return counts[key]

    def count(self, turn_id: str, key: str, /) -> int:
        """The count so far, 0 where nothing is known."""
        with self._lock:
            return self._turns.get(turn_id, {}).get(key, 0)
