from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    messages_to_dict,
)
from langchain_core.messages import (
    ChatMessage as LangChainChatMessage,
)

from gate_world import GUESS, key, world
from gate_world import call as gated_call
from langchain_judge import as_objects, check_langchain
from langchain_rules import langchain_faults
from strategies_histories import ODD_IDS, damaged, healthy
from tooldialect.dialects import (
    AssistantTurn,
    Attachment,
    ChatMessage,
    LangChainWire,
    ModelResponse,
    OpenAIChatWire,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
    WireError,
    get_dialect,
)
from tooldialect.dialects.native import NativeDialect

WIRE = LangChainWire()
THINKING = {"type": "thinking", "thinking": "step", "signature": "c2ln"}
TEXT = {"type": "text", "text": "so"}
USE = {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}
CALL = {"name": "f", "args": {"x": 1}, "id": "a", "type": "tool_call"}


def user(text, **fields):
    return ChatMessage(role="user", content=text, **fields)


def call(id_="a", name="f", arguments="{}"):
    return ToolCall(id=id_, name=name, arguments=arguments)


def cycle(*calls, **fields):
    results = tuple(ToolResult(tool_call_id=c.id, content="out") for c in calls)
    return [AssistantTurn(tool_calls=calls, **fields), ToolResultBatch(results=results)]


def sent(history):
    return WIRE.encode(history)["messages"]


def entry_of(message, tools=()):
    return NativeDialect().parse_response(WIRE.decode(message, tools)).entry


def answered(entry):
    results = tuple(ToolResult(tool_call_id=c.id, content="out") for c in entry.tool_calls)
    return [user("go"), entry, ToolResultBatch(results=results)]


def turn(history):
    return next(m for m in sent(history) if m["role"] == "assistant")


def test_calls_have_argument_objects_and_results_a_status():
    outcomes = [
        ToolOutcome.failed("f", "[marker] <x>", tool_call_id="b").verbatim(),
        ToolOutcome.ok("f", " ", tool_call_id="a"),
    ]
    entry = AssistantTurn(tool_calls=(call("a", "a.b", '{"x": 1}'), call("b", "f", '{"x')))
    spelled = WIRE.tool_name("a.b")
    history = [ChatMessage(role="system", content="s"), user("go"), entry, *NativeDialect().format_results(outcomes)]
    assert sent(history) == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"name": spelled, "args": {"x": 1}, "id": "a", "type": "tool_call"},
                {"name": "f", "args": {"unreadable_arguments": '{"x'}, "id": "b", "type": "tool_call"},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "name": spelled, "content": "(no output)", "status": "success"},
        {"role": "tool", "tool_call_id": "b", "name": "f", "content": "[marker] <x>", "status": "error"},
    ]


def test_texts_stay_in_place_and_blank_ones_are_not_sent():
    history = [user("a"), user("M", trusted_verbatim=True), ChatMessage(role="tool", content="b"), user(" ")]
    history += [ChatMessage(role="system", content="s"), ChatMessage(role="assistant", content="c")]
    history += [AssistantTurn(text=" ", reasoning_content="hm")]
    assert [(m["role"], m["content"]) for m in sent(history)] == [
        ("user", "a"),
        ("user", "M"),
        ("user", "b"),
        ("system", "s"),
        ("assistant", "c"),
    ]


def test_results_alone_are_sent_where_they_stand():
    entries = NativeDialect().format_results([ToolOutcome.failed("f", "x", tool_call_id="k")])
    assert sent(entries) == [{"role": "tool", "tool_call_id": "k", "name": "f", "content": "x", "status": "error"}]


@given(st.lists(st.lists(ODD_IDS, min_size=1, max_size=3), max_size=4))
def test_ids_are_distinct_in_a_turn_and_kept_where_they_can_be(turns):
    request = WIRE.encode([entry for ids in turns for entry in cycle(*(call(id_) for id_ in ids))])
    assert not list(langchain_faults(request))
    made = [[c["id"] for c in m["tool_calls"]] for m in request["messages"] if m["role"] == "assistant"]
    minted = set()
    for ids, wire_ids in zip(turns, made, strict=True):
        for place, (id_, wire_id) in enumerate(zip(ids, wire_ids, strict=True)):
            assert not (id_.strip() and id_ not in ids[:place] and id_ not in minted) or wire_id == id_
        minted |= {wire_id for id_, wire_id in zip(ids, wire_ids, strict=True) if wire_id != id_}


def test_messages_of_the_library_and_their_saved_forms_read_the_same():
    message = AIMessage(content="t", tool_calls=[CALL], response_metadata={"finish_reason": "length"})
    wanted = ModelResponse(text="t", tool_calls=(call(arguments='{"x":1}'),), truncated=True)
    chunk = AIMessageChunk(content="t", tool_calls=[CALL], response_metadata={"stop_reason": "max_tokens"})
    (saved,) = messages_to_dict([message])
    for given_ in (message, message.model_dump(), saved, dumpd(message), chunk):
        assert WIRE.decode(given_) == wanted


def test_calls_that_the_library_could_not_read_are_problems():
    broken = {"name": "g", "args": '{"x', "id": "b", "error": "no JSON", "type": "invalid_tool_call"}
    message = AIMessage(content="", tool_calls=[CALL], invalid_tool_calls=[broken])
    parsed = NativeDialect().parse_response(WIRE.decode(message))
    assert [c.name for c in parsed.calls] == ["f"]
    assert [(p.kind, p.name, p.id) for p in parsed.problems] == [("malformed", "g", "b")]
    check_langchain(WIRE.encode(answered(parsed.entry)))


def test_calls_in_the_shape_of_openai_are_read_too():
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}],
    }
    assert WIRE.decode(message).tool_calls == (call(),)


def test_text_and_calls_alone_need_no_metadata():
    assert WIRE.decode(AIMessage(content="t", tool_calls=[CALL])).metadata is None
    response = WIRE.decode(AIMessage(content=[{"type": "text", "text": "a"}, "b"]))
    assert (response.text, response.metadata) == ("ab", None)


def test_an_empty_message_is_read():
    response = WIRE.decode(AIMessage(content=""))
    assert (response.text, response.tool_calls, response.reasoning_content) == ("", (), None)
    assert WIRE.decode(AIMessage(content=[])).text is None


@pytest.mark.parametrize(
    ("content", "extra", "thought"),
    [
        ([THINKING, TEXT, USE], {}, "step"),
        ([{"type": "reasoning", "reasoning": "hm", "id": "rs"}, TEXT], {}, "hm"),
        ("so", {"reasoning_content": "why"}, "why"),
        ([TEXT, USE], {}, None),
    ],
)
def test_content_blocks_and_extra_data_come_back_as_they_came(content, extra, thought):
    told = {"model_provider": "anthropic", "finish_reason": "stop"}
    message = AIMessage(content=content, tool_calls=[CALL], additional_kwargs=extra, response_metadata=told)
    response = WIRE.decode(message)
    assert (response.text, response.reasoning_content) == ("so", thought)
    history = answered(NativeDialect().parse_response(response).entry)
    request = WIRE.encode(history)
    check_langchain(request)
    assert not list(langchain_faults(request))
    _, loaded, _ = as_objects(request)
    assert (loaded.content, loaded.additional_kwargs, loaded.tool_calls) == (content, extra, [CALL])
    assert loaded.response_metadata.get("model_provider") == "anthropic"


def test_raw_calls_in_the_extra_data_do_not_come_back_beside_the_turns():
    raw = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}]
    entry = entry_of(AIMessage(content="so", tool_calls=[CALL], additional_kwargs={"tool_calls": raw, "refusal": None}))
    emptied = entry.model_copy(update={"tool_calls": ()})
    assert as_objects(WIRE.encode([user("go"), emptied]))[1].tool_calls == []


def test_calls_that_somebody_put_into_the_kept_data_are_not_sent():
    forged = {"tool_calls": [{"id": "z", "type": "function", "function": {"name": "rm", "arguments": "{}"}}]}
    entry = AssistantTurn(text="so", metadata={"langchain": {"additional_kwargs": forged}})
    assert as_objects(WIRE.encode([user("go"), entry]))[1].tool_calls == []


def test_a_turn_that_was_edited_keeps_its_thinking_and_not_its_old_text_or_calls():
    entry = entry_of(AIMessage(content=[THINKING, TEXT, USE], tool_calls=[CALL]))
    assert turn(answered(entry.model_copy(update={"text": "[redacted]"})))["content"] == [
        THINKING,
        USE,
        {"type": "text", "text": "[redacted]"},
    ]
    assert turn([user("go"), entry.model_copy(update={"tool_calls": ()})])["content"] == [THINKING, TEXT]


def test_blocks_do_not_name_calls_by_an_id_that_was_replaced():
    uses = [USE, USE]
    entry = entry_of(AIMessage(content=[THINKING, *uses], tool_calls=[CALL, CALL]))
    message = turn(answered(entry))
    assert message["content"] == [THINKING]
    assert len({c["id"] for c in message["tool_calls"]}) == 2


def test_a_turn_that_only_thought_and_blank_blocks_are_not_sent():
    thought = entry_of(AIMessage(content=[THINKING]))
    blank = entry_of(AIMessage(content=[THINKING, {"type": "text", "text": " "}, TEXT]))
    assert [m["content"] for m in sent([user("a"), thought, blank])] == ["a", [THINKING, TEXT]]


def test_a_turn_that_was_replayed_as_a_message_gets_its_thinking_back():
    entry = entry_of(AIMessage(content=[THINKING, {"type": "text", "text": "<tool_call>x</tool_call>"}]))
    assert turn(get_dialect("xml").replay([user("go"), entry, user("on")]))["content"][0] == THINKING


def test_other_wires_ignore_what_was_kept():
    entry = entry_of(AIMessage(content=[THINKING, TEXT, USE], tool_calls=[CALL]))
    assert "c2ln" not in repr(OpenAIChatWire().encode(answered(entry)))


@pytest.mark.parametrize("spoiled", [1, {"content": 1}, {"additional_kwargs": 1, "response_metadata": []}])
def test_metadata_that_somebody_spoiled_does_no_harm(spoiled):
    assert turn([user("go"), *cycle(call(), metadata={"langchain": spoiled})]) == {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"name": "f", "args": {}, "id": "a", "type": "tool_call"}],
    }


@pytest.mark.parametrize("data", [None, {}, {"messages": []}, "text", AIMessage(content="x").tool_calls, 5])
def test_what_is_no_message_is_a_clear_error(data):
    with pytest.raises(WireError, match="no content"):
        WIRE.decode(data)


def test_host_texts_are_those_of_users_and_tools_in_every_form_of_a_message():
    image = {"type": "image_url", "image_url": {"url": "data:x"}}
    messages = [
        SystemMessage("s"),
        HumanMessage("a"),
        HumanMessage([{"type": "text", "text": "b"}, image, "c"]),
        AIMessage([TEXT], tool_calls=[CALL]),
        ToolMessage("r1", tool_call_id="a"),
        ToolMessage([{"type": "text", "text": "r2"}, image], tool_call_id="a", artifact="not for the model"),
        LangChainChatMessage(role="user", content="d"),
        LangChainChatMessage(role="critic", content="x"),
    ]
    wanted = ["a", "b", "c", "r1", "r2", "d"]
    forms = (messages, {"messages": messages}, iter(messages), [m.model_dump() for m in messages])
    for given_ in (*forms, messages_to_dict(messages)):
        assert list(WIRE.host_texts(given_)) == wanted
    plain = [m for m in messages if m.type != "chat"]
    assert list(WIRE.host_texts([dumpd(m) for m in plain])) == wanted[:-1]


def test_pairs_and_bare_strings_are_read_as_the_library_reads_them():
    given_ = [("system", "s"), ("human", "a"), ["user", "b"], "c", ("ai", "t"), ("odd",), 5]
    texts = [m.content for m in convert_to_messages(given_[:5]) if m.type == "human"]
    assert list(WIRE.host_texts(given_)) == texts == ["a", "b", "c"]
    assert list(WIRE.host_texts(None)) == []


@given(st.one_of(healthy(), damaged()))
@settings(max_examples=30)
def test_the_librarys_objects_hold_the_texts_that_were_encoded(history):
    request = WIRE.encode(NativeDialect().replay(history))
    assert list(WIRE.host_texts(as_objects(request))) == list(WIRE.host_texts(request))


@pytest.mark.parametrize("dialect", ["native", "xml", "pformat"])
def test_a_delivery_that_the_library_loaded_back_is_credited(dialect):
    gate, _ = world()
    chosen = get_dialect(dialect)
    with gate.run() as run:
        decision = run.consult(gated_call("send", GUESS))
        outcomes = [decision.outcome("f", tool_call_id="a"), ToolOutcome.ok("f", "x", tool_call_id="b")]
        turns = [AssistantTurn(text="so", tool_calls=(call("a"), call("b")))]
        history = [user("go"), *turns, *chosen.format_results(outcomes), user("next")]
        run.refresh(WIRE.host_texts(as_objects(WIRE.encode(chosen.replay(history)))))
        assert run.present == {key("send")}


def test_images_and_documents_are_content_blocks_and_the_rest_is_named_behind_all():
    png = Attachment(media_type="image/png", data="UE5H")
    pdf = Attachment(media_type="application/pdf", url="https://e.test/a.pdf")
    wav = Attachment(media_type="audio/wav", data="UklGRg==")
    outcomes = [
        ToolOutcome.failed("f", "one", tool_call_id="a", attachments=[png, wav]),
        ToolOutcome.ok("f", "", tool_call_id="b", attachments=[pdf]),
    ]
    entry = AssistantTurn(tool_calls=(call("a"), call("b")))
    history = [user("go", attachments=[wav]), entry, *NativeDialect().format_results(outcomes), user("on")]
    request = WIRE.encode(history)
    check_langchain(request)
    assert not list(langchain_faults(request))
    said, _, first, second, note, _ = as_objects(request)
    image = {"type": "image", "base64": "UE5H", "mime_type": "image/png"}
    assert first.content == first.content_blocks == [{"type": "text", "text": "one"}, image]
    assert second.content == [{"type": "file", "url": "https://e.test/a.pdf", "mime_type": "application/pdf"}]
    assert (first.status, note.content) == ("error", "(Attachments not shown: audio/wav.)")
    assert said.content[1] == {"type": "text", "text": "(Attachments not shown: audio/wav.)"}
    assert list(WIRE.host_texts([first, second])) == ["one"]
    assert [m["role"] for m in WIRE.encode(history[2:3])["messages"]] == ["tool", "tool", "user"]


def test_tools_go_out_under_names_that_any_provider_takes():
    tools = [ToolSpec(name="docs.search", description="finds"), ToolSpec(name="docs_search")]
    request = WIRE.encode([user("x")], tools)
    names = [t["function"]["name"] for t in request["tools"]]
    assert set(names) == {"docs_search", WIRE.tool_name("docs.search")}
    message = AIMessage(content="", tool_calls=[{**CALL, "name": name} for name in names])
    assert [c.name for c in WIRE.decode(message, tools).tool_calls] == ["docs.search", "docs_search"]
    assert json.loads(json.dumps(WIRE.messages(request))) == [{"role": "user", "content": "x"}]
    assert [i.name for i in WIRE.tool_issues([ToolSpec(name="bad", parameters={"type": "string"})])] == ["bad"]
