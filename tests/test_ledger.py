from __future__ import annotations

import hashlib
import json
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from tooldialect.gate import GateError, MemoryLedger, SignedLedger

VERSION = "0123456789abcdef"
CLAIMS = st.dictionaries(st.text(max_size=6), st.text(max_size=6), min_size=1, max_size=3)
LEDGERS = st.sampled_from([MemoryLedger, lambda: SignedLedger(b"secret")])


@given(LEDGERS, st.text(), CLAIMS)
def test_what_was_issued_verifies(make, payload, claims):
    ledger = make()
    token = ledger.issue(payload, claims)
    assert ledger.verify(token, payload, claims)
    assert ledger.verify(token, payload, dict(reversed(claims.items())))


@given(LEDGERS, st.text(), CLAIMS)
def test_a_token_begins_with_the_xxh3_of_the_payload(make, payload, claims):
    assert make().issue(payload, claims)[:16] == xxhash.xxh3_64_hexdigest(payload.encode())


@pytest.mark.parametrize(("ledger", "digits"), [(MemoryLedger(), 16), (SignedLedger("s"), 48)])
def test_tokens_are_lower_case_hex_of_known_length(ledger, digits):
    assert re.fullmatch(rf"[0-9a-f]{{{digits}}}", ledger.issue("payload", {"k": VERSION}))


@given(LEDGERS, st.text(), st.text(), CLAIMS, CLAIMS)
def test_tokens_are_bound_to_payload_and_claims(make, payload, other, claims, others):
    ledger = make()
    token = ledger.issue(payload, claims)
    assert ledger.verify(token, other, claims) == (other == payload)
    assert ledger.verify(token, payload, others) == (others == claims)


ODD_CLAIMS = st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3)


@given(st.text(max_size=50), ODD_CLAIMS, st.binary(min_size=1, max_size=9))
def test_a_signature_is_the_keyed_blake2b_of_claims_and_payload(payload, claims, secret):
    bound = json.dumps(claims, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    whole = len(bound).to_bytes(8, "big") + bound + payload.encode()
    signature = hashlib.blake2b(whole, digest_size=16, key=secret, person=b"contract-gate").hexdigest()
    assert SignedLedger(secret).issue(payload, claims)[16:] == signature


def test_a_signed_ledger_can_be_handed_to_other_processes():
    token = SignedLedger("secret").issue("payload", {"k": VERSION})
    assert pickle.loads(pickle.dumps(SignedLedger("secret"))).verify(token, "payload", {"k": VERSION})


def test_nothing_moves_between_claims_and_payload():
    for ledger in (MemoryLedger(), SignedLedger("s")):
        token = ledger.issue('{"b":"2"}', {"a": "1"})
        assert not ledger.verify(token, '{"b":"2"}', {"a": "2"})
        assert not ledger.verify(token, '{"b":"2"}', {"b": "1"})
        assert not ledger.verify(token, "", {"a": "1", "b": "2"})
        assert not ledger.verify(token, '{"b":"2"}', {"a": '1"}{"b":"2'})


@given(LEDGERS, st.text(), st.integers(0, 15), st.sampled_from("0123456789abcdefABCDEF é\ud800"))
def test_an_altered_token_does_not_verify(make, payload, place, letter):
    ledger = make()
    claims = {"k": VERSION}
    token = ledger.issue(payload, claims)
    altered = token[:place] + letter + token[place + 1 :]
    assert ledger.verify(altered, payload, claims) == (altered == token)
    at_the_end = token[: len(token) - place - 1] + letter + token[len(token) - place :]
    assert ledger.verify(at_the_end, payload, claims) == (at_the_end == token)
    for stretched in (token[:-1], token + letter, "", token + token):
        assert not ledger.verify(stretched, payload, claims)


@pytest.mark.parametrize("ledger", [MemoryLedger(), SignedLedger("s")], ids=["memory", "signed"])
def test_a_lone_surrogate_verifies_nothing_and_raises_nothing(ledger):
    token = ledger.issue("payload", {"k": VERSION})
    assert not ledger.verify(token, "pay\ud800load", {"k": VERSION})
    assert not ledger.verify("\ud800" * 48, "payload", {"k": VERSION})
    assert not ledger.verify(token[:-1] + "\udfff", "payload", {"k": VERSION})


def test_the_right_xxh3_alone_does_not_verify():
    payload, claims = "forged", {"k": VERSION}
    digest = xxhash.xxh3_64_hexdigest(payload.encode())
    for ledger in (MemoryLedger(), SignedLedger("s")):
        ledger.issue("another", claims)
        for token in (
            digest,
            digest + "0" * 32,
            digest + hashlib.blake2b(payload.encode(), digest_size=16).hexdigest(),
        ):
            assert not ledger.verify(token, payload, claims)


def test_what_another_process_issued_is_unknown_to_a_memory_ledger():
    token = MemoryLedger().issue("payload", {"k": VERSION})
    assert not MemoryLedger().verify(token, "payload", {"k": VERSION})


def test_a_memory_ledger_forgets_the_oldest_first():
    ledger = MemoryLedger(capacity=2)
    tokens = {payload: ledger.issue(payload, {"k": VERSION}) for payload in "ab"}
    assert ledger.verify(tokens["a"], "a", {"k": VERSION})  # used: no longer the oldest
    tokens["c"] = ledger.issue("c", {"k": VERSION})
    assert {payload for payload in "abc" if ledger.verify(tokens[payload], payload, {"k": VERSION})} == {"a", "c"}


def test_issuing_again_keeps_a_delivery_young():
    ledger = MemoryLedger(capacity=2)
    for payload in ("a", "b", "a", "c"):
        ledger.issue(payload, {"k": VERSION})
    assert ledger.verify(ledger.issue("a", {"k": VERSION}), "a", {"k": VERSION})
    assert not ledger.verify(xxhash.xxh3_64_hexdigest(b"b"), "b", {"k": VERSION})


def test_a_memory_ledger_without_room_is_refused():
    with pytest.raises(GateError, match="room"):
        MemoryLedger(capacity=0)


def test_every_holder_of_the_secret_verifies_and_nobody_else():
    token = SignedLedger(b"secret").issue("payload", {"k": VERSION})
    assert SignedLedger(b"secret").verify(token, "payload", {"k": VERSION})
    assert SignedLedger("secret").verify(token, "payload", {"k": VERSION})
    assert SignedLedger(bytearray(b"secret")).verify(token, "payload", {"k": VERSION})
    for other in (b"secre", b"secret\x00", b"Secret", b"s" * 200):
        assert not SignedLedger(other).verify(token, "payload", {"k": VERSION})


def test_a_long_secret_counts_to_its_last_byte():
    one, other = b"s" * 100 + b"1", b"s" * 100 + b"2"
    token = SignedLedger(one).issue("payload", {"k": VERSION})
    assert SignedLedger(one).verify(token, "payload", {"k": VERSION})
    assert not SignedLedger(other).verify(token, "payload", {"k": VERSION})


@pytest.mark.parametrize("secret", [b"", "", None, 32, ["s"]])
def test_what_is_no_secret_is_refused(secret):
    with pytest.raises(GateError, match="secret"):
        SignedLedger(secret)


def test_many_threads_issue_and_verify_at_once():
    ledger, crowded = MemoryLedger(capacity=8 * 200), MemoryLedger(capacity=8)
    start = threading.Barrier(8)

    def work(worker):
        start.wait()
        verified = 0
        for number in range(200):
            payload = f"{worker}:{number}"
            verified += ledger.verify(ledger.issue(payload, {"k": VERSION}), payload, {"k": VERSION})
            crowded.verify(crowded.issue(payload, {"k": VERSION}), payload, {"k": VERSION})
        return verified

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [200] * 8
    assert len(crowded._issued) == 8
