from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionMessage

from strategies_histories import ODD_IDS
from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ModelResponse,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
    WireError,
)
from tooldialect.dialects.native import NativeDialect
from tooldialect.dialects.wires import OpenAIChatWire

WIRE = OpenAIChatWire()


def user(text, **fields):
    return ChatMessage(role="user", content=text, **fields)


def cycle(*calls, **fields):
    results = tuple(ToolResult(tool_call_id=call.id, content="out") for call in calls)
    return [AssistantTurn(tool_calls=calls, **fields), *([ToolResultBatch(results=results)] if calls else [])]


def call(id_="a", name="f", arguments="{}", **fields):
    return ToolCall(id=id_, name=name, arguments=arguments, **fields)


def reply(message, finish="stop"):
    return {
        "id": "r",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}],
    }


def reported(id_="c1", name="f", arguments="{}", **fields):
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}, **fields}


def sent_calls(history, wire=WIRE):
    return [c for message in wire.encode(history)["messages"] for c in message.get("tool_calls", ())]


def test_system_text_stays_in_place_and_a_tool_text_without_id_is_the_users():
    history = [
        ChatMessage(role="system", content="s"),
        user("a"),
        user("M", trusted_verbatim=True),
        ChatMessage(role="tool", content="b"),
        ChatMessage(role="system", content="later"),
        ChatMessage(role="assistant", content="c"),
    ]
    assert [(m["role"], m["content"]) for m in WIRE.encode(history)["messages"]] == [
        ("system", "s"),
        ("user", "a"),
        ("user", "M"),
        ("user", "b"),
        ("system", "later"),
        ("assistant", "c"),
    ]


def test_a_marked_result_is_the_whole_content_of_its_message():
    outcomes = [
        ToolOutcome.ok("f", "one", tool_call_id="a"),
        ToolOutcome.failed("f", "[marker] & <b>", tool_call_id="b").verbatim(),
        ToolOutcome.ok("f", "", tool_call_id="c"),
    ]
    history = [AssistantTurn(tool_calls=(call("a"), call("b"), call("c"))), *NativeDialect().format_results(outcomes)]
    assert WIRE.encode(history)["messages"][1:] == [
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "tool", "tool_call_id": "b", "content": "[marker] & <b>"},
        {"role": "tool", "tool_call_id": "c", "content": "(no output)"},
    ]


def test_results_alone_are_sent_where_they_stand():
    entries = NativeDialect().format_results(
        [ToolOutcome.ok("f", "x", tool_call_id="a"), ToolOutcome.ok("f", "y", tool_call_id="")]
    )
    first, second = WIRE.encode(entries)["messages"]
    assert first == {"role": "tool", "tool_call_id": "a", "content": "x"}
    assert second["tool_call_id"]


@pytest.mark.parametrize(
    "raw",
    [
        '{ "b":1e3, "a":[ ] }',
        '{"a":1,"a":2}',
        "{}",
        '{ "unreadable_arguments": 1}',
        '{"t":"\\u00e9 \\ud83d\\ude00"}',
        ' {"x":1}\n',
    ],
)
def test_arguments_that_are_an_object_keep_their_meaning(raw):
    (sent,) = sent_calls(cycle(call(arguments=raw)))
    assert json.loads(sent["function"]["arguments"]) == json.loads(raw)
    if "\\ud" not in raw:
        assert sent["function"]["arguments"] == raw


@pytest.mark.parametrize("raw", ['{"city":"Os', "[1]", "null", "NaN", '{"n": NaN}', "7", '"words"', "[" * 5000])
def test_arguments_that_are_none_are_sent_as_an_object_that_shows_them(raw):
    (sent,) = sent_calls(cycle(call(arguments=raw)))
    assert json.loads(sent["function"]["arguments"]) == {"unreadable_arguments": raw}


@given(st.lists(st.lists(ODD_IDS, min_size=1, max_size=3), max_size=4))
def test_ids_are_short_distinct_in_a_turn_and_kept_where_they_can_be(turns):
    history = [entry for ids in turns for entry in cycle(*(call(id_) for id_ in ids))]
    messages = WIRE.encode(history)["messages"]
    made = [[c["id"] for c in m["tool_calls"]] for m in messages if m["role"] == "assistant"]
    answers = iter([m["tool_call_id"] for m in messages if m["role"] == "tool"])
    minted = set()
    for ids, sent in zip(turns, made, strict=True):
        assert all(0 < len(id_) <= 40 for id_ in sent)
        assert len(set(sent)) == len(sent)
        assert [next(answers) for _ in sent] == sent
        for place, (id_, wire_id) in enumerate(zip(ids, sent, strict=True)):
            usable = id_.strip() and len(id_) <= 40 and id_ not in ids[:place] and id_ not in minted
            assert not usable or wire_id == id_
            assert wire_id not in minted
        minted |= {wire_id for id_, wire_id in zip(ids, sent, strict=True) if wire_id != id_}


def test_an_id_that_equals_the_replacement_of_an_earlier_one_is_replaced_too():
    (first,) = sent_calls(cycle(call("")))
    ids = [c["id"] for c in sent_calls([*cycle(call("")), *cycle(call(first["id"]))])]
    assert ids[0] == first["id"]
    assert ids[1] != ids[0]


def test_a_valid_id_of_the_same_turn_keeps_itself_before_a_replacement_may_take_it():
    (alone,) = sent_calls(cycle(call("")))
    ids = [c["id"] for c in sent_calls(cycle(call(""), call(alone["id"])))]
    assert ids[1] == alone["id"]
    assert ids[0] != ids[1]


@pytest.mark.parametrize(
    ("mode", "sent"),
    [("omit", [None, None, None]), ("echo", ["why", None, None]), ("always", ["why", "", ""])],
)
def test_reasoning_is_sent_as_the_mode_says(mode, sent):
    history = [
        user("go"),
        *cycle(call("a"), reasoning_content="why"),
        ChatMessage(role="assistant", content="x"),
        *cycle(call("b")),
    ]
    messages = OpenAIChatWire(reasoning=mode).encode(history)["messages"]
    assert [m.get("reasoning_content") for m in messages if m["role"] == "assistant"] == sent


def test_an_unknown_reasoning_mode_is_refused():
    with pytest.raises(ValueError, match=r"'loud'.*omit, echo, always"):
        OpenAIChatWire(reasoning="loud")


def test_a_turn_without_text_and_calls_is_not_sent():
    history = [
        user("a"),
        AssistantTurn(text=" ", reasoning_content="hm"),
        ChatMessage(role="assistant", content=""),
        user("b"),
    ]
    for wire in (WIRE, OpenAIChatWire("always")):
        assert [m["content"] for m in wire.encode(history)["messages"]] == ["a", "b"]


def test_a_reply_of_the_sdk_and_its_json_read_the_same():
    message = {
        "content": "t",
        "tool_calls": [reported(arguments='{"x":1}'), reported("c2", "g", "")],
        "reasoning_content": "r",
    }
    data = reply(message, "length")
    wanted = ModelResponse(
        text="t",
        tool_calls=(call("c1", "f", '{"x":1}'), call("c2", "g", "")),
        reasoning_content="r",
        truncated=True,
    )
    assert WIRE.decode(data) == WIRE.decode(ChatCompletion.model_validate(data)) == wanted


def test_what_a_server_adds_to_a_call_comes_back_on_that_call():
    google = {"google": {"thought_signature": "c2ln"}}
    data = reply({"content": None, "tool_calls": [reported(), reported("c2", extra_content=google, vendor_key=[1])]})
    for given_ in (data, ChatCompletion.model_validate(data)):
        response = WIRE.decode(given_)
        assert response.tool_calls[1].extra_content == google
        entry = NativeDialect().parse_response(response).entry
        first, second = sent_calls([user("go"), entry])
        assert first == reported()
        assert second == reported("c2", extra_content=google, vendor_key=[1])
    assert "vendor_key" not in json.dumps(OpenAIChatWire().encode([entry.model_copy(update={"metadata": None})]))


def test_reasoning_details_come_back_where_reasoning_is_sent():
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    response = WIRE.decode(reply({"content": "t", "reasoning_details": details, "extra_content": {"s": 1}}))
    entry = NativeDialect().parse_response(response).entry
    assert OpenAIChatWire("echo").encode([entry])["messages"][0]["reasoning_details"] == details
    (message,) = WIRE.encode([entry])["messages"]
    assert message == {"role": "assistant", "content": "t", "extra_content": {"s": 1}}


@pytest.mark.parametrize(
    "spoiled", [{"openai-chat": 1}, {"openai-chat": {"calls": 1}}, {"openai-chat": {"calls": {"0": 1}}}]
)
def test_metadata_that_somebody_spoiled_does_no_harm(spoiled):
    (sent,) = sent_calls(cycle(call("c1"), metadata=spoiled))
    assert sent == reported()


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "odd"}]}, "ab"),
        ({"content": [{"type": "refusal", "refusal": "no"}]}, "no"),
        ({"content": None, "refusal": "I will not"}, "I will not"),
        ({"content": ""}, ""),
        ({"content": None}, None),
    ],
)
def test_text_is_read_from_strings_parts_and_refusals(message, text):
    assert WIRE.decode(reply(message)).text == text


def test_odd_calls_of_a_reply_are_read_and_never_raise():
    odd = [
        {"type": "function", "function": {"name": "f", "arguments": {"x": 1}}},
        {"id": "call_0", "function": {"name": None, "arguments": None}},
        {"id": "", "function": None},
        {"id": "k", "type": "custom", "custom": {"name": "g", "input": "free text"}},
        {"id": "n", "function": {"name": "f", "arguments": {"x": float("nan")}}},
        {"id": "m", "function": {"name": "f", "arguments": {"x": {1: {2}}}}},
    ]
    calls = WIRE.decode(reply({"content": None, "tool_calls": odd})).tool_calls
    assert [(c.name, c.arguments) for c in calls[:4]] == [("f", '{"x":1}'), ("", ""), ("", ""), ("g", "free text")]
    assert len({c.id for c in calls}) >= 5
    assert calls[3].id == "k"
    parsed = NativeDialect().parse_response(WIRE.decode(reply({"content": None, "tool_calls": odd[4:5]})))
    assert parsed.problems[0].kind == "malformed"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "no choices"),
        (None, "no choices"),
        ({"choices": []}, "no choices"),
        ({"choices": "x"}, "choices.*str"),
        ({"choices": [{"delta": {}}]}, "no message"),
        ({"error": {"message": "overloaded"}}, "overloaded"),
        (reply({"content": 5}), "content.*int"),
        (reply({"content": "x", "tool_calls": {"id": 1}}), "tool_calls.*dict"),
    ],
)
def test_what_is_no_reply_is_a_clear_error(data, says):
    with pytest.raises(WireError, match=says):
        WIRE.decode(data)


def test_host_texts_are_those_of_users_and_tools_from_dicts_and_objects():
    image = {"type": "image_url", "image_url": {"url": "data:x"}}
    messages = [
        {"role": "system", "content": "s"},
        {"role": "developer", "content": "d"},
        {"role": "user", "content": "a"},
        {"role": "user", "content": [{"type": "text", "text": "b"}, image, {"type": "text", "text": "c"}]},
        {"role": "assistant", "content": "t", "tool_calls": [reported()]},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "r"}]},
        {"role": "tool", "tool_call_id": "c1", "content": None},
        ChatCompletionMessage(role="assistant", content="from the sdk"),
        "stray",
    ]
    assert list(WIRE.host_texts(messages)) == ["a", "b", "c", "r"]
    assert list(WIRE.host_texts({"messages": messages, "model": "m"})) == ["a", "b", "c", "r"]
    assert list(WIRE.host_texts(iter(messages))) == ["a", "b", "c", "r"]
    assert list(WIRE.host_texts(None)) == []


def test_tools_have_names_the_provider_takes_and_replies_are_mapped_back():
    tools = [ToolSpec(name="docs.search", description="finds"), ToolSpec(name="docs_search", description=" ")]
    functions = [tool["function"] for tool in WIRE.encode([], tools)["tools"]]
    assert {f["name"] for f in functions} == {"docs_search", WIRE.tool_name("docs.search")}
    assert [f.get("description") for f in functions] == ["finds", None]
    data = reply({"content": None, "tool_calls": [reported(name=f["name"]) for f in functions]})
    assert [c.name for c in WIRE.decode(data, tools).tool_calls] == ["docs.search", "docs_search"]
    assert WIRE.messages(WIRE.encode([user("x")], tools)) == [{"role": "user", "content": "x"}]
    assert "tools" not in WIRE.encode([])
