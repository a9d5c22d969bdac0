"""A guessed call, its contract, the retry: through an agent loop with the middlewares real ones have."""

from __future__ import annotations

import pytest

from harness import host_units, seen_contracts
from harness.setups import ALL, EVERYWHERE, Host
from harness.shop import GUESS, RIGHT, clock_call, gated_call, long_answer
from tooldialect.dialects import ParsedToolCall
from tooldialect.gate import GateSettings, Reason

TIGHT = {"cap": 300, "budget": 1_500, "keep": 1, "rows": 1, "failures": 2, "repeats": 1}
"""Middlewares so strict that all of them act within a few rounds."""


@pytest.fixture(params=EVERYWHERE, ids=" over ".join)
def host(request) -> Host:
    return Host(*request.param)


def test_a_guess_is_answered_with_the_contract_and_the_retry_runs_once(host):
    model = host.reader(["create_order"])
    report = host.harness().run_turn(model, "Order a lamp.")
    assert report.stopped is None
    assert report.text == "Done."
    assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.PRESENT]
    assert host.shop.book == [("create_order", RIGHT["create_order"])]
    [delivery] = host.deliveries
    assert not any(unit.startswith("[contract-gate:") for unit in host_units(model.requests[0]))
    assert list(host_units(model.requests[1])).count(delivery) == 1


def test_the_model_reads_the_schema_that_the_provider_wrote(host):
    model = host.reader(["create_order"])
    host.harness().run_turn(model, "Order a lamp.")
    [seen] = seen_contracts(model.requests[1])
    assert seen.key == "mcp:shop:create_order"
    assert seen.schema["properties"]["sku"]["description"] == "Stock  keeping unit,\n\n  such as LAMP-1."


@pytest.mark.parametrize(
    "spelled", [{"sku": "text", "quantity": "1"}, '{"sku": "text", "quantity": 1}'], ids=["a number as text", "as text"]
)
def test_a_fitting_call_that_is_oddly_spelled_runs_at_once_with_what_was_meant(host, spelled):
    host.harness().run_turn(host.script([gated_call("create_order", spelled)]), "Order a lamp.")
    assert host.reasons == [Reason.ARGUMENTS_SATISFY]
    assert host.shop.book == [("create_order", RIGHT["create_order"])]


def test_without_the_gate_the_guess_itself_runs(host):
    ungated = host.harness()
    ungated.gate = None
    ungated.run_turn(host.script([gated_call("create_order", GUESS)]), "Order a lamp.")
    assert host.shop.book == [("create_order", GUESS)]


@pytest.mark.parametrize("position", [0, 1, 2])
def test_in_a_parallel_batch_the_delivery_stands_alone_at_any_position(host, position):
    wish: list[str | ParsedToolCall] = [clock_call("Rome"), clock_call("Oslo")]
    wish.insert(position, "create_order")
    model = host.reader(wish)
    host.harness().run_turn(model, "Order a lamp and tell the time.")
    assert list(host_units(model.requests[1])).count(host.deliveries[0]) == 1
    assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.PRESENT]
    assert host.shop.book == [("create_order", RIGHT["create_order"])]
    assert host.shop.clock_calls == ["Rome", "Oslo"] * 2
    shown = "".join(host_units(model.requests[1]))
    assert shown.count("It is noon in Rome.") == shown.count("It is noon in Oslo.") == 1


def test_two_contracts_of_one_batch_arrive_each_alone(host):
    model = host.reader(["create_order", clock_call("Rome"), "refund"])
    host.harness().run_turn(model, "Order a lamp, refund another.")
    units = list(host_units(model.requests[1]))
    assert [units.count(delivery) for delivery in host.deliveries] == [1, 1]
    assert host.shop.book == [("create_order", RIGHT["create_order"]), ("refund", RIGHT["refund"])]


def test_the_same_guess_twice_in_a_batch_gets_one_contract_and_runs_neither(host):
    guess = gated_call("create_order", GUESS)
    model = host.script([guess, guess], lambda request: [gated_call("create_order", RIGHT["create_order"])])
    host.harness().run_turn(model, "Order two lamps.")
    assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.SAME_BATCH, Reason.PRESENT]
    assert host.shop.book == [("create_order", RIGHT["create_order"])]


@pytest.mark.parametrize("which", [*([name] for name in ALL), ALL], ids=[*ALL, "all"])
def test_a_delivery_survives_each_guarded_middleware_and_all_together(host, which):
    """The delivery grows old before the model retries, so that compaction gets at it."""
    fillers = [[clock_call(zone)] for zone in ("Rome", "Oslo", "Bern")]
    host.shop.clock_text = long_answer
    guess, right = gated_call("create_order", GUESS), gated_call("create_order", RIGHT["create_order"])
    model = host.script([guess, clock_call("Kyiv")], *fillers, [right])
    report = host.harness(which, **TIGHT).run_turn(model, "Order  a lamp. [IMAGE:https://shop.test/lamp.png]")
    assert report.stopped is None
    [delivery] = host.deliveries
    for request in model.requests[1:]:
        assert list(host_units(request)).count(delivery) == 1
    assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.PRESENT]
    assert host.shop.book == [("create_order", RIGHT["create_order"])]


@pytest.mark.parametrize("name", ["cleaner", "cap", "summariser", "microcompact", "trimmer"])
def test_each_middleware_unguarded_takes_the_contract_from_the_model(host, name):
    """The twin of the test above: these middlewares do act on deliveries that nothing protects."""
    fillers = [[clock_call(zone)] for zone in ("Rome", "Oslo", "Bern")]
    host.shop.clock_text = long_answer
    guess = gated_call("create_order", GUESS)
    model = host.script([guess, clock_call("Kyiv")], *fillers, [guess])
    host.harness([name], guarded=False, **TIGHT).run_turn(model, "Order a lamp.")
    assert host.deliveries[0] not in list(host_units(model.requests[-2]))
    assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.REDELIVERED]
    assert host.shop.book == []


def test_deliveries_trip_no_failure_breaker(host):
    model = host.reader(["create_order"], ["refund"], ["ship"], patience=2)
    guesses = [[gated_call(name, GUESS)] for name in ("create_order", "refund", "ship")]
    report = host.harness(["breaker"], failures=2).run_turn(host.script(*guesses), "Guess three times.")
    assert report.stopped is None
    report = host.harness(["breaker"], failures=2).run_turn(model, "Do it right.")
    assert report.stopped is None


def test_deliveries_trip_a_failure_breaker_that_does_not_know_them(host):
    guesses = [[gated_call(name, GUESS)] for name in ("create_order", "refund", "ship")]
    report = host.harness(["breaker"], failures=2, guarded=False).run_turn(host.script(*guesses), "Guess.")
    assert report.stopped == "mcp_registry_tool_call keeps failing"


def test_real_failures_trip_the_breaker(host):
    host.shop.refuses = {"create_order"}
    right = gated_call("create_order", RIGHT["create_order"])
    report = host.harness(["breaker"], failures=2).run_turn(host.script([right], [right], [right]), "Order a lamp.")
    # The first failed unread, so that its contract is delivered in between: that is no failure.
    assert host.reasons == [Reason.ARGUMENTS_SATISFY, Reason.AFTER_FAILURE, Reason.PRESENT]
    assert report.stopped == "mcp_registry_tool_call keeps failing"
    assert len(host.shop.book) == 2


def test_the_retry_of_a_call_that_was_only_answered_is_no_repetition(host):
    host.open_gate(settings=GateSettings(must_read=lambda target, contract: True))
    right = gated_call("create_order", RIGHT["create_order"])
    model = host.script([right], [right], [right])
    host.harness(["guard"], repeats=1).run_turn(model, "Order a lamp.")
    assert host.reasons == [Reason.MUST_READ, Reason.PRESENT]
    assert host.shop.book == [("create_order", RIGHT["create_order"])]
    assert any("this exact call was answered before" in unit for unit in host_units(model.requests[-1]))


def test_a_guard_that_does_not_know_deliveries_swallows_the_retry(host):
    host.open_gate(settings=GateSettings(must_read=lambda target, contract: True))
    right = gated_call("create_order", RIGHT["create_order"])
    host.harness(["guard"], repeats=1, guarded=False).run_turn(host.script([right], [right]), "Order a lamp.")
    assert host.shop.book == []


def test_real_repetitions_are_stopped(host):
    model = host.script([clock_call("Rome")], [clock_call("Rome")], [clock_call("Rome")])
    host.harness(["guard"], repeats=2).run_turn(model, "What time is it?")
    assert host.shop.clock_calls == ["Rome", "Rome"]
