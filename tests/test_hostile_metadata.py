"""Metadata that anybody could have written: it never costs a turn its text or its calls."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ToolCall,
    ToolResult,
    ToolResultBatch,
    available_wires,
    wire_for,
)

WORDS = ["5", "said", "the text", ""]
WORD = st.sampled_from(WORDS)
ATOM = WORD | st.none() | st.booleans() | st.just(5) | st.just(" ")
KINDS = st.sampled_from(
    ["text", "tool_use", "tool_call", "function_call", "message", "thinking", "reasoning", "redacted_thinking"]
)
KEYS = st.sampled_from(
    [
        "type",
        "text",
        "id",
        "name",
        "input",
        "thought",
        "functionCall",
        "toolUse",
        "toolUseId",
        "citationsContent",
        "content",
        "thoughtSignature",
        "reasoningContent",
        "reasoningText",
        "signature",
        "call_id",
        "summary",
        "phase",
        "args",
        "calls",
        "0",
        "extra_content",
    ]
)
VALUE = st.recursive(
    ATOM | KINDS | st.just("look_up") | st.just("c1"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


def called(name: str, **more: Any) -> dict[str, Any]:
    return {"id": "c1", "name": name, **more}


PART = st.one_of(
    VALUE,
    st.fixed_dictionaries({"type": KINDS}, optional={"text": ATOM, "id": st.just("c1"), "name": st.just("look_up")}),
    st.fixed_dictionaries({"text": ATOM}, optional={"thought": ATOM, "functionCall": st.just(called("look_up"))}),
    st.fixed_dictionaries({"functionCall": st.just(called("look_up"))}, optional={"thought": ATOM, "text": ATOM}),
    st.fixed_dictionaries({"toolUse": st.just({"toolUseId": "c1", "name": "look_up"})}),
    st.fixed_dictionaries({"type": st.just("function_call"), "call_id": st.just("c1"), "name": st.just("look_up")}),
)
KEPT = st.one_of(
    VALUE,
    st.fixed_dictionaries(
        {}, optional={"content": st.lists(PART, max_size=4) | VALUE, "items": st.lists(PART, max_size=4) | VALUE}
    ),
    st.dictionaries(KEYS, VALUE, max_size=3),
)


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [text for item in inner for text in strings(item)]


def spoken(wire: str, request: dict[str, Any]) -> str:
    """What the assistant says in the request, in the provider's own fields for that."""
    conversation = wire_for(wire).messages(request)
    said = []
    for message in conversation:
        if message.get("role") not in ("assistant", "model"):
            continue
        content = message.get("content", message.get("parts"))
        for part in [content] if isinstance(content, str) else content or []:
            if isinstance(part, str):
                said.append(part)
            elif part.get("type", "text") in ("text", "output_text"):
                said += strings(part.get("citationsContent", part.get("text")))
    return "".join(said)


@pytest.mark.parametrize("wire", available_wires())
@settings(max_examples=120, deadline=None)
@given(text=WORD, kept=KEPT, with_call=st.booleans(), as_message=st.booleans())
def test_no_metadata_costs_a_turn_its_text_or_its_calls(wire, text, kept, with_call, as_message):
    metadata = {wire: kept}
    if as_message:
        history: list[Any] = [ChatMessage(role="user", content="hi")]
        history += [ChatMessage(role="assistant", content=text, metadata=metadata)]
    else:
        calls = (ToolCall(id="c1", name="look_up", arguments='{"q": "asked for"}'),) if with_call else ()
        history = [AssistantTurn(text=text, tool_calls=calls, metadata=metadata)]
        if calls:
            history.append(ToolResultBatch(results=(ToolResult(tool_call_id="c1", name="look_up", content="found"),)))
    request = wire_for(wire).encode(history)
    json.dumps(request, allow_nan=False)
    assert text in spoken(wire, request)
    if with_call and not as_message:
        assert "asked for" in json.dumps(request)


@pytest.mark.parametrize(
    ("wire", "content", "text", "calls"),
    [
        ("anthropic", [{"type": "text", "text": 5}], "5", False),
        ("gemini", [{"text": " ", "functionCall": {"name": "look_up"}}], " ", True),
        ("gemini", [{"thought": True, "functionCall": {"name": "look_up"}}], None, True),
    ],
)
def test_parts_that_say_one_thing_and_hold_another_are_not_gone_by(wire, content, text, calls):
    made = (ToolCall(id="c1", name="look_up", arguments='{"q": "asked for"}'),) if calls else ()
    turn = AssistantTurn(text=text, tool_calls=made, metadata={wire: {"content": content}})
    request = wire_for(wire).encode([ChatMessage(role="user", content="hi"), turn])
    sent = json.dumps(request)
    assert not calls or "asked for" in sent
    assert (text or "").strip() in spoken(wire, request)
