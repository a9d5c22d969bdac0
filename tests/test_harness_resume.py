"""A transcript saved after the delivery and resumed in a new process, through any dialect."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from harness.setups import DIALECTS, EVERYWHERE, Host
from harness.shop import GUESS, RIGHT, clock_call, gated_call
from tooldialect.dialects import dump_transcript
from tooldialect.gate import SignedLedger

SECRET = "a secret of two processes"
BATCH = [clock_call("Rome"), gated_call("create_order", GUESS), clock_call("Oslo")]


def save_mid_way(dialect: str) -> tuple[str, str]:
    """The transcript when the delivery has been appended and the model not been asked again; the delivery."""
    host = Host(dialect)
    host.open_gate(ledger=SignedLedger(SECRET))
    harness = host.harness(max_rounds=1)
    harness.run_turn(host.script(BATCH), "Order a lamp and tell the time.")
    assert host.shop.book == []
    return dump_transcript(harness.history), host.deliveries[0]


def resume(secret: str, saved: dict[str, str]) -> dict[tuple[str, str, str], dict]:
    """What a new process made of the transcripts: by dialect it was saved in, dialect and wire it went on in."""
    done = subprocess.run(
        [sys.executable, "-m", "harness.resume"],
        input=json.dumps({"secret": secret, "transcripts": saved}),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {(before, after, wire): result for before, after, wire, result in json.loads(done.stdout)}


@pytest.fixture(scope="module")
def saved() -> dict[str, tuple[str, str]]:
    return {dialect: save_mid_way(dialect) for dialect in DIALECTS}


@pytest.fixture(scope="module")
def resumed(saved):
    return resume(SECRET, {dialect: text for dialect, (text, _) in saved.items()})


@pytest.mark.parametrize(("after", "wire"), EVERYWHERE)
@pytest.mark.parametrize("before", DIALECTS)
def test_a_resumed_transcript_is_credited_at_once(saved, resumed, before, after, wire):
    result = resumed[before, after, wire]
    _, delivery = saved[before]
    assert result["present"]
    assert result["units"].count(delivery) == 1
    assert result["reasons"] == ["PRESENT"]
    assert result["book"] == [["create_order", RIGHT["create_order"]]]


def test_another_secret_credits_nothing(saved):
    strangers = resume("another secret", {"xml": saved["xml"][0]})
    assert len(strangers) == len(EVERYWHERE)
    for result in strangers.values():
        assert not result["present"]
        assert saved["xml"][1] in result["units"]
