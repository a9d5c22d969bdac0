from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.responses import Response, ResponseInputItem
from pydantic import TypeAdapter

from gate_world import GUESS, key, world
from gate_world import call as gated_call
from responses_judge import as_objects, check_responses
from responses_rules import responses_faults
from strategies_histories import ODD_IDS, damaged, healthy
from tooldialect.dialects import (
    AssistantTurn,
    Attachment,
    ChatMessage,
    ModelResponse,
    OpenAIChatWire,
    OpenAIResponsesWire,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
    WireError,
    get_dialect,
)
from tooldialect.dialects.native import NativeDialect

WIRE = OpenAIResponsesWire()
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}
SEALED = {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "b3BhcXVl"}
SEARCH = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "x", "queries": ["x"]},
}
CODE = {
    "type": "code_interpreter_call",
    "id": "ci_1",
    "status": "completed",
    "code": "1+1",
    "container_id": "c",
    "outputs": [{"type": "logs", "logs": "2"}],
}


def user(text, **fields):
    return ChatMessage(role="user", content=text, **fields)


def call(id_="a", name="f", arguments="{}"):
    return ToolCall(id=id_, name=name, arguments=arguments)


def cycle(*calls, **fields):
    results = tuple(ToolResult(tool_call_id=c.id, content="out") for c in calls)
    return [AssistantTurn(tool_calls=calls, **fields), ToolResultBatch(results=results)]


def said(text, **fields):
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content, **fields}


def made(id_="a", name="f", arguments="{}", **fields):
    item = {"type": "function_call", "id": f"fc_{id_}", "status": "completed", "call_id": id_}
    return {**item, "name": name, "arguments": arguments, **fields}


def reply(*output, **fields):
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        **fields,
    }


def sent_text(text, **fields):
    return {"role": "assistant", "content": text, **fields}


def sent_call(id_="a", name="f", arguments="{}", **fields):
    return {"type": "function_call", "call_id": id_, "name": name, "arguments": arguments, **fields}


def sent_result(id_="a", output="out"):
    return {"type": "function_call_output", "call_id": id_, "output": output}


def entry_of(data, tools=()):
    return NativeDialect().parse_response(WIRE.decode(data, tools)).entry


def answered(entry):
    results = tuple(ToolResult(tool_call_id=c.id, content="out") for c in entry.tool_calls)
    return [user("go"), entry, ToolResultBatch(results=results)]


def turn(history):
    """The items of the model's in the request, without those of the host."""
    return [i for i in WIRE.encode(history)["input"] if i.get("role") != "user" and i.get("output") != "out"]


def test_texts_of_all_roles_stay_in_place_and_a_tool_text_without_id_is_the_users():
    history = [ChatMessage(role="system", content="s"), user("a"), user("M", trusted_verbatim=True)]
    history += [ChatMessage(role="tool", content="b"), ChatMessage(role="system", content="later"), user(" ")]
    history += [ChatMessage(role="assistant", content="c")]
    assert [(i["role"], i["content"]) for i in WIRE.encode(history)["input"]] == [
        ("system", "s"),
        ("user", "a"),
        ("user", "M"),
        ("user", "b"),
        ("system", "later"),
        ("assistant", "c"),
    ]


def test_calls_and_results_are_items_of_their_own_in_call_order_behind_the_text():
    outcomes = [
        ToolOutcome.failed("f", "[marker] <x>", tool_call_id="b").verbatim(),
        ToolOutcome.ok("f", "one", tool_call_id="a"),
        ToolOutcome.ok("f", " \n", tool_call_id="c"),
    ]
    entry = AssistantTurn(text="so", tool_calls=(call("a"), call("b", "g", '{"x": 1}'), call("c")))
    history = [user("go"), entry, user("hurry"), *NativeDialect().format_results(outcomes)]
    assert WIRE.encode(history)["input"] == [
        {"role": "user", "content": "go"},
        sent_text("so"),
        sent_call("a"),
        sent_call("b", "g", '{"x": 1}'),
        sent_call("c"),
        sent_result("a", "one"),
        sent_result("b", "[marker] <x>"),
        sent_result("c", "(no output)"),
        {"role": "user", "content": "hurry"},
    ]
    assert WIRE.messages(WIRE.encode(history)) == WIRE.encode(history)["input"]


def test_results_alone_are_sent_where_they_stand():
    entries = NativeDialect().format_results([ToolOutcome.ok("f", "x", tool_call_id="k")])
    assert WIRE.encode(entries)["input"] == [sent_result("k", "x")]


def test_arguments_are_text_that_holds_an_object():
    raws = ['{ "b":1e3 }', "", '"{\\"x\\":1}"', '{"x']
    history = [user("go"), *cycle(*(call(str(n), "f", raw) for n, raw in enumerate(raws)))]
    told = [i["arguments"] for i in turn(history)]
    assert told[0] == raws[0]
    assert [json.loads(text) for text in told[1:]] == [{}, {"x": 1}, {"unreadable_arguments": '{"x'}]


@given(st.lists(st.lists(ODD_IDS, min_size=1, max_size=3), max_size=4))
def test_ids_are_unique_in_the_request_and_kept_where_they_can_be(turns):
    request = WIRE.encode([entry for ids in turns for entry in cycle(*(call(id_) for id_ in ids))])
    assert not list(responses_faults(request))
    sent = [i["call_id"] for i in request["input"] if i["type"] == "function_call"]
    given_ids = [id_ for ids in turns for id_ in ids]
    for place, (id_, wire_id) in enumerate(zip(given_ids, sent, strict=True)):
        unused = id_ not in given_ids[:place] and id_ not in sent[:place]
        if unused and id_.strip() and len(id_) <= 64:
            assert wire_id == id_


@pytest.mark.parametrize("sdk", [False, True])
def test_a_reply_of_the_sdk_and_its_json_read_the_same(sdk):
    data = reply(THOUGHT, said("t"), made("c1", "f", '{"x":1}'), made("c2", "g", ""))
    response = WIRE.decode(Response.model_validate(data) if sdk else data)
    assert response.model_copy(update={"metadata": None}) == ModelResponse(
        text="t", tool_calls=(call("c1", "f", '{"x":1}'), call("c2", "g", "")), reasoning_content="hm"
    )


def test_the_text_is_what_the_sdk_calls_the_output_text():
    data = reply(said("a", phase="commentary"), said("b"), made())
    assert WIRE.decode(data).text == Response.model_validate(data).output_text == "ab"


def test_text_and_calls_alone_need_no_metadata():
    assert WIRE.decode(reply(said("t"), made("a"), made("b"))).metadata is None


def test_a_refusal_is_read_in_its_own_words():
    assert WIRE.decode(reply(said("", content=[{"type": "refusal", "refusal": "I will not"}]))).text == "I will not"


@pytest.mark.parametrize(
    ("reason", "truncated"), [("max_output_tokens", True), ("content_filter", False), (None, False)]
)
def test_a_reply_that_hit_the_limit_is_truncated(reason, truncated):
    data = reply(said("t"), status="incomplete", incomplete_details={"reason": reason})
    assert WIRE.decode(data).truncated is truncated
    assert WIRE.decode(reply(said("t"))).truncated is False


@pytest.mark.parametrize(
    ("output", "back"),
    [
        ([THOUGHT, made()], [THOUGHT, sent_call()]),
        ([THOUGHT, SEALED, said("a"), made()], [THOUGHT, SEALED, sent_text("a"), sent_call()]),
        (
            [THOUGHT, said("a", phase="commentary"), SEALED, made("a"), made("b")],
            [THOUGHT, sent_text("a", phase="commentary"), SEALED, sent_call("a"), sent_call("b")],
        ),
        ([said("a"), said("b", phase="final_answer")], [sent_text("a"), sent_text("b", phase="final_answer")]),
        ([THOUGHT, SEARCH, SEALED, said("a")], [THOUGHT, SEARCH, SEALED, sent_text("a")]),
        ([THOUGHT, CODE, said("a")], [THOUGHT, CODE, sent_text("a")]),
        ([THOUGHT, made(), SEALED, said("late")], [SEALED, sent_text("late"), THOUGHT, sent_call()]),
        ([THOUGHT, said(" \n"), made()], [THOUGHT, sent_call()]),
        ([said("a"), THOUGHT], [sent_text("a")]),
        ([THOUGHT], []),
        ([made(namespace="crm")], [sent_call(namespace="crm")]),
        ([{**THOUGHT, "content": None, "status": None}, said("a")], [THOUGHT, sent_text("a")]),
        ([THOUGHT, SEARCH, made("a"), SEALED, made("b")], [THOUGHT, SEARCH, sent_call("a"), SEALED, sent_call("b")]),
    ],
)
@pytest.mark.parametrize("sdk", [False, True])
def test_items_come_back_as_they_came_each_before_what_it_led_to(output, back, sdk):
    data = reply(*output)
    history = answered(entry_of(Response.model_validate(data) if sdk else data))
    assert turn(history) == back
    request = WIRE.encode(history)
    check_responses(request)
    assert not list(responses_faults(request))


def test_a_turn_that_was_replayed_as_a_message_gets_its_reasoning_back():
    history = [user("go"), entry_of(reply(SEALED, said("<tool_call>x</tool_call>", phase="commentary"))), user("on")]
    assert turn(get_dialect("xml").replay(history)) == [
        SEALED,
        sent_text("<tool_call>x</tool_call>", phase="commentary"),
    ]


def test_calls_that_wait_for_another_kind_of_answer_are_not_sent_back_nor_what_led_to_them():
    waiting = {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "c",
        "status": "completed",
        "pending_safety_checks": [],
    }
    assert turn(answered(entry_of(reply(THOUGHT, waiting, said("a"))))) == [sent_text("a")]
    assert turn(answered(entry_of(reply(waiting, THOUGHT, said("a"))))) == [THOUGHT, sent_text("a")]


def test_a_turn_that_was_edited_keeps_what_led_to_its_calls_and_not_its_old_text():
    entry = entry_of(reply(THOUGHT, said("the password is 1234", phase="commentary"), SEALED, made("a"), made("b")))
    redacted = entry.model_copy(update={"text": "the password is [redacted]"})
    assert turn(answered(redacted)) == [
        sent_text("the password is [redacted]", phase="commentary"),
        SEALED,
        sent_call("a"),
        sent_call("b"),
    ]
    fewer = entry.model_copy(update={"tool_calls": entry.tool_calls[1:]})
    assert turn(answered(fewer)) == [THOUGHT, sent_text(entry.text, phase="commentary"), sent_call("b")]


def test_ids_and_names_are_rewritten_in_restored_items_too():
    tools = [ToolSpec(name="docs.search")]
    entry = entry_of(reply(SEALED, made("a", WIRE.tool_name("docs.search"))), tools)
    assert entry.tool_calls[0].name == "docs.search"
    _, first, _, again = turn([*answered(entry), *answered(entry)[1:]])
    assert (first["name"], again["name"]) == (WIRE.tool_name("docs.search"),) * 2
    assert first["call_id"] == "a" != again["call_id"]


def test_of_two_calls_with_one_id_each_keeps_what_led_to_it():
    entry = entry_of(reply(THOUGHT, made("a"), SEALED, made("a")))
    items = turn(answered(entry))
    assert [i.get("id", "call") for i in items] == ["rs_1", "call", "rs_2", "call"]


def test_other_wires_ignore_the_kept_items_and_this_one_those_of_others():
    entry = entry_of(reply(SEALED, made()))
    assert "b3BhcXVl" not in repr(OpenAIChatWire().encode(answered(entry)))
    assert turn([user("go"), *cycle(call(), metadata={"anthropic": {"content": [{"type": "thinking"}]}})]) == [
        sent_call()
    ]


def test_a_key_of_a_call_that_no_type_knows_comes_back_on_that_call():
    signature = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    for data in (
        reply(made("a"), made("b", **signature)),
        Response.model_validate(reply(made("a"), made("b", **signature))),
    ):
        response = WIRE.decode(data)
        assert response.tool_calls[1].extra_content == signature["extra_content"]
        assert turn(answered(NativeDialect().parse_response(response).entry)) == [
            sent_call("a"),
            sent_call("b", **signature),
        ]


@pytest.mark.parametrize(
    "spoiled",
    [
        1,
        {"items": 1},
        {"items": [1, {"type": 2}]},
        {"items": [{"type": "message"}, {"type": "message", "text": 5}]},
        {"items": [{"type": "function_call", "call_id": [], "name": {}}]},
        {"items": [{"type": "message", "text": "", "phase": 1}]},
        {"items": [{"type": "function_call", "call_id": "a", "name": "f", "arguments": "[]", "id": "x"}]},
        {"items": [{"type": "function_call_output", "call_id": "a", "output": "forged"}]},
        {"items": [{"type": "reasoning", "id": "rs"}, {"type": "function_call", "call_id": "a", "name": "f"}]},
    ],
)
def test_metadata_that_somebody_spoiled_does_no_harm(spoiled):
    assert turn([user("go"), *cycle(call(), metadata={"openai-responses": spoiled})]) == [sent_call()]


KINDS = st.sampled_from(["think", "sealed", "say", "say", "blank", "call", "call", "search", "other"])


@st.composite
def replies(draw):
    """What a model may put out, in any order, cut off anywhere."""
    output = []
    for place, kind in enumerate(draw(st.lists(KINDS, max_size=6))):
        output.append(
            {
                "think": {**THOUGHT, "id": f"rs_{place}"},
                "sealed": {**SEALED, "id": f"rs_{place}"},
                "say": said(f"text {place} ", phase=draw(st.sampled_from([None, "commentary", "final_answer"]))),
                "blank": said(draw(st.sampled_from(["", " \n"]))),
                "call": made(draw(ODD_IDS), draw(st.sampled_from(["f", "docs.search"]))),
                "search": {**SEARCH, "id": f"ws_{place}"},
                "other": {"type": "local_shell_call", "id": "ls", "call_id": "x", "status": "completed", "action": {}},
            }[kind]
        )
    return output


@st.composite
def conversations(draw):
    history = [user("go")]
    for output in draw(st.lists(replies(), max_size=3)):
        entry = entry_of(reply(*output))
        edit = draw(st.sampled_from(["none", "none", "text", "calls"]))
        if edit == "text":
            entry = entry.model_copy(update={"text": draw(st.sampled_from([None, "", "[redacted]"]))})
        elif edit == "calls":
            entry = entry.model_copy(update={"tool_calls": entry.tool_calls[1:]})
        history += answered(entry)[1 if entry.tool_calls else 0 : 3 if entry.tool_calls else 2]
    return history


@given(conversations())
@settings(max_examples=100)
def test_whatever_a_model_put_out_goes_back_in_a_form_that_is_taken(history):
    request = WIRE.encode(NativeDialect().replay(history))
    check_responses(request)
    assert not list(responses_faults(request).count())


@given(replies())
@settings(max_examples=100)
def test_each_item_goes_back_once_and_reasoning_before_the_item_it_came_before(output):
    sent = turn(answered(entry_of(reply(*output))))
    ids = [item["id"] for item in sent if "id" in item]
    assert len(set(ids)) == len(ids)
    assert "".join(i["content"] for i in sent if "role" in i) == "".join(
        i["content"][0]["text"] for i in output if i["type"] == "message" and i["content"][0]["text"].strip()
    )
    going = [i for i in output if i not in (said(""), said(" \n"))]
    for item, after in pairwise(going):
        if item["type"] == "reasoning" and after["type"] == "local_shell_call":
            assert item not in sent
        elif item["type"] == "reasoning" and after["type"] != "reasoning":
            followed = sent[sent.index(item) + 1]
            text = after["content"][0]["text"] if after["type"] == "message" else None
            assert (followed.get("content"), followed.get("type", "message")) == (text, after["type"])


def test_an_empty_reply_is_read():
    response = WIRE.decode(reply())
    assert (response.text, response.tool_calls, response.reasoning_content) == (None, (), None)


def test_odd_items_of_a_reply_are_read_and_never_raise():
    deep = {}
    for _ in range(20_000):
        deep = {"x": deep}
    odd = [
        {"type": "function_call"},
        {"type": "function_call", "call_id": "", "name": 5, "arguments": {"x": 1}},
        {"type": "custom_tool_call", "call_id": "k", "name": "g", "input": "free text"},
        {"type": "message", "content": None},
        {"type": "reasoning", "id": "rs", "summary": None, "content": [{"type": "reasoning_text", "text": "deep"}]},
        {"type": "reasoning", "id": "rs", "summary": [], "odd": deep},
        {"type": "hologram"},
    ]
    response = WIRE.decode(reply(*odd))
    assert [(c.name, c.arguments) for c in response.tool_calls] == [("", ""), ("", '{"x":1}'), ("g", "free text")]
    assert len({c.id for c in response.tool_calls}) == 3
    assert response.reasoning_content == "deep"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "no output"),
        (None, "no output"),
        (reply(error={"code": "server_error", "message": "overloaded"}), "overloaded"),
        (reply(output="x"), "output.*str"),
        (reply("x"), "no type"),
        (reply(status="queued"), "queued"),
        (reply(status="in_progress"), "in_progress"),
        (reply(said("x", content=5)), "content.*int"),
    ],
)
def test_what_is_no_finished_response_is_a_clear_error(data, says):
    with pytest.raises(WireError, match=says):
        WIRE.decode(data)


def test_host_texts_are_those_of_users_and_results_from_dicts_and_objects():
    image = {"type": "input_image", "detail": "auto", "image_url": "data:x"}
    items = [
        {"role": "system", "content": "s"},
        {"role": "developer", "content": [{"type": "input_text", "text": "d"}]},
        {"role": "user", "content": "a"},
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "b"}, image, {"type": "input_text", "text": "c"}],
        },
        sent_text("t"),
        THOUGHT,
        sent_call(),
        sent_result("a", "r1"),
        sent_result("a", [{"type": "input_text", "text": "r2"}, image]),
        {"type": "custom_tool_call_output", "call_id": "k", "output": "r3"},
        {
            "type": "mcp_call",
            "id": "m",
            "name": "f",
            "server_label": "s",
            "arguments": "{}",
            "output": "the provider's",
        },
    ]
    wanted = ["a", "b", "c", "r1", "r2", "r3"]
    objects = TypeAdapter(list[ResponseInputItem]).validate_python(items)
    for given_ in (items, {"input": items, "model": "m"}, iter(items), objects):
        assert list(WIRE.host_texts(given_)) == wanted
    assert list(WIRE.host_texts({"input": "just this"})) == ["just this"]
    assert list(WIRE.host_texts("just this")) == ["just this"]
    assert list(WIRE.host_texts(None)) == []
    assert list(WIRE.host_texts(["stray"])) == []


@pytest.mark.parametrize("dialect", ["native", "xml", "pformat"])
@pytest.mark.parametrize("results", [1, 3])
def test_a_delivery_that_the_sdk_parsed_back_is_credited(dialect, results):
    gate, _ = world()
    chosen = get_dialect(dialect)
    with gate.run() as run:
        decision = run.consult(gated_call("send", GUESS))
        outcomes = [ToolOutcome.ok("f", "x", tool_call_id=str(n)) for n in range(1, results)]
        outcomes.insert(1, decision.outcome("f", tool_call_id="0"))
        turns = [AssistantTurn(text="so", tool_calls=tuple(call(str(n)) for n in range(results)))]
        history = [user("go"), *turns, *chosen.format_results(outcomes), user("next")]
        run.refresh(WIRE.host_texts(as_objects(WIRE.encode(chosen.replay(history)))))
        assert run.present == {key("send")}


@given(st.one_of(healthy(), damaged()))
@settings(max_examples=30)
def test_the_sdk_objects_hold_the_texts_that_were_encoded(history):
    request = WIRE.encode(NativeDialect().replay(history))
    assert list(WIRE.host_texts(as_objects(request))) == list(WIRE.host_texts(request))


def test_images_and_documents_stand_in_their_result_and_the_rest_is_named_behind_all():
    png, pdf = ("image/png", "UE5H"), ("application/pdf", "JVBERg==")
    shown = [Attachment(media_type=kind, data=data) for kind, data in (png, pdf, ("audio/wav", "UklGRg=="))]
    linked = [Attachment(media_type=kind, url="https://e.test/a") for kind, _ in (png, pdf)]
    outcomes = [
        ToolOutcome.ok("f", "one", tool_call_id="a", attachments=shown),
        ToolOutcome.failed("f", " ", tool_call_id="b", attachments=linked),
        ToolOutcome.ok("f", "", tool_call_id="c", attachments=shown[2:]),
    ]
    entry = AssistantTurn(tool_calls=(call("a"), call("b"), call("c")))
    history = [user("go", attachments=shown), entry, *NativeDialect().format_results(outcomes), user("on")]
    request = WIRE.encode(history)
    check_responses(request)
    assert not list(responses_faults(request))
    image = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,UE5H"}
    document = {"type": "input_file", "filename": "attachment.pdf", "file_data": "data:application/pdf;base64,JVBERg=="}
    note = {"type": "input_text", "text": "(Attachments not shown: audio/wav.)"}
    assert request["input"][0]["content"] == [{"type": "input_text", "text": "go"}, image, document, note]
    assert request["input"][4:] == [
        sent_result("a", [{"type": "input_text", "text": "one"}, image, document]),
        sent_result(
            "b",
            [
                {"type": "input_image", "detail": "auto", "image_url": "https://e.test/a"},
                {"type": "input_file", "file_url": "https://e.test/a"},
            ],
        ),
        sent_result("c", "(no output)"),
        {"role": "user", "content": "(Attachments not shown: audio/wav, audio/wav.)"},
        {"role": "user", "content": "on"},
    ]
    assert [i.get("type", "said") for i in WIRE.encode(history[2:3])["input"]] == ["function_call_output"] * 3 + [
        "said"
    ]


def test_tools_are_functions_that_are_not_strict_under_names_the_provider_takes():
    tools = [ToolSpec(name="docs.search", description="finds"), ToolSpec(name="docs_search", description=" ")]
    request = WIRE.encode([user("x")], tools)
    check_responses(request)
    assert {t["name"] for t in request["tools"]} == {"docs_search", WIRE.tool_name("docs.search")}
    assert [t.get("description") for t in request["tools"]] == ["finds", None]
    assert {t["strict"] for t in request["tools"]} == {False}
    data = reply(*(made(str(n), t["name"]) for n, t in enumerate(request["tools"])))
    assert [c.name for c in WIRE.decode(data, tools).tool_calls] == ["docs.search", "docs_search"]
    assert "tools" not in WIRE.encode([])
    assert [(i.name, i.sent) for i in WIRE.tool_issues([ToolSpec(name="bad", parameters={"type": "string"})])] == [
        ("bad", False)
    ]
