"""The bookkeeping of turns and runs: what was delivered, rescanned, executed, and where.

A turn is one user request; its runs are the transcripts that work on it, the first one's
and those of sub-agents. All state of the gate but caches is here.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

from .contract import Contract
from .decision import KeyFacts, Reason, before_lookup
from .surface import Surface
from .target import GateTarget


@dataclass(slots=True)
class KeyState:
    """What one run has seen of one key."""

    delivered_version: str | None = None
    rescanned_since_delivery: bool = False
    deliveries: int = 0
    uncredited: int = 0
    notices: int = 0
    listed: bool = False
    listed_and_rescanned: bool = False
    executed: bool = False
    last_proceed_unread: bool = False
    failed_unread: bool = False
    held: frozenset[Reason] = frozenset()


_NOTHING_SEEN = KeyState()


class RunState:
    """One transcript's bookkeeping; `lock` guards it, and nothing slow happens under it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.credited: Mapping[str, frozenset[str]] = {}
        self.rescanned = False
        self.ended = False
        self.keys: dict[str, KeyState] = {}

    def facts(self, key: str, wanted: str | None) -> KeyFacts:
        """A snapshot to decide on."""
        state = self.keys.get(key, _NOTHING_SEEN)
        return KeyFacts(
            credited=self.credited.get(key, frozenset()),
            wanted=wanted,
            run_rescanned=self.rescanned,
            rescanned_since_delivery=state.rescanned_since_delivery,
            deliveries=state.deliveries,
            uncredited=state.uncredited,
            notices=state.notices,
            listed_and_rescanned=state.listed_and_rescanned,
            failed_unread=state.failed_unread,
            held=state.held,
        )

    def may_auto_proceed(self, key: str, wanted: str | None) -> bool:
        """Whether the fate of the turn's earlier runs matters: nothing of this run decides."""
        if self.keys.get(key, _NOTHING_SEEN).deliveries:
            return False
        return before_lookup(self.facts(key, wanted), ended_runs=0) is None

    def snapshot(self, key: str) -> KeyState:
        """A copy of what is known of `key`."""
        return copy(self.keys.get(key) or KeyState())

    def restore(self, key: str, state: KeyState) -> None:
        """As if nothing had been decided about `key` since `snapshot`."""
        self.keys[key] = state

    def note_rescan(self, credited: Mapping[str, frozenset[str]]) -> None:
        """The transcript was read: these `{key: versions}` are in context, nothing else is."""
        self.credited = credited
        self.rescanned = True
        for key, state in self.keys.items():
            if state.deliveries:
                state.rescanned_since_delivery = True
            if state.delivered_version in credited.get(key, ()):
                state.uncredited = 0
            state.listed_and_rescanned = state.listed_and_rescanned or state.listed
            state.notices = 0

    def note_decision(self, key: str, reason: Reason, version: str | None) -> None:
        """A call to `key` was decided; `version` is that of the contract, where it was delivered."""
        state = self.keys.setdefault(key, KeyState())
        if reason.proceeds:
            state.executed = True
            state.last_proceed_unread = reason is not Reason.PRESENT and not (
                reason is Reason.DISABLED and key in self.credited
            )
        elif reason.delivers:
            state.delivered_version = version
            state.rescanned_since_delivery = False
            state.deliveries += 1
            state.uncredited += 1
            state.notices = 0
            state.held |= {reason}
        elif reason is Reason.UNKNOWN_TARGET:
            state.listed = True
        else:
            state.notices += 1

    def note_report(self, key: str, success: bool, unread: bool | None) -> None:
        """A call to `key` was executed; `unread` None where the last decision tells."""
        state = self.keys.setdefault(key, KeyState())
        if unread is None:
            unread = state.last_proceed_unread if state.executed else key not in self.credited
        state.executed = True
        if unread and not success:
            state.failed_unread = True

    def delivered_unexecuted(self) -> list[str]:
        """Keys whose contract this run delivered and then never executed."""
        return [key for key, state in self.keys.items() if state.deliveries and not state.executed]


class Delivered(NamedTuple):
    """A contract as it was delivered, and the surface its call went through."""

    target: GateTarget
    contract: Contract
    surface: Surface


class Turn:
    """One user turn: the latest contract delivered to each key, by any of its runs."""

    def __init__(self, turn_id: str) -> None:
        self.turn_id = turn_id
        self.delivered: dict[str, Delivered] = {}
