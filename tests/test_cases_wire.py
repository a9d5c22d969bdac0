"""Faults that harnesses really had on the way to a provider."""

from __future__ import annotations

import json

import pytest

from bedrock_rules import bedrock_faults
from gemini_rules import gemini_faults
from tooldialect.dialects import AssistantTurn, ChatMessage, ToolCall, ToolOutcome, ToolResult, ToolResultBatch
from tooldialect.dialects.mcp_results import outcome_from_mcp
from tooldialect.dialects.native import NativeDialect
from tooldialect.dialects.wires import AnthropicWire, BedrockWire, GeminiWire, OpenAIChatWire, PlainChatWire
from wire_rules import anthropic_faults, openai_faults, strict_chat_faults


def user(text):
    return ChatMessage(role="user", content=text)


def calls(*ids, arguments="{}", **fields):
    return AssistantTurn(tool_calls=tuple(ToolCall(id=id_, name="f", arguments=arguments) for id_ in ids), **fields)


def results(**texts):
    return ToolResultBatch(results=tuple(ToolResult(tool_call_id=id_, content=text) for id_, text in texts.items()))


def sent(history, wire):
    return NativeDialect().to_provider_messages(history, wire)


def test_w01_results_come_before_the_text_they_are_merged_with():
    history = [user("go"), calls("k1", "k2"), user("hurry"), results(k1="1", k2="2")]
    for messages in (sent(history, AnthropicWire()), AnthropicWire().encode(history)["messages"]):
        assert [m["role"] for m in messages] == ["user", "assistant", "user"]
        assert [b["type"] for b in messages[2]["content"]] == ["tool_result", "tool_result", "text"]
        assert [b.get("tool_use_id") for b in messages[2]["content"][:2]] == ["k1", "k2"]


def test_w03_a_result_without_output_keeps_its_place():
    contents = [[], [{"type": "text", "text": ""}], [{"type": "text", "text": ""}, {"type": "text", "text": "x"}], None]
    outcomes = [ToolOutcome.ok("f", "", tool_call_id="k0"), ToolOutcome.ok("f", "   \n\t", tool_call_id="k1")]
    outcomes += [outcome_from_mcp({"content": c}, "f", f"k{n}") for n, c in enumerate(contents, 2)]
    history = [user("go"), calls(*(f"k{n}" for n in range(6))), *NativeDialect().format_results(outcomes)]
    request = AnthropicWire().encode(history)
    assert not list(anthropic_faults(request))
    assert [b["content"] for b in request["messages"][2]["content"]] == ["(no output)"] * 4 + ["x", "(no output)"]
    assert history[2].results[0].content == ""


def test_w04_structured_content_is_the_result_where_there_is_no_text():
    rows = {"rows": [1, 2], "ok": True}
    assert json.loads(outcome_from_mcp({"content": [], "structuredContent": rows}, "f").output) == rows
    said = {"content": [{"type": "text", "text": "two rows"}], "structuredContent": {"rows": [1, 2]}}
    assert outcome_from_mcp(said, "f").output == "two rows"


def test_w05_a_response_has_its_calls_name_and_an_object_for_a_body():
    turn = AssistantTurn(
        tool_calls=(ToolCall(id="c1", name="f", arguments='{"x":1}'), ToolCall(id="c2", name="g", arguments="{}"))
    )
    answers = [
        ToolResult(tool_call_id="c2", content="[1,2]"),
        ToolResult(tool_call_id="c1", name="", content="plain text"),
    ]
    history = [user("go"), turn, *(ToolResultBatch(results=(answer,)) for answer in answers)]
    for messages in (sent(history, GeminiWire()), GeminiWire().encode(history)["contents"]):
        assert [message["role"] for message in messages] == ["user", "model", "user"]
        responses = [part["functionResponse"] for part in messages[2]["parts"]]
        assert [(r["name"], r["response"]) for r in responses] == [
            ("f", {"output": "plain text"}),
            ("g", {"output": "[1,2]"}),
        ]


def test_w08_a_history_that_was_cut_to_a_call_turn_begins_with_a_user_turn():
    history = [calls("k1"), results(k1="1"), user("next"), ChatMessage(role="assistant", content="ok"), user("last")]
    messages = sent(history, AnthropicWire())
    assert not list(anthropic_faults({"messages": messages}))
    texts = [b["text"] for m in messages for b in m["content"] if b["type"] == "text"]
    assert texts[1:] == ["next", "ok", "last"]
    strict = PlainChatWire(strict_alternation=True).encode(history)
    assert not list(strict_chat_faults(strict))
    for wire, faults in ((GeminiWire(), gemini_faults), (BedrockWire(), bedrock_faults)):
        request = wire.encode(history)
        assert not list(faults(request))
        assert list(wire.host_texts(request))[1:] == ["1", "next", "last"]


def test_w09_a_provider_that_wants_reasoning_finds_it_on_every_turn():
    history = [
        user("a"),
        calls("k1", reasoning_content="think one"),
        results(k1="1"),
        AssistantTurn(text="answer", reasoning_content="think two"),
        user("b"),
        calls("k2"),
        results(k2="2"),
    ]
    turns = [m for m in sent(history, OpenAIChatWire(reasoning="always")) if m["role"] == "assistant"]
    assert [m["reasoning_content"] for m in turns] == ["think one", "think two", ""]


@pytest.mark.parametrize("longest", ["x" * 90])
def test_w13_refused_ids_become_distinct_ones_and_good_ones_stay(longest):
    ids = ["call_1|fc_a", "call_1|fc_b", "call:a", "call_a", "", longest, longest + "y"]
    history = [
        user("go"),
        calls(*ids),
        ToolResultBatch(results=tuple(ToolResult(tool_call_id=i, content=i or "-") for i in ids)),
    ]
    _, turn, answers = sent(history, AnthropicWire())
    made = [b["id"] for b in turn["content"]]
    assert made[3] == "call_a"
    assert len(set(made)) == 7
    assert [(b["tool_use_id"], b["content"]) for b in answers["content"]] == list(
        zip(made, [i or "-" for i in ids], strict=True)
    )
    assert not list(
        anthropic_faults({"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}, turn, answers]})
    )


def test_w13_for_bedrock_too():
    ids = ["call_1|fc_a", "call_1|fc_b", "call:a", "call_a", "", "x" * 65, "x" * 64]
    answers = ToolResultBatch(results=tuple(ToolResult(tool_call_id=id_, content="-") for id_ in ids))
    request = BedrockWire().encode([user("go"), calls(*ids), answers])
    assert not list(bedrock_faults(request))
    made = [block["toolUse"]["toolUseId"] for block in request["messages"][1]["content"]]
    assert (made[3], made[6], len(set(made))) == ("call_a", "x" * 64, 7)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ('{"city": "Oslo"}', {"city": "Oslo"}),
        ('"{\\"city\\":\\"Oslo\\"}"', {"city": "Oslo"}),
        ("", {}),
        ('{"city":"Os', {"unreadable_arguments": '{"city":"Os'}),
    ],
)
def test_w14_arguments_are_an_object_in_the_form_each_wire_wants(raw, value):
    history = [user("go"), calls("k1", arguments=raw), results(k1="1")]
    text = sent(history, OpenAIChatWire())[1]["tool_calls"][0]["function"]["arguments"]
    assert isinstance(text, str)
    assert json.loads(text) == value
    assert sent(history, AnthropicWire())[1]["content"][0]["input"] == value
    assert sent(history, GeminiWire())[1]["parts"][0]["functionCall"]["args"] == value
    assert sent(history, BedrockWire())[1]["content"][0]["toolUse"]["input"] == value
    assert sent(history, PlainChatWire())[1]["tool_calls"][0]["function"]["arguments"] == value


def test_w16_a_results_turn_is_joined_with_the_user_message_behind_it():
    envelope = '[Tool results]\n<tool_result name="ls" status="ok">\na.txt\n</tool_result>\n'
    history = [
        user("go"),
        AssistantTurn(text="<tool_call>…</tool_call>"),
        user(envelope),
        user("thanks, now delete it"),
        ChatMessage(role="assistant", content="sure"),
    ]
    messages = PlainChatWire(strict_alternation=True).encode(history)["messages"]
    assert [m["role"] for m in messages] == ["user", "assistant", "user", "assistant"]
    assert messages[2]["content"] == envelope + "\n\nthanks, now delete it"


def test_w17_values_that_json_lacks_are_told_and_nothing_raises():
    structured = {"score": float("nan"), "hi": float("inf"), "raw": b"\xff\x00", "s": {1}}
    read = json.loads(
        outcome_from_mcp({"content": [], "structuredContent": structured}, "f").output, parse_constant=pytest.fail
    )
    assert set(read) == set(structured)


def test_w20_a_turn_that_only_thought_is_not_sent():
    history = [user("a"), AssistantTurn(text="", reasoning_content="hm"), user("b")]
    assert [m["content"] for m in sent(history, OpenAIChatWire())] == ["a", "b"]
    (only,) = sent(history, AnthropicWire())
    assert [b["text"] for b in only["content"]] == ["a", "b"]


def test_f09_the_failure_of_an_mcp_tool_reaches_the_wire():
    failed = outcome_from_mcp({"isError": True, "content": [{"type": "text", "text": "no such row"}]}, "f", "k1")
    history = [user("go"), calls("k1"), *NativeDialect().format_results([failed])]
    block = sent(history, AnthropicWire())[2]["content"][0]
    assert (block["content"], block["is_error"]) == ("no such row", True)


def test_u01_one_bad_code_unit_does_not_break_the_body():
    text = "a\ud83d b\udc00 c\ud83d\ude00 \\ud83d end"
    arguments = '{"t":"\\ud83d"}'
    history = [user("go"), calls("k1", arguments=arguments), results(k1=text)]
    for wire, faults in (
        (OpenAIChatWire(), openai_faults),
        (AnthropicWire(), anthropic_faults),
        (GeminiWire(), gemini_faults),
        (BedrockWire(), bedrock_faults),
    ):
        request = wire.encode(NativeDialect().replay(history))
        assert not list(faults(request))
        body = json.dumps(request, ensure_ascii=False).encode()
        (arrived,) = [t for t in wire.host_texts(json.loads(body)) if t != "go"]
        assert arrived == "a\ufffd b\ufffd c\U0001f600 \\ud83d end"
        assert b"\\ud83d\\ud" not in body.replace(b"\\\\ud83d", b"")
