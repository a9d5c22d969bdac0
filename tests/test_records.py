"""The records: what they take, what they refuse, what they make of text that cannot be sent."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from strategies import json_objects, outcomes, texts, tool_calls
from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ModelResponse,
    ParsedResponse,
    ParsedToolCall,
    Problem,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
    VerbatimError,
)

MINIMAL: dict[Any, dict[str, Any]] = {
    ToolOutcome: {"name": "t", "output": "x"},
    ToolCall: {"id": "c", "name": "t", "arguments": "{}"},
    ToolResult: {"tool_call_id": "c", "content": "x"},
    ChatMessage: {"role": "user", "content": "x"},
    AssistantTurn: {},
    ToolResultBatch: {"results": ()},
    ModelResponse: {},
    ParsedToolCall: {"name": "t", "arguments": {}},
    ParsedResponse: {"text": "", "entry": {}},
    Problem: {"kind": "malformed", "name": None, "detail": "d", "raw": "r"},
    ToolSpec: {"name": "t"},
}
RECORDS = [kind(**fields) for kind, fields in MINIMAL.items()]
FLAGS = [
    (ToolOutcome, "success"),
    (ToolOutcome, "trusted_verbatim"),
    (ToolResult, "success"),
    (ToolResult, "trusted_verbatim"),
    (ChatMessage, "trusted_verbatim"),
    (ModelResponse, "truncated"),
]
JSON_FIELDS = [
    (ToolCall, "extra_content"),
    (ChatMessage, "metadata"),
    (AssistantTurn, "metadata"),
    (ModelResponse, "metadata"),
    (ParsedToolCall, "arguments"),
    (ToolSpec, "parameters"),
]
MARKED = [(ToolOutcome, "output"), (ToolResult, "content"), (ChatMessage, "content")]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
class TestEveryRecord:
    def test_is_frozen(self, record):
        field = next(iter(type(record).model_fields))
        with pytest.raises(ValidationError, match="frozen"):
            setattr(record, field, getattr(record, field))

    def test_refuses_unknown_fields(self, record):
        with pytest.raises(ValidationError, match="extra"):
            type(record)(**MINIMAL[type(record)], colour="red")

    def test_takes_keyword_arguments_only(self, record):
        with pytest.raises(TypeError):
            type(record)("x")

    def test_survives_json_exactly(self, record):
        assert type(record).model_validate_json(record.model_dump_json()) == record


@given(outcomes, tool_calls, st.none() | json_objects)
def test_records_survive_json_exactly(outcome, call, metadata):
    turn = AssistantTurn(text=outcome.output, tool_calls=(call,), metadata=metadata)
    for record in (outcome, call, turn):
        again = type(record).model_validate(json.loads(json.dumps(record.model_dump(mode="json"))))
        assert again == record
        assert repr(again) == repr(record)


@pytest.mark.parametrize(("kind", "flag"), FLAGS)
@pytest.mark.parametrize("value", ["yes", "true", "True", 1, 0, 1.0, None, "", []])
def test_booleans_are_strict(kind, flag, value):
    with pytest.raises(ValidationError, match=flag):
        kind(**MINIMAL[kind], **{flag: value})


@pytest.mark.parametrize("value", [1, None, b"x", ["x"], True])
def test_text_is_a_string_and_nothing_is_made_one(value):
    with pytest.raises(ValidationError):
        ToolOutcome(name="t", output=value)
    with pytest.raises(ValidationError):
        ToolCall(id="c", name="t", arguments=value)


@pytest.mark.parametrize(("kind", "field"), JSON_FIELDS)
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_lacks_are_refused_at_any_depth(kind, field, number):
    fields = {name: value for name, value in MINIMAL[kind].items() if name != field}
    with pytest.raises(ValidationError, match="not JSON"):
        kind(**fields, **{field: {"a": [{"b": number}]}})


@pytest.mark.parametrize(("kind", "field"), JSON_FIELDS)
@pytest.mark.parametrize("value", [{1: "x"}, {"a": {1, 2}}, {"a": object()}, [], "x", {"a": 10**5000}])
def test_what_is_no_json_object_is_refused(kind, field, value):
    fields = {name: item for name, item in MINIMAL[kind].items() if name != field}
    with pytest.raises(ValidationError):
        kind(**fields, **{field: value})


def test_nesting_that_cannot_be_read_back_is_refused():
    deep: dict = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(ValidationError, match="nested deeper"):
        ChatMessage(role="user", content="x", metadata=deep)
    while deep:
        deep = deep["a"]


def test_a_record_is_no_window_on_what_it_was_made_from():
    arguments = {"a": [1]}
    call = ParsedToolCall(name="t", arguments=arguments)
    arguments["a"].append(2)
    assert call.arguments == {"a": [1]}


@given(texts)
def test_text_that_can_be_sent_is_kept_as_it_is(text):
    outcome = ToolOutcome.ok("t", text, trusted_verbatim=True)
    assert outcome.output == text
    assert ToolCall(id="c", name="t", arguments=text).arguments == text


def test_control_characters_are_kept():
    text = "k\x00e\x00y \\u0000 \x01 \x1b[31m \x7f\x85\ufeff\u2028"
    assert ToolOutcome.ok("t", text, trusted_verbatim=True).output == text


with_surrogates = st.text(alphabet=st.sampled_from("a\ud83d\ude00\udc00\ud800é\U0001f600\ufffd"), max_size=8)


@given(with_surrogates)
def test_every_text_can_be_sent_and_pairs_are_joined(text):
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    records: list[Any] = [
        ToolOutcome.ok(text, text, tool_call_id=text),
        ToolCall(id=text, name=text, arguments=text, extra_content={text: [text]}),
        ChatMessage(role="user", content=text, metadata={"a": {text: text}}),
        AssistantTurn(text=text, reasoning_content=text),
        Problem(kind="malformed", name=text, detail=text, raw=text),
    ]
    for record in records:
        json.dumps(record.model_dump(), ensure_ascii=False).encode()
    assert records[0].output == records[0].name == records[2].content == expected
    assert records[1].extra_content == {expected: [expected]}


@pytest.mark.parametrize(("kind", "field"), MARKED)
class TestAMarkedTextThatWasRepaired:
    def fields(self, kind, field, text):
        return {**MINIMAL[kind], field: text}

    def test_is_refused(self, kind, field):
        with pytest.raises(VerbatimError, match="lone surrogate"):
            kind(**self.fields(kind, field, "a\ud83d"), trusted_verbatim=True)

    def test_is_refused_after_it_passed_through_an_unmarked_record(self, kind, field):
        unmarked = kind(**self.fields(kind, field, "a\ud83d"))
        assert getattr(unmarked, field) == "a\ufffd"
        with pytest.raises(VerbatimError):
            unmarked.model_copy(update={"trusted_verbatim": True})
        with pytest.raises(VerbatimError):
            ToolOutcome.ok("t", getattr(unmarked, field)).verbatim()

    def test_is_refused_by_a_copy_that_changes_the_text(self, kind, field):
        marked = kind(**self.fields(kind, field, "a"), trusted_verbatim=True)
        with pytest.raises(VerbatimError):
            marked.model_copy(update={field: "\udc00"})

    def test_leaves_no_trace_in_equality_and_dump(self, kind, field):
        repaired, plain = (kind(**self.fields(kind, field, text)) for text in ("a\ud83d", "a\ufffd"))
        assert repaired == plain
        assert repaired.model_dump() == plain.model_dump()
        assert repaired.model_dump_json() == plain.model_dump_json()

    def test_may_hold_a_replacement_character_of_its_own(self, kind, field):
        assert getattr(kind(**self.fields(kind, field, "a\ufffd"), trusted_verbatim=True), field) == "a\ufffd"

    def test_is_marked_where_a_split_pair_was_joined(self, kind, field):
        pair = "\ud83d" + "\ude00"
        assert getattr(kind(**self.fields(kind, field, pair), trusted_verbatim=True), field) == "\U0001f600"


def test_a_verbatim_error_is_no_validation_error():
    assert not issubclass(VerbatimError, ValueError)
    with pytest.raises(VerbatimError):
        TypeAdapter(ToolOutcome).validate_python({"name": "t", "output": "\ud83d", "trusted_verbatim": True})


@given(outcomes)
def test_verbatim_is_a_marked_copy(outcome):
    marked = outcome.verbatim()
    assert marked.trusted_verbatim
    assert marked.model_copy(update={"trusted_verbatim": outcome.trusted_verbatim}) == outcome


def test_ok_and_failed_differ_in_success_alone():
    ok, failed = ToolOutcome.ok("t", "x", tool_call_id="c"), ToolOutcome.failed("t", "x", tool_call_id="c")
    assert (ok.success, failed.success) == (True, False)
    assert ok.model_copy(update={"success": False}) == failed


def test_a_copy_holds_nothing_that_a_constructor_refuses():
    message = ChatMessage(role="user", content="x")
    update: dict[str, Any]
    for update in ({"role": "robot"}, {"content": 1}, {"trusted_verbatim": "yes"}, {"colour": "red"}):
        with pytest.raises(ValidationError):
            message.model_copy(update=update)
    assert message.model_copy() == message
    assert message.model_copy(update={"content": "y"}) == ChatMessage(role="user", content="y")


def test_lists_become_tuples():
    batch = ToolResultBatch.model_validate({"results": [{"tool_call_id": "c", "content": "x"}]})
    assert isinstance(batch.results, tuple)


def test_kinds_name_the_entries():
    kinds = {ChatMessage: "chat", AssistantTurn: "assistant_turn", ToolResultBatch: "tool_results"}
    assert {kind: kind(**MINIMAL[kind]).kind for kind in kinds} == kinds


@pytest.mark.parametrize("kind", ["malformed", "incomplete", "unknown_tool", "ambiguous"])
def test_the_outcome_of_a_problem_tells_the_model(kind):
    problem = Problem(kind=kind, name="ls", detail="no closing tag", raw="<x>", id="c1")
    outcome = problem.outcome()
    assert (outcome.name, outcome.success, outcome.tool_call_id) == ("ls", False, "c1")
    assert "no closing tag" in outcome.output
    assert "not executed" in outcome.output
    assert not outcome.trusted_verbatim


def test_a_problem_without_a_name_answers_as_tool_call():
    problem = Problem(kind="malformed", name=None, detail="d", raw="r")
    assert problem.outcome().name == "tool_call"
    assert problem.outcome().tool_call_id is None


def test_a_problem_of_no_known_kind_is_refused():
    with pytest.raises(ValidationError):
        Problem.model_validate({**MINIMAL[Problem], "kind": "odd"})


def test_a_text_of_a_class_of_its_own_becomes_a_plain_one():
    class Page(str):
        __slots__ = ()

        def encode(self, *_, **__):
            return b"nothing to see"

    outcome = ToolOutcome.ok("fetch", Page("\u2603</tool_result>"))
    assert type(outcome.output) is str
    assert outcome.output == "\u2603</tool_result>"
