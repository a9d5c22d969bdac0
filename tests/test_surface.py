from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate_world import GOOD, GUESS, MAIL, PROXY
from tooldialect.dialects import ParsedToolCall, ToolOutcome, ToolSpec
from tooldialect.gate import Contract, ContractGate, GateError, GateTarget, Reason, StaticSource, Surface

NAMES = st.text(min_size=1, max_size=8).filter(lambda text: bool(text.strip()))
ARGUMENTS = st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4), max_size=3)

BUILT_IN = {
    "mcp": (Surface.mcp, PROXY, {"server_id": "srv", "tool_name": "send"}, "arguments", GateTarget.mcp("srv", "send")),
    "composio": (
        Surface.composio,
        "composio_execute",
        {"tool": "gmail_send"},
        "arguments",
        GateTarget.composio("GMAIL_SEND"),
    ),
    "workflow": (Surface.workflow, "run_workflow", {"workflow_id": "triage"}, "inputs", GateTarget.workflow("triage")),
}
ENVELOPES = pytest.mark.parametrize(
    ("make", "tool", "envelope", "inner", "aim"), BUILT_IN.values(), ids=BUILT_IN.keys()
)


@ENVELOPES
def test_target_and_inner_arguments_are_read_from_the_envelope(make, tool, envelope, inner, aim):
    surface = make(StaticSource())
    assert surface.matches(tool)
    assert not surface.matches(tool.upper())
    assert surface.kind == aim.kind
    assert surface.read(ParsedToolCall(name=tool, arguments={**envelope, inner: GUESS})) == (aim, GUESS)


@ENVELOPES
@pytest.mark.parametrize("blank", [None, "", " \n"])
def test_missing_inner_arguments_are_an_empty_object(make, tool, envelope, inner, aim, blank):
    surface = make(StaticSource())
    assert surface.read(ParsedToolCall(name=tool, arguments=envelope)) == (aim, {})
    assert surface.read(ParsedToolCall(name=tool, arguments={**envelope, inner: blank})) == (aim, {})


@ENVELOPES
@pytest.mark.parametrize("bad", [None, "", " \t", 7, True, ["x"], {"a": "b"}])
def test_an_envelope_without_its_target_is_answered_as_malformed(make, tool, envelope, inner, aim, bad):
    gate = ContractGate([make(StaticSource({aim: MAIL}))])
    for field in envelope:
        for arguments in ({**envelope, field: bad}, {name: part for name, part in envelope.items() if name != field}):
            decision = gate.run().consult(ParsedToolCall(name=tool, arguments={**arguments, inner: GOOD}))
            assert decision.reason is Reason.MALFORMED_CALL
            assert "NOT executed" in decision.message
            assert decision.arguments == {}
            assert not decision.outcome(tool).trusted_verbatim


@ENVELOPES
def test_writing_leaves_the_rest_of_the_envelope_as_it_was(make, tool, envelope, inner, aim):
    call = ParsedToolCall(name=tool, arguments={"first": 1, **envelope, inner: "{}", "note": "x"}, id="c1")
    written = make(StaticSource()).write(call, {"to": "x"})
    assert written == ParsedToolCall(
        name=tool, arguments={"first": 1, **envelope, inner: {"to": "x"}, "note": "x"}, id="c1"
    )


@given(NAMES, NAMES, ARGUMENTS)
def test_a_reissued_call_reaches_its_target(server, name, arguments):
    source = StaticSource()
    for surface, aim in (
        (Surface.mcp(source), GateTarget.mcp(server, name)),
        (Surface.mcp(source, tool="t", server="s", name="n", arguments="a"), GateTarget.mcp(server, name)),
        (Surface.composio(source), GateTarget.composio(name)),
        (Surface.composio_actions(source, lambda _: True), GateTarget.composio(name)),
        (Surface.workflow(source), GateTarget.workflow(name)),
        (Surface.deferred([ToolSpec(name=name)]), GateTarget.tool(name)),
    ):
        call = surface.reissue(aim, arguments)
        assert surface.matches(call.name)
        assert surface.read(call) == (aim, arguments)


def test_the_fields_of_an_envelope_can_be_named():
    surface = Surface.mcp(StaticSource(), tool="call", server="srv", name="fn", arguments="args")
    call = ParsedToolCall(name="call", arguments={"srv": "a", "fn": "b", "args": {"c": 1}})
    assert surface.read(call) == (GateTarget.mcp("a", "b"), {"c": 1})
    assert not surface.matches(PROXY)


@pytest.mark.parametrize("inner", ['{"to": "x"}', ["x"], 7])
def test_inner_arguments_pass_as_they_came(inner):
    call = ParsedToolCall(name=PROXY, arguments={"server_id": "a", "tool_name": "b", "arguments": inner})
    assert Surface.mcp(StaticSource()).read(call)[1] == inner


def test_a_json_string_that_holds_the_arguments_is_read():
    gate = ContractGate([Surface.mcp(StaticSource({GateTarget.mcp("srv", "send"): MAIL}))])
    call = ParsedToolCall(name=PROXY, arguments={"server_id": "srv", "tool_name": "send", "arguments": '{"to": "x"}'})
    decision = gate.run().consult(call)
    assert (decision.reason, decision.arguments) == (Reason.ARGUMENTS_SATISFY, {"to": "x"})


NEEDS_CONNECTION = Contract(
    input_schema={
        "type": "object",
        "properties": {"to": {"type": "string"}},
        "required": ["to", "connection_id"],
        "additionalProperties": False,
    }
)


@pytest.mark.parametrize("connection", [{}, {"connection_id": "c"}])
def test_the_connection_is_injected_for_composio(connection):
    aim = GateTarget.composio("SEND")
    source = StaticSource({aim: NEEDS_CONNECTION})
    for surface in (Surface.composio(source), Surface.composio_actions(source, lambda _: True)):
        call = surface.reissue(aim, {"to": "x", **connection})
        decision = ContractGate([surface]).run().consult(call)
        assert decision.reason is Reason.ARGUMENTS_SATISFY
        assert decision.arguments == {"to": "x", **connection}


def test_the_connection_is_injected_for_nobody_else():
    aims = {GateTarget.mcp("srv", "send"): Surface.mcp, GateTarget.workflow("send"): Surface.workflow}
    for aim, make in aims.items():
        surface = make(StaticSource({aim: NEEDS_CONNECTION}))
        decision = ContractGate([surface]).run().consult(surface.reissue(aim, {"to": "x"}))
        assert [(v.path, v.kind) for v in decision.violations] == [("/connection_id", "missing")]


def test_composio_actions_are_tools_whose_own_name_is_the_slug():
    surface = Surface.composio_actions(StaticSource({GateTarget.composio("SEND"): MAIL}), lambda name: name != "clock")
    assert surface.matches("send")
    assert not surface.matches("clock")
    assert not surface.matches(" ")
    gate = ContractGate([surface])
    assert gate.run().consult(ParsedToolCall(name="send", arguments=GUESS)).reason is Reason.CONTRACT_REQUIRED
    assert gate.run().consult(ParsedToolCall(name="clock", arguments=GUESS)).reason is Reason.NOT_GATED


def test_deferred_tools_are_gated_by_the_specs_the_host_holds():
    spec = ToolSpec(name="web_fetch", description="Fetch", parameters=MAIL.input_schema)
    gate = ContractGate([Surface.deferred([spec])])
    decision = gate.run().consult(ParsedToolCall(name="web_fetch", arguments=GUESS))
    assert decision.reason is Reason.CONTRACT_REQUIRED
    assert gate.run().consult(ParsedToolCall(name="web_fetch", arguments=GOOD)).reason is Reason.ARGUMENTS_SATISFY
    assert gate.run().consult(ParsedToolCall(name="Web_fetch", arguments=GUESS)).reason is Reason.NOT_GATED
    assert gate.run().refresh([decision.message]) == {"tool:web_fetch"}


class Acme:
    """A host's own surface: no base class, the seven members alone."""

    kind = "acme"
    injected = ("session",)

    def __init__(self, source):
        self.source = source

    def matches(self, name):
        return name.startswith("acme/")

    def read(self, call):
        return GateTarget("acme", tuple(call.name.split("/")[1:])), call.arguments.get("with")

    def write(self, call, arguments):
        return call.model_copy(update={"arguments": {"with": arguments}})

    def reissue(self, target, arguments):
        return ParsedToolCall(name="/".join(("acme", *target.parts)), arguments={"with": arguments})


def test_a_hosts_own_surface_needs_no_base_class():
    aim = GateTarget("acme", ("mail", "send"))
    contract = Contract(input_schema={**MAIL.input_schema, "required": ["to", "session"]})
    gate = ContractGate([Surface.mcp(StaticSource()), Acme(StaticSource({aim: contract}))])
    seen = []

    def execute(call):
        seen.append(call)
        return ToolOutcome.ok(call.name, "sent")

    with gate.run() as run:
        outcome = run.guard(ParsedToolCall(name="acme/mail/send", arguments={}), execute)
        assert outcome.trusted_verbatim
        assert '{"name":"acme/mail/send","arguments":{"with":{"to":"<string>"}}}' in outcome.output
        assert run.refresh([outcome.output]) == {"acme:mail:send"}
        run.guard(ParsedToolCall(name="acme/mail/send", arguments={"with": '{"to":"x"}'}, id="c"), execute)
        assert len(run.carry()) == 1
    assert seen == [ParsedToolCall(name="acme/mail/send", arguments={"with": {"to": "x"}}, id="c")]


def test_for_a_bare_target_the_first_surface_of_its_kind_serves():
    aim = GateTarget.composio("SEND")
    first, second = StaticSource({aim: MAIL}), StaticSource()
    gate = ContractGate(
        [Surface.mcp(second), Surface.composio_actions(first, lambda _: True), Surface.composio(second)]
    )
    message = gate.run().consult(aim).message
    assert '"name":"SEND"' in message
    assert gate.run().consult(aim, GOOD).reason is Reason.ARGUMENTS_SATISFY


def test_what_no_surface_serves_is_not_gated():
    gate = ContractGate([Surface.mcp(StaticSource())])
    decision = gate.run().consult(GateTarget.tool("clock"), {"a": 1})
    assert (decision.proceed, decision.reason, decision.arguments) == (True, Reason.NOT_GATED, {"a": 1})
    decision = gate.run().consult(ParsedToolCall(name="clock", arguments={"a": 1}))
    assert (decision.proceed, decision.reason, decision.arguments) == (True, Reason.NOT_GATED, {"a": 1})


def test_only_calls_and_targets_are_consulted_about():
    with pytest.raises(TypeError, match="ParsedToolCall or a GateTarget"):
        ContractGate([]).run().consult("mcp:srv:send")


def test_a_bare_targets_arguments_may_hold_what_no_record_would():
    aim = GateTarget.mcp("srv", "send")
    gate = ContractGate([Surface.mcp(StaticSource({aim: MAIL}))])
    for arguments in ({"\ud800": "\udfff"}, {"x": float("nan")}, "\ud800", 7, [], None):
        decision = gate.run().consult(aim, arguments)
        assert decision.reason is Reason.CONTRACT_REQUIRED
        decision.message.encode()
        assert gate.run().refresh([decision.message]) == {aim.key}


class Host(Surface):
    """A host's own surface, with whatever a test gets wrong."""

    kind = "rpc"
    source = StaticSource({GateTarget("rpc", ("queue.push",)): Contract(input_schema={"required": ["item"]})})

    def __init__(self, **changed):
        for name, value in changed.items():
            setattr(self, name, value)

    def matches(self, name):
        return name == "rpc"

    def read(self, call):
        return GateTarget("rpc", (call.arguments["method"],)), call.arguments.get("params")

    def write(self, call, arguments):
        return call.model_copy(update={"arguments": {**call.arguments, "params": arguments}})

    def reissue(self, target, arguments):
        return ParsedToolCall(name="rpc", arguments={"method": target.parts[0], "params": arguments})


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"kind": ""}, "has no kind"),
        ({"kind": None}, "has no kind"),
        ({"source": None}, "no source with a lookup"),
        ({"injected": "tenant"}, "give a tuple of keys"),
        ({"injected": (1,)}, "give a tuple of keys"),
    ],
)
def test_a_surface_that_cannot_serve_is_refused_when_the_gate_is_made(changed, complaint):
    with pytest.raises(GateError, match=complaint):
        ContractGate([Host(**changed)])


def test_a_surface_that_stumbles_over_a_models_call_is_answered_and_the_loop_goes_on(caplog):
    run = ContractGate([Host()]).run()
    outcome = run.guard(ParsedToolCall(name="rpc", arguments={"metod": "secret-value"}), execute=pytest.fail)
    assert not outcome.success
    assert "does not say which tool is meant" in outcome.output
    assert "KeyError" in caplog.text
    assert "secret-value" not in caplog.text


def test_a_surface_whose_targets_are_of_another_kind_is_an_error_that_says_so():
    run = ContractGate([Host(kind="other")]).run()
    with pytest.raises(GateError, match="kind 'other' read a target of kind 'rpc'"):
        run.consult(ParsedToolCall(name="rpc", arguments={"method": "queue.push"}))


def test_an_answer_about_an_incomplete_call_names_the_fields_it_needs():
    run = ContractGate([Surface.mcp(StaticSource())]).run()
    message = run.consult(ParsedToolCall(name="mcp_registry_tool_call", arguments={"server_id": "time"})).message
    assert 'It has "server_id"; it needs "server_id" and "tool_name"' in message


def test_an_answer_about_an_unknown_target_says_which_field_the_names_are_for():
    source = StaticSource({GateTarget.mcp("shop", "buy"): Contract(input_schema={})})
    run = ContractGate([Surface.mcp(source)]).run()
    message = run.consult(GateTarget.mcp("shopp", "buy")).message
    assert 'there is no "shopp" in "mcp:shopp:buy"' in message
    assert 'valid names for "server_id": "shop"' in message
    message = run.consult(GateTarget.mcp("shop", "by")).message
    assert 'there is no "by"' in message
    assert 'valid names for "tool_name": "buy"' in message


def test_what_the_host_fills_in_is_said_where_the_schema_asks_for_it():
    schema = {
        "properties": {"connection_id": {"type": "string"}, "to": {"type": "string"}},
        "required": ["to", "connection_id"],
    }
    gate = ContractGate([Surface.composio(StaticSource({GateTarget.composio("SEND"): Contract(input_schema=schema)}))])
    run = gate.run()
    message = run.consult(GateTarget.composio("SEND"), {}).message
    assert 'Leave out what is filled in for you: "connection_id".' in message
    assert 'filled in for you: "connection_id"' in run.carry()[0].content
