from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies_histories import healthy
from tooldialect.dialects import (
    AssistantTurn,
    ModelResponse,
    ParsedToolCall,
    RenderError,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
)
from tooldialect.dialects.native import NativeDialect

OUTCOMES = st.lists(
    st.builds(
        ToolOutcome,
        name=st.sampled_from(["f", "g"]),
        output=st.sampled_from(["", " ", "\u2028", "x", " x", "[contract-gate:…]"]),
        success=st.booleans(),
        tool_call_id=st.sampled_from(["a", "b", ""]),
        trusted_verbatim=st.booleans(),
    )
)


def calls(*pairs):
    return tuple(ToolCall(id=id_, name=name, arguments=raw) for id_, name, raw in pairs)


@given(OUTCOMES)
def test_each_outcome_appears_once_in_order_and_a_marked_one_stands_alone(outcomes):
    entries = NativeDialect().format_results(outcomes)
    results = [result for entry in entries for result in entry.results]
    assert [(r.name, r.content, r.success, r.tool_call_id) for r in results] == [
        (o.name, o.output, o.success, o.tool_call_id) for o in outcomes
    ]
    assert [r.trusted_verbatim for r in results] == [o.trusted_verbatim and bool(o.output.strip()) for o in outcomes]
    for entry in entries:
        marked = [r.trusted_verbatim for r in entry.results]
        assert marked == [True] or (marked and not any(marked))
    for one, next_ in itertools.pairwise(entries):
        assert one.results[0].trusted_verbatim or next_.results[0].trusted_verbatim


def test_no_outcomes_give_no_entries():
    assert NativeDialect().format_results([]) == []


def test_an_outcome_without_an_id_is_an_error_that_names_the_tool():
    with pytest.raises(RenderError, match=r"'read_file'.*tool_call_id") as caught:
        NativeDialect().format_results([ToolOutcome.ok("f", "x", tool_call_id="a"), ToolOutcome.ok("read_file", "y")])
    assert caught.value.name == "read_file"


def test_the_entry_carries_all_that_the_response_held():
    response = ModelResponse(
        text="t", tool_calls=calls(("a", "f", "{}")), reasoning_content="r", metadata={"anthropic": {"content": []}}
    )
    parsed = NativeDialect().parse_response(response)
    assert parsed.entry == AssistantTurn(
        text="t", tool_calls=response.tool_calls, reasoning_content="r", metadata=response.metadata
    )
    assert parsed.text == "t"
    assert parsed.calls == (ParsedToolCall(name="f", arguments={}, id="a"),)


def test_arguments_that_are_no_object_are_problems_and_the_other_calls_run():
    response = ModelResponse(
        tool_calls=calls(("a", "f", '{"x": 1}'), ("b", "f", '{"x'), ("c", "f", "[1]"), ("d", "f", ""))
    )
    parsed = NativeDialect().parse_response(response)
    assert [(call.id, call.arguments) for call in parsed.calls] == [("a", {"x": 1}), ("d", {})]
    assert [(problem.id, problem.kind, problem.raw) for problem in parsed.problems] == [
        ("b", "malformed", '{"x'),
        ("c", "malformed", "[1]"),
    ]
    assert (
        NativeDialect().format_results([problem.outcome() for problem in parsed.problems])[0].results[0].success
        is False
    )


def test_a_name_is_unknown_only_where_tools_were_given():
    response = ModelResponse(tool_calls=calls(("a", "f", "{}")))
    assert NativeDialect().parse_response(response).calls
    (problem,) = NativeDialect([ToolSpec(name="g")]).parse_response(response).problems
    assert problem.kind == "unknown_tool"


def test_a_cut_reply_makes_its_last_call_incomplete():
    response = ModelResponse(tool_calls=calls(("a", "f", '{"x')), truncated=True)
    assert NativeDialect().parse_response(response).problems[0].kind == "incomplete"


def test_text_that_looks_like_a_call_is_text():
    parsed = NativeDialect().parse_response(ModelResponse(text='<tool_call>{"name": "f", "arguments": {}}</tool_call>'))
    assert (parsed.calls, parsed.problems) == ((), ())


def test_a_native_call_has_no_text_form():
    with pytest.raises(RenderError, match="'f'"):
        NativeDialect().render_call(ParsedToolCall(name="f", arguments={}))


def test_the_prompt_needs_nothing():
    dialect = NativeDialect()
    assert dialect.prompt_instructions([ToolSpec(name="f")]) == ""
    assert (dialect.name, dialect.sends_tool_specs, dialect.embeds_catalogue) == ("native", True, False)
    assert (dialect.call_format, dialect.protocol_tags) == ("native", ())


def test_replay_gives_a_marked_result_a_batch_of_its_own():
    def result(id_, **fields):
        return ToolResult(tool_call_id=id_, content=f"out {id_}", **fields)

    turn = AssistantTurn(tool_calls=calls(("a", "f", "{}"), ("b", "f", "{}"), ("c", "f", "{}")))
    marked = result("b", trusted_verbatim=True)
    stored = [turn, ToolResultBatch(results=(result("a"), marked, result("c")))]
    assert NativeDialect().replay(stored)[1:] == [
        ToolResultBatch(results=(result("a"),)),
        ToolResultBatch(results=(marked,)),
        ToolResultBatch(results=(result("c"),)),
    ]


@given(healthy())
def test_replaying_twice_equals_replaying_once(history):
    once = NativeDialect().replay(history)
    assert NativeDialect().replay(once) == once


@given(OUTCOMES)
def test_a_round_that_was_formatted_is_replayed_as_it_is(outcomes):
    turn = AssistantTurn(tool_calls=tuple(ToolCall(id=o.tool_call_id, name=o.name, arguments="{}") for o in outcomes))
    history = [turn, *NativeDialect().format_results(outcomes)]
    assert NativeDialect().replay(history) == history
