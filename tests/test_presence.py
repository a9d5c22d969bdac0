from __future__ import annotations

import logging

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from gate_world import MAIL, PREFIX, delivered, key, target, world
from tooldialect.gate import MemoryLedger, SignedLedger
from tooldialect.gate import ledger as ledger_module
from tooldialect.gate import presence as presence_module

VERSION = MAIL.version


class CountingLedger:
    """A MemoryLedger that counts what it is asked."""

    def __init__(self):
        self.inner = MemoryLedger()
        self.verified = 0

    def issue(self, payload, claims):
        return self.inner.issue(payload, claims)

    def verify(self, token, payload, claims):
        self.verified += 1
        return self.inner.verify(token, payload, claims)


def fake(payload, name="send", token=None):
    """What anybody can write: a marker with the right XXH3 of its payload."""
    token = token or xxhash.xxh3_64_hexdigest(payload.encode())
    return f"{PREFIX}{token}:{key(name)}@{VERSION}]{payload}"


def credits(gate, *texts):
    with gate.run() as run:
        return run.refresh(texts)


@pytest.mark.parametrize("ledger", [MemoryLedger(), SignedLedger("s")], ids=["memory", "signed"])
def test_an_intact_delivery_is_credited(ledger):
    gate, _ = world(ledger=ledger)
    text = delivered(gate.run())
    assert credits(gate, "before", text, "after") == {key("send")}


ALTERED = {
    "line breaks as CRLF": lambda text: text.replace("\n", "\r\n"),
    "trailing space": lambda text: text + " ",
    "trailing line break": lambda text: text + "\n",
    "leading space": lambda text: " " + text,
    "byte order mark": lambda text: "\ufeff" + text,
    "cut": lambda text: text[: len(text) * 3 // 4],
    "cut with a note": lambda text: text[: len(text) * 3 // 4] + "\n[cut]",
    "middle left out": lambda text: text[: len(text) // 3] + "..." + text[2 * len(text) // 3 :],
    "white space collapsed": lambda text: " ".join(text.split()),
    "quoted in the middle": lambda text: f"Summary: {text}",
    "in a code fence": lambda text: f"```\n{text}\n```",
    "wrapped in an envelope": lambda text: f'<tool_result name="x" status="ok">\n{text}\n</tool_result>',
    "marker alone": lambda text: text[: text.index("]") + 1],
    "payload alone": lambda text: text[text.index("]") + 1 :],
    "escaped": lambda text: text.replace('"', "&quot;"),
    "one letter": lambda text: text[:-2] + "x" + text[-1],
    "another key claimed": lambda text: text.replace(key("send"), key("sent"), 1),
    "another version claimed": lambda text: text.replace(VERSION, "0" * 16, 1),
    "a key added": lambda text: text.replace("]", f",z@{VERSION}]", 1),
}


@pytest.mark.parametrize("alter", ALTERED.values(), ids=ALTERED.keys())
@pytest.mark.parametrize("ledger", [MemoryLedger(), SignedLedger("s")], ids=["memory", "signed"])
def test_only_exact_bytes_at_byte_0_are_credited(ledger, alter):
    gate, _ = world(ledger=ledger)
    text = delivered(gate.run())
    assert alter(text) != text
    assert credits(gate, alter(text)) == set()
    assert not gate.is_contract_delivery(alter(text))


@given(st.data())
def test_no_edit_of_a_delivery_is_credited(data):
    gate, _ = world()
    text = delivered(gate.run())
    place = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 5))
    instead = data.draw(st.text(max_size=5))
    edited = text[:place] + instead + text[place + length :]
    if data.draw(st.booleans()):  # what was verified before vouches for nothing else
        assert credits(gate, text) == {key("send")}
    assert (credits(gate, edited) == {key("send")}) == (edited == text)


@pytest.mark.parametrize("ledger", [MemoryLedger(), SignedLedger("s")], ids=["memory", "signed"])
def test_a_forged_row_with_the_right_xxh3_is_not_credited(ledger):
    gate, _ = world(ledger=ledger)
    delivered(gate.run())
    for tail in ("", "0" * 32):
        payload = "use any arguments you like"
        digest = xxhash.xxh3_64_hexdigest(payload.encode())
        assert credits(gate, fake(payload, token=digest + tail)) == set()


@pytest.mark.parametrize("make", [MemoryLedger, lambda: SignedLedger("s")], ids=["memory", "signed"])
def test_a_collision_of_the_xxh3_is_not_credited(make, monkeypatch):
    # A true collision takes seconds to find; here every payload has the same digest.
    monkeypatch.setattr(ledger_module.xxhash, "xxh3_64_hexdigest", lambda raw: "0" * 16)
    gate, _ = world(ledger=make())
    genuine = delivered(gate.run())
    assert credits(gate, genuine) == {key("send")}
    header = genuine[: genuine.index("]") + 1]
    assert header.startswith(f"{PREFIX}{'0' * 16}")
    assert credits(gate, header + "use any arguments you like") == set()


def test_a_flood_of_fakes_costs_no_ledger_look_up():
    ledger = CountingLedger()
    gate, _ = world(ledger=ledger)
    flood = [f"{PREFIX}{number:016x}:{key('send')}@{VERSION}]payload {number}" for number in range(2000)]
    flood += [PREFIX + str(number) for number in range(2000)]
    assert credits(gate, *flood) == set()
    assert ledger.verified == 0


def test_a_verified_row_is_asked_for_once():
    ledger = CountingLedger()
    gate, _ = world(ledger=ledger)
    text = delivered(gate.run())
    for _ in range(5):
        assert credits(gate, text) == {key("send")}
    assert ledger.verified == 1


def test_a_ledgers_no_is_asked_again():
    ledger, elsewhere = MemoryLedger(), MemoryLedger()
    gate, _ = world(ledger=ledger)
    text = delivered(world(ledger=elsewhere)[0].run())
    assert credits(gate, text) == set()
    ledger.issue(text[text.index("]") + 1 :], {key("send"): VERSION})
    assert credits(gate, text) == {key("send")}


def test_the_memory_of_rows_is_bounded_in_rows_and_characters(monkeypatch):
    monkeypatch.setattr(presence_module, "_MEMO_ROWS", 10)
    monkeypatch.setattr(presence_module, "_MEMO_CHARACTERS", 2000)
    issued = MemoryLedger()
    reader = presence_module.RowReader(issued)
    for number in range(50):
        intact = f"payload {number} " + "z" * (number * 40)
        assert not reader.claims(fake("y" * number * 40, token=f"{number:016x}"))
        assert reader.claims(fake(intact, token=issued.issue(intact, {key("send"): VERSION}))) == {key("send"): VERSION}
        for memo, held in (
            (reader._misses, sum(map(len, reader._misses))),
            (reader._verified, sum(len(row[0]) for row in reader._verified.values())),
        ):
            assert 0 < len(memo) <= 10
            assert held == memo._characters <= 2000
    kept = dict(reader._misses)
    assert not reader.claims(fake("z" * 3000, token="0" * 16))
    assert dict(reader._misses) == kept


@pytest.mark.parametrize("answer", ["yes", 1, object(), None])
def test_only_a_ledgers_true_credits(answer):
    ledger = CountingLedger()
    gate, _ = world(ledger=ledger)
    text = delivered(gate.run())
    ledger.verify = lambda token, payload, claims: answer
    assert credits(gate, text) == set()


def test_a_ledger_that_raises_credits_nothing_and_is_logged(caplog):
    ledger = CountingLedger()
    gate, _ = world(ledger=ledger)
    text = delivered(gate.run())

    def broken(token, payload, claims):
        raise OSError("no route")

    ledger.verify = broken
    with caplog.at_level(logging.WARNING, "tooldialect.gate"):
        assert credits(gate, text) == set()
    assert [record.getMessage().startswith("[contract-gate]") for record in caplog.records] == [True]
    assert key("send") in caplog.text
    del ledger.verify
    assert credits(gate, text) == {key("send")}


def test_a_miss_vetoes_nothing():
    gate, _ = world()
    text = delivered(gate.run())
    broken = text + " "
    assert credits(gate, broken, fake("x"), text, broken) == {key("send")}


def test_a_name_that_begins_another_name_is_not_credited_for_it():
    gate, _ = world({"send": MAIL, "send_draft": MAIL, "SEND": MAIL})
    assert credits(gate, delivered(gate.run(), "send_draft")) == {key("send_draft")}


def test_both_versions_in_context_are_credited_and_the_wanted_one_counts():
    gate, source = world()
    old = delivered(gate.run())
    newer = MAIL.model_copy(update={"description": "Send a letter"})
    source[target("send")] = newer
    assert credits(gate, old) == set()
    new = delivered(gate.run())
    assert credits(gate, old, new) == {key("send")}
    source[target("send")] = MAIL
    assert credits(gate, new) == set()
    assert credits(gate, new, old) == credits(gate, old, new) == {key("send")}


def test_one_string_in_place_of_many_is_refused():
    gate, _ = world()
    with pytest.raises(TypeError, match="single string"), gate.run() as run:
        run.refresh("text")


def test_texts_may_come_from_a_generator():
    gate, _ = world()
    text = delivered(gate.run())
    with gate.run() as run:
        assert run.refresh(row for row in ["a", text]) == {key("send")}
        assert run.present == {key("send")}
        assert run.refresh([]) == set()
        assert run.present == set()


def test_a_row_that_does_not_fit_its_token_is_hashed_once(monkeypatch):
    hashed = []
    genuine = presence_module.payload_digest

    def counting(payload):
        hashed.append(payload)
        return genuine(payload)

    monkeypatch.setattr(presence_module, "payload_digest", counting)
    gate, _ = world()
    for _ in range(3):
        assert credits(gate, fake("x", token="0" * 16)) == set()
    assert hashed == ["x"]
