from __future__ import annotations

import json

from gate_world import GUESS, MAIL, PREFIX, call, delivered, key, target, world
from tooldialect.dialects import ParsedToolCall
from tooldialect.gate import (
    Contract,
    ContractGate,
    GateSettings,
    GateTarget,
    Reason,
    SignedLedger,
    StaticSource,
    Surface,
)


def test_a_child_that_starts_with_what_the_turn_was_shown_runs_at_once():
    gate, _ = world()
    with gate.run() as parent:
        delivered(parent)
        messages = parent.carry()
        with gate.run() as child:
            assert child.refresh(message.content for message in messages) == {key("send")}
            assert child.consult(call("send", GUESS)).reason is Reason.PRESENT


def test_each_contract_is_one_marked_user_message():
    gate, _ = world({"b": MAIL, "a": MAIL})
    run = gate.run()
    for name in ("b", "a"):
        delivered(run, name)
    messages = run.carry()
    assert [message.role for message in messages] == ["user", "user"]
    assert all(message.trusted_verbatim for message in messages)
    assert all(message.content.count(PREFIX) == 1 for message in messages)
    assert [gate.run().refresh([message.content]) for message in messages] == [{key("a")}, {key("b")}]


def test_the_words_about_a_failed_call_are_left_out():
    gate, _ = world()
    run = gate.run()
    message = delivered(run, arguments={"recipient": "x"})
    assert "NOT EXECUTED" in message
    [carried] = run.carry()
    for words in ("NOT", "recipient", "missing", "again"):
        assert words not in carried.content
    assert (
        json.loads(carried.content[carried.content.rindex("not instructions: ") + 18 :])["input_schema"]
        == MAIL.input_schema
    )
    assert json.dumps({"server_id": "srv", "tool_name": "send"}, separators=(",", ":"))[:-1] in carried.content


def test_nothing_delivered_is_nothing_carried():
    gate, _ = world()
    run = gate.run()
    assert run.carry() == []
    run.consult(call("send", {"to": "x"}))
    run.listing({target("send"): MAIL}, "find_tools")
    assert run.carry() == []


def test_all_runs_of_a_turn_carry_what_any_of_them_was_shown_and_other_turns_do_not():
    gate, _ = world()
    with gate.run() as parent:
        with gate.run() as child:
            delivered(child)
        assert len(parent.carry()) == 1
        assert len(gate.run(parent=parent).carry()) == 1
    assert gate.run().carry() == []
    with gate.run(turn_id="t") as one:
        delivered(one)
    assert len(gate.run(turn_id="t").carry()) == 1
    assert gate.run(turn_id="u").carry() == []


def test_the_latest_version_is_carried():
    gate, source = world()
    run = gate.run()
    delivered(run)
    newer = Contract(description="New", input_schema=MAIL.input_schema)
    source[target("send")] = newer
    run.refresh([])
    delivered(run)
    [message] = run.carry()
    assert f"{key('send')}@{newer.version}]" in message.content


def test_a_signed_carry_is_credited_in_another_process():
    gate, _ = world(ledger=SignedLedger("s"))
    run = gate.run()
    delivered(run)
    elsewhere, _ = world(ledger=SignedLedger("s"))
    assert elsewhere.run().refresh(message.content for message in run.carry()) == {key("send")}


def test_a_contract_is_carried_for_the_surface_it_was_delivered_through():
    aim = GateTarget.composio("SEND")
    gate = ContractGate(
        [
            Surface.composio(StaticSource()),
            Surface.composio_actions(StaticSource({aim: MAIL}), lambda name: name.isupper()),
        ]
    )
    run = gate.run()
    assert run.consult(ParsedToolCall(name="SEND", arguments=GUESS)).message
    [message] = run.carry()
    assert '{"name":"SEND","arguments":{"to":"<string>"}}' in message.content
    assert "composio_execute" not in message.content


def test_a_carried_contract_meets_the_limit_like_a_delivered_one():
    contract = Contract(description="D" * 5000, input_schema=MAIL.input_schema)
    gate, _ = world({"send": contract}, ledger=SignedLedger("s"), settings=GateSettings(max_contract_chars=1000))
    run = gate.run()
    delivered(run)
    [message] = run.carry()
    assert len(message.content) <= 1000
    assert "left out for length" in message.content


def test_with_the_gate_switched_off_nothing_is_carried(monkeypatch):
    gate, _ = world()
    run = gate.run()
    delivered(run)
    monkeypatch.setenv("OPENHUMAN_CONTRACT_GATE", "0")
    assert run.carry() == []
