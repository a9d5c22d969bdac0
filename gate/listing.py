"""Contracts given ahead of any call: a discovery tool's list, and what a child run inherits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tooldialect.dialects import ChatMessage

from .consultation import marked
from .contract import Contract
from .delivery import carried_payload, example_arguments, listing_payload
from .ledger import Ledger
from .marker import fits_header
from .settings import GateSettings
from .surface import Surface
from .target import GateTarget


def listing(
    contracts: Mapping[GateTarget, Contract], ledger: Ledger, max_chars: int, *, may_mark: bool
) -> tuple[str, bool]:
    """The text that shows `contracts` and whether it leads with a marker.

    Contracts that do not fit are named instead of shown; the first one is always shown.
    """
    shown: dict[GateTarget, Contract] = {}
    left_out: list[str] = []
    room = max_chars
    for target, contract in contracts.items():
        size = len(listing_payload([(target, contract)], ())) + len(target.key)
        claims = {other.key: other_contract.version for other, other_contract in {**shown, target: contract}.items()}
        if fits_header(claims) and (size <= room or not shown):
            shown[target] = contract
            room -= size
        else:
            left_out.append(target.key)
    payload = listing_payload(shown.items(), left_out)
    if not shown or not may_mark:
        return payload, False
    return marked(ledger, payload, {target.key: contract.version for target, contract in shown.items()}), True


def carry(
    delivered: Iterable[tuple[GateTarget, Contract]],
    surfaces: Iterable[Surface],
    ledger: Ledger,
    settings: GateSettings,
) -> list[ChatMessage]:
    """One marked user message per contract."""
    serving = {}
    for surface in surfaces:
        serving.setdefault(surface.kind, surface)
    messages = []
    for target, contract in sorted(delivered, key=lambda pair: pair[0].key):
        surface = serving[target.kind]
        payload = carried_payload(
            target,
            contract,
            surface.reissue(target, example_arguments(contract, surface.injected)),
            max_chars=settings.max_contract_chars,
        )
        text = marked(ledger, payload, {target.key: contract.version})
        messages.append(ChatMessage(role="user", content=text, trusted_verbatim=True))
    return messages
