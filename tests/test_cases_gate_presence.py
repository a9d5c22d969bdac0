"""Faults that harnesses really met, each as a small story with the right end."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from gate_world import MAIL, PREFIX, PROXY, call, key, target, world
from tooldialect.dialects import AssistantTurn, ChatMessage, OpenAIChatWire, ToolCall, ToolSpec, get_dialect
from tooldialect.gate import Contract, ContractGate, GateTarget, Reason, StaticSource, Surface


class Session:
    """One run with the rows its model would read; every call is a step of its own."""

    def __init__(self, run):
        self.run, self.rows = run, []

    def call(self, name, arguments):
        """(executed, delivered)"""
        self.run.refresh(self.rows)
        self.decision = self.run.consult(call(name, arguments))
        if self.decision.proceed:
            return True, False
        self.outcome = self.decision.outcome(PROXY)
        self.rows.append(self.outcome.output)
        return False, self.outcome.trusted_verbatim


DELIVERED, EXECUTED = (False, True), (True, False)


def test_compaction_that_drops_the_contract_brings_it_again():  # G01
    gate, _ = world()
    session = Session(gate.run())
    assert session.call("send", {}) == DELIVERED
    session.rows = ["summary: we tried to send a mail"]
    assert session.call("send", {}) == DELIVERED
    assert session.call("send", {"to": "a@example.test"}) == EXECUTED


def test_a_quoted_marker_and_a_marker_without_its_payload_are_not_the_contract():  # G02
    gate, _ = world()
    session = Session(gate.run())
    session.call("send", {})
    marker = session.rows[0][: session.rows[0].index("]") + 1]
    summary = f"Summary: the gate answered {marker} and listed fields to and subject."
    assert session.run.refresh([summary, marker]) == set()


@pytest.mark.parametrize(
    ("then", "present"),
    [
        (lambda text: text[: len(text) * 3 // 4] + "\n[cut]", False),
        (lambda text: text[: len(text) // 3] + "..." + text[len(text) * 2 // 3 :], False),
        (lambda text: text + " ", False),
        (lambda text: text, True),
    ],
    ids=["first three quarters", "middle third left out", "a space behind", "untouched"],
)
def test_a_shortened_contract_is_not_in_context_though_its_marker_is_whole(then, present):  # G03
    gate, _ = world()
    session = Session(gate.run())
    session.call("send", {})
    assert session.run.refresh(map(then, session.rows)) == ({key("send")} if present else set())


def test_a_contract_of_a_schema_that_has_changed_since_is_not_the_contract():  # G06
    old = Contract(input_schema={"type": "object", "properties": {"hours": {"type": "string"}}, "required": ["hours"]})
    new = Contract(
        input_schema={
            "type": "object",
            "properties": {"window": {"type": "string"}},
            "required": ["window"],
            "additionalProperties": False,
        }
    )
    gate, source = world({"count": old})
    session = Session(gate.run())
    assert session.call("count", {}) == DELIVERED
    source[target("count")] = new
    assert session.run.refresh(session.rows) == set()
    assert session.call("count", {"hours": "1"}) == DELIVERED
    first, second = (row[: row.index("]")] for row in session.rows)
    assert first.split("@")[1] != second.split("@")[1]
    assert first.split(":")[1] != second.split(":")[1]


def test_auto_proceed_is_of_one_turn_and_one_target():  # G07
    gate, _ = world({"a": MAIL, "b": MAIL})
    with gate.run(turn_id="turn 1"):
        for _ in range(3):
            with gate.run() as sub_agent:
                assert Session(sub_agent).call("a", {}) == DELIVERED
        with gate.run() as fourth:
            session = Session(fourth)
            assert session.call("a", {}) == EXECUTED
            assert session.decision.reason is Reason.AUTO_PROCEED
    with gate.run(turn_id="turn 2") as run:
        assert Session(run).call("a", {}) == DELIVERED
    with gate.run(turn_id="turn 1") as run:
        assert Session(run).call("b", {}) == DELIVERED


def test_a_name_is_not_present_because_a_longer_one_or_another_case_is():  # G10
    gate, _ = world({"mail.send": MAIL, "mail.send_draft": MAIL, "MAIL.SEND": MAIL})
    session = Session(gate.run())
    assert session.call("mail.send_draft", {}) == DELIVERED
    assert session.run.refresh(session.rows) == {key("mail.send_draft")}


def test_a_schema_in_another_key_order_is_the_same_contract_after_a_reconnect():  # G11
    one = {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "integer"}}, "required": ["x", "y"]}
    other = {
        "required": ["x", "y"],
        "properties": {"y": {"type": "integer"}, "x": {"type": "string"}},
        "type": "object",
    }
    gate, source = world({"t": Contract(input_schema=one)})
    session = Session(gate.run())
    assert session.call("t", {}) == DELIVERED
    source[target("t")] = Contract(input_schema=other)
    assert session.call("t", {}) == EXECUTED
    assert session.decision.reason is Reason.PRESENT


def test_a_store_that_normalises_line_breaks_loses_the_contract_and_trimming_does_not():  # G13
    gate, _ = world()
    session = Session(gate.run())
    session.call("send", {})
    [text] = session.rows
    assert session.run.refresh([text.replace("\n", "\r\n")]) == set()
    assert session.run.refresh([text.strip()]) == {key("send")}
    assert text.count("\n") <= 4


def test_an_unknown_name_is_answered_once_and_not_blocked_twice():  # G14
    fetch = Contract(input_schema={"type": "object", "properties": {}})
    gate, _ = world({"mail.fetch": fetch, "mail.send": MAIL})
    session = Session(gate.run())
    assert session.call("mail.list_messages", {}) == (False, False)
    assert not session.outcome.success
    for words in ("mail.list_messages", '"mail.fetch"', '"mail.send"', "2 valid names"):
        assert words in session.outcome.output
    assert PREFIX not in session.outcome.output
    assert session.call("mail.list_messages", {}) == EXECUTED
    assert session.decision.reason is Reason.NO_CONTRACT
    assert session.call("mail.list_messages", {}) == EXECUTED


def test_an_unknown_name_is_answered_again_until_the_model_can_have_read_it():  # G14
    gate, _ = world()
    run = gate.run()
    assert [run.consult(call("sned", {})).reason for _ in range(5)] == [Reason.UNKNOWN_TARGET] * 5


def test_the_closest_twelve_of_many_names_are_shown_and_how_many_there_are():  # G14
    names = [f"tool_{number:03}" for number in range(300)] + ["send_mail", "send_draft"]
    gate, _ = world(dict.fromkeys(names, MAIL))
    message = gate.run().consult(call("sendmail", {})).message
    assert "302 valid names" in message
    assert message.index('"send_mail"') < message.index('"send_draft"')
    assert len([name for name in names if f'"{name}"' in message]) == 12


def test_a_misspelled_server_gets_the_closest_servers():  # G14
    servers = {GateTarget.mcp(f"alpha{number:02}", "search"): MAIL for number in range(30)}
    gate = ContractGate([Surface.mcp(StaticSource({**servers, GateTarget.mcp("mail-server", "search"): MAIL}))])
    message = gate.run().consult(GateTarget.mcp("mailserver", "search")).message
    assert message.index("closest") < message.index('"mail-server"') < message.index('"alpha')


@pytest.mark.parametrize("name", ["native", "xml", "pformat"])
def test_a_redelivery_leaves_older_messages_and_the_tool_list_as_they_were(name):  # G16
    tools = [ToolSpec(name=PROXY, description="Call a late-bound tool")]
    gate, _ = world()
    dialect, wire = get_dialect(name, tools), OpenAIChatWire()
    history = [ChatMessage(role="user", content="Send it")]

    def step(run, number):
        request = run.encode(history, dialect, wire, tools)
        raw = json.dumps({"server_id": "srv", "tool_name": "send", "arguments": {}})
        history.append(AssistantTurn(text="I try", tool_calls=(ToolCall(id=f"c{number}", name=PROXY, arguments=raw),)))
        decision = run.consult(call("send", {}))
        history.extend(dialect.format_results([decision.outcome(PROXY, f"c{number}")]))
        return request, decision

    with gate.run() as run:
        step(run, 1)
        del history[-2:]  # the contract, and the call it answers
        history.append(ChatMessage(role="user", content="again"))
        before, decision = step(run, 2)
        assert decision.reason is Reason.REDELIVERED
        after = run.encode(history, dialect, wire, tools)
    kept = wire.messages(before)
    assert wire.messages(after)[: len(kept)] == kept
    assert PREFIX not in json.dumps(kept)
    assert json.dumps(wire.messages(after)[len(kept) :]).count(PREFIX) == 1
    assert before.get("tools") == after.get("tools")


def test_repeating_a_bad_call_with_the_contract_in_context_costs_no_second_contract():  # G18
    gate, _ = world()
    events = []
    gate.on_event = lambda aim, decision: events.append(decision.reason)
    session = Session(gate.run())
    assert session.call("send", {}) == DELIVERED
    assert [session.call("send", {"subject": "x"}) for _ in range(5)] == [EXECUTED] * 5
    assert [session.call("send", {"to": "a@example.test"}) for _ in range(20)] == [EXECUTED] * 20
    assert events == [Reason.CONTRACT_REQUIRED] + [Reason.PRESENT] * 25
    assert len(session.rows) == 1
    assert gate.counter.count(session.run.turn_id, key("send")) == 0


def test_a_call_by_an_old_name_is_answered_with_the_new_contract():  # A07
    schema = {
        "type": "object",
        "properties": {"window": {"type": "string"}},
        "required": ["window"],
        "additionalProperties": False,
    }
    gate, _ = world({"count": Contract(input_schema=schema)})
    session = Session(gate.run())
    assert session.call("count", {"hours": "1"}) == DELIVERED
    for words in ('"/window" missing', '"/hours" unknown', json.dumps(schema, separators=(",", ":"))):
        assert words in session.outcome.output


def test_a_first_call_that_fits_costs_no_round_trip():  # A11
    gate, _ = world()
    session = Session(gate.run())
    assert session.call("send", {"to": "a@example.test"}) == EXECUTED
    assert session.call("send", {"subject": "x"}) == DELIVERED


def test_the_whole_schema_is_delivered():  # A13
    schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["bug", "task"]},
            "when": {"type": "string", "format": "date", "description": "day, not time"},
            "who": {"type": "object", "properties": {"id": {"type": "integer", "minimum": 1}}, "required": ["id"]},
        },
        "required": ["kind", "who"],
        "description": "Create",
    }
    gate, _ = world({"issue.create": Contract(input_schema=schema)})
    session = Session(gate.run())
    assert session.call("issue.create", {}) == DELIVERED
    output = session.outcome.output
    assert output.startswith("[contract-gate:")
    document, end = json.JSONDecoder().raw_decode(output[(start := output.index('{"tool":')) :])
    assert start + end == len(output)
    assert document == {"tool": key("issue.create"), "description": "", "input_schema": schema}


def test_versions_and_deliveries_are_the_same_under_another_hash_seed():  # G11
    program = (
        "from tooldialect.gate import *\n"
        "s = {'type': 'object', 'properties': {n: {'type': 'string'} for n in 'zyx'}, 'required': ['x', 'y']}\n"
        "t = GateTarget.mcp('srv', 'send')\n"
        "g = ContractGate([Surface.mcp(StaticSource({t: Contract(input_schema=s)}))])\n"
        "print(g.run().consult(t, {n: 1 for n in 'abc'}).message)"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1
    assert seen.pop().startswith(PREFIX)
