from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mistral_common.exceptions import MistralCommonException

from gate_world import GUESS, key, world
from gate_world import call as gated_call
from mistral_judge import BEFORE_V7, SINCE_V7, as_request, check_mistral, normalized, rendered
from strategies_histories import ODD_IDS, damaged, healthy
from tooldialect.dialects import (
    AssistantTurn,
    Attachment,
    ChatMessage,
    MistralWire,
    ModelResponse,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
    WireError,
    get_dialect,
)
from tooldialect.dialects.native import NativeDialect

WIRE = MistralWire()
OLD = MistralWire(text_with_calls=False)
ID = "abcdefghi"


def user(text, **fields):
    return ChatMessage(role="user", content=text, **fields)


def assistant(text):
    return ChatMessage(role="assistant", content=text)


def call(id_=ID, name="f", arguments="{}"):
    return ToolCall(id=id_, name=name, arguments=arguments)


def cycle(*calls, text=None, output="out"):
    results = tuple(ToolResult(tool_call_id=c.id, content=output) for c in calls)
    return [AssistantTurn(text=text, tool_calls=calls), ToolResultBatch(results=results)]


def sent(history, wire=WIRE):
    return wire.encode(history)["messages"]


def roles(history, wire=WIRE):
    return [m["role"] for m in sent(history, wire)]


def reply(message, finish="stop"):
    return {"choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}]}


def test_text_and_calls_are_one_message_and_results_carry_the_name_of_their_tool():
    outcomes = [
        ToolOutcome.failed("f", "[marker] <x>", tool_call_id="bbbbbbbbb").verbatim(),
        ToolOutcome.ok("f", " ", tool_call_id="aaaaaaaaa"),
    ]
    entry = AssistantTurn(text="so", tool_calls=(call("aaaaaaaaa", "a.b", '{"x": 1}'), call("bbbbbbbbb")))
    spelled = WIRE.tool_name("a.b")
    assert sent([user("go"), entry, *NativeDialect().format_results(outcomes)])[1:] == [
        {
            "role": "assistant",
            "content": "so",
            "tool_calls": [
                {"id": "aaaaaaaaa", "type": "function", "function": {"name": spelled, "arguments": '{"x": 1}'}},
                {"id": "bbbbbbbbb", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "aaaaaaaaa", "name": spelled, "content": "(no output)"},
        {"role": "tool", "tool_call_id": "bbbbbbbbb", "name": "f", "content": "[marker] <x>"},
    ]


@given(st.lists(st.lists(ODD_IDS | st.from_regex(r"[a-z0-9]{9}", fullmatch=True), min_size=1, max_size=3), max_size=4))
def test_ids_are_nine_letters_or_digits_distinct_in_a_turn_and_kept_where_they_can_be(turns):
    messages = sent([user("go"), *(entry for ids in turns for entry in cycle(*(call(id_) for id_ in ids)))])
    made = [[c["id"] for c in m["tool_calls"]] for m in messages if m.get("tool_calls")]
    answers = iter([m["tool_call_id"] for m in messages if m["role"] == "tool"])
    minted = set()
    for ids, wire_ids in zip(turns, made, strict=True):
        assert [next(answers) for _ in wire_ids] == wire_ids
        assert len(set(wire_ids)) == len(wire_ids)
        for place, (id_, wire_id) in enumerate(zip(ids, wire_ids, strict=True)):
            assert re.fullmatch("[a-zA-Z0-9]{9}", wire_id)
            assert wire_id not in minted
            usable = re.fullmatch("[a-zA-Z0-9]{9}", id_) and id_ not in ids[:place] and id_ not in minted
            assert not usable or wire_id == id_
        minted |= {wire_id for id_, wire_id in zip(ids, wire_ids, strict=True) if wire_id != id_}


def test_an_id_that_equals_the_replacement_of_another_is_told_apart():
    made = sent([user("go"), *cycle(call("long_id_1"))])[1]["tool_calls"][0]["id"]
    later = sent([user("go"), *cycle(call("long_id_1")), *cycle(call(made))])
    assert [m["tool_calls"][0]["id"] for m in later if m.get("tool_calls")][1] != made
    beside = sent([user("go"), *cycle(call("long_id_1"), call(made))])[1]["tool_calls"]
    assert beside[1]["id"] == made != beside[0]["id"]


def test_system_texts_go_first_in_order():
    history = [
        user("a"),
        ChatMessage(role="system", content="s"),
        *cycle(call()),
        ChatMessage(role="system", content="t"),
    ]
    assert [(m["role"], m["content"]) for m in sent(history)[:3]] == [("system", "s"), ("system", "t"), ("user", "a")]


def test_a_history_that_opens_with_the_assistant_gets_a_user_turn_before_it():
    assert roles([assistant("hello"), user("x")]) == ["user", "assistant", "user"]
    assert roles([*cycle(call())]) == ["user", "assistant", "tool"]


def test_a_final_assistant_text_is_a_beginning():
    assert sent([user("a"), assistant("Sure, ")])[-1] == {"role": "assistant", "content": "Sure, ", "prefix": True}
    assert "prefix" not in sent([user("a"), assistant("b"), user("c")])[1]
    check_mistral(WIRE.encode([user("a"), assistant("Sure, ")]), "v3")


def test_a_turn_that_says_and_calls_nothing_is_not_sent():
    history = [user("a"), AssistantTurn(text=" ", reasoning_content="hm"), user("b")]
    assert [m["content"] for m in sent(history)] == ["a", "b"]


def test_an_assistant_turn_stands_between_a_result_and_a_user_turn():
    messages = sent([user("go"), *cycle(call()), user("wait"), user("more")])
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "assistant", "user", "user"]
    assert messages[3]["content"].strip()


@pytest.mark.parametrize("version", SINCE_V7)
def test_a_verbatim_user_text_stays_a_turn_of_its_own_behind_the_providers_merging(version):
    marker = "[contract-gate:x] {}"
    history = [user("a"), user(marker, trusted_verbatim=True), user("b"), user("c"), assistant("d"), user("e")]
    units = [m.content for m in normalized(WIRE.encode(history), version) if m.role == "user"]
    assert units == ["a", marker, "b\n\nc", "e"]


@pytest.mark.parametrize("version", BEFORE_V7)
def test_for_old_models_text_and_calls_are_turns_of_their_own(version):
    history = [user("go"), assistant("hm"), *cycle(call(), text="so"), *cycle(call()), user("on")]
    with pytest.raises(MistralCommonException, match="either content or tool_calls"):
        check_mistral(WIRE.encode(history), version)
    request = OLD.encode(history)
    check_mistral(request, version)
    assert rendered(request, version)
    assert [m["content"] for m in request["messages"] if m["content"]].count("so") == 1
    assert roles(history, OLD)[:6] == ["user", "assistant", "assistant", "user", "assistant", "tool"]


@pytest.mark.parametrize("version", ["v3", "v7"])
@given(history=st.one_of(healthy(), damaged()))
@settings(max_examples=25)
def test_the_tokenizer_takes_what_was_encoded(version, history):
    # The tokenizer file of v7 is that of a text model, for which this tells of images in words.
    request = OLD.encode(NativeDialect().replay(history))
    assert '"type": "image_url"' not in json.dumps(request)
    if any(m["role"] != "system" for m in request["messages"]):
        assert rendered(request, version)


@pytest.mark.parametrize("version", [*BEFORE_V7, *SINCE_V7])
def test_a_marked_result_reaches_the_tokenizer_unchanged(version):
    marker = '[contract-gate:x] {"a": 1e3} \u00e9'
    history = [user("go"), *cycle(call()), *cycle(call("bbbbbbbbb"), output=marker)]
    assert [m.content for m in normalized(WIRE.encode(history), version) if m.role == "tool"] == ["out", marker]


@pytest.mark.parametrize("version", BEFORE_V7)
def test_old_versions_write_a_json_result_anew_and_put_system_text_before_the_last_user_text(version):
    history = [
        ChatMessage(role="system", content="rules"),
        user("go"),
        *cycle(call(), output='{"a":1e3,"a":2e3}'),
        user("on"),
    ]
    request = OLD.encode(history)
    assert [m.content for m in normalized(request, version) if m.role == "tool"] == ['{"a": 2000.0}']
    assert re.search(r"rules(<0x0A>)+on\[/INST\]\Z", rendered(request, version))


def test_a_text_result_is_a_json_string_before_v7_and_exact_since():
    history = [user("go"), *cycle(call(), output='[m]"x"\ny')]
    assert '[TOOL_CONTENT]▁[m]"x"<0x0A>y[/TOOL_RESULTS]' in rendered(WIRE.encode(history), "v7")
    for version in BEFORE_V7:
        assert r'"content":▁"[m]\"x\"\ny"' in rendered(OLD.encode(history), version)


def test_in_a_text_dialect_old_models_too_read_a_verbatim_text_exactly_and_alone():
    history = [user("go"), assistant("so"), user('[m]"x"\ny', trusted_verbatim=True), user("on")]
    for version in BEFORE_V7:
        assert '[INST]▁[m]"x"<0x0A>y[/INST]' in rendered(OLD.encode(history), version)


def test_v2_leaves_out_cycles_before_the_last_user_text():
    request = OLD.encode([user("go"), *cycle(call(), output="GONE"), user("on")])
    assert "GONE" not in rendered(request, "v2")
    assert "GONE" in rendered(request, "v3")


@pytest.mark.parametrize("version", SINCE_V7)
def test_later_versions_leave_a_json_result_alone_and_write_arguments_anew(version):
    history = [user("go"), *cycle(call(arguments='{"a":1e3}'), output='{"a":1e3}')]
    _, turn, result = normalized(WIRE.encode(history), version)
    assert result.content == '{"a":1e3}'
    assert turn.tool_calls[0].function.arguments == '{"a": 1000.0}'


@pytest.mark.parametrize("version", [*BEFORE_V7, *SINCE_V7])
def test_neighbours_of_one_role_are_joined_by_the_provider(version):
    messages = normalized(WIRE.encode([user("a"), user("b"), assistant("c"), assistant("d"), user("e")]), version)
    assert [m.content for m in messages] == ["a\n\nb", "c\n\nd", "e"]


@pytest.mark.parametrize("arguments", ['{"x":1}', {"x": 1}])
def test_replies_are_read_with_arguments_as_text_or_object(arguments):
    message = {"content": "t", "tool_calls": [{"id": ID, "function": {"name": "f", "arguments": arguments}}]}
    wanted = ModelResponse(text="t", tool_calls=(call(arguments='{"x":1}'),), truncated=True)
    assert WIRE.decode(reply(message, "length")) == wanted


@pytest.mark.parametrize("thinking", ["step one", [{"type": "text", "text": "step "}, {"type": "text", "text": "one"}]])
def test_thinking_is_read_as_reasoning_and_not_sent_back(thinking):
    content = [{"type": "thinking", "thinking": thinking}, {"type": "text", "text": "so"}]
    response = WIRE.decode(reply({"content": content}))
    assert (response.text, response.reasoning_content) == ("so", "step one")
    entry = NativeDialect().parse_response(response).entry
    assert sent([user("a"), entry, user("b")])[1] == {"role": "assistant", "content": "so"}


def test_images_are_shown_behind_the_results_of_their_cycle():
    png = Attachment(media_type="image/png", data="UE5H")
    wav = Attachment(media_type="audio/wav", url="https://e.test/a.wav")
    outcomes = [
        ToolOutcome.ok("f", "one", tool_call_id="aaaaaaaaa", attachments=[png]),
        ToolOutcome.ok("f", "two", tool_call_id="bbbbbbbbb", attachments=[wav]),
    ]
    entry = AssistantTurn(tool_calls=(call("aaaaaaaaa"), call("bbbbbbbbb")))
    history = [user("go"), entry, *NativeDialect().format_results(outcomes), user("M", trusted_verbatim=True)]
    request = WIRE.encode([*history, user("look", attachments=[png])])
    check_mistral(request, "v7")
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}}
    assert [(m["role"], m["content"]) for m in request["messages"][2:]] == [
        ("tool", "one"),
        ("tool", "two"),
        ("assistant", "(Read.)"),
        ("user", [image, {"type": "text", "text": "(Attachments not shown: audio/wav.)"}]),
        ("assistant", "(Read.)"),
        ("user", "M"),
        ("assistant", "(Read.)"),
        ("user", [{"type": "text", "text": "look"}, image]),
    ]
    assert roles(history[2:3]) == ["tool", "tool", "assistant", "user"]


def test_what_is_no_reply_is_a_clear_error():
    with pytest.raises(WireError, match="no choices"):
        WIRE.decode({"object": "error", "message": "Rate limit"})


def test_tools_go_out_under_names_the_provider_takes_and_with_schemas_of_its_draft():
    tools = [ToolSpec(name="docs.search", description="finds"), ToolSpec(name="docs_search")]
    tools.append(ToolSpec(name="bad", parameters={"type": "object", "properties": {"a": {"additionalItems": 5}}}))
    request = WIRE.encode([user("x")], tools)
    assert {t["function"]["name"] for t in request["tools"]} == {"docs_search", WIRE.tool_name("docs.search")}
    check_mistral(request, "v3")
    (issue,) = WIRE.tool_issues(tools)
    assert (issue.name, issue.sent) == ("bad", False)
    assert "draft 7" in issue.detail
    calls = [{"id": ID, "function": {"name": WIRE.tool_name("docs.search"), "arguments": "{}"}}]
    assert WIRE.decode(reply({"content": "", "tool_calls": calls}), tools).tool_calls[0].name == "docs.search"


def test_results_alone_are_sent_where_they_stand():
    (message,) = sent(NativeDialect().format_results([ToolOutcome.ok("f", "x", tool_call_id="k")]))
    assert (message["role"], message["name"], message["content"]) == ("tool", "f", "x")
    assert re.fullmatch("[a-zA-Z0-9]{9}", message["tool_call_id"])


@given(st.one_of(healthy(), damaged()))
@settings(max_examples=30)
def test_the_librarys_objects_hold_the_texts_that_were_encoded(history):
    request = WIRE.encode(NativeDialect().replay(history))
    objects = as_request(json.loads(json.dumps(request)))
    assert list(WIRE.host_texts(objects)) == list(WIRE.host_texts(request))
    assert list(WIRE.host_texts(objects.messages)) == list(WIRE.host_texts(request))


@pytest.mark.parametrize("wire", [WIRE, OLD], ids=["since v7", "before v7"])
@pytest.mark.parametrize("dialect", ["native", "xml", "pformat"])
def test_a_delivery_is_credited_behind_the_librarys_own_normalization(wire, dialect):
    gate, _ = world()
    chosen = get_dialect(dialect)
    with gate.run() as run:
        decision = run.consult(gated_call("send", GUESS))
        outcomes = [decision.outcome("f", tool_call_id="k1"), ToolOutcome.ok("f", "x", tool_call_id="k2")]
        history = [user("go"), AssistantTurn(text="so", tool_calls=(call("k1"), call("k2")))]
        history += [*chosen.format_results(outcomes), user("next")]
        request = wire.encode(chosen.replay(history))
        for version in SINCE_V7 if wire is WIRE else BEFORE_V7:
            run.refresh(["nothing"])
            assert not run.present
            run.refresh(wire.host_texts(normalized(request, version)))
            assert run.present == {key("send")}
