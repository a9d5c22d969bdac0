from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from google.genai import types

from gemini_judge import as_sdk, check_gemini, reply
from gemini_rules import gemini_faults
from tooldialect.dialects import (
    AssistantTurn,
    Attachment,
    ChatMessage,
    GeminiWire,
    OpenAIChatWire,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
    WireError,
    get_dialect,
)

WIRE = GeminiWire()
NATIVE = get_dialect("native")
DUMMY = "skip_thought_signature_validator"


def user(text, **fields):
    return ChatMessage(role="user", content=text, **fields)


def call(id_="a", name="f", arguments="{}", signature=None):
    extra = None if signature is None else {"google": {"thought_signature": signature}}
    return ToolCall(id=id_, name=name, arguments=arguments, extra_content=extra)


def answered(entry):
    results = tuple(ToolResult(tool_call_id=c.id, content="out") for c in entry.tool_calls)
    return [user("go"), entry, ToolResultBatch(results=results)]


def entry_of(data, tools=()):
    return NATIVE.parse_response(WIRE.decode(data, tools)).entry


def made(id_="a", name="f", args=None, **fields):
    return {"functionCall": {"id": id_, "name": name, "args": args or {}}, **fields}


def response(id_="a", name="f", **answer):
    return {"functionResponse": {"id": id_, "name": name, "response": answer}}


def contents(history):
    request = WIRE.encode(history)
    check_gemini(request)
    return [(content["role"], content["parts"]) for content in request["contents"]]


def model(history):
    return next(parts for role, parts in contents(history) if role == "model")


def test_system_texts_go_to_the_instruction_as_parts_and_never_to_a_turn():
    history = [ChatMessage(role="system", content="s"), user("a"), ChatMessage(role="system", content="later")]
    assert WIRE.encode([*history, ChatMessage(role="system", content=" ")]) == {
        "contents": [{"role": "user", "parts": [{"text": "a"}]}],
        "systemInstruction": {"parts": [{"text": "s"}, {"text": "later"}]},
    }


def test_neighbours_become_one_content_and_each_text_stays_a_part():
    history = [user("a"), user(" M ", trusted_verbatim=True), ChatMessage(role="tool", content="b"), user("\n")]
    history += [ChatMessage(role="assistant", content="x"), AssistantTurn(text="y"), user("c")]
    assert contents(history) == [
        ("user", [{"text": "a"}, {"text": " M "}, {"text": "b"}]),
        ("model", [{"text": "x"}, {"text": "y"}]),
        ("user", [{"text": "c"}]),
    ]


def test_results_answer_their_calls_in_a_content_of_their_own_and_say_whether_they_failed():
    outcomes = [
        ToolOutcome.failed("f", "one", tool_call_id="a"),
        ToolOutcome.failed("f", '[marker] {"$ref": "x"}', tool_call_id="b").verbatim(),
        ToolOutcome.ok("g", " \n", tool_call_id="c"),
    ]
    turn = AssistantTurn(text="so", tool_calls=(call("a"), call("b"), call("c", "g")))
    history = [user("go"), turn, user("hurry"), *NATIVE.format_results(outcomes), user("now")]
    assert contents(history)[1:] == [
        ("model", [{"text": "so"}, made("a", thoughtSignature=DUMMY), made("b"), made("c", "g")]),
        (
            "user",
            [
                response("a", error="one"),
                response("b", error='[marker] {"$ref": "x"}'),
                response("c", "g", output="(no output)"),
            ],
        ),
        ("user", [{"text": "hurry"}, {"text": "now"}]),
    ]


def test_a_history_begins_and_ends_with_a_user():
    first, said, last = contents([ChatMessage(role="assistant", content="hello")])
    assert (first[0], said, last[0]) == ("user", ("model", [{"text": "hello"}]), "user")
    assert all(parts[0]["text"].strip() for _, parts in (first, last))


def test_a_call_that_is_not_answered_yet_stays_last():
    assert [role for role, _ in contents([user("go"), AssistantTurn(tool_calls=(call(),))])] == ["user", "model"]


def test_results_alone_are_sent_with_the_names_they_have():
    entries = NATIVE.format_results([ToolOutcome.ok("f", "x", tool_call_id="a")])
    entries += [ToolResultBatch(results=(ToolResult(tool_call_id="b", content="y"),))]
    ((role, parts),) = contents(entries)
    assert (role, parts[0]) == ("user", response("a", output="x"))
    assert parts[1]["functionResponse"]["name"]


@pytest.mark.parametrize("sdk", [False, True])
@pytest.mark.parametrize(
    "parts",
    [
        [{"text": "so"}, made("a", thoughtSignature="c2ln")],
        [made("a", thoughtSignature="c2ln"), made("b", "g", {"x": [1.5, None]})],
        [{"text": "why", "thought": True}, {"text": "so", "thoughtSignature": "c2ln"}],
        [{"text": "why", "thought": True}, made("a", thoughtSignature="c2ln"), {"text": "b"}, made("b")],
        [{"text": "a"}, {"text": "b", "thoughtSignature": "c2ln"}, made("a", thoughtSignature="c2lo")],
        [{"executableCode": {"language": "PYTHON", "code": "1"}}, {"text": "one"}],
        [{"inlineData": {"mimeType": "image/png", "data": "UE5H"}}, {"text": "a picture"}],
    ],
)
def test_parts_come_back_in_their_order_with_their_signatures(parts, sdk):
    data = reply(*parts)
    entry = entry_of(as_sdk(data) if sdk else data)
    assert model([*answered(entry), user("on")]) == parts
    assert not list(gemini_faults(WIRE.encode([*answered(entry), user("on")])))


def test_parts_of_python_dumps_come_back_too():
    parts = [
        {"text": "why", "thought": True},
        {"text": "so", "thoughtSignature": "-_8="},
        made(thoughtSignature="-_8="),
    ]
    dumped = as_sdk(reply(*parts)).model_dump(exclude_none=True)
    sent = model(answered(entry_of(dumped)))
    for given, back in zip(parts, sent, strict=True):
        assert types.Part.model_validate(back) == types.Part.model_validate(given)


def test_a_call_without_an_id_gets_one_and_parts_are_still_restored():
    parts = [{"text": "why", "thought": True}, {"functionCall": {"name": "f"}, "thoughtSignature": "c2ln"}]
    first = entry_of(reply(*parts))
    sent = WIRE.encode([*answered(first), *answered(first)[1:]])
    calls = [part for content in sent["contents"] for part in content["parts"] if "functionCall" in part]
    assert len({part["functionCall"]["id"] for part in calls}) == 2
    assert [part["thoughtSignature"] for part in calls] == ["c2ln"] * 2
    assert not list(gemini_faults(sent))


def test_the_signature_of_a_call_is_where_the_openai_shaped_endpoint_has_it():
    (native,) = WIRE.decode(reply(made(thoughtSignature="c2ln"))).tool_calls
    function = {"name": "f", "arguments": "{}"}
    extra = {"google": {"thought_signature": "c2ln"}}
    chat = {"choices": [{"message": {"tool_calls": [{"id": "a", "function": function, "extra_content": extra}]}}]}
    (shaped,) = OpenAIChatWire().decode(chat).tool_calls
    assert native == shaped


@pytest.mark.parametrize("extra", [{"google": 1}, {"google": {"thought_signature": 1}}, {"other": {}}])
def test_extra_content_of_other_providers_is_no_signature(extra):
    turn = AssistantTurn(tool_calls=(ToolCall(id="a", name="f", arguments="{}", extra_content=extra),))
    assert model(answered(turn)) == [made(thoughtSignature=DUMMY)]


def test_a_turn_that_was_edited_loses_the_signatures_of_its_old_text():
    parts = [{"text": "the password is 1234", "thoughtSignature": "c2ln"}, made(thoughtSignature="c2lo")]
    redacted = entry_of(reply(*parts)).model_copy(update={"text": "the password is [redacted]"})
    assert model(answered(redacted)) == [{"text": "the password is [redacted]"}, made(thoughtSignature="c2lo")]


def test_a_turn_that_was_replayed_as_a_message_gets_its_thoughts_back():
    parts = [{"text": "why", "thought": True}, {"text": "<tool_call>x</tool_call>", "thoughtSignature": "c2ln"}]
    history = [user("go"), entry_of(reply(*parts)), user("on")]
    assert model(get_dialect("xml").replay(history)) == parts


def test_blank_texts_and_bare_signatures_are_not_sent_back():
    parts = [{"text": "so"}, {"text": "", "thoughtSignature": "c2ln"}, {"thoughtSignature": "c2ln"}]
    assert model([user("go"), entry_of(reply(*parts)), user("on")]) == [{"text": "so"}]


def test_a_turn_of_thoughts_alone_is_not_sent():
    history = [user("a"), entry_of(reply({"text": "why", "thought": True})), user("b")]
    assert contents(history) == [("user", [{"text": "a"}, {"text": "b"}])]


@pytest.mark.parametrize("spoiled", [1, {"content": 1}, {"content": [1, {}, {"text": 2}, {"functionCall": 3}]}])
def test_metadata_that_somebody_spoiled_does_no_harm(spoiled):
    turn = AssistantTurn(text="so", tool_calls=(call(),), metadata={"gemini": spoiled})
    assert model(answered(turn)) == [{"text": "so"}, made(thoughtSignature=DUMMY)]


def test_text_calls_and_thoughts_of_a_reply_are_read():
    data = reply({"text": "why", "thought": True}, {"text": "so "}, {"text": "on"}, made("a", "f", {"x": 1}))
    for given in (data, as_sdk(data)):
        read = WIRE.decode(given)
        assert (read.text, read.reasoning_content, read.truncated) == ("so on", "why", False)
        assert read.tool_calls == (call("a", "f", '{"x":1}'),)


def test_text_and_calls_alone_need_no_metadata():
    assert WIRE.decode(reply({"text": "so"}, made(thoughtSignature="c2ln"))).metadata is None


@pytest.mark.parametrize("sdk", [False, True])
def test_a_reply_that_hit_a_limit_is_truncated(sdk):
    data = reply({"text": "x"}, finish="MAX_TOKENS")
    assert WIRE.decode(as_sdk(data) if sdk else data).truncated


def test_an_empty_reply_is_read_and_a_call_the_api_could_not_read_is_told():
    assert WIRE.decode({"candidates": [{"finishReason": "STOP"}]}).text is None
    broken = {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(f()"}]}
    assert WIRE.decode(broken).text == "print(f()"
    assert WIRE.decode(as_sdk(broken)).text == "print(f()"


def test_odd_parts_of_a_reply_are_read_and_never_raise():
    deep = {}
    for _ in range(20_000):
        deep = {"x": deep}
    odd = [
        {"functionCall": {"name": 1, "args": {"x": float("inf")}}},
        {"functionCall": {"name": "g", "args": deep}},
        {"functionCall": None},
        {"functionCall": "f()"},
        {"text": None},
        {"text": 1, "thought": True},
        {"hologram": deep},
    ]
    read = WIRE.decode(reply(*odd))
    assert [c.name for c in read.tool_calls] == ["", "g", ""]
    assert len({c.id for c in read.tool_calls}) == 3
    parsed = NATIVE.parse_response(read)
    assert {problem.kind for problem in parsed.problems} <= {"malformed"}
    assert not list(gemini_faults(WIRE.encode(answered(parsed.entry))))


def test_objects_that_cannot_be_dumped_are_read_field_by_field():
    deep = {}
    for _ in range(20_000):
        deep = {"x": deep}
    called = types.Part.model_construct(function_call=types.FunctionCall.model_construct(id="a", name="f", args=deep))
    plain = SimpleNamespace(function_call=SimpleNamespace(id="b", name="g", args={"x": 1}), text=None)
    content = SimpleNamespace(parts=[called, plain, SimpleNamespace(text="so", thought_signature=b"sig")])
    read = WIRE.decode(SimpleNamespace(candidates=[SimpleNamespace(content=content)]))
    assert [(c.id, c.name) for c in read.tool_calls] == [("a", "f"), ("b", "g")]
    assert read.tool_calls[1].arguments == '{"x":1}'
    assert read.text == "so"
    sent = model(answered(NATIVE.parse_response(read).entry))
    assert [sorted(part) for part in sent] == [
        ["functionCall", "thoughtSignature"], ["functionCall"], ["text", "thoughtSignature"],
    ]  # fmt: skip
    assert sent[2]["thoughtSignature"] == "c2ln"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "no candidates"),
        (None, "no candidates"),
        ({"error": {"message": "overloaded"}}, "overloaded"),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "blocked: SAFETY"),
        (as_sdk({"promptFeedback": {"blockReason": "SAFETY"}}), "blocked: SAFETY"),
        ({"candidates": [{"content": {"parts": "x"}}]}, "parts.*str"),
    ],
)
def test_what_is_no_reply_is_a_clear_error(data, says):
    with pytest.raises(WireError, match=says):
        WIRE.decode(data)


def test_names_keep_dots_and_colons_and_begin_with_a_letter():
    names = ["docs.search", "a:b-c_d", "1st", "-x", "n" * 64, "n" * 65, "é", "", "a b"]
    tools = [ToolSpec(name=name) for name in names]
    request = WIRE.encode([user("x")], tools)
    check_gemini(request)
    assert not list(gemini_faults(request))
    declared = {tool["name"] for tool in request["tools"][0]["functionDeclarations"]}
    assert len(declared) == len(names)
    assert {"docs.search", "a:b-c_d", "n" * 64} <= declared
    read = WIRE.decode(reply(*(made(str(n), WIRE.tool_name(name)) for n, name in enumerate(names))), tools)
    assert [c.name for c in read.tool_calls] == names


def test_tools_are_declared_with_their_json_schema():
    schema = {"type": "object", "properties": {"q": {"$ref": "#/$defs/Q"}}, "$defs": {"Q": {"type": "string"}}}
    request = WIRE.encode([user("x")], [ToolSpec(name="f", description="finds", parameters=schema), ToolSpec(name="g")])
    check_gemini(request)
    first, second = request["tools"][0]["functionDeclarations"]
    assert first == {"name": "f", "description": "finds", "parametersJsonSchema": schema}
    assert "description" not in second
    assert WIRE.messages(request) == request["contents"]


def test_attachments_follow_the_results_in_a_content_of_their_own():
    attachments = (
        Attachment(media_type="image/png", data="UE5H"),
        Attachment(media_type="video/mp4", url="gs://bucket/a.mp4"),
        Attachment(media_type="image/gif", data="R0lG"),
        Attachment(media_type="image/png", url="s3://bucket/a.png"),
    )
    turn = AssistantTurn(tool_calls=(call("a"), call("b")))
    outcomes = [ToolOutcome.ok("f", "1", tool_call_id="a", attachments=attachments)]
    outcomes += [ToolOutcome.ok("f", "2", tool_call_id="b")]
    assert contents([user("go"), turn, *NATIVE.format_results(outcomes)])[2:] == [
        ("user", [response("a", output="1"), response("b", output="2")]),
        (
            "user",
            [
                {"inlineData": {"mimeType": "image/png", "data": "UE5H"}},
                {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://bucket/a.mp4"}},
                {"text": "(Attachments not shown: image/gif, image/png.)"},
            ],
        ),
    ]


def test_a_model_that_takes_images_in_results_finds_them_there():
    png, link = Attachment(media_type="image/png", data="UE5H"), Attachment(media_type="image/png", url="https://x/a")
    outcomes = [ToolOutcome.ok("f", "1", tool_call_id="a", attachments=(png, link))]
    history = [user("go"), AssistantTurn(tool_calls=(call("a"),)), *NATIVE.format_results(outcomes)]
    request = GeminiWire(multimodal_results=True).encode(history)
    check_gemini(request)
    assert not list(gemini_faults(request))
    inside = [{"inlineData": {"mimeType": "image/png", "data": "UE5H"}}]
    assert request["contents"][2]["parts"] == [
        {"functionResponse": {**response("a", output="1")["functionResponse"], "parts": inside}}
    ]
    assert request["contents"][3]["parts"] == [{"fileData": {"mimeType": "image/png", "fileUri": "https://x/a"}}]


def test_host_texts_are_those_of_user_parts_and_responses_from_dicts_and_objects():
    data = [
        {"role": "user", "parts": [{"text": "u"}, {"inlineData": {"mimeType": "image/png", "data": "UE5H"}}]},
        {"role": "model", "parts": [{"text": "m"}, made()]},
        {"role": "user", "parts": [response(output="r1"), response(error="r2"), response(output={"text": "no"})]},
        {"role": "function", "parts": [response(output="r3")]},
        {"role": "user"},
    ]
    request = {"systemInstruction": {"parts": [{"text": "s"}]}, "contents": data}
    assert list(WIRE.host_texts(request)) == ["u", "r1", "r2", "r3"]
    objects = [types.Content.model_validate(content) for content in data]
    assert list(WIRE.host_texts(objects)) == ["u", "r1", "r2", "r3"]
    assert list(WIRE.host_texts(["plain", types.UserContent("b")])) == ["plain", "b"]


def test_the_sdk_sends_the_texts_it_was_given():
    texts = ["[marker] <x> \u2028 \x00 é \U0001f600", '{"$ref": "#/x", "output": 1e3}', " edge \n"]
    outcomes = [ToolOutcome.ok("f", text, tool_call_id=str(n)).verbatim() for n, text in enumerate(texts)]
    turn = AssistantTurn(tool_calls=tuple(call(str(n)) for n in range(3)))
    request = WIRE.encode([user("go"), turn, *NATIVE.format_results(outcomes)])
    sent = [content.model_dump_json(by_alias=True, exclude_none=True) for content in check_gemini(request)]
    assert list(WIRE.host_texts([json.loads(content) for content in sent])) == ["go", *texts]
