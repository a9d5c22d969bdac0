"""Faults that harnesses really had with calls and results; ids of the kind of fault in the names."""

from __future__ import annotations

from pairing_checker import cycle_faults
from tooldialect.dialects import AssistantTurn, ChatMessage, ToolCall, ToolResult, ToolResultBatch
from tooldialect.dialects.native import NativeDialect
from tooldialect.dialects.pairing import INTERRUPTED, repair_tool_cycles
from tooldialect.dialects.wires import AnthropicWire


def user(text):
    return ChatMessage(role="user", content=text)


def says(text):
    return ChatMessage(role="assistant", content=text)


def calls(*pairs, **fields):
    made = tuple(ToolCall(id=id_, name=name, arguments="{}") for id_, name in pairs)
    return AssistantTurn(tool_calls=made, **fields)


def results(*pairs):
    return ToolResultBatch(results=tuple(ToolResult(tool_call_id=id_, content=text) for id_, text in pairs))


def contents(history):
    return [r.content for entry in history if isinstance(entry, ToolResultBatch) for r in entry.results]


def wire_roles(history):
    return [message["role"] for message in NativeDialect().to_provider_messages(history)]


def test_p01_a_tail_that_begins_with_a_result_loses_it_and_nothing_else():
    tail = [calls(("k2", "open")), results(("k2", "second")), says("ready")]
    history = [user("[summary] so far"), results(("k1", "first")), *tail]
    assert repair_tool_cycles(history) == [user("[summary] so far"), *tail]


def test_p02_a_call_without_result_is_answered_before_the_user_goes_on():
    history = [user("go"), calls(("k1", "ls"), ("k2", "cat")), results(("k1", "a")), user("stop that")]
    repaired = repair_tool_cycles(history)
    assert not cycle_faults(repaired)
    assert contents(repaired) == ["a", INTERRUPTED]
    assert [r.success for r in (*repaired[2].results,)] == [True, False]
    assert wire_roles(history) == ["user", "assistant", "tool", "tool", "user"]
    assert history[2] == results(("k1", "a"))


def test_p03_text_that_came_before_the_result_follows_it():
    history = [user("go"), calls(("k1", "build")), user("test it too"), results(("k1", "built"))]
    assert repair_tool_cycles(history) == [history[0], history[1], history[3], history[2]]


def test_p04_a_result_behind_a_note_is_found_and_none_is_made_up():
    history = [
        user("go"),
        calls(("kA", "f"), ("kB", "g")),
        results(("kA", "ra")),
        user("note"),
        results(("kB", "rb")),
        says("end"),
    ]
    repaired = repair_tool_cycles(history)
    assert repaired == [history[0], history[1], results(("kA", "ra"), ("kB", "rb")), user("note"), says("end")]


def test_p06_ids_that_restart_are_answered_turn_by_turn():
    history = [
        user("1"),
        calls(("call_0", "add")),
        results(("call_0", "one")),
        says("done"),
        user("2"),
        calls(("call_0", "add")),
        results(("call_0", "two")),
    ]
    assert repair_tool_cycles(history) == history
    request = AnthropicWire().encode(history)
    uses = [b["id"] for m in request["messages"] for b in m["content"] if b["type"] == "tool_use"]
    answers = {
        b["tool_use_id"]: b["content"] for m in request["messages"] for b in m["content"] if b["type"] == "tool_result"
    }
    assert uses[0] == "call_0"
    assert len(set(uses)) == 2
    assert answers == {uses[0]: "one", uses[1]: "two"}


def test_p07_swapped_results_return_to_call_order():
    history = [
        user("go"),
        calls(("a", "get"), ("b", "get"), ("c", "get")),
        results(("c", "vC"), ("a", "vA"), ("b", "vB")),
    ]
    sent = NativeDialect().to_provider_messages(history)
    assert [m["content"] for m in sent if m["role"] == "tool"] == ["vA", "vB", "vC"]


def test_p10_two_calls_then_two_results_are_left_alone():
    history = [
        ChatMessage(role="system", content="s"),
        user("go"),
        calls(("k1", "f"), ("k2", "g"), text="both"),
        results(("k1", "1"), ("k2", "2")),
        says("ok"),
        user("thanks"),
    ]
    assert repair_tool_cycles(repair_tool_cycles(history)) == history


def test_p11_a_call_turn_without_text_keeps_its_results():
    history = [user("go"), calls(("k1", "f"), text="", reasoning_content="hidden"), results(("k1", "v"))]
    _, assistant, answer = AnthropicWire().encode(history)["messages"]
    assert assistant["content"] == [{"type": "tool_use", "id": "k1", "name": "f", "input": {}}]
    assert answer["content"] == [{"type": "tool_result", "tool_use_id": "k1", "content": "v"}]


def test_p14_a_result_stored_twice_is_sent_once():
    history = [user("go"), calls(("k1", "f"), ("k2", "g")), results(("k1", "v"), ("k1", "v")), results(("k2", "w"))]
    repaired = repair_tool_cycles(history)
    assert [r.tool_call_id for entry in repaired[2:] for r in entry.results] == ["k1", "k2"]
    assert contents(repaired) == ["v", "w"]
