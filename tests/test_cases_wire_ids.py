"""Faults that harnesses really had on the way to OpenAI Responses, Mistral and LangChain."""

from __future__ import annotations

import json
import re

import pytest

from langchain_rules import langchain_faults
from mistral_rules import mistral_faults
from responses_rules import responses_faults
from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    LangChainWire,
    MistralWire,
    OpenAIResponsesWire,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    outcome_from_mcp,
)
from tooldialect.dialects.native import NativeDialect

WIRES = [
    (OpenAIResponsesWire(), responses_faults),
    (MistralWire(), mistral_faults),
    (LangChainWire(), langchain_faults),
]
each_wire = pytest.mark.parametrize(("wire", "faults"), WIRES, ids=[wire.name for wire, _ in WIRES])


def user(text):
    return ChatMessage(role="user", content=text)


def calls(*ids, arguments="{}", **fields):
    return AssistantTurn(tool_calls=tuple(ToolCall(id=id_, name="f", arguments=arguments) for id_ in ids), **fields)


def results(*pairs, **fields):
    return ToolResultBatch(results=tuple(ToolResult(tool_call_id=i, content=text, **fields) for i, text in pairs))


def answers(wire, request):
    """Call id and text of each result, in order."""
    return [
        (item.get("tool_call_id", item.get("call_id")), item.get("output", item.get("content")))
        for item in wire.messages(request)
        if item.get("role") == "tool" or item.get("type") == "function_call_output"
    ]


def called(wire, request):
    items = wire.messages(request)
    return [i["call_id"] for i in items if i.get("type") == "function_call"] + [
        call["id"] for item in items for call in item.get("tool_calls", ())
    ]


def replayed(history, wire):
    return wire.encode(NativeDialect().replay(history))


def test_w10_ids_of_mistral_are_nine_letters_or_digits_and_never_meet():
    ids = ["call_Zq81kTm2aB", "call_Zq81kTm2aC", "step1_0", "abcdefghi", "123e4567-e89b-42d3-a456-426614174000"]
    history = [user("go"), calls(*ids), results(*((id_, id_) for id_ in ids))]
    request = replayed(history, MistralWire())
    made = called(MistralWire(), request)
    assert all(re.fullmatch("[A-Za-z0-9]{9}", id_) for id_ in made)
    assert len(set(made)) == 5
    assert made[3] == "abcdefghi"
    assert answers(MistralWire(), request) == list(zip(made, ids, strict=True))
    assert (
        called(MistralWire(), replayed([*history, user("on"), calls("x"), results(("x", "1"))], MistralWire()))[:5]
        == made
    )


def test_w11_no_user_turn_stands_right_behind_a_result_of_mistral():
    history = [user("go"), calls("abcdefghi"), results(("abcdefghi", "1")), user("wait, other thing")]
    messages = replayed(history, MistralWire())["messages"]
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert messages[2]["content"] == "1"
    assert messages[3]["content"].strip()
    assert messages[4]["content"] == "wait, other thing"


@each_wire
def test_w13_refused_ids_become_distinct_ones_and_good_ones_stay(wire, faults):
    long = "x" * 90
    ids = ["call_1|fc_a", "call_1|fc_b", "call:a", "call_a", "", long, long + "y", "aaaaaaaaa"]
    history = [user("go"), calls(*ids), results(*((id_, id_ or "-") for id_ in ids))]
    request = replayed(history, wire)
    made = called(wire, request)
    assert len(set(made)) == len(ids)
    assert made[-1] == "aaaaaaaaa"
    assert answers(wire, request) == list(zip(made, [id_ or "-" for id_ in ids], strict=True))
    assert not list(faults(request))


@each_wire
def test_w05_results_in_another_order_without_names_find_their_calls(wire, faults):
    turn = AssistantTurn(
        tool_calls=(ToolCall(id="c1", name="f", arguments='{"x":1}'), ToolCall(id="c2", name="g", arguments="{}"))
    )
    request = replayed([user("go"), turn, results(("c2", "[1,2]")), results(("c1", "plain text"), name="")], wire)
    assert [text for _, text in answers(wire, request)] == ["plain text", "[1,2]"]
    assert [id_ for id_, _ in answers(wire, request)] == called(wire, request)
    assert not list(faults(request))
    named = [m["name"] for m in wire.messages(request) if m.get("role") == "tool"]
    assert named in ([], ["f", "g"])


@each_wire
def test_w01_results_come_directly_behind_their_calls(wire, faults):
    request = replayed([user("go"), calls("k1", "k2"), user("hurry"), results(("k1", "1"), ("k2", "2"))], wire)
    assert not list(faults(request))
    assert list(wire.host_texts(request)) == ["go", "1", "2", "hurry"]


@each_wire
def test_w03_a_result_without_output_keeps_its_place(wire, faults):
    outcomes = [ToolOutcome.ok("f", "", tool_call_id="k0"), ToolOutcome.ok("f", " \n\t", tool_call_id="k1")]
    outcomes.append(outcome_from_mcp({"content": [{"type": "text", "text": ""}]}, "f", "k2"))
    request = replayed([user("go"), calls("k0", "k1", "k2"), *NativeDialect().format_results(outcomes)], wire)
    assert [text for _, text in answers(wire, request)] == ["(no output)"] * 3
    assert not list(faults(request))


@each_wire
def test_w08_a_history_that_was_cut_to_a_call_turn_is_taken(wire, faults):
    history = [
        calls("k1"),
        results(("k1", "1")),
        user("next"),
        ChatMessage(role="assistant", content="ok"),
        user("last"),
    ]
    request = replayed(history, wire)
    assert not list(faults(request))
    assert [t for t in wire.host_texts(request) if t in {"1", "next", "last"}] == ["1", "next", "last"]


@each_wire
def test_w20_a_turn_that_only_thought_is_not_sent(wire, faults):
    request = replayed([user("a"), AssistantTurn(text="", reasoning_content="hm"), user("b")], wire)
    assert [(m["role"], m["content"]) for m in wire.messages(request)] == [("user", "a"), ("user", "b")]
    assert not list(faults(request))


@each_wire
def test_u01_one_bad_code_unit_does_not_break_the_body(wire, faults):
    history = [
        user("go"),
        calls("k1", arguments='{"t":"\\ud83d"}'),
        results(("k1", "a\ud83d c\ud83d\ude00 \\ud83d end")),
    ]
    request = replayed(history, wire)
    assert not list(faults(request))
    body = json.dumps(request, ensure_ascii=False).encode()
    assert list(wire.host_texts(json.loads(body)))[1] == "a\ufffd c\U0001f600 \\ud83d end"


def test_f09_where_there_is_a_flag_a_failure_sets_it_and_elsewhere_nothing_is_added():
    failed = outcome_from_mcp({"isError": True, "content": [{"type": "text", "text": "no such row"}]}, "f", "k1")
    history = [user("go"), calls("k1"), *NativeDialect().format_results([failed])]
    for wire, _ in WIRES:
        assert [text for _, text in answers(wire, replayed(history, wire))] == ["no such row"]
    assert replayed(history, LangChainWire())["messages"][2]["status"] == "error"
