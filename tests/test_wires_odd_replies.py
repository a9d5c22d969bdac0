"""A reply that is none is a WireError, an odd one is read; and a message list may hold anything."""

import pytest
from google.genai import types as genai

from tooldialect.dialects import WireError
from tooldialect.dialects.wires import (
    AnthropicWire,
    BedrockWire,
    GeminiWire,
    LangChainWire,
    OpenAIChatWire,
    OpenAIResponsesWire,
    PlainChatWire,
    available_wires,
    wire_for,
)

# Python writes no integer of so many digits.
HUGE = 10**5000


def chat(*calls):
    return {"choices": [{"message": {"content": None, "tool_calls": list(calls)}}]}


@pytest.mark.parametrize(
    ("wire", "reply"),
    [
        (LangChainWire(), {"content": "x", "response_metadata": 5}),
        (LangChainWire(), {"content": "x", "response_metadata": ["finish_reason"]}),
        (AnthropicWire(), {"content": [{"type": "tool_use", "id": "a", "name": HUGE, "input": {}}]}),
        (GeminiWire(), {"candidates": [{"content": {"parts": [{"functionCall": {"name": HUGE}}]}}]}),
        (BedrockWire(), {"output": {"message": {"content": [{"toolUse": {"name": HUGE}}]}}}),
        (OpenAIResponsesWire(), {"output": [{"type": "function_call", "name": HUGE, "call_id": HUGE}]}),
    ],
)
def test_an_odd_reply_is_read(wire, reply):
    response = wire.decode(reply)
    assert response.text in ("x", None)
    assert [call.name for call in response.tool_calls] in ([], [""])


@pytest.mark.parametrize(
    ("wire", "reply"),
    [
        (PlainChatWire(), {"choices": 5}),
        (PlainChatWire(), {"choices": {"message": {}}}),
        (OpenAIChatWire(), {"choices": [{"message": "text"}]}),
        (OpenAIChatWire(), {"choices": [{"message": ["text"]}]}),
        (BedrockWire(), {"output": {"message": "hi"}}),
        (BedrockWire(), {"output": {"message": 5}}),
        (OpenAIResponsesWire(), {"status": "failed", "output": []}),
        (OpenAIResponsesWire(), {"status": "cancelled", "output": []}),
        (LangChainWire(), {"type": "human", "content": "u"}),
        (LangChainWire(), {"role": "system", "content": "u"}),
        (LangChainWire(), {"type": "tool", "content": "u", "tool_call_id": "a"}),
        (OpenAIChatWire(), {"error": HUGE}),
        (AnthropicWire(), {"error": {"message": HUGE}}),
    ],
)
def test_what_is_no_reply_is_a_wire_error(wire, reply):
    with pytest.raises(WireError):
        wire.decode(reply)


def test_a_response_that_was_cancelled_half_way_still_says_what_it_said():
    said = {"type": "message", "content": [{"type": "output_text", "text": "x"}]}
    assert OpenAIResponsesWire().decode({"status": "cancelled", "output": [said]}).text == "x"


def id_replies(given):
    """A call without an id, then one with the id that would be invented, as each provider has it."""
    return {
        "openai-chat": chat({"function": {"name": "f"}}, {"id": given, "function": {"name": "g"}}),
        "openai-responses": {
            "output": [{"type": "function_call", "name": "f"}, {"type": "function_call", "name": "g", "call_id": given}]
        },
        "anthropic": {"content": [{"type": "tool_use", "name": "f"}, {"type": "tool_use", "name": "g", "id": given}]},
        "gemini": {
            "candidates": [
                {"content": {"parts": [{"functionCall": {"name": "f"}}, {"functionCall": {"name": "g", "id": given}}]}}
            ]
        },
        "bedrock": {
            "output": {
                "message": {"content": [{"toolUse": {"name": "f"}}, {"toolUse": {"name": "g", "toolUseId": given}}]}
            }
        },
        "langchain": {"content": "", "tool_calls": [{"name": "f", "args": {}}, {"name": "g", "args": {}, "id": given}]},
    }


@pytest.mark.parametrize("given", ["call_0", "call_1"])
@pytest.mark.parametrize("name", sorted(id_replies("")))
def test_an_id_that_was_invented_is_no_other_call_s(name, given):
    calls = wire_for(name).decode(id_replies(given)[name]).tool_calls
    assert len({call.id for call in calls}) == 2
    assert calls[1].id == given


@pytest.mark.parametrize("name", available_wires())
@pytest.mark.parametrize(
    "value", [5, True, HUGE, 0.5, None, {}, {"type": HUGE}], ids=lambda value: type(value).__name__
)
def test_host_texts_of_anything_raise_nothing(name, value):
    messages = [{"role": "user", "content": value, "parts": value}, {"type": value, "output": value}, value]
    assert list(wire_for(name).host_texts(messages)) == []
    assert list(wire_for(name).host_texts(value)) == []


@pytest.mark.parametrize(
    "messages",
    [
        [genai.Content(parts=[genai.Part(text="a")])],
        [{"parts": [{"text": "a"}]}],
        {"contents": [{"parts": [{"text": "a"}]}]},
        {"contents": "a"},
    ],
)
def test_what_gemini_takes_for_the_user_s_is_a_host_text(messages):
    assert list(GeminiWire().host_texts(messages)) == ["a"]
    assert list(GeminiWire().host_texts([{"role": "model", "parts": [{"text": "a"}]}])) == []
