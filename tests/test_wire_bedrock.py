from __future__ import annotations

import base64
import json

import pytest

from bedrock_judge import as_boto3, body_of, check_bedrock
from bedrock_rules import bedrock_faults
from tooldialect.dialects import (
    AnthropicWire,
    AssistantTurn,
    Attachment,
    BedrockWire,
    ChatMessage,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
    WireError,
    get_dialect,
)

WIRE = BedrockWire()
NATIVE = get_dialect("native")
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "step", "signature": "c2ln"}}}
HIDDEN = {"reasoningContent": {"redactedContent": "b3BhcXVl"}}
PNG = Attachment(media_type="image/png", data="UE5H")
IMAGE = {"image": {"format": "png", "source": {"bytes": "UE5H"}}}


def user(text, **fields):
    return ChatMessage(role="user", content=text, **fields)


def call(id_="a", name="f", arguments="{}"):
    return ToolCall(id=id_, name=name, arguments=arguments)


def use(id_="a", name="f", arguments=None):
    return {"toolUse": {"toolUseId": id_, "name": name, "input": arguments or {}}}


def result(id_="a", *content, status="success"):
    return {"toolResult": {"toolUseId": id_, "content": list(content), "status": status}}


def text(value):
    return {"text": value}


def reply(*content, stop="end_turn"):
    return {"output": {"message": {"role": "assistant", "content": list(content)}}, "stopReason": stop}


def entry_of(data, tools=()):
    return NATIVE.parse_response(WIRE.decode(data, tools)).entry


def answered(entry):
    results = tuple(ToolResult(tool_call_id=c.id, content="out") for c in entry.tool_calls)
    return [user("go"), entry, ToolResultBatch(results=results), user("on")]


def turns(history, wire=WIRE):
    request = wire.encode(history)
    check_bedrock(request)
    return [(message["role"], message["content"]) for message in request["messages"]]


def assistant(history):
    return next(content for role, content in turns(history) if role == "assistant")


def test_system_texts_go_to_the_system_field_as_blocks_and_never_to_a_turn():
    history = [ChatMessage(role="system", content="s"), user("a"), ChatMessage(role="system", content="later")]
    assert WIRE.encode([*history, ChatMessage(role="system", content=" ")]) == {
        "messages": [{"role": "user", "content": [text("a")]}],
        "system": [text("s"), text("later")],
    }


def test_neighbours_become_one_message_and_each_text_stays_a_block():
    history = [user("a"), user(" M ", trusted_verbatim=True), ChatMessage(role="tool", content="b"), user("\n")]
    history += [ChatMessage(role="assistant", content="x "), AssistantTurn(text="y"), user("c")]
    assert turns(history) == [
        ("user", [text("a"), text(" M "), text("b")]),
        ("assistant", [text("x "), text("y")]),
        ("user", [text("c")]),
    ]


def test_results_come_first_with_their_status_and_a_marked_one_is_the_whole_text():
    outcomes = [
        ToolOutcome.failed("f", "[marker] <x>", tool_call_id="a").verbatim(),
        ToolOutcome.failed("f", " \n", tool_call_id="b"),
        ToolOutcome.ok("f", "three", tool_call_id="c"),
    ]
    turn = AssistantTurn(tool_calls=tuple(call(id_) for id_ in "abc"))
    history = [user("go"), turn, user("hurry"), *NATIVE.format_results(outcomes), user("now")]
    assert turns(history)[2][1] == [
        result("a", text("[marker] <x>"), status="error"),
        result("b", text("(no output)"), status="error"),
        result("c", text("three")),
        text("hurry"),
        text("now"),
    ]


def test_a_model_that_refuses_the_status_gets_none():
    request = BedrockWire(status=False).encode(answered(AssistantTurn(tool_calls=(call(),))))
    assert "status" not in json.dumps(request)
    assert not list(bedrock_faults(request, status=False))


def test_where_results_stand_alone_an_assistant_turn_is_between_them_and_the_user():
    outcomes = [ToolOutcome.ok("f", "one", tool_call_id="a", attachments=(PNG,))]
    history = [user("go"), AssistantTurn(tool_calls=(call(),)), *NATIVE.format_results(outcomes), user("now")]
    wire = BedrockWire(results_alone=True)
    _, _, results, between, last = turns(history, wire)
    assert results == ("user", [result("a", text("one"))])
    assert between[0] == "assistant"
    assert between[1][0]["text"].strip()
    assert last == ("user", [IMAGE, text("now")])
    assert [role for role, _ in turns(history[:2] + NATIVE.format_results([outcomes[0]])[:1], WIRE)] == [
        "user", "assistant", "user",
    ]  # fmt: skip


def test_a_history_begins_and_ends_with_a_user():
    first, said, last = turns([ChatMessage(role="assistant", content="hello")])
    assert (first[0], said, last[0]) == ("user", ("assistant", [text("hello")]), "user")
    assert all(blocks[0]["text"].strip() for _, blocks in (first, last))


def test_a_call_that_is_not_answered_yet_stays_last():
    assert [role for role, _ in turns([user("go"), AssistantTurn(tool_calls=(call(),))])] == ["user", "assistant"]


@pytest.mark.parametrize("sdk", [False, True])
@pytest.mark.parametrize(
    "blocks",
    [
        [THOUGHT, text("so"), use()],
        [THOUGHT, HIDDEN, text("a"), use("a"), text("b"), use("b", "g", {"x": [1.5, None]})],
        [use("a"), text("after")],
        [THOUGHT, {"citationsContent": {"content": [text("cited")], "citations": []}}],
        [
            {"toolUse": {"toolUseId": "s", "name": "run", "input": {"code": "1"}, "type": "server_tool_use"}},
            {"toolResult": {"toolUseId": "s", "content": [{"json": {"out": 1}}]}},
            text("one"),
        ],
    ],
)
def test_blocks_come_back_in_their_order_with_their_signatures(blocks, sdk):
    data = reply(*blocks)
    entry = entry_of(as_boto3(data) if sdk else data)
    assert [c.id for c in entry.tool_calls] == [b["toolUse"]["toolUseId"] for b in blocks if is_call(b)]
    assert assistant(answered(entry)) == blocks
    assert body_of(WIRE.encode(answered(entry)))["messages"][1]["content"] == blocks


def is_call(block):
    return "toolUse" in block and "type" not in block["toolUse"]


def test_text_calls_and_reasoning_of_a_reply_are_read():
    cited = {"citationsContent": {"content": [text("on")]}}
    data = reply(THOUGHT, HIDDEN, text("so "), cited, use("a", "f", {"x": 1}), stop="tool_use")
    for given in (data, as_boto3(data)):
        read = WIRE.decode(given)
        assert (read.text, read.reasoning_content, read.truncated) == ("so on", "step", False)
        assert read.tool_calls == (call("a", "f", '{"x":1}'),)
        assert json.loads(json.dumps(read.metadata)) == read.metadata


def test_text_and_calls_alone_need_no_metadata():
    assert WIRE.decode(reply(text("so"), use())).metadata is None


@pytest.mark.parametrize(
    ("stop", "truncated"), [("max_tokens", True), ("model_context_window_exceeded", True), ("tool_use", False)]
)
def test_a_reply_that_hit_a_limit_is_truncated(stop, truncated):
    assert WIRE.decode(reply(text("x"), stop=stop)).truncated is truncated


def test_a_turn_that_was_edited_keeps_its_reasoning_and_not_its_old_text():
    entry = entry_of(reply(THOUGHT, text("the password is 1234"), use(), HIDDEN, text("tail")))
    redacted = entry.model_copy(update={"text": "the password is [redacted]"})
    assert assistant(answered(redacted)) == [THOUGHT, HIDDEN, text("the password is [redacted]"), use()]


def test_a_turn_that_was_replayed_as_a_message_gets_its_reasoning_back():
    history = [user("go"), entry_of(reply(THOUGHT, text("<tool_call>x</tool_call>"))), user("on")]
    assert assistant(get_dialect("xml").replay(history)) == [THOUGHT, text("<tool_call>x</tool_call>")]


def test_what_would_be_refused_is_not_sent_back():
    unsigned = {"reasoningContent": {"reasoningText": {"text": "step"}}}
    data = reply(unsigned, text("so"), text(" "), {"hologram": {"x": 1}}, THOUGHT)
    assert assistant([user("go"), entry_of(as_boto3(data)), user("on")]) == [text("so")]
    alone = [user("a"), entry_of(reply(THOUGHT)), user("b")]
    assert turns(alone) == [("user", [text("a"), text("b")])]


def test_reasoning_of_another_provider_is_not_sent():
    blocks = [{"type": "thinking", "thinking": "step", "signature": "c2ln"}, {"type": "text", "text": "so"}]
    entry = NATIVE.parse_response(AnthropicWire().decode({"content": blocks})).entry
    assert assistant([user("go"), entry, user("on")]) == [text("so")]


@pytest.mark.parametrize(
    "spoiled",
    [
        1,
        {"content": 1},
        {
            "content": [
                1,
                {},
                {"text": 2},
                {"toolUse": 3},
                {"citationsContent": 1},
                {"reasoningContent": {}},
                {"reasoningContent": {"redactedContent": "no base64"}},
                {"reasoningContent": {"redactedContent": 1}},
            ]
        },
    ],
)
def test_metadata_that_somebody_spoiled_does_no_harm(spoiled):
    turn = AssistantTurn(text="so", tool_calls=(call(),), metadata={"bedrock": spoiled})
    assert assistant(answered(turn)) == [text("so"), use()]


def test_tools_are_configured_and_a_history_of_calls_needs_none_to_be_sent():
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    tools = [ToolSpec(name="docs.search", description="finds", parameters=schema), ToolSpec(name="g")]
    request = WIRE.encode([user("x")], tools)
    check_bedrock(request)
    spelled = WIRE.tool_name("docs.search")
    assert request["toolConfig"] == {
        "tools": [
            {"toolSpec": {"name": spelled, "description": "finds", "inputSchema": {"json": schema}}},
            {"toolSpec": {"name": "g", "inputSchema": {"json": {"type": "object", "properties": {}}}}},
        ]
    }
    assert WIRE.decode(reply(use("a", spelled)), tools).tool_calls[0].name == "docs.search"
    history = answered(AssistantTurn(tool_calls=(call("a", "g"), call("b", "docs.search"), call("c", "g"))))
    names = [tool["toolSpec"]["name"] for tool in WIRE.encode(history)["toolConfig"]["tools"]]
    assert names == [spelled, "g"]
    assert "toolConfig" not in WIRE.encode([user("x")])
    assert WIRE.messages(request) == request["messages"]


def test_results_alone_are_sent_as_blocks_under_a_configuration():
    entries = [user("a"), *NATIVE.format_results([ToolOutcome.ok("f", "x", tool_call_id="a")]), user("b")]
    request = WIRE.encode(entries)
    check_bedrock(request)
    assert request["messages"] == [{"role": "user", "content": [result("a", text("x")), text("a"), text("b")]}]
    assert request["toolConfig"]["tools"][0]["toolSpec"]["name"] == "f"


def test_images_stand_in_their_result_and_those_of_a_failed_one_behind_the_results():
    link = Attachment(media_type="image/jpeg", url="s3://my-bucket/a.jpg")
    web = Attachment(media_type="image/jpeg", url="https://example.com/a.jpg")
    turn = AssistantTurn(tool_calls=(call("a"), call("b"), call("c")))
    outcomes = [
        ToolOutcome.ok("f", "one", tool_call_id="a", attachments=(PNG, web)),
        ToolOutcome.ok("f", "", tool_call_id="b", attachments=(link,)),
        ToolOutcome.failed("f", "no", tool_call_id="c", attachments=(PNG,)),
    ]
    placed = {"image": {"format": "jpeg", "source": {"s3Location": {"uri": "s3://my-bucket/a.jpg"}}}}
    request = WIRE.encode([user("go"), turn, *NATIVE.format_results(outcomes)])
    check_bedrock(request)
    assert not list(bedrock_faults(request))
    assert request["messages"][2]["content"] == [
        result("a", text("one"), IMAGE),
        result("b", placed),
        result("c", text("no"), status="error"),
        IMAGE,
        text("(Attachments not shown: image/jpeg.)"),
    ]


@pytest.mark.parametrize("url", ["s3://B/a", "s3://my-bucket/" + "a" * 1024, "s3://ab"])
def test_an_address_in_s3_that_is_none_is_named(url):
    (message,) = WIRE.encode([user("x", attachments=(Attachment(media_type="image/png", url=url),))])["messages"]
    assert message["content"] == [text("x"), text("(Attachments not shown: image/png.)")]


def test_bytes_reach_the_provider_once_encoded_through_boto3_and_as_json():
    raw = bytes(range(256))
    image = Attachment.from_bytes("image/png", raw)
    hidden = {"reasoningContent": {"redactedContent": base64.b64encode(raw).decode()}}
    entry = entry_of(as_boto3(reply(hidden, text("so"))))
    request = WIRE.encode([user("x", attachments=(image,)), entry, user("on")])
    for body in (
        body_of(request),
        json.loads(json.dumps(request)),
        json.loads(json.dumps(request, ensure_ascii=False)),
    ):
        sent, (reasoning, _), _ = (message["content"] for message in body["messages"])
        assert base64.b64decode(sent[1]["image"]["source"]["bytes"], validate=True) == raw
        assert reasoning == hidden


def test_odd_blocks_of_a_reply_are_read_and_never_raise():
    deep = {}
    for _ in range(20_000):
        deep = {"x": deep}
    odd = [
        {"toolUse": {"name": 1, "input": {"x": float("inf")}}},
        {"toolUse": {"toolUseId": "", "name": "g", "input": deep}},
        {"toolUse": "f()"},
        {"text": None},
        {"reasoningContent": {"reasoningText": 1}},
        {"citationsContent": 1},
        {"hologram": deep},
    ]
    read = WIRE.decode(reply(*odd))
    assert [c.name for c in read.tool_calls] == ["", "g"]
    assert len({c.id for c in read.tool_calls}) == 2
    assert {problem.kind for problem in NATIVE.parse_response(read).problems} == {"malformed"}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "no output"),
        (None, "no output"),
        ({"message": "overloaded"}, "overloaded"),
        ({"output": {"message": {"content": "x"}}}, "content.*str"),
    ],
)
def test_what_is_no_reply_is_a_clear_error(data, says):
    with pytest.raises(WireError, match=says):
        WIRE.decode(data)


def test_host_texts_are_those_of_user_blocks_and_results():
    messages = [
        {"role": "user", "content": [text("u"), IMAGE]},
        {"role": "assistant", "content": [text("m"), use(), result("a", text("no"))]},
        {"role": "user", "content": [result("a", text("r1"), {"json": {"text": "no"}}, text("r2")), text("v")]},
        {"role": "system", "content": [text("s")]},
    ]
    request = {"system": [text("s")], "messages": messages}
    assert list(WIRE.host_texts(request)) == list(WIRE.host_texts(messages)) == ["u", "r1", "r2", "v"]


def test_boto3_sends_the_texts_it_was_given():
    texts = ["[marker] <x> \u2028 \x00 é \U0001f600", '{"output": 1e3}', " edge \n"]
    outcomes = [ToolOutcome.ok("f", value, tool_call_id=str(n)).verbatim() for n, value in enumerate(texts)]
    turn = AssistantTurn(tool_calls=tuple(call(str(n)) for n in range(3)))
    request = WIRE.encode([user("go"), turn, *NATIVE.format_results(outcomes)])
    assert list(WIRE.host_texts(body_of(request))) == ["go", *texts]
