"""Sub-agents: children of one turn, each with a transcript of its own."""

from __future__ import annotations

import pytest

from harness import Harness, ScriptedModel, Tool, host_units
from harness.setups import EVERYWHERE, Host
from harness.shop import GUESS, RIGHT, gated_call
from tooldialect.dialects import ParsedToolCall, ToolOutcome, ToolSpec
from tooldialect.gate import GateRun, Reason

DELEGATE = ParsedToolCall(name="delegate", arguments={})
GUESSES = [[gated_call("create_order", GUESS)]]


@pytest.fixture(params=EVERYWHERE, ids=" over ".join)
def host(request) -> Host:
    return Host(*request.param)


def delegating(host: Host, make_model, *, carry=False):
    """A parent whose one tool starts a sub-agent; `make_model` gives each its model."""
    children: list[tuple[Harness, ScriptedModel]] = []
    current: list[GateRun] = []

    def start(call: ParsedToolCall) -> ToolOutcome:
        child = host.harness(max_rounds=1) if make_model is guesser else host.harness()
        if carry:
            child.history += current[0].carry()
        model = make_model(host)
        children.append((child, model))
        report = child.run_turn(model, "Order a lamp.")
        return ToolOutcome.ok(call.name, f"The sub-agent says: {report.text or report.stopped}")

    host.shop.more_tools = [Tool(ToolSpec(name="delegate", description="Starts a sub-agent."), start)]
    return children, current


def guesser(host: Host):
    return host.script(*GUESSES)


def reader(host: Host):
    return host.reader(["create_order"])


def test_sub_agents_that_keep_failing_are_let_through_the_fourth_time(host):
    children, _ = delegating(host, guesser)
    host.harness().run_turn(host.script(*[[DELEGATE]] * 4), "Have a lamp ordered.")
    assert host.reasons == [*[Reason.CONTRACT_REQUIRED] * 3, Reason.AUTO_PROCEED]
    assert host.shop.book == [("create_order", GUESS)]
    assert len(children) == 4


def test_sub_agents_of_another_turn_start_afresh(host):
    delegating(host, guesser)
    for _ in range(2):
        host.harness().run_turn(host.script(*[[DELEGATE]] * 3), "Have a lamp ordered.")
    assert host.reasons == [Reason.CONTRACT_REQUIRED] * 6


def test_sub_agents_that_succeed_never_open_the_gate(host):
    delegating(host, reader)
    host.harness().run_turn(host.script(*[[DELEGATE]] * 5), "Have five lamps ordered.")
    assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.PRESENT] * 5
    assert host.shop.book == [("create_order", RIGHT["create_order"])] * 5


def test_a_parent_that_was_shown_the_contract_does_not_credit_its_child(host):
    delegating(host, reader)
    model = host.script(*GUESSES, [gated_call("create_order", RIGHT["create_order"])], [DELEGATE])
    host.harness().run_turn(model, "Order two lamps.")
    assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.PRESENT] * 2


def test_a_sub_agent_started_with_carry_has_read_the_contract(host):
    children, current = delegating(host, reader, carry=True)
    model = host.script(*GUESSES, [gated_call("create_order", RIGHT["create_order"])], [DELEGATE])
    with host.gate.run() as run:
        current.append(run)
        host.harness().play(run, model, "Order two lamps.")
    [(child, child_model)] = children
    [carried] = [entry.content for entry in child.history if getattr(entry, "trusted_verbatim", False)]
    assert carried in list(host_units(child_model.requests[0]))
    assert "NOT EXECUTED" not in carried
    assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.PRESENT, Reason.PRESENT]
    assert host.shop.book == [("create_order", RIGHT["create_order"])] * 2


def test_what_is_carried_survives_the_usual_middlewares(host):
    with host.gate.run() as run:
        host.harness().play(run, host.reader(["create_order", "refund"]), "Order a lamp, refund another.")
        child = host.harness(["cleaner", "cap", "summariser", "microcompact", "trimmer"], cap=200, budget=500, rows=0)
        child.history += run.carry()
        before = len(host.decisions)
        child.run_turn(host.reader(["refund"], ["create_order"]), "Once more.", parent=run)
    assert host.reasons[before:] == [Reason.PRESENT, Reason.PRESENT]


def test_a_run_counts_when_it_is_left_however_long_somebody_holds_it(host):
    held = []
    with host.gate.run():
        for _ in range(4):
            with host.gate.run() as run:
                held.append(run)
                host.harness(max_rounds=1).play(run, guesser(host), "Order a lamp.")
    assert host.reasons == [*[Reason.CONTRACT_REQUIRED] * 3, Reason.AUTO_PROCEED]
