"""Faults that people who build harnesses met when reading calls, each with the right answer."""

from __future__ import annotations

import pytest

from tooldialect.dialects import AssistantTurn, ModelResponse, ParsedToolCall, ToolCall, ToolSpec
from tooldialect.dialects.pformat import PFormatDialect
from tooldialect.dialects.xml import XmlDialect

BOTH = pytest.mark.parametrize("dialect", [XmlDialect, PFormatDialect])
RUN = ToolSpec(
    name="run",
    parameters={"properties": {"cmd": {"type": "string"}, "cwd": {"type": "string"}}, "required": ["cmd"]},
)
PLOT = ToolSpec(
    name="plot",
    parameters={
        "properties": {
            "n": {"type": "integer"},
            "on": {"type": "boolean"},
            "points": {"type": "array"},
            "title": {"type": "string"},
        }
    },
)


def read(speaker, text, **fields):
    return speaker.parse_response(ModelResponse(text=text, **fields))


def calls_in(speaker, text):
    reply = read(speaker, text)
    assert reply.problems == ()
    return [(call.name, call.arguments) for call in reply.calls]


@BOTH
def test_x01_a_closing_tag_in_an_argument_ends_no_call(dialect):
    reply = read(
        dialect(),
        'Sure. <tool_call>{"name": "save", "arguments": {"to": "a.md", '
        '"body": "First <tool_call>, at last </tool_call>, \\"so\\"."}}</tool_call> Done.',
    )
    body = 'First <tool_call>, at last </tool_call>, "so".'
    assert reply.calls == (ParsedToolCall(name="save", arguments={"to": "a.md", "body": body}),)
    assert reply.text == "Sure.  Done."


@BOTH
def test_x08_a_draft_in_thinking_is_kept_as_text_and_not_executed(dialect):
    thinking = '<think>Perhaps <tool_call>{"name": "wipe", "arguments": {}}</tool_call>? No.</think>\n'
    reply = read(dialect(), thinking + '<tool_call>{"name": "list", "arguments": {"n": 1}}</tool_call>')
    assert reply.calls == (ParsedToolCall(name="list", arguments={"n": 1}),)
    assert (reply.text, reply.problems) == (thinking, ())


@BOTH
def test_x12_a_tag_in_prose_holds_nothing_back(dialect):
    text = "Some write <tool_call> tags, some `<function=...>`.\nBoth work. That is all."
    reply = read(dialect([RUN]), text)
    assert (reply.text, reply.calls, reply.problems) == (text, (), ())


@BOTH
def test_x24_control_characters_in_strings_are_taken_as_they_are(dialect):
    text = '<tool_call>{"name":"save","arguments":{"body":"def f():\n\treturn 1\r\n\x0b"}}</tool_call>'
    assert calls_in(dialect(), text) == [("save", {"body": "def f():\n\treturn 1\r\n\x0b"})]


@BOTH
@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (r'{"pattern":"\d+\.txt","note":"a\*b"}', {"pattern": r"\d+\.txt", "note": r"a\*b"}),
        ('{"cmd":"echo a \\\n  b"}', {"cmd": "echo a \\\n  b"}),
    ],
)
def test_x26_stray_backslashes_cost_no_argument(dialect, arguments, meant):
    assert calls_in(dialect(), f'<tool_call>{{"name":"grep","arguments":{arguments}}}</tool_call>') == [("grep", meant)]


@BOTH
@pytest.mark.parametrize("arguments", ['{"q":"a"}{"q":"b"} {"q":"}{"}', '{"q":"a"}{"q":'])
def test_x28_joined_argument_objects_are_malformed(dialect, arguments):
    reply = read(dialect(), None, tool_calls=(ToolCall(id="c", name="find", arguments=arguments),))
    assert reply.calls == ()
    assert [(p.kind, p.name, p.raw, p.id) for p in reply.problems] == [("malformed", "find", arguments, "c")]


@BOTH
@pytest.mark.parametrize("arguments", ["", " \n\t", "{}"])
def test_x29_blank_arguments_are_none(dialect, arguments):
    reply = read(dialect(), None, tool_calls=(ToolCall(id="c", name="find", arguments=arguments),))
    assert reply.calls == (ParsedToolCall(name="find", arguments={}, id="c"),)


@BOTH
@pytest.mark.parametrize("arguments", ["null", "[]", "12", '""', '{"a":'])
def test_x29_what_is_no_object_is_not_taken_for_an_empty_one(dialect, arguments):
    reply = read(dialect(), None, tool_calls=(ToolCall(id="c", name="find", arguments=arguments),))
    assert (reply.calls, [p.kind for p in reply.problems]) == ((), ["malformed"])


@BOTH
def test_x30_a_string_that_holds_the_object_is_read_once_more(dialect):
    speaker = dialect()
    reported = ToolCall(id="c", name="w", arguments='"{\\"city\\":\\"Oslo\\"}"')
    assert read(speaker, None, tool_calls=(reported,)).calls[0].arguments == {"city": "Oslo"}
    text = '<tool_call>{"name":"w","arguments":"{\\"city\\":\\"Oslo\\"}"}</tool_call>'
    assert calls_in(speaker, text) == [("w", {"city": "Oslo"})]
    nested = '<tool_call>{"name":"w","arguments":{"city":"{\\"keep\\":\\"as text\\"}"}}</tool_call>'
    assert calls_in(speaker, nested) == [("w", {"city": '{"keep":"as text"}'})]


@BOTH
@pytest.mark.parametrize(
    ("cut", "name", "run"),
    [
        ('<tool_call>{"name":"save","arguments":{"to":"a","body":"part one', "save", []),
        ('<tool_call>{"name":"save","arguments":{"to":"a"}', "save", []),
        ('<tool_call>{"name": "ls", "arguments": {}}</tool_call><tool_call>{"name":"rm","argum', "rm", ["ls"]),
    ],
)
def test_x31_a_call_cut_by_a_length_limit_never_runs(dialect, cut, name, run):
    reply = read(dialect(), cut, truncated=True)
    assert [call.name for call in reply.calls] == run
    assert [(p.kind, p.name) for p in reply.problems] == [("incomplete", name)]


@BOTH
def test_x33_a_result_the_model_made_up_is_text_and_no_live_tag_on_replay(dialect):
    made_up = '\n[Tool results]\n<tool_result name="new_id" status="ok">\n123\n</tool_result>\nIt is 123.'
    speaker = dialect()
    reply = read(speaker, '<tool_call>{"name": "new_id", "arguments": {}}</tool_call>' + made_up)
    assert reply.calls == (ParsedToolCall(name="new_id", arguments={}),)
    assert (reply.text, reply.problems) == (made_up, ())
    assert isinstance(reply.entry, AssistantTurn)
    (replayed,) = speaker.replay([reply.entry])
    assert "<tool_result" not in replayed.content
    assert "</tool_result" not in replayed.content


@pytest.mark.parametrize(
    ("call", "cmd", "cwd"),
    [
        (r'run[0|grep "a\|b" x \| sort|1|srv/app]', 'grep "a|b" x | sort', "srv/app"),
        (r"run[0|echo \]|1|.]", "echo ]", "."),
        (r"run[0|a\\|1|b]", "a\\", "b"),
        ('run[0|one\ntwo {"k": [1\\]}|1|.]', 'one\ntwo {"k": [1]}', "."),
    ],
)
@pytest.mark.parametrize("gap", ["", "\n", " \n"])
def test_x34_an_escaped_backslash_before_a_bar_is_no_escaped_bar(call, cmd, cwd, gap):
    text = f"<tool_call>{gap}{call}{gap}</tool_call>"
    assert calls_in(PFormatDialect([RUN]), text) == [("run", {"cmd": cmd, "cwd": cwd})]


def test_x37_outside_a_tag_nothing_is_a_slot_call():
    text = "See arr[0|j], table[0|2] and [0|b](http://example.test); prerun[0|x|1|y], run [0|x|1|y], run[0|x]."
    reply = read(PFormatDialect([RUN]), text)
    assert (reply.text, reply.calls, reply.problems) == (text, (), ())


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (
            "plot[0|3|1|true|2|[[1,2\\],[3,4\\]\\]|3|007]",
            {"n": 3, "on": True, "points": [[1, 2], [3, 4]], "title": "007"},
        ),
        ("plot[0|three|1|true|2|[\\]|3|x]", {"n": "three", "on": True, "points": [], "title": "x"}),
    ],
)
def test_x40_slots_are_read_by_type_and_what_does_not_spell_it_stays_text(call, arguments):
    assert calls_in(PFormatDialect([PLOT]), f"<tool_call>\n{call}\n</tool_call>") == [("plot", arguments)]


@BOTH
def test_x41_a_thinking_tag_in_an_argument_is_argument(dialect):
    text = (
        '<tool_call>{"name": "save", "arguments": {"body": "put <think> tags"}}</tool_call>'
        '<tool_call>{"name": "done", "arguments": {}}</tool_call>'
    )
    assert calls_in(dialect(), text) == [("save", {"body": "put <think> tags"}), ("done", {})]


@BOTH
@pytest.mark.parametrize(
    "text", ['\ufeff<tool_call>{"name":"a"}</tool_call>', '<tool_call>\ufeff{"name":"a"}</tool_call>']
)
def test_u05_a_byte_order_mark_hides_no_call(dialect, text):
    assert calls_in(dialect(), text) == [("a", {})]


@BOTH
def test_u07_wide_line_breaks_and_spaces_survive_in_arguments(dialect):
    text = '<tool_call>{"name":"w","arguments":{"c":"a\u2028b\u2029c\x85d\\fe\xa0"}}</tool_call>'
    assert calls_in(dialect(), text) == [("w", {"c": "a\u2028b\u2029c\x85d\fe\xa0"})]


@BOTH
def test_r01_a_large_argument_is_read_whole(dialect):
    text = '<tool_call>{"name":"w","arguments":{"c":"' + "line of text 1234\\n" * 35_000 + '"}}</tool_call>'
    ((_, arguments),) = calls_in(dialect(), text)
    assert len(arguments["c"]) == 630_000


def test_r01_a_large_slot_is_read_whole():
    text = "<tool_call>run[0|" + "line \\| of [text]\n" * 35_000 + "]</tool_call>"
    ((_, arguments),) = calls_in(PFormatDialect([RUN]), text)
    assert arguments["cmd"] == "line | of [text]\n" * 35_000


FLOODS = [
    "<tool_call>" * 50_000,
    '<invoke name="a"><parameter name="b">' * 20_000,
    "```json\n{" * 30_000,
    '{"name":' * 30_000,
    "a[b|" * 100_000,
    "a" * 200_000,
    '{"key": "value"}' + "b" * 200_000,
    "<think>" * 50_000,
    "</think>" * 50_000,
    "< " * 100_000,
]


@BOTH
@pytest.mark.parametrize("text", FLOODS, ids=lambda text: text[:12])
def test_r02_r08_floods_without_a_call_are_text(dialect, text):
    reply = read(dialect([RUN]), text)
    assert (reply.text, reply.calls, reply.problems) == (text, (), ())


ATTEMPTS = [
    '<tool_call>{"',
    '<tool_call>{"name": "a", "arguments": {"x": ["',
    '<tool_call>{"a":"\\d',
    "<tool_call>run[",
    "<tool_call>run[0|",
    "<tool_call>run[0|]",
    "<tool_call>run[0|x]</tool_call",
    "<tool_call>[{",
    "<tool_call>run(",
    '<think>\n<tool_call>{"a":"',
    "</think><tool_call>run[0|a",
]


@BOTH
@pytest.mark.parametrize("unit", ATTEMPTS)
def test_r02_floods_of_broken_calls_run_nothing(dialect, unit):
    speaker = dialect([RUN])
    for truncated, end in ((False, ""), (True, ""), (False, "]</tool_call>"), (False, '"}}</tool_call>')):
        text = unit * 6_000 + end
        reply = read(speaker, text, truncated=truncated)
        assert len(reply.calls) <= 1
        assert reply.entry.text == text


@BOTH
def test_r04_a_very_long_integer_is_a_problem_and_what_follows_is_shown(dialect):
    reply = read(dialect(), '<tool_call>{"name":"a","arguments":{"n":' + "7" * 6000 + "}}</tool_call> after")
    assert (reply.text, reply.calls) == (" after", ())
    assert [(p.kind, p.name) for p in reply.problems] == [("malformed", "a")]


@BOTH
def test_r08_words_between_the_tags_are_no_call(dialect):
    text = "<tool_call>" + "word " * 40_000 + "</tool_call>"
    reply = read(dialect([RUN]), text)
    assert (reply.text, reply.calls, reply.problems) == (text, (), ())
