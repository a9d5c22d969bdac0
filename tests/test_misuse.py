"""What a host or an implementer gets wrong is said in words that help."""

from __future__ import annotations

import logging
from importlib.metadata import EntryPoint

import pytest

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ToolCall,
    ToolDialect,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    TranscriptError,
    XmlDialect,
    available_dialects,
    available_wires,
    dump_transcript,
    get_dialect,
    load_transcript,
    registry,
    repair_tool_cycles,
    wire_for,
)
from tooldialect.dialects.pairing import INTERRUPTED

BUILT_IN = pytest.mark.parametrize("name", ["native", "xml", "pformat"])
OUTCOME = ToolOutcome.ok("t", "x", tool_call_id="c")
MESSAGE = ChatMessage(role="user", content="hi")
PROVIDERS = {"role": "user", "content": "hi"}


@BUILT_IN
@pytest.mark.parametrize("single", [True, False])
def test_one_outcome_without_its_list_is_a_type_error_that_says_so(name, single):
    given = OUTCOME if single else [OUTCOME, MESSAGE]
    hint = "met tuple; is it one record without a list around it" if single else "met ChatMessage"
    with pytest.raises(TypeError, match=rf"format_results takes a list of records \(ToolOutcome\), and {hint}"):
        get_dialect(name).format_results(given)


@BUILT_IN
def test_a_provider_message_in_a_history_is_a_type_error_that_says_what_is_wanted(name):
    with pytest.raises(TypeError, match=r"takes a list of records \(ChatMessage, .*met dict"):
        get_dialect(name).replay([MESSAGE, PROVIDERS])


@pytest.mark.parametrize("wire", available_wires())
def test_so_it_is_for_a_wire(wire):
    with pytest.raises(TypeError, match=r"takes a list of records \(ChatMessage, .*met dict"):
        wire_for(wire).encode([MESSAGE, PROVIDERS])


@pytest.mark.parametrize("given", [MESSAGE, [PROVIDERS], [MESSAGE, OUTCOME, 5]])
def test_what_is_no_list_of_entries_is_not_dumped(given):
    with pytest.raises(TypeError, match=r"dump_transcript takes a list of records \(ChatMessage, .*met "):
        dump_transcript(given)


def test_a_saved_provider_message_is_told_from_an_entry():
    with pytest.raises(TranscriptError, match=r'^line 2: no "kind": is this a provider message\?$') as found:
        load_transcript('\n{"role": "user", "content": "hi"}')
    assert found.value.line == 2


class Half(ToolDialect):
    """Abstract still, so it needs no name."""

    def replay(self, history):
        return list(history)


def test_a_concrete_dialect_without_a_name_is_refused_where_it_is_written():
    methods = dict.fromkeys(("format_results", "parse_response", "render_call", "prompt_instructions"), lambda *_: None)
    with pytest.raises(TypeError, match="Whole has no name"):
        type("Whole", (Half,), methods)
    assert type("Named", (Half,), {**methods, "name": "whole"}).name == "whole"
    assert type("Heir", (XmlDialect,), {}).name == "xml"


def test_a_plug_in_hidden_by_a_built_in_is_warned_of_once(monkeypatch, caplog):
    hidden = EntryPoint("xml", "acme.dialect:AcmeXml", registry.ENTRY_POINT_GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [hidden])
    with caplog.at_level(logging.WARNING, logger="tooldialect.dialects"):
        assert available_dialects() == ["native", "xml", "pformat"]
        assert available_dialects() == ["native", "xml", "pformat"]
    assert [record.getMessage() for record in caplog.records] == [
        "the dialect 'xml' that acme.dialect:AcmeXml registers is ignored: a built-in one has the name"
    ]


def result(content, **fields):
    return ToolResult(tool_call_id="c", content=content, **fields)


def test_a_result_without_a_name_takes_that_of_the_call_that_the_repair_gives_it():
    calls = tuple(ToolCall(id="c", name=name, arguments="{}") for name in ("first", "second"))
    results = (result(INTERRUPTED, success=False), result("one"), result("two"), result("three"))
    history = [AssistantTurn(tool_calls=calls), ToolResultBatch(results=results)]
    _, batch = repair_tool_cycles(history)
    assert [answer.content for answer in batch.results] == ["one", "two"]
    (message,) = XmlDialect().replay(history)[1:]
    heads = [line for line in message.content.split("\n") if line.startswith("<tool_result ")]
    assert heads == [
        '<tool_result name="second" status="error">',
        '<tool_result name="first" status="ok">',
        '<tool_result name="second" status="ok">',
        '<tool_result name="second" status="ok">',
    ]
