"""Contracts the host already holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..contract import Contract
from ..target import GateTarget
from .base import Found, Lookup, NotFound


class StaticSource:
    """Answers from a mapping, at once. `source[target] = contract` and `del source[target]`
    change it; the gate sees the change at its next consult. Raises TypeError for a key or
    value of another type."""

    immediate = True  # no I/O: the gate asks without a thread

    def __init__(self, contracts: Mapping[GateTarget, Contract] | None = None) -> None:
        # By key: every rescan asks for the contracts it finds, and a target's own hash is not free.
        self._contracts: dict[str, tuple[GateTarget, Contract]] = {}
        for target, contract in (contracts or {}).items():
            self[target] = contract

    def lookup(self, target: GateTarget) -> Lookup:
        """`Found`, or `NotFound` with the names that may stand in the first part that is wrong:
        for an MCP tool the tools of its server, or the servers where the server is unknown."""
        held = self._contracts.get(target.key)
        if held is None:
            return _not_found(target, [known for known, _ in list(self._contracts.values())])
        return Found(held[1])

    def peek(self, target: GateTarget) -> Contract | None:
        """The contract `lookup` would find."""
        held = self._contracts.get(target.key)
        return None if held is None else held[1]

    def __setitem__(self, target: GateTarget, contract: Contract) -> None:
        given: tuple[object, object] = target, contract
        if not isinstance(given[0], GateTarget) or not isinstance(given[1], Contract):
            raise TypeError(
                f"a StaticSource maps GateTarget to Contract, not {type(target).__name__} to {type(contract).__name__}"
            )
        self._contracts[target.key] = target, contract

    def __delitem__(self, target: GateTarget) -> None:
        del self._contracts[target.key]


def _not_found(target: GateTarget, known: Iterable[GateTarget]) -> NotFound:
    candidates = [other for other in known if other.kind == target.kind and len(other.parts) == len(target.parts)]
    place = 0
    for place, part in enumerate(target.parts):
        agreeing = [other for other in candidates if other.parts[place] == part]
        if not agreeing:
            break
        candidates = agreeing
    return NotFound(tuple(dict.fromkeys(other.parts[place] for other in candidates)), part=place)
