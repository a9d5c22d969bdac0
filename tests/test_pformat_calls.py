from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies_calls import pieces, typed
from tooldialect.dialects import ModelResponse, ParsedToolCall, ToolSpec
from tooldialect.dialects.pformat import PFormatDialect

WEATHER = ToolSpec(
    name="get_weather",
    parameters={"properties": {"unit": {"type": "string"}, "location": {"type": "string"}}, "required": ["location"]},
)
KINDS = ToolSpec(
    name="kinds",
    parameters={
        "properties": {
            "a": {"type": "array"},
            "b": {"type": "boolean"},
            "i": {"type": "integer"},
            "n": {"type": ["number", "null"]},
            "o": {"type": "object"},
            "s": {"type": "string"},
            "u": {"type": ["string", "integer"]},
        }
    },
)
PING = ToolSpec(name="ping")
ODD = ToolSpec(name="odd name", parameters={"properties": {"a": {"type": "string"}}})
SLOTS = PFormatDialect([WEATHER, KINDS, PING, ODD])
FORM = "Write `get_weather[0|<location>|1|<unit>]`, leaving out the slots you do not need."


def read(text, speaker=SLOTS, **fields):
    return speaker.parse_response(ModelResponse(text=text, **fields))


def arguments_of(call, speaker=SLOTS):
    reply = read(f"<tool_call>\n{call}\n</tool_call>", speaker)
    assert (reply.text, reply.problems) == ("", ())
    return reply.calls[0].arguments


def say(name, **arguments):
    rendered = SLOTS.render_call(ParsedToolCall(name=name, arguments=arguments))
    assert rendered.startswith("<tool_call>\n")
    assert rendered.endswith("\n</tool_call>")
    return rendered[12:-13]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("get_weather[0|London|1|metric]", {"location": "London", "unit": "metric"}),
        ("get_weather[1|metric]", {"unit": "metric"}),
        ("get_weather[1|metric|0|London]", {"location": "London", "unit": "metric"}),
        ("get_weather[0| London \n|1|]", {"location": " London \n", "unit": ""}),
        ("get_weather[ 0 |a|\n1|b]", {"location": "a", "unit": "b"}),
        ("get_weather[00|a]", {"location": "a"}),
        ("get_weather[]", {}),
        ("get_weather[ \n]", {}),
        (r"get_weather[0|a\|b\]c\\d]", {"location": r"a|b]c\d"}),
        (r"get_weather[0|C:\new\table \[x]", {"location": r"C:\new\table \[x"}),
        (r"get_weather[0|\\\|\\\]|1|\\]", {"location": "\\|\\]", "unit": "\\"}),
        ("get_weather[0|a[1] and b[2]]", {"location": "a[1] and b[2]"}),
        (
            "get_weather[0|</tool_call> and <tool_call> |1|x]",
            {"location": "</tool_call> and <tool_call> ", "unit": "x"},
        ),
        ("get_weather[0|<tool_call>\nping[\\]\n</tool_call>]", {"location": "<tool_call>\nping[]\n</tool_call>"}),
        (
            'get_weather[0|<tool_call>{"name": "ping"}</tool_call>]',
            {"location": '<tool_call>{"name": "ping"}</tool_call>'},
        ),
        ("get_weather[0|<tool_call>ping[ begins a call]", {"location": "<tool_call>ping[ begins a call"}),
        ("get_weather[0|use <think> tags]", {"location": "use <think> tags"}),
        ('{"name": "get_weather", "arguments": {"location": "]|"}}', {"location": "]|"}),
    ],
)
def test_each_value_stands_behind_the_number_of_its_slot(call, arguments):
    assert arguments_of(call) == arguments


@pytest.mark.parametrize(
    ("slot", "text", "value"),
    [
        (0, "[1,[2\\]\\]", [1, [2]]),
        (0, '["line\nbreak"\\]', ["line\nbreak"]),
        (0, "[", "["),
        (1, "true", True),
        (1, "True", "True"),
        (1, "1", "1"),
        (2, "3", 3),
        (2, " 3\n", 3),
        (2, "3.0", 3.0),
        (2, "3.5", "3.5"),
        (2, "007", "007"),
        (2, "three", "three"),
        (2, "", ""),
        (2, "null", "null"),
        (2, "7" * 6000, "7" * 6000),
        (3, "null", None),
        (3, "-1e3", -1000.0),
        (3, "1", 1),
        (3, "NaN", "NaN"),
        (3, "1e999", "1e999"),
        (4, '{"k": "a\\|b"}', {"k": "a|b"}),
        (4, "[\\]", "[]"),
        (5, "007", "007"),
        (5, "null", "null"),
        (5, '"quoted"', '"quoted"'),
        (6, "7", "7"),
    ],
)
def test_a_value_is_read_by_its_type_only_where_it_spells_it(slot, text, value):
    (argument,) = arguments_of(f"kinds[{slot}|{text}]").values()
    assert typed(argument) == typed(value)


INTEGER = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "is_integer"),
    [
        ({"$ref": "#/$defs/a~1b"}, True),
        ({"$ref": "#/$defs/c%20d"}, True),
        ({"$ref": "#/$defs/list/0"}, True),
        ({"$ref": "#/$defs/list/1"}, False),
        ({"$ref": "#/$defs/list/x"}, False),
        ({"$ref": "#/$defs/none"}, False),
        ({"$ref": "#/$defs/a~1b/type/x"}, False),
        ({"$ref": "#anchor"}, False),
        ({"$ref": "https://example.test/schema"}, False),
        ({"$ref": "file:///etc/hosts"}, False),
        ({"$ref": 3}, False),
        ({"$ref": "#/$defs/loop"}, False),
        ({"allOf": [{"$ref": "#/$defs/loop"}, INTEGER]}, False),
        ({"anyOf": [{"$ref": "#"}, INTEGER]}, False),
        ({"anyOf": [{"$ref": "#/$defs/double0"}, {"$ref": "#/$defs/double0"}]}, False),
        ({"type": "integer", "anyOf": [{"minimum": 1}, {"maximum": -1}]}, True),
        ({"type": ["integer", {}, 3]}, True),
        ({"type": "text"}, False),
        ({"enum": [7, 8]}, True),
        ({"enum": ["7", 8]}, False),
        ({"enum": 7, "anyOf": 3, "allOf": {}}, False),
        ({"const": 7}, True),
        ({"const": "7"}, False),
        ({"type": "integer", "nullable": True}, True),
        ({"type": ["string", "integer"], "enum": [7, None]}, True),
        (False, False),
        ([], False),
    ],
)
def test_the_type_of_a_slot_is_read_through_what_is_local_in_the_schema(schema, is_integer):
    doubling = {f"double{n}": {"anyOf": [{"$ref": f"#/$defs/double{n + 1}"}] * 2} for n in range(60)}
    definitions = {"a/b": INTEGER, "c d": INTEGER, "list": [INTEGER], "loop": {"$ref": "#/$defs/loop"}, **doubling}
    tool = ToolSpec(name="t", parameters={"properties": {"x": schema}, "$defs": definitions | {"double60": INTEGER}})
    assert arguments_of("t[0|7]", PFormatDialect([tool])) == {"x": 7 if is_integer else "7"}


@pytest.mark.parametrize(
    "parameters",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/loop", "$defs": {"loop": {"$ref": "#/$defs/loop"}}},
        {"properties": [], "required": 3},
        {"allOf": [{"allOf": [{"$ref": "#"}, {"$ref": "#"}]}] * 50},
    ],
)
def test_a_schema_that_names_no_parameter_gives_no_slots(parameters):
    speaker = PFormatDialect([ToolSpec(name="t", parameters=parameters)])
    assert arguments_of("t[]", speaker) == {}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("get_weather[London|metric]", '"London" stands where the number of a slot is wanted'),
        ("get_weather[0|London|metric]", '"metric" stands where'),
        ("get_weather[0|London|metric|1]", '"metric" stands where'),
        ("get_weather[0|London|]", '"" stands where'),
        ("get_weather[|London]", '"" stands where'),
        ("get_weather[-1|a]", '"-1" stands where'),
        ("get_weather[٠|a]", "stands where"),
        ("get_weather[0]", "slot 0 has no value"),
        ("get_weather[0|a|1]", "slot 1 has no value"),
        ("get_weather[2|a]", "there is no slot 2: the tool has slots 0 to 1"),
        ("get_weather[99999999999|a]", "there is no slot 999999…"),
        ("get_weather[0|a|0|b]", "slot 0 is given twice"),
        ("get_weather(London)", "this is not how a call is written"),
        ("get_weather [0|a]", "this is not how a call is written"),
        ('get_weather{"location": "a"}', "this is not how a call is written"),
        ("get_weather", "this is not how a call is written"),
    ],
)
def test_numbers_that_do_not_fit_are_a_problem_that_shows_the_form(call, says):
    text = f"<tool_call>{call}</tool_call>"
    reply = read(f"a {text} b")
    assert (reply.text, reply.calls) == ("a  b", ())
    (problem,) = reply.problems
    assert (problem.kind, problem.name, problem.raw) == ("malformed", "get_weather", text)
    assert says in problem.detail
    assert FORM in problem.detail


def test_a_tool_without_parameters_has_no_slots():
    (problem,) = read("<tool_call>ping[0|a]</tool_call>").problems
    assert problem.detail == (
        "there is no slot 0: the tool has no slots. Write `ping[]`, leaving out the slots you do not need."
    )
    (problem,) = read("<tool_call>odd name[0|a]</tool_call>").problems
    assert problem.detail.endswith('Write `{"name": "odd name", "arguments": {…}}`.')


def test_a_value_nested_too_deep_is_a_problem():
    deep = "[" * 249 + "\\]" * 249
    assert len(read(f"<tool_call>kinds[0|{deep}]</tool_call>").calls) == 1
    (problem,) = read(f"<tool_call>kinds[0|[{deep}\\]]</tool_call>").problems
    assert (problem.kind, problem.name) == ("malformed", "kinds")


def test_an_unknown_tool_is_named_with_the_closest():
    text = "<tool_call>get_wether[0|a]</tool_call>"
    (problem,) = read(text).problems
    assert (problem.kind, problem.name, problem.raw) == ("unknown_tool", "get_wether", text)
    assert '"get_weather"' in problem.detail


def test_without_tools_only_an_empty_call_and_the_json_form_can_be_read():
    speaker = PFormatDialect()
    assert arguments_of("anything[]", speaker) == {}
    assert arguments_of('{"name": "x", "arguments": {"a": 1}}', speaker) == {"a": 1}
    (problem,) = read("<tool_call>x[0|a]</tool_call>", speaker).problems
    assert (problem.kind, problem.name) == ("malformed", "x")
    assert 'Write `{"name": "x", "arguments": {…}}`' in problem.detail


class TestRendering:
    def test_slots_are_written_in_order_and_escaped(self):
        assert say("get_weather", unit="m|]\\", location="a\nb") == "get_weather[0|a\nb|1|m\\|\\]\\\\]"
        assert say("ping") == "ping[]"

    def test_values_that_are_no_text_are_json(self):
        assert say("kinds", a=[1, "x"], b=False, i=-1, n=None, o={"k": []}) == (
            'kinds[0|[1,"x"\\]|1|false|2|-1|3|null|4|{"k":[\\]}]'
        )

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("nobody", {}),
            ("odd name", {"a": "x"}),
            ("ping", {"a": 1}),
            ("kinds", {"s": 1}),
            ("kinds", {"s": None}),
            ("kinds", {"u": 7}),
            ("kinds", {"i": "7"}),
            ("kinds", {"i": 7.5}),
            ("kinds", {"b": "true"}),
            ("kinds", {"n": "null"}),
            ("kinds", {"a": "[]"}),
            ("kinds", {"s": "<tool_call>"}),
            ("kinds", {"s": "</think>"}),
            ("kinds", {"s": "<start_of_turn>"}),
            ("kinds", {"o": {"a": "</tool_result>"}}),
        ],
    )
    def test_what_slots_cannot_say_is_json(self, name, arguments):
        call = ParsedToolCall(name=name, arguments=arguments)
        rendered = SLOTS.render_call(call)
        assert rendered.startswith('<tool_call>\n{"name": ')
        # A tool that is not given has no reader here: one without tools reads it.
        (read_back,) = read(rendered, PFormatDialect()).calls
        assert typed(read_back.arguments) == typed(arguments)
        assert read_back.name == name

    @given(st.dictionaries(st.sampled_from(["location", "unit"]), pieces))
    def test_text_without_tags_and_tokens_always_fits_slots(self, arguments):
        clean = {key: value.replace("<", "") for key, value in arguments.items()}
        assert say("get_weather", **clean).startswith("get_weather[")
        assert arguments_of(say("get_weather", **clean)) == clean


class TestCallsThatBreakOff:
    def test_one_does_not_take_the_next_call_for_its_value(self):
        first = "Use <tool_call>get_weather[0|value] to call.\n"
        reply = read(first + "<tool_call>ping[]</tool_call> end")
        assert [call.name for call in reply.calls] == ["ping"]
        assert [(p.kind, p.name) for p in reply.problems] == [("malformed", "get_weather")]
        assert reply.text == first + " end"
        assert FORM in reply.problems[0].detail

    def test_nor_an_unknown_one(self):
        reply = read("<tool_call>get_weather[0|a\n<tool_call>nobody[]</tool_call>")
        assert [(p.kind, p.name) for p in reply.problems] == [("malformed", "get_weather"), ("unknown_tool", "nobody")]

    def test_nothing_inside_a_broken_call_is_executed(self):
        text = "<tool_call>\nget_weather[0|see <tool_call>\nping[]\n</tool_call>|1|x]\n</tool_call>"
        reply = read(text + " end")
        assert (reply.calls, reply.text) == ((), " end")
        assert [(p.kind, p.name, p.raw) for p in reply.problems] == [("malformed", "get_weather", text)]

    def test_a_mention_at_the_end_stays_in_the_text(self):
        text = "A call begins with <tool_call>get_weather[ and so on."
        reply = read(text)
        assert (reply.text, reply.calls) == (text, ())
        assert [problem.kind for problem in reply.problems] == ["incomplete"]

    @pytest.mark.parametrize(
        ("cut", "name"),
        [
            ("<tool_call>\n", None),
            ("<tool_call>\nget_wea", None),
            ("<tool_call>\nget_weather", None),
            ("<tool_call>\nget_weather[", "get_weather"),
            ("<tool_call>\nget_weather[0|a] <tool_call>{", "get_weather"),
            ('<tool_call>\nget_weather[0|<tool_call>{"name": "ping"}</tool_call> ', "get_weather"),
            ("<tool_call>\nget_weather[0|London|1|metric]", "get_weather"),
            ("<tool_call>\nget_weather[0|London|1|metric]\n</tool", "get_weather"),
            (
                '<tool_call>{"name": "get_weather", "arguments": {"location": "<tool_call>ping[]</tool_call>',
                "get_weather",
            ),
        ],
    )
    def test_with_a_length_limit_it_is_incomplete_and_cut(self, cut, name):
        reply = read("ok <tool_call>ping[]</tool_call>" + cut, truncated=True)
        assert [call.name for call in reply.calls] == ["ping"]
        assert [(p.kind, p.name, p.raw) for p in reply.problems] == [("incomplete", name, cut)]
        assert reply.text == "ok "


def test_arguments_that_cannot_be_read_are_shown_raw_in_the_tag():
    assert SLOTS.render_raw_call("w", "[oops") == '<tool_call>\n{"name": "w", "arguments": [oops}\n</tool_call>'


def test_the_dialect_is_named():
    assert (PFormatDialect.name, PFormatDialect.call_format) == ("pformat", "slots")
