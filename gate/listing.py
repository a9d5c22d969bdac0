"""Contracts given ahead of any call: a discovery tool's list, and what a child run inherits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tooldialect.dialects import ChatMessage

from .contract import Contract
from .delivery import carried_payload, example_call, listing_payload
from .ledger import Ledger
from .marker import fits_header, longest_header, marked
from .scope import Delivered
from .target import GateTarget


def listing(
    contracts: Mapping[GateTarget, Contract], ledger: Ledger, max_chars: int, *, may_mark: bool
) -> tuple[str, bool]:
    """The text that shows `contracts` and whether it leads with a marker.

    Contracts that do not fit are named instead of shown; the first one is always shown.
    """
    shown: dict[GateTarget, Contract] = {}
    claims: dict[str, str] = {}
    left_out: list[str] = []
    room = max_chars
    for target, contract in contracts.items():
        grown = {**claims, target.key: contract.version}
        size = len(listing_payload([(target, contract)], ()))
        if fits_header(grown) and (size <= room or not shown):
            shown[target] = contract
            claims = grown
            room -= size
        else:
            left_out.append(target.key)
    payload = listing_payload(shown.items(), left_out)
    # Sizes were summed without the marker and the names of what was left out.
    while len(shown) > 1 and len(payload) + longest_header(claims) > max_chars:
        target, _ = shown.popitem()
        del claims[target.key]
        left_out.insert(0, target.key)
        payload = listing_payload(shown.items(), left_out)
    if not shown or not may_mark:
        return payload, False
    return marked(ledger, payload, claims), True


def carry(delivered: Iterable[Delivered], ledger: Ledger, max_chars: int) -> list[ChatMessage]:
    """One marked user message per contract."""
    messages = []
    for entry in sorted(delivered, key=lambda entry: entry.target.key):
        target, contract, surface = entry.target, entry.contract, entry.surface
        claims = {target.key: contract.version}
        payload = carried_payload(
            target,
            contract,
            example_call(surface, target, contract),
            injected=surface.injected,
            max_chars=max_chars - longest_header(claims),
        )
        messages.append(ChatMessage(role="user", content=marked(ledger, payload, claims), trusted_verbatim=True))
    return messages
