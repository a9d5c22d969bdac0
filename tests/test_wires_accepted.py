"""Whatever the history, what a wire makes of its replay is a request the provider takes."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedrock_judge import check_bedrock
from bedrock_rules import bedrock_faults
from gemini_judge import check_gemini
from gemini_rules import gemini_faults
from langchain_judge import check_langchain
from langchain_rules import langchain_faults
from mistral_judge import BEFORE_V7, SINCE_V7, check_mistral
from mistral_rules import mistral_faults
from responses_judge import check_responses
from responses_rules import responses_faults
from sdk_types import check_anthropic, check_openai
from strategies_histories import ARGUMENTS, ODD_IDS, ODD_NAMES, TEXTS, damaged, healthy
from tooldialect.dialects import ChatMessage, ToolResultBatch, ToolSpec, get_dialect
from tooldialect.dialects.wires import (
    AnthropicWire,
    BedrockWire,
    GeminiWire,
    LangChainWire,
    MistralWire,
    OpenAIChatWire,
    OpenAIResponsesWire,
    PlainChatWire,
)
from wire_rules import anthropic_faults, openai_faults, strict_chat_faults

ODD = {"ids": ODD_IDS, "names": ODD_NAMES, "texts": TEXTS, "arguments": ARGUMENTS}
HISTORIES = st.one_of(healthy(**ODD), damaged(**ODD))
SCHEMAS = st.sampled_from(
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
        {"type": "string"},
        {"type": "object", "properties": []},
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"x": {"$ref": "#/$defs/Gone"}}}}},
    ]
)
TOOLS = st.lists(st.builds(ToolSpec, name=ODD_NAMES, description=TEXTS, parameters=SCHEMAS), max_size=3)
DIALECTS = st.sampled_from([get_dialect("native"), get_dialect("xml"), get_dialect("pformat")])
WIRES = [
    OpenAIChatWire(),
    OpenAIChatWire("always"),
    AnthropicWire(),
    PlainChatWire(),
    PlainChatWire(strict_alternation=True),
    OpenAIResponsesWire(),
    MistralWire(),
    MistralWire(text_with_calls=False),
    LangChainWire(),
    GeminiWire(),
    BedrockWire(),
    BedrockWire(results_alone=True, status=False),
]


@given(HISTORIES, TOOLS, DIALECTS)
@settings(max_examples=120)
def test_openai_chat_takes_every_replayed_history(history, tools, dialect):
    request = OpenAIChatWire().encode(dialect.replay(history), tools)
    check_openai(request)
    assert not list(openai_faults(request).count())


@given(HISTORIES, TOOLS, DIALECTS)
@settings(max_examples=120)
def test_anthropic_takes_every_replayed_history(history, tools, dialect):
    request = AnthropicWire().encode(dialect.replay(history), tools)
    check_anthropic(request)
    assert not list(anthropic_faults(request).count())


@given(HISTORIES, TOOLS, DIALECTS)
@settings(max_examples=120)
def test_openai_responses_takes_every_replayed_history(history, tools, dialect):
    request = OpenAIResponsesWire().encode(dialect.replay(history), tools)
    check_responses(request)
    assert not list(responses_faults(request).count())


@given(HISTORIES, TOOLS, DIALECTS)
@settings(max_examples=120)
def test_mistral_takes_every_replayed_history(history, tools, dialect):
    replayed = dialect.replay(history)
    for versions, text_with_calls in ((SINCE_V7, True), (BEFORE_V7, False)):
        request = MistralWire(text_with_calls=text_with_calls).encode(replayed, tools)
        assert not list(mistral_faults(request, text_with_calls=text_with_calls).count())
        for version in versions if request["messages"] else ():
            check_mistral(request, version)


@given(HISTORIES, TOOLS, DIALECTS)
@settings(max_examples=120)
def test_langchain_takes_every_replayed_history(history, tools, dialect):
    request = LangChainWire().encode(dialect.replay(history), tools)
    check_langchain(request)
    assert not list(langchain_faults(request).count())


@given(HISTORIES, TOOLS, DIALECTS, st.booleans())
@settings(max_examples=120)
def test_gemini_takes_every_replayed_history(history, tools, dialect, multimodal):
    request = GeminiWire(multimodal_results=multimodal).encode(dialect.replay(history), tools)
    check_gemini(request)
    assert not list(gemini_faults(request).count())


@given(HISTORIES, TOOLS, DIALECTS, st.booleans())
@settings(max_examples=120)
def test_bedrock_takes_every_replayed_history(history, tools, dialect, plain):
    wire = BedrockWire(results_alone=plain, status=not plain)
    request = wire.encode(dialect.replay(history), tools)
    check_bedrock(request)
    assert not list(bedrock_faults(request, results_alone=plain, status=not plain).count())


@given(HISTORIES, DIALECTS)
@settings(max_examples=100)
def test_strict_templates_take_every_replayed_history(history, dialect):
    request = PlainChatWire(strict_alternation=True).encode(dialect.replay(history))
    assert not list(strict_chat_faults(request).count())


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
@given(history=HISTORIES, dialect=DIALECTS)
@settings(max_examples=60)
def test_every_text_of_the_host_arrives_and_each_marked_one_is_a_unit(wire, history, dialect):
    replayed = dialect.replay(history)
    units = list(wire.host_texts(json.loads(json.dumps(wire.encode(replayed)))))
    arrived = Counter(units)
    joined = "\0".join(units)
    for text, marked in host_written(replayed):
        if text.strip():
            assert text in joined
            if marked:
                arrived[text] -= 1
    assert all(count >= 0 for count in arrived.values())


@pytest.mark.parametrize("wire", [OpenAIResponsesWire(), MistralWire(), LangChainWire()], ids=lambda wire: wire.name)
@given(history=HISTORIES, dialect=DIALECTS)
@settings(max_examples=40)
def test_every_attachment_is_shown_or_named_once(wire, history, dialect):
    replayed = dialect.replay(history)
    items = wire.messages(wire.encode(replayed))
    parts = [p for i in items for p in i.get("output", i.get("content")) or () if isinstance(p, dict)]
    shown = [p for p in parts if p["type"] in {"input_image", "input_file", "image_url", "image", "file"}]
    notes = [t for t in wire.host_texts(items) if t.startswith("(Attachments not shown: ")]
    assert len(shown) + sum(note.count("/") for note in notes) == sum(map(len, attached(replayed)))


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
@given(history=healthy(**ODD), data=st.data())
@settings(max_examples=40)
def test_a_growing_history_keeps_the_bytes_of_what_was_sent(wire, history, data):
    # Cut where a request is made: behind a user turn or results, so that no cycle is open.
    ends = [n for n, e in enumerate(history, 1) if isinstance(e, ToolResultBatch) or is_spoken_by_user(e)]
    ends = [n for n in ends if n == len(history) or not isinstance(history[n], ToolResultBatch)]
    if isinstance(wire, (PlainChatWire, MistralWire)) and any(
        isinstance(e, ChatMessage) and e.role == "system" for e in history[1:]
    ):
        return
    if ends:
        short = pieces(wire.messages(wire.encode(history[: data.draw(st.sampled_from(ends))])))
        assert pieces(wire.messages(wire.encode(history)))[: len(short)] == short


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
@given(history=HISTORIES)
@settings(max_examples=30)
def test_encoding_changes_no_entry_and_gives_the_same_bytes_again(wire, history):
    before = [entry.model_dump_json() for entry in history]
    assert json.dumps(wire.encode(history)) == json.dumps(wire.encode(history))
    assert [entry.model_dump_json() for entry in history] == before


def host_written(history):
    for entry in history:
        if isinstance(entry, ToolResultBatch):
            yield from ((result.content, result.trusted_verbatim) for result in entry.results)
        elif isinstance(entry, ChatMessage) and entry.role in {"user", "tool"}:
            yield entry.content, entry.trusted_verbatim


def attached(history):
    for entry in history:
        if isinstance(entry, ToolResultBatch):
            yield from (result.attachments for result in entry.results)
        elif isinstance(entry, ChatMessage):
            yield entry.attachments


def is_spoken_by_user(entry):
    return isinstance(entry, ChatMessage) and entry.role == "user" and bool(entry.content.strip())


def pieces(messages):
    """The parts a provider caches by, in order: blocks where there are blocks, text before its last join."""
    parts = []
    for message in messages:
        content = message.get("content", message.get("parts"))
        rest = {key: value for key, value in message.items() if key not in {"content", "parts"}}
        texts = content if isinstance(content, list) else (content or "").split("\n\n")
        parts += [(json.dumps(rest), json.dumps(text)) for text in texts]
    return parts
