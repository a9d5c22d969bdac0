"""The harness's own middlewares: what they do to texts that are no deliveries."""

from __future__ import annotations

import pytest

from harness import (
    FailureBreaker,
    ImageTrimmer,
    Microcompact,
    Summariser,
    TextRewriter,
    byte_cap,
    collapse_white_space,
    host_units,
    usual_middlewares,
)
from harness.setups import DIALECTS, WIRES, Host
from harness.shop import clock_call, long_answer

PICTURE = "Look: [IMAGE:https://shop.test/a.png]"


@pytest.fixture(params=DIALECTS)
def host(request) -> Host:
    return Host(request.param)


def talk(host: Host, middlewares, rounds: int = 3, ask: str = "What  time is it?"):
    host.shop.clock_text = long_answer
    model = host.script(*[[clock_call(f"zone {number}")] for number in range(rounds)])
    harness = host.harness(middlewares=middlewares)
    report = harness.run_turn(model, ask)
    return harness, report, [list(host_units(request)) for request in model.requests]


def test_the_cleaner_leaves_no_double_blank(host):
    _, _, units = talk(host, [TextRewriter(collapse_white_space)])
    assert all("  " not in unit for unit in units[-1])
    assert units[-1][0] == "What time is it?"


def test_the_cap_keeps_head_and_tail(host):
    _, _, units = talk(host, [TextRewriter(byte_cap(200))])
    assert all("bytes cut" in unit and len(unit.encode()) < 250 for unit in units[-1][1:])
    assert byte_cap(8)("ééééé") == "ééé\n[2 bytes cut]\né"


def test_the_summariser_keeps_the_end_and_cuts_no_cycle_in_two(host):
    harness, _, units = talk(host, [Summariser(budget=500, keep=1)])
    assert units[-1][0].startswith("Summary of ")
    assert "zone 2" in units[-1][-1]
    assert len(units[-1]) == 2
    assert len(harness.history) == 9


def test_the_microcompact_blanks_all_but_the_last_rows(host):
    _, _, units = talk(host, [Microcompact(keep=1)])
    assert [unit == "[Old tool result cleared]" for unit in units[-1]] == [False, True, True, False]


@pytest.mark.parametrize("wire", WIRES)
def test_an_image_is_a_part_of_its_own_where_the_provider_has_parts(wire):
    host = Host("xml", wire)
    harness = host.harness(middlewares=[ImageTrimmer()])
    model = host.script()
    harness.run_turn(model, PICTURE)
    [message] = [message for message in model.requests[0]["messages"] if message["role"] == "user"]
    if wire in ("plain", "strict"):
        assert message["content"] == PICTURE
    else:
        assert [part["type"] for part in message["content"]] in (["text", "image_url"], ["text", "image"])
        assert list(host_units(model.requests[0])) == ["Look:"]


@pytest.mark.parametrize("wire", WIRES)
def test_images_give_way_before_texts(wire):
    host = Host("xml", wire)
    host.shop.clock_text = long_answer
    harness = host.harness(middlewares=[ImageTrimmer(budget=2_000, image_cost=4_000)])
    model = host.script([clock_call()])
    harness.run_turn(model, PICTURE)
    units = list(host_units(model.requests[-1]))
    assert "[image omitted]" in "".join(units)
    assert long_answer("UTC") in units[-1]


def test_texts_give_way_oldest_first(host):
    _, _, units = talk(host, [ImageTrimmer(budget=1_500)])
    assert [unit.endswith("[trimmed]") for unit in units[-1]] == [False, True, True, False]


def test_the_breaker_counts_afresh_after_a_success_and_in_each_turn(host):
    wrong, right = [clock_call("nowhere")], [clock_call("Rome")]
    harness = host.harness(middlewares=[FailureBreaker(limit=2)])
    assert harness.run_turn(host.script(wrong, right, wrong), "When?").stopped is None
    assert harness.run_turn(host.script(wrong), "When?").stopped is None
    assert harness.run_turn(host.script(wrong, wrong), "When?").stopped == "clock keeps failing"


def test_middlewares_come_in_their_usual_order_whatever_order_they_are_named_in():
    made = usual_middlewares(Host().gate, ["guard", "breaker", "trimmer", "microcompact", "summariser"])
    names = [type(middleware).__name__ for middleware in made]
    assert names == ["Summariser", "Microcompact", "ImageTrimmer", "FailureBreaker", "RepeatedCallGuard"]
    with pytest.raises(ValueError, match="cleanser"):
        usual_middlewares(Host().gate, ["cleanser"])


def test_a_model_that_never_ends_is_stopped(host):
    report = host.harness(max_rounds=3).run_turn(host.script(*[[clock_call()]] * 9), "When?")
    assert report.stopped == "too many rounds"
    assert host.shop.clock_calls == ["UTC"] * 3


def test_what_a_tool_raises_is_told_to_the_model_as_a_failure(host):
    def broken(zone: str) -> str:
        raise RuntimeError("no clock")

    host.shop.clock_text = broken
    report = host.harness().run_turn(host.script([clock_call()]), "When?")
    [outcome] = report.outcomes
    assert not outcome.success
    assert outcome.output == "clock raised RuntimeError: no clock"
