from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooldialect.dialects import AssistantTurn, ChatMessage, ToolCall, ToolResult, ToolResultBatch, ToolSpec, WireError
from tooldialect.dialects.wires import PlainChatWire
from wire_rules import strict_chat_faults

WIRE = PlainChatWire()
STRICT = PlainChatWire(strict_alternation=True)


def said(role, text, **fields):
    return ChatMessage(role=role, content=text, **fields)


def user(text, **fields):
    return said("user", text, **fields)


def pairs(wire, history):
    return [(m["role"], m["content"]) for m in wire.encode(history)["messages"]]


TURNS = st.lists(
    st.builds(
        said,
        st.sampled_from(["user", "assistant", "system", "tool"]),
        st.sampled_from(["", " ", "a", " b\n", "c\n\nd"]),
        trusted_verbatim=st.booleans(),
    )
)


@given(TURNS)
def test_strict_turns_alternate_and_verbatim_ones_stay_alone(history):
    request = STRICT.encode(history)
    assert not list(strict_chat_faults(request))
    units = [m["content"] for m in request["messages"] if m["role"] == "user"]
    for entry in history:
        if entry.role == "user" and entry.trusted_verbatim and entry.content.strip():
            units.remove(entry.content)


def test_a_verbatim_text_is_not_the_turn_that_templates_write_the_system_text_into():
    alone = user("M", trusted_verbatim=True)
    roles = [role for role, _ in pairs(STRICT, [said("system", "s"), alone])]
    assert roles == ["system", "user", "assistant", "user"]
    assert pairs(STRICT, [said("system", "s"), alone])[-1] == ("user", "M")
    assert pairs(STRICT, [alone]) == [("user", "M")]
    assert pairs(STRICT, [said("system", "s"), user("a")]) == [("system", "s"), ("user", "a")]


def test_turns_are_left_as_they_are_by_default():
    history = [
        said("system", "s"),
        user("a"),
        user("b"),
        said("system", "t"),
        said("assistant", "c"),
        said("tool", "d"),
    ]
    assert pairs(WIRE, [*history, user(" ")]) == [
        ("system", "s"),
        ("user", "a"),
        ("user", "b"),
        ("system", "t"),
        ("assistant", "c"),
        ("user", "d"),
    ]


def test_ordinary_neighbours_are_joined_with_a_blank_line():
    history = [user("a"), said("tool", "b"), said("assistant", "c"), AssistantTurn(text="d"), user("e")]
    assert pairs(STRICT, history) == [("user", "a\n\nb"), ("assistant", "c\n\nd"), ("user", "e")]


def test_a_verbatim_turn_is_parted_from_user_neighbours_by_a_fixed_assistant_turn():
    history = [user("a"), user("M", trusted_verbatim=True), user("N", trusted_verbatim=True), user("b"), user("c")]
    between = pairs(STRICT, history)[1]
    assert between[0] == "assistant"
    assert between[1].strip()
    assert len(between[1]) < 40
    assert pairs(STRICT, history) == [
        ("user", "a"),
        between,
        ("user", "M"),
        between,
        ("user", "N"),
        between,
        ("user", "b\n\nc"),
    ]


def test_a_verbatim_turn_between_assistant_turns_needs_nothing_around_it():
    history = [user("a"), said("assistant", "b"), user("M", trusted_verbatim=True), said("assistant", "c")]
    assert pairs(STRICT, history) == [("user", "a"), ("assistant", "b"), ("user", "M"), ("assistant", "c")]


def test_later_system_text_joins_the_first():
    history = [user("a"), said("system", "late"), user("b")]
    assert pairs(STRICT, history) == [("system", "late"), ("user", "a\n\nb")]
    assert pairs(STRICT, [said("system", "s"), *history])[0] == ("system", "s\n\nlate")


def test_a_history_that_opens_with_the_assistant_gets_a_fixed_user_turn_before_it():
    (first, *rest) = pairs(STRICT, [said("system", "s"), said("assistant", "a")])[1:]
    assert first[0] == "user"
    assert first[1].strip()
    assert rest == [("assistant", "a")]


def native_history():
    calls = (ToolCall(id="a", name="docs.search", arguments='{"q":"x"}'), ToolCall(id="a", name="g", arguments='{"q'))
    results = (
        ToolResult(tool_call_id="a", content="one"),
        ToolResult(tool_call_id="a", content="M", trusted_verbatim=True),
        ToolResult(tool_call_id="lost", content="stray"),
    )
    return [user("go"), AssistantTurn(text=" ", tool_calls=calls), ToolResultBatch(results=results), user("next")]


def test_structured_calls_go_to_the_template_with_arguments_as_objects():
    _, turn, first, second, stray, last = WIRE.encode(native_history())["messages"]
    assert turn["content"] == ""
    assert [c["function"] for c in turn["tool_calls"]] == [
        {"name": "docs.search", "arguments": {"q": "x"}},
        {"name": "g", "arguments": {"unreadable_arguments": '{"q'}},
    ]
    ids = [c["id"] for c in turn["tool_calls"]]
    assert len(set(ids)) == 2
    assert [(m["role"], m["content"], m["tool_call_id"], m["name"]) for m in (first, second)] == [
        ("tool", "one", ids[0], "docs.search"),
        ("tool", "M", ids[1], "g"),
    ]
    assert (stray["role"], stray["content"]) == ("tool", "stray")
    assert last == {"role": "user", "content": "next"}


def test_strict_templates_are_shown_structured_calls_as_text_and_nothing_is_lost():
    request = STRICT.encode(native_history())
    assert not list(strict_chat_faults(request))
    turns = pairs(STRICT, native_history())
    assert [json.loads(line)["name"] for line in turns[1][1].split("\n\n")] == ["docs.search", "g"]
    assert [content for role, content in turns if role == "user"] == ["go", "one", "M", "stray\n\nnext"]


def test_generated_text_and_completions_are_read():
    chat = {"choices": [{"message": {"content": "b"}, "finish_reason": "length"}]}
    completion = {"choices": [{"text": "c", "finish_reason": "length"}]}
    assert WIRE.decode("a").text == "a"
    assert (WIRE.decode(chat).text, WIRE.decode(chat).truncated) == ("b", True)
    assert (WIRE.decode(completion).text, WIRE.decode(completion).truncated) == ("c", True)
    with pytest.raises(WireError):
        WIRE.decode({"generated": "x"})


def test_tools_and_host_texts_pass_through():
    request = WIRE.encode([said("system", "s"), user("a"), said("assistant", "b")], [ToolSpec(name="docs.search")])
    assert request["tools"][0]["function"]["name"] == "docs.search"
    assert list(WIRE.host_texts(request)) == ["a"]
    assert WIRE.messages(request) == request["messages"]
    assert WIRE.tool_issues([ToolSpec(name="f", parameters={"type": "string"})])[0].name == "f"
