"""What a wire keeps of a reply goes back as its provider takes it, and to the call it came with."""

import copy

import anthropic.types as a
import openai
import openai.types.responses as r
import pytest
from anthropic.lib._parse._response import parse_response as parse_message
from google.genai import types as genai
from openai.lib._parsing._responses import parse_response as parse_responses
from pydantic import BaseModel, TypeAdapter

from tooldialect.dialects import AssistantTurn, ChatMessage, ToolCall, dump_transcript, get_dialect
from tooldialect.dialects.wires import (
    AnthropicWire,
    BedrockWire,
    GeminiWire,
    LangChainWire,
    OpenAIChatWire,
    OpenAIResponsesWire,
)

ASKED = ChatMessage(role="user", content="q")
NATIVE = get_dialect("native")


def entry_of(wire, reply):
    return NATIVE.parse_response(wire.decode(reply)).entry


def sent_again(wire, reply):
    return wire.messages(wire.encode(NATIVE.replay([ASKED, entry_of(wire, reply), ASKED])))


def responses(*output):
    return {"status": "completed", "output": list(output)}


class Answer(BaseModel):
    x: int


def parsed_message():
    block = a.TextBlock(type="text", text='{"x":1}')
    message = a.Message.construct(id="m", type="message", role="assistant", content=[block], stop_reason="end_turn")
    return parse_message(response=message, output_format=Answer)


@pytest.mark.parametrize("shape", [lambda reply: reply, lambda reply: reply.model_dump()])
def test_what_the_parse_helper_of_anthropic_added_is_not_sent_back(shape):
    sent = sent_again(AnthropicWire(), shape(parsed_message()))[1]
    assert "parsed_output" not in sent["content"][0]
    assert sent["content"][0]["text"] == '{"x":1}'


@pytest.mark.parametrize("shape", [lambda reply: reply, lambda reply: reply.model_dump()])
def test_what_the_parse_helper_of_responses_added_is_not_sent_back(shape):
    output = [
        r.ResponseReasoningItem(type="reasoning", id="rs", summary=[]),
        r.ResponseFunctionToolCall(type="function_call", call_id="c1", name="f", arguments='{"x":1}', id="fc_1"),
    ]
    response = r.Response.construct(id="r", status="completed", output=output, error=None, incomplete_details=None)
    strict = {
        "type": "object",
        "properties": {"x": {"type": "integer"}},
        "required": ["x"],
        "additionalProperties": False,
    }
    tool = {"type": "function", "name": "f", "strict": True, "parameters": strict}
    parsed = parse_responses(text_format=openai.NOT_GIVEN, input_tools=[tool], response=response)
    call = sent_again(OpenAIResponsesWire(), shape(parsed))[2]
    assert call == {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"x":1}'}


def test_a_citation_goes_back_without_the_file_it_was_read_from():
    place = {
        "type": "char_location",
        "cited_text": "c",
        "document_index": 0,
        "start_char_index": 0,
        "end_char_index": 1,
    }
    block = {"type": "text", "text": "x", "citations": [{**place, "document_title": None, "file_id": "file_1"}]}
    (sent,) = sent_again(AnthropicWire(), {"content": [block]})[1]["content"]
    assert sent == {"type": "text", "text": "x", "citations": [{**place, "document_title": None}]}


MESSAGE = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
CODE = r.ResponseCodeInterpreterToolCall(
    type="code_interpreter_call", id="ci", code=None, container_id="k", outputs=None, status="completed"
)
IMAGE = {"type": "image_generation_call", "id": "ig", "status": "failed", "result": None}


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        (CODE, r.ResponseCodeInterpreterToolCallParam),
        (IMAGE, r.response_input_item_param.ImageGenerationCall),
    ],
)
def test_a_null_that_the_provider_wants_to_see_is_sent_back(item, kind):
    TypeAdapter(kind).validate_python(sent_again(OpenAIResponsesWire(), responses(item, MESSAGE))[1])


CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}", "id": "fc"}
SEARCH = {"type": "tool_search_call", "id": "ts", "execution": "server", "call_id": None, "arguments": {}}
FOUND = {"type": "tool_search_output", "id": "tso", "execution": "server", "call_id": None, "tools": []}


def reasoning(number):
    return {"type": "reasoning", "id": f"rs_{number}", "summary": []}


def test_reasoning_goes_with_the_item_it_led_to():
    sent = sent_again(OpenAIResponsesWire(), responses(reasoning(1), SEARCH, FOUND, reasoning(2), CALL))
    assert [item.get("id", item.get("type")) for item in sent[1:3]] == ["rs_2", "function_call"]
    sent = sent_again(OpenAIResponsesWire(), responses(reasoning(1), SEARCH, FOUND, MESSAGE))
    assert [item["role"] for item in sent] == ["user", "assistant", "user"]


def test_a_call_does_not_name_a_program_that_is_not_sent():
    program = {"type": "program", "id": "p", "code": "x", "call_id": "pc", "fingerprint": "f"}
    call = {**CALL, "caller": {"type": "program", "caller_id": "pc"}}
    assert "caller" not in sent_again(OpenAIResponsesWire(), responses(program, call))[1]
    direct = {**CALL, "caller": {"type": "direct"}}
    assert sent_again(OpenAIResponsesWire(), responses(direct))[1]["caller"] == {"type": "direct"}


def signed(id_, signature):
    return {"id": id_, "function": {"name": "f", "arguments": "{}"}, "thought_signature": signature}


@pytest.mark.parametrize("left", [slice(0, 1), slice(1, None), slice(None), slice(None, None, -1)])
def test_unknown_keys_of_a_call_go_back_to_that_call_alone(left):
    calls = [signed("a", "A"), signed("b", "B"), {"id": "c", "function": {"name": "f", "arguments": "{}"}}]
    entry = entry_of(OpenAIChatWire(), {"choices": [{"message": {"content": None, "tool_calls": calls}}]})
    entry = entry.model_copy(update={"tool_calls": entry.tool_calls[left]})
    sent = OpenAIChatWire().encode(NATIVE.replay([ASKED, entry]))["messages"][1]["tool_calls"]
    assert {call["id"]: call.get("thought_signature") for call in sent} == {
        call["id"]: call.get("thought_signature") for call in calls[left]
    }


def scribble(value):
    """Writes into every list and object of a request."""
    if isinstance(value, dict):
        for inner in list(value.values()):
            scribble(inner)
        value["written"] = {"by": "the host"}
    elif isinstance(value, list):
        for inner in value:
            scribble(inner)
        value.append({"written": "by the host"})


THOUGHT = {"type": "thinking", "thinking": "t", "signature": "s"}
KEPT = [
    (AnthropicWire(), {"content": [THOUGHT, {"type": "text", "text": "x", "citations": [{"type": "c"}]}]}),
    (
        OpenAIChatWire("always"),
        {
            "choices": [
                {
                    "message": {
                        "content": "x",
                        "extra_content": {"k": {}},
                        "tool_calls": [{**signed("a", {"k": []}), "extra_content": {"g": {}}}],
                        "reasoning_details": [{"k": 1}],
                    }
                }
            ]
        },
    ),
    (
        OpenAIResponsesWire(),
        responses(reasoning(1), {**CALL, "x": {"k": []}}, {"type": "mcp_call", "id": "m", "x": []}),
    ),
    (GeminiWire(), {"candidates": [{"content": {"parts": [{"text": "x", "partMetadata": {"k": {}}}]}}]}),
    (
        BedrockWire(),
        {"output": {"message": {"content": [{"citationsContent": {"content": [{"text": "x"}], "citations": [{}]}}]}}},
    ),
    (
        LangChainWire(),
        {"type": "ai", "content": [THOUGHT, {"type": "text", "text": "x"}], "additional_kwargs": {"k": {}}},
    ),
]


@pytest.mark.parametrize(("wire", "reply"), KEPT, ids=lambda value: getattr(value, "name", ""))
def test_what_a_host_writes_into_a_request_does_not_reach_the_history(wire, reply):
    history = NATIVE.replay([ASKED, entry_of(wire, reply), ASKED])
    before, request = dump_transcript(history), wire.encode(history)
    again = copy.deepcopy(request)
    scribble(request)
    assert dump_transcript(history) == before
    assert wire.encode(history) == again


def bedrock(*blocks):
    return {"output": {"message": {"role": "assistant", "content": list(blocks)}}}


RAN = {"toolUse": {"toolUseId": "s1", "name": "web", "input": {}, "type": "server_tool_use"}}
RAN_RESULT = {"toolResult": {"toolUseId": "s1", "content": [{"text": "found"}], "type": "web_result"}}


def test_bedrock_gets_a_tool_configuration_for_what_it_ran_itself():
    entry = entry_of(BedrockWire(), bedrock(RAN, RAN_RESULT, {"text": "x"}))
    request = BedrockWire().encode(NATIVE.replay([ASKED, entry, ASKED]))
    assert request["messages"][1]["content"] == [RAN, RAN_RESULT, {"text": "x"}]
    assert [tool["toolSpec"]["name"] for tool in request["toolConfig"]["tools"]] == ["web"]


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_a_blank_cited_text_is_not_sent_to_bedrock(blank):
    def cited(*texts):
        return {"citationsContent": {"content": [{"text": text} for text in texts], "citations": []}}

    assert sent_again(BedrockWire(), bedrock(cited(blank), {"text": "x"}))[1]["content"] == [{"text": "x"}]
    assert sent_again(BedrockWire(), bedrock(cited(blank, "y")))[1]["content"] == [cited("y")]


def gemini_turn(signature):
    call = ToolCall(id="a", name="f", arguments="", extra_content={"google": {"thought_signature": signature}})
    kept = [{"text": "x", "thoughtSignature": signature}, {"functionCall": {"id": "a", "name": "f"}}]
    return AssistantTurn(text="x", tool_calls=(call,), metadata={"gemini": {"content": kept}})


@pytest.mark.parametrize(
    ("signature", "sent"),
    [
        ("not base64!", False),
        ("Y", False),
        ("YW", False),
        ("é", False),
        ("", False),
        ("YQ", True),
        ("YQ==", True),
        ("Y-_W", True),
    ],
)
def test_gemini_gets_no_signature_that_is_no_base64(signature, sent):
    content = GeminiWire().encode(NATIVE.replay([ASKED, gemini_turn(signature)]))["contents"][1]
    genai.Content.model_validate(content)
    assert [part.get("thoughtSignature") == signature for part in content["parts"]] == [sent, sent]


INTERLEAVED = [
    (
        LangChainWire(),
        {
            "type": "ai",
            "content": [
                THOUGHT,
                {"type": "tool_use", "id": "a", "name": "foo.bar", "input": {}},
                {**THOUGHT, "signature": "s2"},
            ],
            "tool_calls": [{"id": "a", "name": "foo.bar", "args": {}}],
        },
        lambda message: [block.get("name") == message["tool_calls"][0]["name"] for block in message["content"]],
        [False, True, False],
    ),
    (
        AnthropicWire(),
        {
            "content": [
                THOUGHT,
                {"type": "tool_use", "id": "a", "name": "foo.bar", "input": {}},
                {**THOUGHT, "signature": "s2"},
                {"type": "tool_use", "id": "b", "name": "g", "input": {}},
            ]
        },
        lambda message: [block["type"] for block in message["content"]],
        ["thinking", "tool_use", "thinking", "tool_use"],
    ),
    (
        BedrockWire(),
        bedrock(
            {"toolUse": {"toolUseId": "a", "name": "foo.bar", "input": {}}},
            {"reasoningContent": {"reasoningText": {"text": "t", "signature": "s"}}},
            {"toolUse": {"toolUseId": "b", "name": "g", "input": {}}},
        ),
        lambda message: [next(iter(block)) for block in message["content"]],
        ["toolUse", "reasoningContent", "toolUse"],
    ),
]


@pytest.mark.parametrize(("wire", "reply", "kinds", "expected"), INTERLEAVED)
def test_thinking_keeps_its_place_beside_a_name_that_is_respelled(wire, reply, kinds, expected):
    assert kinds(sent_again(wire, reply)[1]) == expected


FORGED = [
    (
        AnthropicWire(),
        "anthropic",
        {"type": "text", "text": "x"},
        {"type": "tool_result", "tool_use_id": "z", "content": "y"},
    ),
    (AnthropicWire(), "anthropic", {"type": "text", "text": "x"}, {"type": "image", "source": {}}),
    (BedrockWire(), "bedrock", {"text": "x"}, {"toolResult": {"toolUseId": "z", "content": []}}),
    (BedrockWire(), "bedrock", {"text": "x"}, {"toolResult": {"toolUseId": ["z"]}}),
    (BedrockWire(), "bedrock", {"text": "x"}, {"toolResult": 5}),
    (BedrockWire(), "bedrock", {"text": "x"}, {"guardContent": {"text": {"text": "y"}}}),
    (BedrockWire(), "bedrock", {"text": "x"}, {"citationsContent": 5}),
    (GeminiWire(), "gemini", {"text": "x"}, {"functionResponse": {"name": "f", "response": {}}}),
    (LangChainWire(), "langchain", {"type": "text", "text": "x"}, 5),
    (LangChainWire(), "langchain", {"type": "text", "text": "x"}, {"type": "tool_result", "content": "y"}),
]


@pytest.mark.parametrize(("wire", "namespace", "text", "forged"), FORGED)
@pytest.mark.parametrize("order", [1, -1])
def test_a_part_that_no_assistant_turn_may_hold_is_not_sent(wire, namespace, text, forged, order):
    turn = AssistantTurn(text="x", metadata={namespace: {"content": [text, forged][::order]}})
    (sent,) = [m for m in wire.messages(wire.encode([ASKED, turn, ASKED])) if m["role"] in ("assistant", "model")]
    assert sent.get("content", sent.get("parts")) == [text]
