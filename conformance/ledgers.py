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
    versions,
)
from .ledger_calls import ask_issue, ask_verify
from .store_trial import LedgerDriver, StoreTrial, answered
from .strategies import odd_text

L = Chapter[StoreTrial[Ledger]]("L", "ledger")


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
        answer = ask_verify(ledger, token, (payload, dict(reversed(list(claims.items())))))
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
        token = ask_issue(trial.new(), delivery)
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
        token = ask_issue(ledger, (payload, claims))
        for shown in (token, xxhash.xxh3_64_hexdigest(altered.encode()) + token[16:]):
            require(
                not ask_verify(ledger, shown, (altered, claims)),
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
        token = ask_issue(ledger, issued)
        shown = xxhash.xxh3_64_hexdigest(asked[0].encode()) + token[16:]
        require(
            not ask_verify(ledger, shown, asked), f"issued with {dict(issued[1])}, it is verified with {dict(asked[1])}"
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
        issued = ask_issue(stranger, delivery)
        require(not ask_verify(ledger, issued, delivery), "what another ledger issued is verified")
        own = ask_issue(ledger, ORDER)
        require(not ask_verify(stranger, own, ORDER), "another ledger verifies what this one issued")
        for token in (digest, digest + "0" * (len(own) - 16), digest + digest * 2, digest + own[16:]):
            if delivery != ORDER:
                require(
                    not ask_verify(ledger, token, delivery), f"the token {token}, which was never issued, is verified"
                )

    trial.search.any(deliveries, check, [d for d in WRITTEN if d != ORDER])


@L.clause(
    "L6",
    "verify answers True or False whatever it is asked, and False for whatever is no token of the delivery.",
    reason="What it is asked about was written by anybody.",
    prevents="A rescan that one hostile row ends.",
)
def _raises_nothing(trial: StoreTrial[Ledger]) -> None:
    ledger = trial.new()
    token = ask_issue(ledger, ORDER)

    def check(case: tuple[str, str, Mapping[str, str]]) -> None:
        shown, payload, claims = case
        if case == (token, *ORDER):
            return
        answer = ask_verify(ledger, shown, (payload, claims))
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
