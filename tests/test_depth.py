"""How deep JSON may be: what a record takes can be saved, sent and read back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ModelResponse,
    ParsedToolCall,
    PFormatDialect,
    ToolCall,
    ToolResultBatch,
    ToolSpec,
    TranscriptError,
    WireError,
    XmlDialect,
    available_dialects,
    available_wires,
    dump_transcript,
    get_dialect,
    load_transcript,
    wire_for,
)
from tooldialect.dialects.text import MAX_DEPTH, MAX_FIELD_DEPTH, MAX_PART_DEPTH


def deep(levels: int, last: Any = 1) -> Any:
    """Objects and lists in turn, an object outside, so many levels in all."""
    value = last
    for level in reversed(range(levels)):
        value = [value] if level % 2 else {"a": value}
    return value


def call(extra: Any) -> ToolCall:
    return ToolCall(id="c", name="t", arguments="{}", extra_content=extra)


FIELDS = {
    "metadata of a message": lambda value: ChatMessage(role="user", content="x", metadata=value),
    "metadata of a turn": lambda value: AssistantTurn(text="x", metadata=value),
    "extra content of a call": lambda value: AssistantTurn(tool_calls=(call({}), call(value))),
    "metadata of a reply": lambda value: ModelResponse(metadata=value),
    "arguments": lambda value: ParsedToolCall(name="t", arguments=value),
    "parameters": lambda value: ToolSpec(name="t", parameters=value),
}
SAVED = list(FIELDS)[:3]


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_takes_so_many_levels_and_no_more(field):
    FIELDS[field](deep(MAX_FIELD_DEPTH))
    with pytest.raises(ValidationError, match=f"nested deeper than {MAX_FIELD_DEPTH} levels"):
        FIELDS[field](deep(MAX_FIELD_DEPTH + 1))


@pytest.mark.parametrize("field", SAVED)
def test_what_a_record_takes_is_saved_and_loaded(field):
    entries = [FIELDS[field](deep(MAX_FIELD_DEPTH)), ToolResultBatch(results=())]
    assert load_transcript(dump_transcript(entries)) == entries


def test_a_line_that_is_too_deep_says_how_deep_one_may_be():
    line = json.dumps({"kind": "chat", "role": "user", "content": "x", "metadata": deep(MAX_DEPTH)})
    with pytest.raises(TranscriptError, match=f"line 1 is not JSON.*nested deeper than {MAX_DEPTH} levels"):
        load_transcript(line)
    line = json.dumps({"kind": "chat", "role": "user", "content": "x", "metadata": deep(MAX_FIELD_DEPTH + 1)})
    with pytest.raises(TranscriptError, match=f"metadata.*nested deeper than {MAX_FIELD_DEPTH} levels"):
        load_transcript(line)


@pytest.mark.parametrize("name", available_dialects())
@pytest.mark.parametrize("levels", [MAX_FIELD_DEPTH, MAX_FIELD_DEPTH + 1, MAX_DEPTH - 1, MAX_DEPTH, 5_000])
@pytest.mark.parametrize("as_string", [False, True])
def test_arguments_of_any_depth_are_a_call_or_a_problem(name, levels, as_string):
    text = '{"a":' + "[" * (levels - 1) + "]" * (levels - 1) + "}"
    text = json.dumps(text) if as_string else text
    reported = ModelResponse(tool_calls=(ToolCall(id="c", name="t", arguments=text),))
    written = ModelResponse(text=f'<tool_call>\n{{"name": "t", "arguments": {text}}}\n</tool_call>')
    for response in (reported, written):
        parsed = get_dialect(name).parse_response(response)
        if response is written and name == "native":
            assert not parsed.calls + parsed.problems
        elif levels <= MAX_FIELD_DEPTH:
            assert len(parsed.calls) == 1
        else:
            assert [problem.kind for problem in parsed.problems] == ["malformed"]


@pytest.mark.parametrize("levels", [MAX_FIELD_DEPTH - 1, MAX_FIELD_DEPTH, MAX_DEPTH])
def test_a_deep_slot_is_a_call_or_a_problem(levels):
    tool = ToolSpec(name="t", parameters={"properties": {"a": {"type": "array"}}})
    inside = ("[" * levels + "]" * levels).replace("]", "\\]")
    text = f"<tool_call>\nt[0|{inside}]\n</tool_call>"
    parsed = PFormatDialect([tool]).parse_response(ModelResponse(text=text))
    assert (len(parsed.calls), len(parsed.problems)) == ((1, 0) if levels < MAX_FIELD_DEPTH else (0, 1))


def test_the_deepest_call_is_written_and_read_back():
    deepest = ParsedToolCall(name="t", arguments=deep(MAX_FIELD_DEPTH))
    for dialect in (XmlDialect(), PFormatDialect()):
        assert dialect.parse_response(ModelResponse(text=dialect.render_call(deepest))).calls == (deepest,)


def chat(**message: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": "said", **message}}]}


def chat_replies(value: Any) -> list[dict[str, Any]]:
    function = {"name": "t", "arguments": "{}"}
    return [
        chat(reasoning_details=value),
        chat(extra_content=value),
        chat(tool_calls=[{"id": "c", "function": function, "extra_content": value}]),
        chat(tool_calls=[{"id": "c", "function": function, "odd": value}]),
        chat(tool_calls=[{"id": "c", "function": {"name": "t", "arguments": value}}]),
    ]


def anthropic(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "said"}, *blocks]}


def bedrock(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"output": {"message": {"content": [{"text": "said"}, *blocks]}}}


def gemini(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [{"text": "said"}, *parts]}}]}


def responses(*items: dict[str, Any]) -> dict[str, Any]:
    return {"output": [{"type": "message", "content": [{"type": "output_text", "text": "said"}]}, *items]}


def langchain(**message: Any) -> dict[str, Any]:
    return {"type": "ai", "content": "said", **message}


REPLIES = {
    "openai-chat": chat_replies,
    "mistral": chat_replies,
    "plain-chat": chat_replies,
    "anthropic": lambda value: [
        anthropic({"type": "odd", "odd": value}),
        anthropic({"type": "thinking", "thinking": "x", "signature": value}),
        anthropic({"type": "tool_use", "id": "c", "name": "t", "input": value, "odd": value}),
    ],
    "bedrock": lambda value: [
        bedrock({"odd": value}),
        bedrock({"reasoningContent": value}),
        bedrock({"toolUse": {"toolUseId": "c", "name": "t", "input": value, "odd": value}}),
    ],
    "gemini": lambda value: [
        gemini({"odd": value}),
        gemini({"thought": True, "text": "x", "odd": value}),
        gemini({"functionCall": {"name": "t", "args": value, "odd": value}, "odd": value}),
    ],
    "openai-responses": lambda value: [
        responses({"type": "reasoning", "id": "r", "summary": [], "odd": value}),
        responses({"type": "web_search_call", "odd": value}),
        responses({"type": "function_call", "call_id": "c", "name": "t", "arguments": "{}", "extra_content": value}),
        responses({"type": "function_call", "call_id": "c", "name": "t", "arguments": value, "odd": value}),
    ],
    "langchain": lambda value: [
        langchain(content=[{"type": "text", "text": "said"}, {"type": "odd", "odd": value}]),
        langchain(additional_kwargs={"odd": value}),
        langchain(additional_kwargs={"odd": 1}, response_metadata={"model_provider": value}),
        langchain(tool_calls=[{"id": "c", "name": "t", "args": value}]),
    ],
}
LEVELS = [MAX_PART_DEPTH - 1, MAX_PART_DEPTH, *range(MAX_FIELD_DEPTH - 6, MAX_FIELD_DEPTH + 2), 295, *range(297, 301)]


@pytest.mark.parametrize("wire", available_wires())
@pytest.mark.parametrize("levels", [*LEVELS, 5_000])
def test_a_reply_of_any_depth_is_read_and_can_be_saved_or_is_no_reply(wire, levels):
    for reply in REPLIES[wire](deep(levels)):
        try:
            response = wire_for(wire).decode(reply)
        except WireError:
            continue
        assert response.text == "said"
        entry = get_dialect("native").parse_response(response).entry
        assert load_transcript(dump_transcript([entry])) == [entry]
        wire_for(wire).encode([entry])
