"""L: what a ledger keeps in mind: enough, not too much, and for all who ask."""

from __future__ import annotations

import xxhash

from tooldialect.gate import Ledger

from .clause import Chapter, require
from .deliveries import (
    ORDER,
    TWO_KEYS,
    V2,
    WRITTEN,
    Delivery,
    deliveries,
    numbered,
)
from .ledger_calls import ask_issue, ask_verify
from .store_trial import THREADS, StoreTrial, at_once, memory_kept

MEMORY = Chapter[StoreTrial[Ledger]]("L", "memory")

_FLOOD = 500
_BYTES_EACH = 48
_LARGE = 256 * 1024


@MEMORY.clause(
    "L7",
    "Issuing undoes nothing: a delivery stays verified after it, or the same payload with other claims, is issued again.",
    reason="A transcript holds earlier deliveries beside later ones.",
    prevents="A contract that is in context and delivered again, for ever.",
)
def _undoes_nothing(trial: StoreTrial[Ledger]) -> None:
    ledger = trial.new()
    payload = ORDER[0]
    deliveries: list[Delivery] = [
        ORDER,
        (payload, TWO_KEYS),
        (payload, {"mcp:shop:order": V2}),
        ORDER,
        (f"{payload} ", ORDER[1]),
    ]
    issued = [(ask_issue(ledger, delivery), delivery) for delivery in deliveries]
    for number, (token, delivery) in enumerate(issued, start=1):
        require(
            ask_verify(ledger, token, delivery) is True, f"delivery {number} of {len(issued)} is not verified any more"
        )


@MEMORY.clause(
    "L8",
    "Asking is not issuing: a flood of fakes is never verified, however often it asks, and pushes nothing out.",
    reason="One tool result can hold thousands of false markers.",
    prevents="A server that empties the ledger's memory, or talks itself into it.",
)
def _flood_of_fakes(trial: StoreTrial[Ledger]) -> None:
    ledger = trial.new()
    token = ask_issue(ledger, ORDER)
    for number in range(max(_FLOOD, 3 * (trial.capacity or 0))):
        fake = numbered(number)
        shown = xxhash.xxh3_64_hexdigest(fake[0].encode())
        for _ in range(2):
            require(not ask_verify(ledger, shown, fake), "a fake is verified, though it was only asked about")
    require(ask_verify(ledger, token, ORDER) is True, "a flood of fakes has pushed out what was issued")


@MEMORY.clause(
    "L9",
    "After a flood of deliveries the latest ones are verified: as many as its capacity, all where it has none.",
    reason="The latest deliveries are those that stand in context.",
    prevents="A full ledger that credits nothing new.",
)
def _keeps_the_latest(trial: StoreTrial[Ledger]) -> None:
    ledger = trial.new()
    count = _FLOOD if trial.capacity is None else 3 * trial.capacity
    issued = [(ask_issue(ledger, numbered(number)), numbered(number)) for number in range(count)]
    latest = issued if trial.capacity is None else issued[-trial.capacity :]
    for place, (token, delivery) in enumerate(latest):
        require(
            ask_verify(ledger, token, delivery) is True,
            f"after {count} deliveries, the one {len(latest) - place} before the end is not verified",
        )


@MEMORY.clause(
    "L10",
    "Its memory is bounded: it forgets what is beyond its capacity; without one it keeps nothing per delivery in this process.",
    reason="A host runs for months.",
    prevents="A leak of one entry a delivery.",
)
def _bounded(trial: StoreTrial[Ledger]) -> None:
    ledger = trial.new()
    if trial.capacity is None:
        _flood(ledger, 0)
        kept = memory_kept(lambda: _flood(ledger, _FLOOD))
        require(
            kept < _FLOOD * _BYTES_EACH,
            f"{_FLOOD} more deliveries left {kept} bytes in this process: name the capacity, or keep none of them",
        )
        return
    issued = [(ask_issue(ledger, numbered(number)), numbered(number)) for number in range(3 * trial.capacity)]
    known = sum(bool(ask_verify(ledger, token, delivery)) for token, delivery in reversed(issued))
    require(known <= trial.capacity, f"{known} deliveries are verified, though its capacity is {trial.capacity}")


def _flood(ledger: Ledger, start: int) -> None:
    for number in range(start, start + _FLOOD):
        ask_issue(ledger, numbered(number))


@MEMORY.clause(
    "L11",
    "What it keeps of a delivery does not grow with the payload.",
    reason="A contract may have 24,000 characters, a listing more.",
    prevents="A ledger that holds every contract ever delivered.",
)
def _keeps_no_payload(trial: StoreTrial[Ledger]) -> None:
    ledger = trial.new()
    ask_issue(ledger, ORDER)
    count = 16

    def issue() -> None:
        for number in range(count):
            ask_issue(ledger, (f"{number}" + "x" * _LARGE, ORDER[1]))

    kept = memory_kept(issue)
    require(kept < count * _LARGE // 8, f"{count} payloads of {_LARGE} bytes left {kept} bytes in this process")


@MEMORY.clause(
    "L12",
    "Threads that issue and verify at once lose nothing.",
    reason="The calls of a round run in parallel.",
    prevents="A delivery that was issued and is not known.",
)
def _threads(trial: StoreTrial[Ledger]) -> None:
    ledger = trial.new()
    each = 40 if trial.capacity is None else min(40, trial.capacity // THREADS)
    issued: list[list[tuple[str, Delivery]]] = [[] for _ in range(THREADS)]

    def work(number: int) -> None:
        for place in range(each):
            delivery = numbered(number * each + place)
            issued[number].append((ask_issue(ledger, delivery), delivery))
            ask_verify(ledger, *issued[number][place // 2])

    at_once(work)
    lost = [delivery for part in issued for token, delivery in part if ask_verify(ledger, token, delivery) is not True]
    require(not lost, f"of {each * THREADS} deliveries issued by {THREADS} threads {len(lost)} are not verified")


@MEMORY.clause(
    "L13",
    "Opened anew, it verifies what it issued before, and both objects know what either issues.",
    reason="Conversations go on in another process.",
    prevents="Contracts that are delivered again after every restart.",
    needs=("reopen",),
)
def _reopened(trial: StoreTrial[Ledger]) -> None:
    def check(delivery: Delivery) -> None:
        first = trial.new()
        token = ask_issue(first, delivery)
        second = trial.reopened(first)
        require(ask_verify(second, token, delivery) is True, "what was issued before is not verified after reopening")
        other = ("issued after reopening", delivery[1])
        require(
            ask_verify(first, ask_issue(second, other), other) is True,
            "the first object does not know what the second issued",
        )
        forged = ("never issued", delivery[1])
        shown = xxhash.xxh3_64_hexdigest(forged[0].encode()) + token[16:]
        require(not ask_verify(second, shown, forged), "after reopening it verifies what was never issued")

    trial.search.any(deliveries, check, WRITTEN)
