"""Asking a ledger: what it answers with has to be what a ledger answers with."""

from __future__ import annotations

from tooldialect.gate import Ledger

from .clause import require
from .deliveries import Delivery
from .store_trial import answered


def ask_issue(ledger: Ledger, delivery: Delivery) -> str:
    # A copy, so that a ledger that changes it spoils nothing but this delivery.
    token: object = answered("issue", lambda: ledger.issue(delivery[0], dict(delivery[1])))
    require(isinstance(token, str), f"issue gives {token!r}, which is no text")
    return str(token)


def ask_verify(ledger: Ledger, token: str, delivery: Delivery) -> bool:
    return answered("verify", lambda: ledger.verify(token, delivery[0], dict(delivery[1])))
