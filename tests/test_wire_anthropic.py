from __future__ import annotations

import re

import pytest
from anthropic.types import Message
from hypothesis import given
from hypothesis import strategies as st

from sdk_types import check_anthropic
from strategies_histories import ODD_IDS
from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
    WireError,
    get_dialect,
)
from tooldialect.dialects.native import NativeDialect
from tooldialect.dialects.wires import AnthropicWire, OpenAIChatWire, PlainChatWire
from wire_rules import anthropic_faults

WIRE = AnthropicWire()
THOUGHT = {"type": "thinking", "thinking": "step", "signature": "c2ln"}
HIDDEN = {"type": "redacted_thinking", "data": "b3BhcXVl"}


def user(text, **fields):
    return ChatMessage(role="user", content=text, **fields)


def call(id_="a", name="f", arguments="{}"):
    return ToolCall(id=id_, name=name, arguments=arguments)


def cycle(*calls, **fields):
    results = tuple(ToolResult(tool_call_id=c.id, content="out") for c in calls)
    return [AssistantTurn(tool_calls=calls, **fields), ToolResultBatch(results=results)]


def text(value):
    return {"type": "text", "text": value}


def use(id_="a", name="f", arguments=None, **fields):
    return {"type": "tool_use", "id": id_, "name": name, "input": arguments or {}, **fields}


def reply(*content, stop="end_turn", **fields):
    return {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
        "stop_reason": stop,
        "usage": {"input_tokens": 1, "output_tokens": 1},
        **fields,
    }


def entry_of(data, tools=()):
    return NativeDialect().parse_response(WIRE.decode(data, tools)).entry


def answered(entry):
    return [
        user("go"),
        entry,
        ToolResultBatch(results=tuple(ToolResult(tool_call_id=c.id, content="out") for c in entry.tool_calls)),
    ]


def assistant(history):
    return next(m["content"] for m in WIRE.encode(history)["messages"] if m["role"] == "assistant")


def test_system_texts_go_to_the_system_field_as_blocks_and_never_to_a_turn():
    history = [ChatMessage(role="system", content="s"), user("a"), ChatMessage(role="system", content="later")]
    assert WIRE.encode([*history, ChatMessage(role="system", content=" ")]) == {
        "messages": [{"role": "user", "content": [text("a")]}],
        "system": [text("s"), text("later")],
    }


def test_neighbours_become_one_message_and_each_text_stays_a_block():
    history = [user("a"), user(" M ", trusted_verbatim=True), ChatMessage(role="tool", content="b"), user("\n")]
    history += [ChatMessage(role="assistant", content="x "), AssistantTurn(text="y"), user("c")]
    assert WIRE.encode(history)["messages"] == [
        {"role": "user", "content": [text("a"), text(" M "), text("b")]},
        {"role": "assistant", "content": [text("x "), text("y")]},
        {"role": "user", "content": [text("c")]},
    ]


def test_results_come_first_and_a_marked_one_is_its_blocks_whole_content():
    outcomes = [
        ToolOutcome.failed("f", "one", tool_call_id="a"),
        ToolOutcome.failed("f", "[marker] <x>", tool_call_id="b").verbatim(),
        ToolOutcome.failed("f", " \n", tool_call_id="c"),
        ToolOutcome.ok("f", "four", tool_call_id="d"),
    ]
    turn = AssistantTurn(tool_calls=tuple(call(id_) for id_ in "abcd"))
    history = [user("go"), turn, user("hurry"), *NativeDialect().format_results(outcomes), user("now")]
    assert WIRE.encode(history)["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": "one", "is_error": True},
        {"type": "tool_result", "tool_use_id": "b", "content": "[marker] <x>", "is_error": True},
        {"type": "tool_result", "tool_use_id": "c", "content": "(no output)", "is_error": True},
        {"type": "tool_result", "tool_use_id": "d", "content": "four"},
        text("hurry"),
        text("now"),
    ]


def test_results_alone_are_sent_as_blocks():
    entries = NativeDialect().format_results([ToolOutcome.ok("f", "x", tool_call_id="a")])
    assert WIRE.encode(entries)["messages"] == [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}
    ]


def test_results_come_first_also_behind_a_text():
    entries = [user("a"), *NativeDialect().format_results([ToolOutcome.ok("f", "x", tool_call_id="a")]), user("b")]
    (message,) = WIRE.encode(entries)["messages"]
    assert [block["type"] for block in message["content"]] == ["tool_result", "text", "text"]


def test_a_history_that_opens_with_the_assistant_gets_a_user_turn_before_it():
    first, second = WIRE.encode([ChatMessage(role="assistant", content="hello")])["messages"]
    assert first["role"] == "user"
    assert first["content"][0]["text"].strip()
    assert second == {"role": "assistant", "content": [text("hello")]}


def test_only_a_final_assistant_text_loses_the_white_space_at_its_end():
    history = [user("a "), ChatMessage(role="assistant", content=" b \n")]
    assert WIRE.encode(history)["messages"][-1]["content"] == [text(" b")]
    assert WIRE.encode([*history, user("c")])["messages"][1]["content"] == [text(" b \n")]


@given(st.lists(st.lists(ODD_IDS, min_size=1, max_size=3), max_size=4))
def test_ids_are_unique_in_the_request_and_kept_where_they_can_be(turns):
    request = WIRE.encode([user("go"), *(entry for ids in turns for entry in cycle(*(call(id_) for id_ in ids)))])
    assert not [fault for fault in anthropic_faults(request) if fault[0] in {"AN-ID", "AN-ID-UNIQUE", "AN-PAIRS"}]
    sent = [b["id"] for m in request["messages"] for b in m["content"] if b["type"] == "tool_use"]
    given_ids = [id_ for ids in turns for id_ in ids]
    for place, (id_, wire_id) in enumerate(zip(given_ids, sent, strict=True)):
        unused = id_ not in given_ids[:place] and id_ not in sent[:place]
        if unused and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", id_):
            assert wire_id == id_


@pytest.mark.parametrize(
    "blocks",
    [
        [THOUGHT, text("so"), use()],
        [THOUGHT, HIDDEN, text("a"), THOUGHT, use("a"), text("b"), use("b", "g", {"x": [1.5, None]})],
        [text("a"), text("b"), use()],
        [use("a"), text("after")],
        [THOUGHT, use("a", caller={"type": "direct"})],
    ],
)
@pytest.mark.parametrize("sdk", [False, True])
def test_blocks_come_back_in_their_order_with_their_signatures(blocks, sdk):
    data = reply(*blocks, stop="tool_use")
    history = answered(entry_of(Message.model_validate(data) if sdk else data))
    assert assistant(history) == blocks
    request = WIRE.encode(history)
    check_anthropic(request)
    assert not list(anthropic_faults(request))


def test_a_turn_that_was_replayed_as_a_message_gets_its_thinking_back():
    history = [user("go"), entry_of(reply(THOUGHT, text("<tool_call>x</tool_call>"))), user("on")]
    assert assistant(get_dialect("xml").replay(history)) == [THOUGHT, text("<tool_call>x</tool_call>")]


def test_text_and_calls_alone_need_no_metadata():
    response = WIRE.decode(reply(text("so"), use("a", "f", {"x": 1})))
    assert (response.text, response.tool_calls, response.metadata) == ("so", (call("a", "f", '{"x":1}'),), None)


def test_thinking_is_read_as_reasoning_and_other_wires_ignore_the_blocks():
    response = WIRE.decode(reply(THOUGHT, HIDDEN, {**THOUGHT, "thinking": "more"}, text("so"), use()))
    assert response.reasoning_content == "step\n\nmore"
    entry = NativeDialect().parse_response(response).entry
    for wire in (OpenAIChatWire(), PlainChatWire(), PlainChatWire(strict_alternation=True)):
        assert "c2ln" not in repr(wire.encode(answered(entry)))


def test_a_turn_that_was_edited_keeps_its_thinking_and_not_its_old_text():
    entry = entry_of(reply(THOUGHT, text("the password is 1234"), use(), HIDDEN, text("tail")))
    redacted = entry.model_copy(update={"text": "the password is [redacted]"})
    assert assistant(answered(redacted)) == [THOUGHT, HIDDEN, text("the password is [redacted]"), use()]


def test_ids_and_names_are_rewritten_in_restored_blocks_too():
    tools = [ToolSpec(name="docs.search")]
    entry = entry_of(reply(THOUGHT, use("a", WIRE.tool_name("docs.search"))), tools)
    assert entry.tool_calls[0].name == "docs.search"
    history = [*answered(entry), *answered(entry)[1:]]
    sent = [b for m in WIRE.encode(history)["messages"] for b in m["content"] if b["type"] == "tool_use"]
    assert [b["name"] for b in sent] == [WIRE.tool_name("docs.search")] * 2
    assert sent[0]["id"] == "a" != sent[1]["id"]


def test_thinking_that_leads_to_nothing_is_not_sent():
    history = [user("a"), entry_of(reply(THOUGHT)), user("b"), entry_of(reply(text("x"), HIDDEN)), user("c")]
    assert WIRE.encode(history)["messages"] == [
        {"role": "user", "content": [text("a"), text("b")]},
        {"role": "assistant", "content": [text("x")]},
        {"role": "user", "content": [text("c")]},
    ]


def test_thinking_without_a_signature_is_not_sent():
    assert assistant([user("a"), entry_of(reply({**THOUGHT, "signature": ""}, text("x"))), user("b")]) == [text("x")]


def test_reasoning_of_another_model_is_not_sent():
    assert assistant([user("go"), *cycle(call(), reasoning_content="mine")]) == [use()]


@pytest.mark.parametrize("spoiled", [1, {"content": 1}, {"content": [1, {"type": 2}, {"type": "text"}]}])
def test_metadata_that_somebody_spoiled_does_no_harm(spoiled):
    assert assistant([user("go"), *cycle(call(), metadata={"anthropic": spoiled})]) == [use()]


@pytest.mark.parametrize(
    ("stop", "truncated"), [("max_tokens", True), ("model_context_window_exceeded", True), ("tool_use", False)]
)
def test_a_reply_that_hit_a_limit_is_truncated(stop, truncated):
    assert WIRE.decode(reply(text("x"), stop=stop)).truncated is truncated


def test_an_empty_reply_is_read():
    response = WIRE.decode(reply())
    assert (response.text, response.tool_calls, response.reasoning_content) == (None, (), None)


def test_odd_blocks_of_a_reply_are_read_and_never_raise():
    odd = [
        {"type": "tool_use"},
        use("", "g", {"x": float("inf")}),
        {"type": "text", "text": None},
        {"type": "hologram"},
    ]
    response = WIRE.decode(reply(*odd))
    assert [(c.name, c.arguments) for c in response.tool_calls] == [("", ""), ("g", '{"x":Infinity}')]
    assert len({c.id for c in response.tool_calls}) == 2


def test_arguments_too_deep_to_read_are_a_problem_and_no_exception():
    deep = {}
    for _ in range(20_000):
        deep = {"x": deep}
    data = reply(THOUGHT, {**use(), "input": deep}, {"type": "hologram", "deep": deep})
    parsed = NativeDialect().parse_response(WIRE.decode(data))
    assert [problem.kind for problem in parsed.problems] == ["malformed"]
    assert parsed.entry.metadata["anthropic"]["content"][0] == THOUGHT
    chat = {
        "choices": [
            {"message": {"tool_calls": [{"id": "a", "odd": deep, "function": {"name": "f", "arguments": deep}}]}}
        ]
    }
    assert NativeDialect().parse_response(OpenAIChatWire().decode(chat)).problems[0].kind == "malformed"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "no content"),
        (None, "no content"),
        ({"type": "error", "error": {"message": "overloaded"}}, "overloaded"),
        (reply(content="x"), "content.*str"),
        ({"content": ["x"]}, "block"),
    ],
)
def test_what_is_no_message_is_a_clear_error(data, says):
    with pytest.raises(WireError, match=says):
        WIRE.decode(data)


def test_arguments_are_objects():
    history = [user("go"), *cycle(call("a", "f", '"{\\"x\\":1}"'), call("b", "f", ""), call("c", "f", '{"x'))]
    assert [block["input"] for block in assistant(history)] == [{"x": 1}, {}, {"unreadable_arguments": '{"x'}]


def test_host_texts_are_those_of_user_turns_and_results_from_dicts_and_objects():
    image = {"type": "image", "source": {"type": "url", "url": "x"}}
    result = {"type": "tool_result", "tool_use_id": "a"}
    messages = [
        {"role": "user", "content": "plain"},
        {"role": "assistant", "content": [text("t"), use()]},
        {
            "role": "user",
            "content": [{**result, "content": "r1"}, {**result, "content": [text("r2"), image, text("r3")]}, result],
        },
        {"role": "user", "content": [image, text("u")]},
        {"role": "user", "content": None},
        {"role": "system", "content": "s"},
        Message.model_validate(reply(text("sdk"))),
    ]
    assert list(WIRE.host_texts({"system": [text("s")], "messages": messages})) == ["plain", "r1", "r2", "r3", "u"]
    assert list(WIRE.host_texts(messages)) == ["plain", "r1", "r2", "r3", "u"]


def test_tools_go_out_under_names_and_schemas_the_provider_takes():
    tools = [
        ToolSpec(name="n" * 128, description="long"),
        ToolSpec(name="n" * 129, parameters={"type": "object", "oneOf": [{"properties": {"a": {"type": "string"}}}]}),
    ]
    request = WIRE.encode([user("x")], tools)
    check_anthropic(request)
    names = {tool["name"]: tool for tool in request["tools"]}
    assert set(names) == {"n" * 128, WIRE.tool_name("n" * 129)}
    assert names[WIRE.tool_name("n" * 129)]["input_schema"] == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
    }
    assert WIRE.messages(request) == [{"role": "user", "content": [text("x")]}]
