from __future__ import annotations

import pytest

from tooldialect.dialects import (
    AnthropicWire,
    AssistantTurn,
    BedrockWire,
    GeminiWire,
    LangChainWire,
    MistralWire,
    OpenAIChatWire,
    OpenAIResponsesWire,
    PlainChatWire,
    ToolDialectError,
    UnknownWireError,
    available_wires,
    wire_for,
)

NAMED = {
    "openai-chat": OpenAIChatWire,
    "openai-responses": OpenAIResponsesWire,
    "anthropic": AnthropicWire,
    "gemini": GeminiWire,
    "bedrock": BedrockWire,
    "mistral": MistralWire,
    "langchain": LangChainWire,
    "plain-chat": PlainChatWire,
}


@pytest.mark.parametrize(("name", "wire"), NAMED.items(), ids=NAMED)
def test_each_wire_has_its_name(name, wire):
    assert type(wire_for(name)) is wire
    assert wire.name == name
    assert set(available_wires()) == set(NAMED)


def test_options_are_those_of_the_class():
    (message,) = wire_for("openai-chat", reasoning="always").encode([AssistantTurn(text="x")])["messages"]
    assert message["reasoning_content"] == ""
    with pytest.raises(TypeError, match="argument"):
        wire_for("gemini", telegraph=True)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UnknownWireError, match=r"'openai'; known: openai-chat, openai-responses, .*plain-chat"):
        wire_for("openai")
    assert issubclass(UnknownWireError, ToolDialectError)
