"""L: a ledger answers for what it issued, and for nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping

import xxhash
from hypothesis import strategies as st

from tooldialect.gate import Ledger

from .clause import Chapter, require
from .deliveries import (
    ORDER,
    TWO_KEYS,
    V1,
    V2,
    V3,
    WRITTEN,
    Delivery,
    alterations,
    deliveries,
    keys,
    numbered,
    versions,
)
from .store_trial import THREADS, LedgerDriver, StoreTrial, answered, at_once, memory_kept
from .strategies import odd_text

L = Chapter[StoreTrial[Ledger]]("L", "ledger")

_FLOOD = 500
_BYTES_EACH = 48
_LARGE = 256 * 1024


def _issue(ledger: Ledger, delivery: Delivery) -> str:
    # A copy, so that a ledger that changes it spoils nothing but this delivery.
    token: object = answered("issue", lambda: ledger.issue(delivery[0], dict(delivery[1])))
    require(isinstance(token, str), f"issue gives {token!r}, which is no text")
    return str(token)


def _verify(ledger: Ledger, token: str, delivery: Delivery) -> bool:
    return answered("verify", lambda: ledger.verify(token, delivery[0], dict(delivery[1])))


@L.clause(
    "L1",
    "What it issued it verifies with True, whatever the payload and however the claims are ordered.",
    reason="A contract counts as read only if the ledger says so.",
    prevents="A gate that delivers again and again what stands in the transcript.",
)
def _verifies(trial: StoreTrial[Ledger]) -> None:
    def check(delivery: Delivery) -> None:
        ledger = trial.new()
        payload, claims = delivery
        given = dict(claims)
        token = answered("issue", lambda: ledger.issue(payload, given))
        require(given == claims, "the claims that it was given were changed")
        answer = _verify(ledger, token, (payload, dict(reversed(list(claims.items())))))
        require(answer is True, f"what was issued is answered with {answer!r}, not True")

    trial.search.any(deliveries, check, WRITTEN)


@L.clause(
    "L2",
    "A token is 16 to 128 lower-case hex digits and begins with the XXH3-64 of the payload's UTF-8 bytes.",
    reason="The reader takes no other tokens, and asks the ledger only where that digest fits.",
    prevents="Deliveries that no reader credits; a ledger that a flood of fakes keeps busy.",
)
def _token(trial: StoreTrial[Ledger]) -> None:
    def check(delivery: Delivery) -> None:
        token = _issue(trial.new(), delivery)
        require(re.fullmatch("[0-9a-f]{16,128}", token), f"the token is {token!r}")
        digest = xxhash.xxh3_64_hexdigest(delivery[0].encode())
        require(token.startswith(digest), f"the token {token} does not begin with the payload's XXH3-64, {digest}")

    trial.search.any(deliveries, check, WRITTEN)


@L.clause(
    "L3",
    "A payload that was altered, by as little as a blank, is not verified: not under its token, nor under one made to fit.",
    reason="XXH3-64 is quick and no proof: a payload can be made to have any.",
    prevents="A contract that is credited though the model reads something else.",
)
def _altered(trial: StoreTrial[Ledger]) -> None:
    def check(case: tuple[Delivery, str]) -> None:
        (payload, claims), altered = case
        if altered == payload:
            return
        ledger = trial.new()
        token = _issue(ledger, (payload, claims))
        for shown in (token, xxhash.xxh3_64_hexdigest(altered.encode()) + token[16:]):
            require(
                not _verify(ledger, shown, (altered, claims)),
                "an altered payload is verified",
                want=payload,
                got=altered,
            )

    written = [(delivery, altered) for delivery in WRITTEN for altered in alterations(delivery[0])]
    trial.search.any(st.tuples(deliveries, odd_text), check, written)


@L.clause(
    "L4",
    "A token is bound to payload and claims together: no other key or version, none more, none less.",
    reason="What a delivery claims decides which calls run.",
    prevents="One tool's contract that is credited to another, or to a newer version.",
)
def _claims(trial: StoreTrial[Ledger]) -> None:
    def check(case: tuple[Delivery, Delivery]) -> None:
        issued, asked = case
        if issued == asked:
            return
        ledger = trial.new()
        token = _issue(ledger, issued)
        shown = xxhash.xxh3_64_hexdigest(asked[0].encode()) + token[16:]
        require(
            not _verify(ledger, shown, asked), f"issued with {dict(issued[1])}, it is verified with {dict(asked[1])}"
        )

    text = "payload"
    others: tuple[Mapping[str, str], ...] = (
        {}, {"mcp:shop:order": V1}, {"mcp:shop:refund": V2}, {"mcp:shop:order": V2, "mcp:shop:refund": V1}, {**TWO_KEYS, "tool:x": V3},
        {"mcp:shop:order": V1, "mcp:shop:refund": V1}, {"mcp:shop:ORDER": V1, "mcp:shop:refund": V2}, {"mcp:shop:orde": V1, "mcp:shop:refund": V2},
    )  # fmt: skip
    written: list[tuple[Delivery, Delivery]] = [((text, TWO_KEYS), (text, other)) for other in others]
    # What a join without lengths or quotes takes for the same.
    written += [
        ((text, {"a": V1, "b": V2}), (text, {f"a@{V1},b": V2})),
        ((text, {"a": V1, "b": V2}), (text, {f'a":"{V1}","b': V2})),
        ((text, {"a": V1, "b": V2}), (text, {"ab": V1, "": V2})),
        ((f"{V2}rest", {"a": V1}), ("rest", {"a": f"{V1}{V2}"})),
        (("}rest", {"a": V1}), ("rest", {"a": f"{V1}}}"})),
    ]
    claims = st.dictionaries(keys, versions, min_size=1, max_size=3)
    trial.search.any(st.tuples(st.tuples(st.just(text), claims), st.tuples(st.just(text), claims)), check, written)


@L.clause(
    "L5",
    "What it did not issue it does not verify: not what another ledger issued, nor a token that anybody can compute.",
    reason="A tool's output can hold any text.",
    prevents="A server that writes its own contract, credited as ours.",
)
def _foreign(trial: StoreTrial[Ledger]) -> None:
    driver = trial.driver
    assert isinstance(driver, LedgerDriver)

    def check(delivery: Delivery) -> None:
        ledger, stranger = trial.new(), answered("making a stranger", driver.stranger)
        digest = xxhash.xxh3_64_hexdigest(delivery[0].encode())
        issued = _issue(stranger, delivery)
        require(not _verify(ledger, issued, delivery), "what another ledger issued is verified")
        own = _issue(ledger, ORDER)
        require(not _verify(stranger, own, ORDER), "another ledger verifies what this one issued")
        for token in (digest, digest + "0" * (len(own) - 16), digest + digest * 2, digest + own[16:]):
            if delivery != ORDER:
                require(not _verify(ledger, token, delivery), f"the token {token}, which was never issued, is verified")

    trial.search.any(deliveries, check, [d for d in WRITTEN if d != ORDER])


@L.clause(
    "L6",
    "verify answers True or False whatever it is asked, and False for whatever is no token of the delivery.",
    reason="What it is asked about was written by anybody.",
    prevents="A rescan that one hostile row ends.",
)
def _raises_nothing(trial: StoreTrial[Ledger]) -> None:
    ledger = trial.new()
    token = _issue(ledger, ORDER)

    def check(case: tuple[str, str, Mapping[str, str]]) -> None:
        shown, payload, claims = case
        if case == (token, *ORDER):
            return
        answer = _verify(ledger, shown, (payload, claims))
        require(isinstance(answer, bool), f"verify answers {answer!r}, which is no bool")
        require(not answer or shown == token, f"verify answers True for the token {shown!r}")

    payload, claims = ORDER
    tokens = (
        "", "0", token[:-1], f"{token}0", token.upper() if token.upper() != token else f"{token} ", f" {token}", "\u00e9", "\ud800", "x" * 100_000,
        token.translate({ord(digit): 0xFF10 + int(digit) for digit in "0123456789"}), "\x00", f"{token}\n",
    )  # fmt: skip
    written = [(shown, payload, claims) for shown in tokens]
    written += [(token, hostile, claims) for hostile in ("", "\ud800", f"{payload}\udfff", "\x00")]
    written += [
        (token, payload, hostile)
        for hostile in ({}, {"": ""}, {"\ud800": V1}, {"mcp:shop:order": "\udfff"}, {"mcp:shop:order": ""})
    ]
    anything = st.text(alphabet=st.characters(), max_size=20)
    trial.search.any(st.tuples(anything, anything, st.dictionaries(anything, anything, max_size=2)), check, written)


@L.clause(
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
    issued = [(_issue(ledger, delivery), delivery) for delivery in deliveries]
    for number, (token, delivery) in enumerate(issued, start=1):
        require(
            _verify(ledger, token, delivery) is True, f"delivery {number} of {len(issued)} is not verified any more"
        )


@L.clause(
    "L8",
    "Asking is not issuing: a flood of fakes is never verified, however often it asks, and pushes nothing out.",
    reason="One tool result can hold thousands of false markers.",
    prevents="A server that empties the ledger's memory, or talks itself into it.",
)
def _flood_of_fakes(trial: StoreTrial[Ledger]) -> None:
    ledger = trial.new()
    token = _issue(ledger, ORDER)
    for number in range(max(_FLOOD, 3 * (trial.capacity or 0))):
        fake = numbered(number)
        shown = xxhash.xxh3_64_hexdigest(fake[0].encode())
        for _ in range(2):
            require(not _verify(ledger, shown, fake), "a fake is verified, though it was only asked about")
    require(_verify(ledger, token, ORDER) is True, "a flood of fakes has pushed out what was issued")


@L.clause(
    "L9",
    "After a flood of deliveries the latest ones are verified: as many as its capacity, all where it has none.",
    reason="The latest deliveries are those that stand in context.",
    prevents="A full ledger that credits nothing new.",
)
def _keeps_the_latest(trial: StoreTrial[Ledger]) -> None:
    ledger = trial.new()
    count = _FLOOD if trial.capacity is None else 3 * trial.capacity
    issued = [(_issue(ledger, numbered(number)), numbered(number)) for number in range(count)]
    latest = issued if trial.capacity is None else issued[-trial.capacity :]
    for place, (token, delivery) in enumerate(latest):
        require(
            _verify(ledger, token, delivery) is True,
            f"after {count} deliveries, the one {len(latest) - place} before the end is not verified",
        )


@L.clause(
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
    issued = [(_issue(ledger, numbered(number)), numbered(number)) for number in range(3 * trial.capacity)]
    known = sum(bool(_verify(ledger, token, delivery)) for token, delivery in reversed(issued))
    require(known <= trial.capacity, f"{known} deliveries are verified, though its capacity is {trial.capacity}")


def _flood(ledger: Ledger, start: int) -> None:
    for number in range(start, start + _FLOOD):
        _issue(ledger, numbered(number))


@L.clause(
    "L11",
    "What it keeps of a delivery does not grow with the payload.",
    reason="A contract may have 24,000 characters, a listing more.",
    prevents="A ledger that holds every contract ever delivered.",
)
def _keeps_no_payload(trial: StoreTrial[Ledger]) -> None:
    ledger = trial.new()
    _issue(ledger, ORDER)
    count = 16

    def issue() -> None:
        for number in range(count):
            _issue(ledger, (f"{number}" + "x" * _LARGE, ORDER[1]))

    kept = memory_kept(issue)
    require(kept < count * _LARGE // 8, f"{count} payloads of {_LARGE} bytes left {kept} bytes in this process")


@L.clause(
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
            issued[number].append((_issue(ledger, delivery), delivery))
            _verify(ledger, *issued[number][place // 2])

    at_once(work)
    lost = [delivery for part in issued for token, delivery in part if _verify(ledger, token, delivery) is not True]
    require(not lost, f"of {each * THREADS} deliveries issued by {THREADS} threads {len(lost)} are not verified")


@L.clause(
    "L13",
    "Opened anew, it verifies what it issued before, and both objects know what either issues.",
    reason="Conversations go on in another process.",
    prevents="Contracts that are delivered again after every restart.",
    needs=("reopen",),
)
def _reopened(trial: StoreTrial[Ledger]) -> None:
    def check(delivery: Delivery) -> None:
        first = trial.new()
        token = _issue(first, delivery)
        second = trial.reopened(first)
        require(_verify(second, token, delivery) is True, "what was issued before is not verified after reopening")
        other = ("issued after reopening", delivery[1])
        require(
            _verify(first, _issue(second, other), other) is True,
            "the first object does not know what the second issued",
        )
        forged = ("never issued", delivery[1])
        shown = xxhash.xxh3_64_hexdigest(forged[0].encode()) + token[16:]
        require(not _verify(second, shown, forged), "after reopening it verifies what was never issued")

    trial.search.any(deliveries, check, WRITTEN)
