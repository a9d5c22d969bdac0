from __future__ import annotations

import asyncio
import logging

import pytest

from gate_world import GOOD, GUESS, MAIL, PREFIX, PROXY, call, delivered, key, target, world
from tooldialect.dialects import ParsedToolCall, ToolOutcome, ToolSpec
from tooldialect.gate import (
    Contract,
    ContractGate,
    Decision,
    Found,
    GateError,
    GateSettings,
    NotFound,
    Reason,
    StaticSource,
    Surface,
    Unavailable,
    consultation,
)
from tooldialect.gate.known import KnownContracts

COUNTED = Contract(
    input_schema={
        "type": "object",
        "properties": {"n": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["n"],
        "additionalProperties": False,
    }
)


class Tool:
    """What the host executes; remembers each call."""

    def __init__(self, outcome=None):
        self.calls = []
        self.outcome = outcome or ToolOutcome.ok(PROXY, "sent")

    def __call__(self, call):
        self.calls.append(call)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    async def acall(self, call):
        await asyncio.sleep(0)
        return self(call)


def guards(run, tool):
    """Each way to guard a call: plain, async with a coroutine, async with a plain function."""
    return [
        lambda call: run.guard(call, tool),
        lambda call: asyncio.run(run.aguard(call, tool.acall)),
        lambda call: asyncio.run(run.aguard(call, tool)),
    ]


WAYS = pytest.mark.parametrize("way", [0, 1, 2], ids=["guard", "aguard of a coroutine", "aguard of a function"])


@WAYS
def test_a_guess_is_answered_and_the_retry_runs_once(way):
    gate, _ = world()
    run, tool = gate.run(), Tool()
    guard = guards(run, tool)[way]
    answer = guard(call("send", GUESS, id="c1"))
    assert tool.calls == []
    assert (answer.name, answer.tool_call_id, answer.success, answer.trusted_verbatim) == (PROXY, "c1", False, True)
    run.refresh([answer.output])
    assert guard(call("send", GOOD, id="c2")) == ToolOutcome.ok(PROXY, "sent", tool_call_id="c2")
    assert tool.calls == [call("send", GOOD, id="c2")]


@WAYS
def test_effective_arguments_are_executed_in_the_envelope_of_the_call(way):
    gate, _ = world({"count": COUNTED})
    tool = Tool()
    lenient = ParsedToolCall(
        name=PROXY, arguments={"server_id": "srv", "tool_name": "count", "arguments": '{"n": "5"}', "why": "x"}
    )
    assert guards(gate.run(), tool)[way](lenient).success
    assert tool.calls == [
        ParsedToolCall(
            name=PROXY, arguments={"server_id": "srv", "tool_name": "count", "arguments": {"n": 5}, "why": "x"}
        )
    ]


@WAYS
@pytest.mark.parametrize("inner", [{}, {"arguments": None}, {"arguments": " "}])
def test_missing_inner_arguments_are_executed_as_an_empty_object(way, inner):
    gate, _ = world({"ping": Contract(input_schema={"type": "object", "properties": {}})})
    tool = Tool()
    guards(gate.run(), tool)[way](
        ParsedToolCall(name=PROXY, arguments={"server_id": "srv", "tool_name": "ping", **inner})
    )
    assert tool.calls[0].arguments["arguments"] == {}


@WAYS
def test_calls_that_are_not_gated_pass_untouched(way):
    gate, _ = world()
    tool = Tool()
    plain = ParsedToolCall(name="clock", arguments={"n": "5"}, id="c1")
    assert guards(gate.run(), tool)[way](plain).tool_call_id == "c1"
    assert tool.calls == [plain]


@WAYS
def test_an_outcome_gets_the_id_of_its_call_unless_it_has_one(way):
    gate, _ = world()
    own = ToolOutcome.ok(PROXY, "x", tool_call_id="own")
    assert guards(gate.run(), Tool(own))[way](call("send", GOOD, id="c1")).tool_call_id == "own"
    verbatim = ToolOutcome.ok(PROXY, "x").verbatim()
    outcome = guards(gate.run(), Tool(verbatim))[way](call("send", GOOD, id="c1"))
    assert (outcome.tool_call_id, outcome.trusted_verbatim) == ("c1", True)
    assert guards(gate.run(), Tool())[way](call("send", GOOD)).tool_call_id is None


@WAYS
def test_a_good_call_that_fails_unread_gets_its_contract_once(way):
    gate, _ = world()
    run, tool = gate.run(), Tool(ToolOutcome.failed(PROXY, "no such address"))
    guard = guards(run, tool)[way]
    assert guard(call("send", GOOD)).output == "no such address"
    answer = guard(call("send", GOOD))
    assert answer.trusted_verbatim
    assert "earlier call failed" in answer.output
    run.refresh([answer.output])
    assert guard(call("send", GOOD)).output == "no such address"
    assert len(tool.calls) == 2
    run.refresh([])  # lost: it may be shown again, but not for that reason
    assert run.consult(call("send", GOOD)).reason is Reason.REDELIVERED


@WAYS
def test_a_call_that_fails_with_its_contract_in_context_needs_no_other(way):
    gate, _ = world()
    run, tool = gate.run(), Tool(ToolOutcome.failed(PROXY, "no such address"))
    run.refresh([delivered(run)])
    assert not guards(run, tool)[way](call("send", GUESS)).success
    run.refresh([])
    assert run.consult(call("send", GOOD)).reason is Reason.ARGUMENTS_SATISFY


@WAYS
def test_an_exception_of_the_tool_is_reported_as_a_failure_and_raised_on(way):
    gate, _ = world()
    run, tool = gate.run(), Tool(OSError("no route"))
    with pytest.raises(OSError, match="no route"):
        guards(run, tool)[way](call("send", GOOD))
    assert run.consult(call("send", GOOD)).reason is Reason.AFTER_FAILURE


@WAYS
def test_what_is_no_outcome_is_refused_and_reported(way):
    gate, _ = world()
    run, tool = gate.run(), Tool()
    tool.outcome = "sent"
    with pytest.raises(TypeError, match="not a ToolOutcome"):
        guards(run, tool)[way](call("send", GOOD))
    assert run.consult(call("send", GOOD)).reason is Reason.AFTER_FAILURE


def test_a_coroutine_given_to_guard_is_refused_with_a_hint():
    gate, _ = world()

    class Pending:
        def __await__(self):
            yield

    with pytest.raises(TypeError, match="use aguard"):
        gate.run().guard(call("send", GOOD), lambda call: Pending())


def test_hosts_that_execute_themselves_report():
    gate, _ = world()
    run = gate.run()
    assert run.consult(call("send", GOOD)).proceed
    run.report(target("send"), success=True)
    assert run.consult(call("send", GOOD)).proceed
    run.report(target("send"), success=False)
    assert run.consult(call("send", GOOD)).reason is Reason.AFTER_FAILURE


def test_a_report_without_a_consult_speaks_of_what_is_in_context():
    gate, _ = world({"send": MAIL, "other": MAIL})
    run = gate.run()
    run.refresh([run.listing({target("send"): MAIL}, "find_tools").output])
    for name in ("send", "other"):
        run.report(target(name), success=False)
    run.refresh([])
    assert run.consult(call("send", GOOD)).reason is Reason.ARGUMENTS_SATISFY
    assert run.consult(call("other", GOOD)).reason is Reason.AFTER_FAILURE


def test_must_read_shows_a_contract_once_even_where_the_arguments_satisfy_it():
    asked = []

    def must_read(aim, contract):
        asked.append((aim, contract))
        return True

    gate, _ = world(settings=GateSettings(must_read=must_read))
    run = gate.run()
    decision = run.consult(call("send", GOOD))
    assert (decision.reason, decision.violations) == (Reason.MUST_READ, ())
    run.refresh([decision.message])
    assert run.consult(call("send", GOOD)).reason is Reason.PRESENT
    run.refresh([])
    assert run.consult(call("send", GOOD)).reason is Reason.REDELIVERED
    assert asked
    assert all(pair == (target("send"), MAIL) for pair in asked)


SWITCHES = pytest.mark.parametrize("name", ["TOOLDIALECT_CONTRACT_GATE", "OPENHUMAN_CONTRACT_GATE"])


@SWITCHES
@pytest.mark.parametrize("value", ["0", "false", "off", "no", "FALSE", "Off", " no "])
def test_the_kill_switch_lets_every_call_pass_as_it_came(name, value, monkeypatch):
    gate, _ = world({"count": COUNTED})
    run, tool = gate.run(), Tool()
    monkeypatch.setenv(name, value)
    for subject in (
        call("count", {"n": "5"}),
        call("count", {"guess": 1}),
        call(" ", {}),
        ParsedToolCall(name=PROXY, arguments={"server_id": "srv", "tool_name": "count", "arguments": None}),
    ):
        assert run.consult(subject).reason is Reason.DISABLED
        assert run.guard(subject, tool).output == "sent"
        assert tool.calls[-1] == subject
    assert run.consult(call("count", {"n": "5"})).arguments == {"n": "5"}


@SWITCHES
@pytest.mark.parametrize("value", ["", "1", "true", "on", "yes", "disabled"])
def test_any_other_value_leaves_the_gate_on(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    gate, _ = world()
    assert gate.run().consult(call("send", GUESS)).reason is Reason.CONTRACT_REQUIRED


def test_the_kill_switch_is_read_at_each_call(monkeypatch):
    gate, _ = world()
    run = gate.run()
    monkeypatch.setenv("TOOLDIALECT_CONTRACT_GATE", "off")
    assert run.consult(call("send", GUESS)).proceed
    monkeypatch.setenv("TOOLDIALECT_CONTRACT_GATE", "on")
    assert not run.consult(call("send", GUESS)).proceed


def test_a_call_that_failed_unread_while_switched_off_counts_as_one(monkeypatch):
    gate, _ = world()
    for credited, reason in ((True, Reason.ARGUMENTS_SATISFY), (False, Reason.AFTER_FAILURE)):
        run = gate.run()
        run.refresh([delivered(gate.run())] if credited else [])
        with monkeypatch.context() as patch:
            patch.setenv("OPENHUMAN_CONTRACT_GATE", "no")
            run.guard(call("send", GOOD), Tool(ToolOutcome.failed(PROXY, "no")))
        run.refresh([])
        assert run.consult(call("send", GOOD)).reason is reason


def test_every_consult_is_an_event():
    events = []
    gate, _ = world(on_event=lambda aim, decision: events.append((aim, decision)))
    run = gate.run()
    decisions = [
        run.consult(call("send", GUESS)),
        run.consult(call(" ")),
        run.consult(ParsedToolCall(name="x", arguments={})),
    ]
    decisions.append(asyncio.run(run.aconsult(call("send", GOOD))))
    assert events == list(zip([target("send"), None, None, target("send")], decisions, strict=True))


def test_an_exception_of_on_event_is_logged_and_changes_nothing(caplog):
    def broken(aim, decision):
        raise ValueError(decision.arguments)

    gate, _ = world(on_event=broken)
    with caplog.at_level(logging.WARNING, "tooldialect.gate"):
        assert gate.run().consult(call("send", {"to": "SECRET"})).reason is Reason.ARGUMENTS_SATISFY
    assert [record.getMessage().startswith("[contract-gate]") for record in caplog.records] == [True]
    assert "ValueError" in caplog.text
    assert "SECRET" not in caplog.text


def test_a_call_that_proceeds_has_no_outcome_of_the_gates():
    gate, _ = world()
    with pytest.raises(GateError, match="proceeds"):
        gate.run().consult(call("send", GOOD)).outcome(PROXY)


def test_an_outcome_is_marked_exactly_when_its_message_leads_with_a_marker():
    marked = Decision(proceed=False, reason=Reason.CONTRACT_REQUIRED, message=f"{PREFIX}x")
    plain = Decision(proceed=False, reason=Reason.SAME_BATCH, message=f"x {PREFIX}x")
    assert [decision.outcome("t", "c").trusted_verbatim for decision in (marked, plain)] == [True, False]


def test_a_target_whose_key_fits_no_header_proceeds_without_a_contract():
    gate, source = world()
    name = "n" * 20_000
    source[target(name)] = MAIL
    run = gate.run()
    decision = run.consult(call(name, '{"guess": 1}'))
    assert (decision.proceed, decision.reason) == (True, Reason.NO_CONTRACT)
    assert decision.arguments == {"guess": 1}
    assert run.refresh([]) == set()


def test_unseen_warns_and_names_the_key(caplog):
    gate, _ = world()
    run = gate.run()
    for _ in range(2):
        delivered(run)
        run.refresh([])
    with caplog.at_level(logging.WARNING, "tooldialect.gate"):
        assert run.consult(call("send", GUESS)).reason is Reason.UNSEEN
    assert key("send") in caplog.text


def test_proceeding_renders_no_contract(monkeypatch):
    gate, _ = world()
    run = gate.run()
    run.refresh([delivered(run)])

    def refuse(*args, **kwargs):
        raise AssertionError("rendered")

    monkeypatch.setattr(consultation, "delivery_payload", refuse)
    monkeypatch.setattr(gate.ledger, "issue", refuse)
    assert run.consult(call("send", GUESS)).reason is Reason.PRESENT
    run.refresh([])
    assert run.consult(call("send", GOOD)).reason is Reason.ARGUMENTS_SATISFY
    monkeypatch.setenv("TOOLDIALECT_CONTRACT_GATE", "0")
    assert run.consult(call("send", GUESS)).reason is Reason.DISABLED


def test_a_deferred_tool_is_executed_with_its_effective_arguments():
    spec = ToolSpec(name="count", parameters=COUNTED.input_schema)
    tool = Tool()
    run = ContractGate([Surface.deferred([spec])]).run()
    assert run.guard(ParsedToolCall(name="count", arguments={"n": "5", "note": None}, id="c1"), tool).success
    assert tool.calls == [ParsedToolCall(name="count", arguments={"n": 5}, id="c1")]


def test_what_the_gate_looked_up_last_gives_the_effective_arguments_of_a_source_that_has_failed_since():
    class Failing(StaticSource):
        peek = None

        def lookup(self, aim):
            return super().lookup(aim) if working else Unavailable("closed")

    working = True
    gate = ContractGate([Surface.mcp(Failing({target("count"): COUNTED}))])
    assert gate.run().consult(call("count", {"n": "5"})).arguments == {"n": 5}
    working = False
    decision = gate.run().consult(call("count", {"n": "5", "guess": 1}))
    assert (decision.reason, decision.arguments["n"]) == (Reason.NO_CONTRACT, 5)


def test_contracts_looked_up_long_ago_are_forgotten():
    known = KnownContracts()
    for number in range(5000):
        known.remember(str(number), MAIL)
    assert (known.get("0"), known.get("4999")) == (None, MAIL)
    assert len(known._contracts) == 4096


class BrokenLedger:
    def issue(self, payload, claims):
        raise OSError("no disk")

    def verify(self, token, payload, claims):
        return False


def test_a_contract_that_cannot_be_delivered_does_not_count_as_delivered_and_the_call_proceeds(caplog):
    gate = ContractGate([Surface.mcp(StaticSource({target("count"): COUNTED}))], ledger=BrokenLedger())
    with gate.run(turn_id="t") as run:
        for _ in range(3):
            run.refresh([])
            decisions = [run.consult(call("count", {"n": "x"})) for _ in range(2)]
            assert [decision.reason for decision in decisions] == [Reason.NO_CONTRACT] * 2
        assert run.carry() == []
    assert "cannot be delivered" in caplog.text
    assert gate.counter.count("t", target("count").key) == 0


def test_a_guess_is_not_executed_beside_its_delivery_when_the_source_forgets_the_target():
    class Flapping:
        immediate = True

        def lookup(self, aim):
            return answers.pop(0)

    answers = [NotFound(()), Found(COUNTED), NotFound(())]

    run = ContractGate([Surface.mcp(Flapping())]).run()
    run.refresh([])
    assert run.consult(call("count", {"n": "x"})).reason is Reason.UNKNOWN_TARGET
    run.refresh([])
    reasons = [run.consult(call("count", {"n": "x"})).reason for _ in range(2)]
    assert reasons == [Reason.CONTRACT_REQUIRED, Reason.SAME_BATCH]


def test_must_read_that_is_no_function_is_refused():
    with pytest.raises(GateError, match="must_read is set"):
        GateSettings(must_read={"mcp:srv:count"})
