"""Transcripts as JSON Lines, read back in another process or by a program that knows only JSON."""

import json
from typing import Any

import pytest
from hypothesis import given

from strategies import histories
from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    TranscriptEntry,
    TranscriptError,
    VerbatimError,
)
from tooldialect.dialects.host_words import host_texts
from tooldialect.dialects.saved import dump_transcript, load_outcomes, load_transcript


@given(histories)
def test_what_is_saved_is_read_back_equal(history):
    text = dump_transcript(history)
    assert load_transcript(text) == history
    assert load_transcript(text.encode().decode()) == history
    assert dump_transcript(load_transcript(text)) == text


@given(histories)
def test_each_entry_is_one_line_of_json(history):
    lines = dump_transcript(history).split("\n")
    assert lines.pop() == ""
    assert [json.loads(line)["kind"] for line in lines] == [entry.kind for entry in history]


@given(histories)
def test_untrusted_text_carries_no_flag(history):
    loaded = load_transcript(dump_transcript(history), trusted=False)
    flagged: list[Any] = [
        part for entry in loaded for part in getattr(entry, "results", (entry,)) if entry.kind != "assistant_turn"
    ]
    assert not any(part.trusted_verbatim for part in flagged)
    assert [e.kind for e in loaded] == [e.kind for e in history]


def test_defaults_are_omitted_but_for_the_kind():
    history: list[TranscriptEntry] = [
        ChatMessage(role="user", content="hi"),
        AssistantTurn(),
        AssistantTurn(text="", tool_calls=(ToolCall(id="c1", name="ls", arguments="{}"),)),
        ToolResultBatch(results=(ToolResult(tool_call_id="c1", content="é", success=False),)),
        ChatMessage(role="user", content="[m]", metadata={}, trusted_verbatim=True),
    ]
    assert dump_transcript(history) == (
        '{"kind":"chat","role":"user","content":"hi"}\n'
        '{"kind":"assistant_turn"}\n'
        '{"kind":"assistant_turn","text":"","tool_calls":[{"id":"c1","name":"ls","arguments":"{}"}]}\n'
        '{"kind":"tool_results","results":[{"tool_call_id":"c1","content":"é","success":false}]}\n'
        '{"kind":"chat","role":"user","content":"[m]","metadata":{},"trusted_verbatim":true}\n'
    )


def test_nothing_is_saved_as_nothing():
    assert dump_transcript([]) == ""
    assert load_transcript("") == load_transcript("\n \n\r\n") == []


def test_lines_end_at_line_feeds_alone():
    message = ChatMessage(role="user", content="a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\rh\n")
    text = dump_transcript([message, message])
    assert text.count("\n") == 2
    assert load_transcript(text) == [message, message]
    assert load_transcript(text.replace("\n", "\r\n")) == [message, message]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"kind":"chat","role":"user","content":"x","colour":"red"}', "colour"),
        ('{"kind":"chat","role":"user"}', "content"),
        ('{"kind":"chat","role":"robot","content":"x"}', "role"),
        ('{"kind":"chat","role":"user","content":"x","trusted_verbatim":"yes"}', "trusted_verbatim"),
        ('{"kind":"chat","role":"user","content":"x","trusted_verbatim":1}', "trusted_verbatim"),
        ('{"kind":"chat","role":"user","content":"x","metadata":{"a":NaN}}', "NaN"),
        ('{"kind":"chat","role":"user","content":"x","metadata":{"a":1e999}}', "JSON"),
        ('{"kind":"tool_results","results":[{"tool_call_id":"c","content":"x","succes":true}]}', "succes"),
        ('{"kind":"summary"}', "summary"),
        ('{"role":"user","content":"x"}', "kind"),
        ("[]", "dict"),
        ("{", "not JSON"),
        ("[" * 5_000, "not JSON"),
    ],
)
@pytest.mark.parametrize("trusted", [True, False])
def test_a_line_that_is_no_entry_is_an_error_that_names_it(line, said, trusted):
    text = '{"kind":"assistant_turn"}\n\n' + line + "\n"
    with pytest.raises(TranscriptError, match=rf"(?s)line 3.*{said}") as raised:
        load_transcript(text, trusted=trusted)
    assert raised.value.line == 3


def test_a_flagged_text_with_a_lone_surrogate_is_refused_with_its_line():
    text = '{"kind":"chat","role":"user","content":"\\ud83d","trusted_verbatim":true}'
    with pytest.raises(VerbatimError, match="line 1"):
        load_transcript(text)
    assert load_transcript(text, trusted=False) == [ChatMessage(role="user", content="\ufffd")]


def test_surrogate_pairs_written_as_escapes_are_joined():
    text = '{"kind":"chat","role":"user","content":"\\ud83d\\ude00","trusted_verbatim":true}'
    assert load_transcript(text) == [ChatMessage(role="user", content="\U0001f600", trusted_verbatim=True)]


def test_metadata_as_deep_as_records_take_is_saved():
    deep: dict = {}
    for _ in range(249):
        deep = {"d": deep}
    message = ChatMessage(role="user", content="x", metadata=deep)
    assert load_transcript(dump_transcript([message])) == [message]


def test_numbers_keep_their_kind():
    message = ChatMessage(role="user", content="x", metadata={"a": 1, "b": 1.0, "c": True, "d": 10**40, "e": 5e-324})
    [loaded] = load_transcript(dump_transcript([message]))
    assert isinstance(loaded, ChatMessage)
    assert json.dumps(loaded.metadata) == json.dumps(message.metadata)


OUTCOMES = [ToolOutcome.ok("ls", "a"), ToolOutcome.failed("pwd", "é", tool_call_id="c1", trusted_verbatim=True)]
AS_OBJECTS = [json.loads(outcome.model_dump_json()) for outcome in OUTCOMES]


def test_outcomes_are_read_from_an_array_or_from_lines():
    assert load_outcomes(json.dumps(AS_OBJECTS, indent=2)) == OUTCOMES
    assert load_outcomes("\n".join(map(json.dumps, AS_OBJECTS)) + "\n\n") == OUTCOMES
    assert load_outcomes("") == load_outcomes("[]") == []


def test_the_place_of_a_wrong_outcome_is_named():
    with pytest.raises(TranscriptError, match="item 2: output"):
        load_outcomes('[{"name":"a","output":"b"},{"name":"a"}]')
    with pytest.raises(TranscriptError, match="line 2: output"):
        load_outcomes('{"name":"a","output":"b"}\n{"name":"a"}')


@given(histories)
def test_host_texts_are_user_and_tool_texts_in_order(history):
    expected = []
    for entry in history:
        if entry.kind == "chat" and entry.role in ("user", "tool"):
            expected.append(entry.content)
        elif entry.kind == "tool_results":
            expected += [result.content for result in entry.results]
    assert list(host_texts(iter(history))) == expected


def test_system_and_assistant_text_is_never_host_text():
    assert not list(
        host_texts(
            [
                ChatMessage(role="system", content="[m]", trusted_verbatim=True),
                ChatMessage(role="assistant", content="[m]", trusted_verbatim=True),
                AssistantTurn(text="[m]", reasoning_content="[m]"),
            ]
        )
    )
