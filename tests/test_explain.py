from __future__ import annotations

import logging

import pytest

from gate_world import MAIL, delivered, key, target, world
from tooldialect.gate import MemoryLedger, Sighting, SignedLedger, Verdict
from tooldialect.gate.explain import explain


def verdicts(sightings):
    return [(sighting.row, sighting.key, sighting.verdict.value) for sighting in sightings]


def test_every_marked_row_has_its_verdict():
    gate, source = world({"send": MAIL, "other": MAIL})
    stale = delivered(gate.run())
    source[target("send")] = MAIL.model_copy(update={"effect": "write"})
    intact = delivered(gate.run())
    foreign = delivered(world({"other": MAIL})[0].run(), "other")
    rows = ["plain", intact, intact + " ", f"Summary: {intact}", foreign, stale, "[contract-gate:", ""]
    assert verdicts(gate.explain(rows)) == [
        (1, key("send"), "INTACT"),
        (2, key("send"), "REWRITTEN"),
        (3, key("send"), "DISPLACED"),
        (4, key("other"), "UNKNOWN"),
        (5, key("send"), "STALE"),
        (6, None, "REWRITTEN"),
    ]


def test_a_sighting_tells_the_version():
    gate, _ = world()
    assert gate.explain([delivered(gate.run())]) == [Sighting(0, key("send"), MAIL.version, Verdict.INTACT)]


def test_what_is_explained_as_intact_is_what_is_credited():
    gate, _ = world({"send": MAIL, "other": MAIL})
    texts = [delivered(gate.run(), name) for name in ("send", "other")]
    rows = [*texts, texts[0] + "x", "x" + texts[1], *texts]
    intact = {sighting.key for sighting in gate.explain(rows) if sighting.verdict is Verdict.INTACT}
    with gate.run() as run:
        assert run.refresh(rows) == intact


def test_a_row_of_many_keys_has_a_sighting_for_each():
    gate, source = world({"a": MAIL, "b": MAIL})
    with gate.run() as run:
        text = run.listing({target("a"): MAIL, target("b"): MAIL}, "find_tools").output
    source[target("b")] = MAIL.model_copy(update={"effect": "write"})
    assert verdicts(gate.explain([text])) == [(0, key("a"), "INTACT"), (0, key("b"), "STALE")]
    assert verdicts(gate.explain([text + " "])) == [(0, key("a"), "REWRITTEN"), (0, key("b"), "REWRITTEN")]


def test_every_displaced_marker_of_a_row_is_seen():
    gate, _ = world({"send": MAIL, "other": MAIL})
    one, other = delivered(gate.run(), "send"), delivered(gate.run(), "other")
    assert verdicts(gate.explain([f"a {one} b {other}"])) == [
        (0, key("send"), "DISPLACED"),
        (0, key("other"), "DISPLACED"),
    ]


def test_without_a_ledger_a_payload_that_fits_its_token_counts_as_issued():
    text = delivered(world(ledger=SignedLedger("s"))[0].run())
    assert verdicts(explain([text, text + " "])) == [(0, key("send"), "INTACT"), (1, key("send"), "REWRITTEN")]
    assert verdicts(explain([text], SignedLedger("s"))) == [(0, key("send"), "INTACT")]
    assert verdicts(explain([text], SignedLedger("other"))) == [(0, key("send"), "UNKNOWN")]


def test_a_ledger_that_raises_is_explained_as_unknown(caplog):
    class Broken(MemoryLedger):
        def verify(self, token, payload, claims):
            raise OSError("no route")

    gate, _ = world(ledger=Broken())
    text = delivered(gate.run())
    with caplog.at_level(logging.ERROR, "tooldialect.gate"):
        assert verdicts(gate.explain([text])) == [(0, key("send"), "UNKNOWN")]


def test_a_key_that_no_target_has_is_any_versions():
    ledger = MemoryLedger()
    gate, _ = world(ledger=ledger)
    token = ledger.issue("payload", {"mcp": "0" * 16})
    assert verdicts(gate.explain([f"[contract-gate:{token}:mcp@{'0' * 16}]payload"])) == [(0, "mcp", "INTACT")]


def test_one_string_in_place_of_many_is_refused():
    with pytest.raises(TypeError, match="single string"):
        world()[0].explain("text")
