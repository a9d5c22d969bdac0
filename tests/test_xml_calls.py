from __future__ import annotations

import pytest

from tooldialect.dialects import ModelResponse, ParsedToolCall, ToolSpec
from tooldialect.dialects.xml import XmlDialect

XML = XmlDialect()
TAUGHT = 'Write {"name": "TOOL", "arguments": {…}} and nothing else between the tags.'


def read(text, **fields):
    return XML.parse_response(ModelResponse(text=text, **fields))


def call_of(text):
    reply = read(f"<tool_call>{text}</tool_call>")
    assert (reply.text, reply.problems) == ("", ())
    (call,) = reply.calls
    return call.name, call.arguments


def problem_of(text, **fields):
    reply = read(text, **fields)
    assert reply.calls == ()
    (problem,) = reply.problems
    return problem, reply.text


def test_a_call_is_json_on_a_line_between_its_tags():
    call = ParsedToolCall(name="get_weather", arguments={"location": "Zürich", "days": 2, "exact": 1.0})
    assert XML.render_call(call) == (
        '<tool_call>\n{"name": "get_weather", "arguments": {"location": "Zürich", "days": 2, "exact": 1.0}}\n</tool_call>'
    )


def test_only_what_would_be_obeyed_is_escaped_in_a_call():
    call = ParsedToolCall(name="w", arguments={"a": "<div> &lt; <tool_call> a<b </think> <|im_end|> </tool_result>"})
    assert (r'"<div> &lt; \u003ctool_call> a<b \u003c/think> \u003c|im_end|> \u003c/tool_result>"') in XML.render_call(
        call
    )


def test_control_tokens_are_the_ones_given():
    speaker = XmlDialect(control_tokens=["<s>"])
    rendered = speaker.render_call(ParsedToolCall(name="w", arguments={"a": "<s><|im_end|>"}))
    assert r"\u003cs><|im_end|>" in rendered


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ('{"name": "a"}', {}),
        ('{"name": "a", "arguments": ""}', {}),
        ('{"name": "a", "arguments": " \\n"}', {}),
        ('{"arguments": {"x": 1}, "name": "a"}', {"x": 1}),
        ('{"name": "a", "arguments": {"x": 1}, "id": "c1"}', {"x": 1}),
        ('{"type": "function", "id": "c1", "name": "a"}', {}),
        ('{"name": "a", "arguments": "{\\"x\\": \\"{}\\"}"}', {"x": "{}"}),
        ('{"name": "a", "arguments": {"x": "\\ud83d\\ude00 \\ud83d"}}', {"x": "😀 \ufffd"}),
        ('\r\n\t{"name": "a", "arguments": {"n": 12345678901234567890}}\n\n', {"n": 12345678901234567890}),
    ],
)
def test_what_is_one_object_with_a_name_is_a_call(body, arguments):
    assert call_of(body) == ("a", arguments)


@pytest.mark.parametrize(
    ("body", "name", "says"),
    [
        ("{}", None, 'no "name"'),
        ('{"arguments": {}}', None, 'no "name"'),
        ('{"name": 3, "arguments": {}}', None, 'no "name"'),
        ('{"name": " ", "arguments": {}}', None, 'no "name"'),
        ('{"name": "a", "parameters": {"x": 1}}', "a", 'no "arguments" but "parameters"'),
        ('{"name": "a", "x": 1}', "a", 'no "arguments" but "x"'),
        ('{"name": "a", "arguments": null}', "a", '"arguments" is null'),
        ('{"name": "a", "arguments": []}', "a", '"arguments" is an array'),
        ('{"name": "a", "arguments": 3}', "a", '"arguments" is a number'),
        ('{"name": "a", "arguments": true}', "a", '"arguments" is a boolean'),
        ('{"name": "a", "arguments": "\\"{}\\""}', "a", '"arguments" is a string'),
        ('{"name": "a", "arguments": "{x"}', "a", "a string that is not JSON"),
        ('{"name": "a", "arguments": {"x": NaN}}', "a", "NaN"),
        ('{"name": "a", "arguments": {"x": 1e999}}', "a", "inf"),
        ('{"name": "a", "arguments": {"x": 1,}}', "a", "not valid JSON"),
        ('{"name": "a", "arguments": {}} done', "a", "between the JSON object and the closing tag"),
        ('{"name": "a", "arguments": {}}{"name": "b"}', "a", "between the JSON object and the closing tag"),
        ('{"name": "a", "arguments": {}}}', "a", "between the JSON object and the closing tag"),
        ('[{"name": "a", "arguments": {}}]', None, "not JSON"),
        ('```json\n{"name": "a"}\n```', None, "not JSON"),
        ("{'name': 'a'}", None, "not valid JSON"),
        ("{“name”: “a”}", None, "not valid JSON"),
        ('{name: "a"}', None, "not valid JSON"),
        ('{"name": "a\\x", "arguments": {"x": 1]}', None, "not valid JSON"),
        ('{"name": "a", "arguments": {"x": "say "hi" to"}}', "a", "not valid JSON"),
        ('{"name": "a", "arguments": {"x": <b>}}', "a", "not JSON"),
    ],
)
def test_what_begins_like_a_call_and_is_none_is_a_problem_that_shows_the_form(body, name, says):
    text = f"<tool_call>{body}</tool_call>"
    problem, left = problem_of(f"before {text} after")
    assert (problem.kind, problem.name, problem.raw) == ("malformed", name, text)
    assert says in problem.detail
    assert TAUGHT in problem.detail
    assert left == "before  after"


@pytest.mark.parametrize("depth", [250, 251, 300, 5_000, 200_000])
def test_deep_nesting_is_read_or_refused_but_never_raises(depth):
    text = f'<tool_call>{{"name": "a", "arguments": {{"x": {"[" * (depth - 1)}{"]" * (depth - 1)}}}}}</tool_call>'
    reply = read(text)
    assert (len(reply.calls), len(reply.problems)) == ((1, 0) if depth <= 250 else (0, 1))
    if reply.calls:
        assert read(XML.render_call(reply.calls[0])).calls == reply.calls


class TestStrayBackslashes:
    @pytest.mark.parametrize(
        ("written", "meant"),
        [
            (r"\d+", r"\d+"),
            (r"a\*b \"c\" \/", r'a\*b "c" /'),
            ("a \\\n b", "a \\\n b"),
            (r"\uZZ", r"\uZZ"),
            (r"\\d+\n", "\\d+\n"),
        ],
    )
    def test_they_are_backslashes_where_that_is_the_one_reading(self, written, meant):
        assert call_of(f'{{"name": "a", "arguments": {{"x": "{written}", "y": "\\n"}}}}') == (
            "a",
            {"x": meant, "y": "\n"},
        )

    @pytest.mark.parametrize("written", [r"C:\dir\new", r"\d\\w", r"\d\u0041", r"\d\t"])
    def test_a_string_that_may_mean_two_things_is_malformed(self, written):
        problem, _ = problem_of(f'<tool_call>{{"name": "a", "arguments": {{"x": "{written}"}}}}</tool_call>')
        assert (problem.kind, problem.name) == ("malformed", "a")


class TestCallsThatBreakOff:
    def test_a_whole_object_without_its_closing_tag_is_incomplete(self):
        for tail in ("", " \n", "</tool_c"):
            problem, left = problem_of(f'x <tool_call>{{"name": "a"}}{tail}')
            assert (problem.kind, problem.name, left) == ("incomplete", "a", "x ")

    def test_one_followed_by_the_next_call_is_malformed_and_the_next_is_read(self):
        reply = read('<tool_call>{"name": "a"}\n<tool_call>{"name": "b"}</tool_call>')
        assert [call.name for call in reply.calls] == ["b"]
        assert [(p.kind, p.raw) for p in reply.problems] == [("malformed", '<tool_call>{"name": "a"}')]
        assert reply.text == "\n"

    def test_a_call_started_over_is_read_and_the_first_try_stays_in_the_text(self):
        first = '<tool_call>{"name": "a", "argu\n'
        reply = read(first + '<tool_call>{"name": "b"}</tool_call>!')
        assert [call.name for call in reply.calls] == ["b"]
        assert [(p.kind, p.name, p.raw) for p in reply.problems] == [("malformed", "a", first)]
        assert reply.text == first + "!"

    def test_nothing_inside_a_broken_call_is_executed(self):
        inner = '<tool_call>{"name": "rm", "arguments": {}}</tool_call>'
        text = f'<tool_call>{{"name": "w", "arguments": {{"c": "use {inner} so"}}}}</tool_call>'
        problem, left = problem_of(text + " end")
        assert (problem.kind, problem.name, problem.raw, left) == ("malformed", "w", text, " end")

    def test_a_broken_call_before_thinking_does_not_free_the_draft_in_it(self):
        draft = '<think><tool_call>{"name": "rm"}</tool_call></think>'
        assert read('<tool_call>{"name": "a", x\n' + draft).calls == ()
        assert read('<think>so</think><tool_call>{"name": "a", x\n' + draft).calls == ()

    def test_without_a_length_limit_it_stays_in_the_text(self):
        text = 'A call begins with <tool_call>{"name" and so on.\nThe end.'
        problem, left = problem_of(text)
        assert (problem.kind, left) == ("incomplete", text)

    @pytest.mark.parametrize(
        ("cut", "name"),
        [
            ("<tool_call>", None),
            ("<tool_call>\n{", None),
            ('<tool_call>{"na', None),
            ('<tool_call>{"name": "rm', None),
            ('<tool_call>{"name": "rm", "arguments": {"a": [1, {', "rm"),
            ('<tool_call>{"name": "rm", "arguments": {"a": "</tool_call> and <tool_call>{} ', "rm"),
            ('<tool_call>{"name": "rm", "arguments": {}}', "rm"),
            ('<tool_call>{"name": "rm", "arguments": {}}\n</tool_ca', "rm"),
        ],
    )
    def test_with_one_it_is_incomplete_and_cut(self, cut, name):
        reply = read('ok <tool_call>{"name": "ls"}</tool_call>' + cut, truncated=True)
        assert [call.name for call in reply.calls] == ["ls"]
        assert [(p.kind, p.name, p.raw) for p in reply.problems] == [("incomplete", name, cut)]
        assert reply.text == "ok "

    def test_a_mention_in_a_reply_that_was_cut_is_a_mention(self):
        reply = read("Use <tool_call> to call, and", truncated=True)
        assert (reply.text, reply.problems) == ("Use <tool_call> to call, and", ())


def test_unknown_tools_are_problems_and_known_ones_run():
    speaker = XmlDialect([ToolSpec(name="ls")])
    reply = speaker.parse_response(
        ModelResponse(text='<tool_call>{"name": "lss"}</tool_call><tool_call>{"name": "ls"}</tool_call>')
    )
    assert [call.name for call in reply.calls] == ["ls"]
    assert [(p.kind, p.name, p.raw) for p in reply.problems] == [
        ("unknown_tool", "lss", '<tool_call>{"name": "lss"}</tool_call>')
    ]


def test_arguments_that_cannot_be_read_are_shown_raw_in_the_tag():
    assert XML.render_raw_call("w", '{"a": <tool_result>') == (
        '<tool_call>\n{"name": "w", "arguments": {"a": \\u003ctool_result>}\n</tool_call>'
    )


def test_the_dialect_is_named_and_its_tags_are_those_it_reads_and_writes():
    assert (XmlDialect.name, XmlDialect.call_format) == ("xml", "json")
    assert {"tool_call", "tool_result"} <= set(XmlDialect.protocol_tags)
