"""Every wire gives, by their beginning, the texts that reading all of them gives."""

import types

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gate_world import PREFIX
from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    NativeDialect,
    ToolCall,
    ToolResult,
    ToolResultBatch,
    available_wires,
    wire_for,
)

texts = st.sampled_from([PREFIX, PREFIX + "x", PREFIX[:-1], "[", "", "a", "\u2603"])
odd = st.none() | st.integers(0, 1) | st.booleans() | st.just(b"x") | texts
ROLES = ["user", "tool", "function", "human", "model", "assistant", "ai", "HumanMessageChunk", "", None, 7]
TYPES = ["text", "tool_result", "input_text", "image", "function_call_output", "human", "constructor", "ai", 7]


def records(inner):
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(TYPES),
            "role": st.sampled_from(ROLES),
            "id": st.just(["langchain", "HumanMessage"]),
            **dict.fromkeys(
                (
                    "content", "text", "output", "error", "parts", "response", "data", "kwargs",
                    "toolResult", "functionResponse", "function_response", "messages", "contents", "input",
                ),
                inner,
            ),
        },
    )  # fmt: skip


anything = st.recursive(
    odd,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=2).map(tuple)
        | records(inner)
        | records(inner).map(types.MappingProxyType)
        | records(inner).map(lambda record: types.SimpleNamespace(**record))
    ),
    max_leaves=8,
)
part = st.fixed_dictionaries({"text": texts}, optional={"type": st.sampled_from(["text", "input_text"])})
plain = (
    st.fixed_dictionaries({"role": st.sampled_from(["user", "tool", "assistant"]), "content": texts | st.lists(part)})
    | st.fixed_dictionaries({"type": st.just("function_call_output"), "output": texts | st.lists(part)})
    | st.builds(
        lambda role, parts: {"role": role, "parts": parts},
        st.sampled_from(["user", "model"]),
        st.lists(
            part
            | st.builds(
                lambda spelling, key, text: {spelling: {"response": {key: text}}},
                st.sampled_from(["functionResponse", "function_response"]),
                st.sampled_from(["output", "error", "result"]),
                texts,
            ),
            max_size=3,
        ),
    )
    | st.builds(
        lambda role, parts: {"role": role, "content": parts},
        st.sampled_from(["user", "assistant"]),
        st.lists(
            part | st.builds(lambda inner: {"toolResult": {"content": inner}}, st.lists(part, max_size=2)), max_size=3
        ),
    )
)
wires = pytest.mark.parametrize("wire", available_wires())


def attempt(read):
    try:
        return read()
    except Exception as error:
        return type(error)


def check(wire, messages):
    everything = attempt(lambda: [text for text in wire.host_texts(messages) if text.startswith(PREFIX)])
    if not isinstance(everything, type):
        assert wire.host_texts(messages).starting_with(PREFIX) == everything


@wires
@given(st.lists(plain, max_size=5) | st.lists(plain | records(anything) | anything, max_size=5) | anything)
@example([{"role": "user", "content": [PREFIX]}, {"role": "user", "parts": [PREFIX]}, (PREFIX, PREFIX), PREFIX])
@example([{"role": "user", "parts": [{"function_response": {}, "functionResponse": {"response": {"output": PREFIX}}}]}])
@example([{"role": "user", "parts": [{"function_response": {}, "text": PREFIX}]}])
@example([{"type": "constructor", "id": ["HumanMessage"], "kwargs": {"content": PREFIX}}, ("human", PREFIX)])
@example([{"type": "human", "data": {"content": PREFIX}}, {"role": "ai", "type": "human", "content": PREFIX}])
def test_texts_by_their_beginning_are_those_that_begin_so(wire, messages):
    check(wire_for(wire), messages)
    for key in ("messages", "contents", "input"):
        check(wire_for(wire), {key: messages})


@wires
def test_of_what_a_wire_encodes_no_row_without_a_marker_needs_a_closer_look(wire):
    call = ToolCall(id="call_1", name="ls", arguments="{}")
    result = ToolResult(tool_call_id="call_1", name="ls", content="a.txt")
    history = [
        ChatMessage(role="system", content="Be brief."),
        ChatMessage(role="user", content="hello"),
        AssistantTurn(text="so", tool_calls=(call,)),
        ToolResultBatch(results=(result,)),
        AssistantTurn(text="done"),
        ChatMessage(role="user", content="thanks"),
    ]
    request = wire_for(wire).encode(NativeDialect().replay(history))
    given_texts = wire_for(wire).host_texts(request)
    looked_at = []
    given_texts._texts_of = looked_at.append
    assert given_texts.starting_with(PREFIX) == []
    assert looked_at == []


def text_block():
    return {"type": "text", "text": PREFIX + "x"}


@pytest.mark.parametrize(
    ("wire", "row"),
    [
        ("openai-chat", lambda: {"role": "user", "content": iter([text_block()])}),
        ("anthropic", lambda: {"role": "user", "content": iter([text_block()])}),
        ("anthropic", lambda: {"role": "user", "content": [{"type": "tool_result", "content": iter([text_block()])}]}),
        ("bedrock", lambda: {"role": "user", "content": iter([text_block()])}),
        ("bedrock", lambda: {"role": "user", "content": [{"toolResult": {"content": iter([text_block()])}}]}),
        ("gemini", lambda: {"role": "user", "parts": iter([text_block()])}),
        ("langchain", lambda: {"role": "user", "content": iter([text_block()])}),
        ("openai-responses", lambda: {"role": "user", "content": iter([text_block()])}),
    ],
)
def test_content_that_can_be_read_but_once_is_read_by_the_closer_look_alone(wire, row):
    plainly = [text for text in wire_for(wire).host_texts([row()]) if text.startswith(PREFIX)]
    assert wire_for(wire).host_texts([row()]).starting_with(PREFIX) == plainly
    if wire in ("anthropic", "bedrock", "gemini"):
        assert plainly == [PREFIX + "x"]
