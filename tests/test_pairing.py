from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairing_checker import answers_by_call, cycle_faults, losses
from strategies_histories import PLAIN_IDS, damaged, healthy
from tooldialect.dialects import AssistantTurn, ChatMessage, ToolCall, ToolResult, ToolResultBatch
from tooldialect.dialects.pairing import INTERRUPTED, repair_tool_cycles

MODES = st.sampled_from(["synthesize", "drop"])


def turn(*ids, text=None):
    return AssistantTurn(
        text=text, tool_calls=tuple(ToolCall(id=id_, name=f"tool_{id_}", arguments="{}") for id_ in ids)
    )


def batch(*results):
    return ToolResultBatch(results=tuple(results))


def answer(id_, content, **fields):
    return ToolResult(tool_call_id=id_, content=content, **fields)


def user(text, **fields):
    return ChatMessage(role="user", content=text, **fields)


def results_of(history):
    return [result for entry in history if isinstance(entry, ToolResultBatch) for result in entry.results]


@given(healthy(), MODES)
def test_a_healthy_history_comes_back_as_the_same_entries(history, mode):
    assert not cycle_faults(history)
    repaired = repair_tool_cycles(history, mode)
    assert len(repaired) == len(history)
    assert all(a is b for a, b in zip(repaired, history, strict=True))


@given(damaged(), MODES)
@settings(max_examples=150)
def test_every_damaged_history_is_repaired_and_loses_no_text(history, mode):
    before = list(history)
    repaired = repair_tool_cycles(history, mode)
    assert not cycle_faults(repaired)
    assert not losses(history, repaired)
    assert all(a is b for a, b in zip(history, before, strict=True))
    assert repair_tool_cycles(repaired, mode) == repaired


@given(damaged(), st.sets(PLAIN_IDS))
def test_calls_in_flight_are_left_unanswered_and_the_rest_is_repaired(history, in_flight):
    for mode in ("synthesize", "drop"):
        repaired = repair_tool_cycles(history, mode, in_flight)
        assert not losses(history, repaired)
        assert repair_tool_cycles(repaired, mode, in_flight) == repaired
        if mode == "synthesize":
            assert not cycle_faults(repaired, in_flight)


@given(damaged())
def test_every_call_keeps_the_first_real_results_that_answer_it(history):
    found = answers_by_call(history)
    kept = answers_by_call(repair_tool_cycles(history))
    turns = [entry for entry in history if isinstance(entry, AssistantTurn) and entry.tool_calls]
    for number, entry in enumerate(turns):
        ids = [call.id for call in entry.tool_calls]
        for id_ in set(ids):
            there = found.get((number, id_), [])
            real = [result for result in there if result.content != INTERRUPTED or result.trusted_verbatim]
            wanted = real[: ids.count(id_)]
            now = kept[number, id_]
            assert len(now) == ids.count(id_)
            assert [result for result in now if any(result is other for other in wanted)] == wanted
            others = [result for result in now if not any(result is other for other in wanted)]
            assert all(result.content == INTERRUPTED and not result.trusted_verbatim for result in others)


def test_a_synthesized_result_says_that_the_call_was_interrupted_and_carries_its_name():
    (_, synthesized) = repair_tool_cycles([turn("c1")])
    assert synthesized == batch(answer("c1", INTERRUPTED, name="tool_c1", success=False))
    assert "interrupted" in INTERRUPTED


def test_a_real_result_that_arrives_later_takes_the_place_of_a_synthesized_one():
    repaired = repair_tool_cycles([turn("c1")])
    late = [*repaired, user("and?"), batch(answer("c1", "real"))]
    assert repair_tool_cycles(late) == [turn("c1"), batch(answer("c1", "real")), user("and?")]


def test_two_calls_with_one_id_pair_by_occurrence():
    history = [turn("x", "y", "x"), batch(answer("x", "first"), answer("x", "second"), answer("y", "other"))]
    assert [r.content for r in results_of(repair_tool_cycles(history))] == ["first", "other", "second"]


def test_drop_removes_both_halves_of_an_incomplete_cycle_and_keeps_its_neighbours():
    whole = [turn("a"), batch(answer("a", "1"))]
    broken = [turn("b", "c", text="both"), batch(answer("b", "2"))]
    assert repair_tool_cycles([user("go"), *whole, *broken, user("next")], "drop") == [user("go"), *whole, user("next")]


def test_a_marked_result_of_a_dropped_cycle_stays_as_a_user_message():
    marked = answer("b", " contract ", trusted_verbatim=True)
    history = [turn("b", "c"), batch(answer("c", "2")), batch(marked), turn("d"), user("end")]
    assert repair_tool_cycles([history[0], history[2], user("end")], "drop") == [
        user(" contract ", trusted_verbatim=True),
        user("end"),
    ]


def test_a_marked_duplicate_that_lost_stays_behind_the_cycle_byte_for_byte():
    history = [turn("a", "b"), batch(answer("a", "1"), answer("a", "M", trusted_verbatim=True), answer("b", "2"))]
    assert repair_tool_cycles(history) == [
        turn("a", "b"),
        batch(answer("a", "1"), answer("b", "2")),
        user("M", trusted_verbatim=True),
    ]


def test_a_marked_result_that_moves_is_a_batch_of_its_own():
    history = [turn("a", "b", "c"), batch(answer("c", "3"), answer("b", "M", trusted_verbatim=True), answer("a", "1"))]
    assert repair_tool_cycles(history)[1:] == [
        batch(answer("a", "1")),
        batch(answer("b", "M", trusted_verbatim=True)),
        batch(answer("c", "3")),
    ]


def test_an_id_that_restarts_is_in_flight_only_in_its_last_turn():
    history = [turn("call_0"), user("stop"), turn("call_0")]
    repaired = repair_tool_cycles(history, in_flight={"call_0"})
    assert [r.content for r in results_of(repaired)] == [INTERRUPTED]
    assert repaired[-1] is history[-1]


def test_drop_leaves_a_turn_with_a_call_in_flight_as_it_is():
    history = [turn("a", "b"), batch(answer("b", "2"))]
    assert repair_tool_cycles(history, "drop", ["a"]) == history


def test_results_far_behind_their_call_return_to_it():
    history = [turn("a"), turn("b"), AssistantTurn(text="thinking aloud"), batch(answer("b", "2"), answer("a", "1"))]
    assert repair_tool_cycles(history) == [
        turn("a"),
        batch(answer("a", "1")),
        turn("b"),
        batch(answer("b", "2")),
        AssistantTurn(text="thinking aloud"),
    ]


def test_an_unknown_mode_is_refused_by_name():
    with pytest.raises(ValueError, match=r"'guess'.*'synthesize'"):
        repair_tool_cycles([], "guess")


def test_the_work_is_linear_in_the_history():
    def lines(rounds):
        history = []
        for number in range(rounds):
            history += [
                turn("call_0", f"c{number}"),
                user("x"),
                batch(answer("call_0", "1")),
                batch(answer("call_0", "1")),
            ]
        history += [batch(*(answer(f"c{number}", "late") for number in range(rounds)))]
        count = 0

        def tracer(frame, event, argument):
            nonlocal count
            count += event == "line"
            return tracer

        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            repair_tool_cycles(history)
        finally:
            sys.settrace(before)
        return count

    assert lines(200) < 2.2 * lines(100)


def test_of_results_stored_twice_that_a_repair_made_one_stays():
    made = answer("a", INTERRUPTED, success=False)
    history = [turn("a"), batch(made), batch(made.model_copy())]
    for mode in ("synthesize", "drop"):
        repaired = repair_tool_cycles(history, mode)
        assert repaired == history[:2]
        assert repaired[1].results[0] is made


def test_a_marked_result_is_real_whatever_it_says():
    marked = answer("a", INTERRUPTED, trusted_verbatim=True)
    assert repair_tool_cycles([turn("a"), batch(marked), batch(answer("a", "late"))]) == [turn("a"), batch(marked)]
