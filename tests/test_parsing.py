"""What holds for both dialects that write calls in tags."""

from __future__ import annotations

import re
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies_calls import FRAGMENTS, pieces, tools_and_calls, typed
from tooldialect.dialects import ModelResponse, ParsedToolCall, ToolCall, ToolSpec, get_dialect
from tooldialect.dialects.catalogue import render_catalogue
from tooldialect.dialects.pformat import PFormatDialect
from tooldialect.dialects.sample_calls import EXAMPLE_TOOLS
from tooldialect.dialects.xml import XmlDialect

DIALECTS = [XmlDialect, PFormatDialect]
both = pytest.mark.parametrize("dialect", DIALECTS)
PING = ToolSpec(name="ping")
# Prose a model may write around calls: no tag, no line that opens thinking.
prose = st.text(st.characters(exclude_characters="<", exclude_categories=["Cs"]), max_size=20)


def read(dialect, text, **fields):
    return dialect.parse_response(ModelResponse(text=text, **fields))


@both
@settings(max_examples=150)
@given(data=st.data())
def test_a_rendered_call_is_read_back_equal_in_order_with_the_prose_around_it(dialect, data):
    tools, calls = data.draw(tools_and_calls())
    between = data.draw(st.lists(prose, min_size=len(calls) + 1, max_size=len(calls) + 1))
    speaker = dialect(tools)
    text = between[0] + "".join(
        speaker.render_call(call) + after for call, after in zip(calls, between[1:], strict=True)
    )
    reply = read(speaker, text, truncated=data.draw(st.booleans()))
    assert [typed(call.model_dump()) for call in reply.calls] == [typed(call.model_dump()) for call in calls]
    assert reply.problems == ()
    assert reply.text == "".join(between)
    assert reply.entry.text == text


@both
@given(data=st.data())
def test_a_rendered_call_spells_no_tag_but_its_own_and_no_control_token(dialect, data):
    tools, calls = data.draw(tools_and_calls())
    live = re.compile(
        r"<[|/\s]*(?:tool_call|tool_result|think)[\s>/|]|<\|im_end\|>|<start_of_turn>", re.IGNORECASE | re.ASCII
    )
    for call in calls:
        rendered = dialect(tools).render_call(call)
        assert rendered.startswith("<tool_call>\n")
        assert rendered.endswith("\n</tool_call>")
        assert not live.search(rendered[len("<tool_call>") : -len("</tool_call>")])


@both
@given(data=st.data())
def test_without_tools_every_call_can_be_said_and_no_name_is_unknown(dialect, data):
    _, calls = data.draw(tools_and_calls())
    speaker = dialect()
    reply = read(speaker, "\n".join(map(speaker.render_call, calls)))
    assert [typed(call.model_dump()) for call in reply.calls] == [typed(call.model_dump()) for call in calls]


@both
@settings(max_examples=250)
@given(text=pieces | st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join), truncated=st.booleans())
def test_no_text_raises_and_none_of_it_is_lost(dialect, text, truncated):
    reply = read(
        dialect([PING, ToolSpec(name="run", parameters={"properties": {"a": {}, "b": {}}})]), text, truncated=truncated
    )
    assert reply.entry.text == text
    # What is left is the text in order with pieces cut out.
    position = 0
    for character in reply.text:
        position = text.index(character, position) + 1
    for problem in reply.problems:
        assert problem.raw
        assert problem.raw in text
        assert problem.outcome().success is False
    if not reply.calls and not reply.problems:
        assert reply.text == text


@both
@given(
    text=st.text(max_size=60),
    reported=st.lists(
        st.builds(ToolCall, id=st.text(max_size=2), name=st.text(max_size=4), arguments=st.text(max_size=10)),
        max_size=2,
    ),
)
def test_the_entry_keeps_what_came(dialect, text, reported):
    response = ModelResponse(text=text, tool_calls=tuple(reported), reasoning_content="r", metadata={"m": 1})
    entry = dialect().parse_response(response).entry
    assert (entry.text, entry.tool_calls) == (response.text, response.tool_calls)
    assert (entry.reasoning_content, entry.metadata) == ("r", {"m": 1})


@both
@given(text=st.text(st.characters(exclude_characters="<"), max_size=80))
def test_prose_without_tags_is_unchanged(dialect, text):
    reply = read(dialect([PING]), text)
    assert (reply.text, reply.calls, reply.problems) == (ModelResponse(text=text).text, (), ())


MENTIONS = [
    "Write <tool_call> first. ",
    "Write <tool_call> first and </tool_call> last. ",
    "`<tool_call>` and `</tool_call>`: ",
    "<tool_call></tool_call> ",
    "<tool_call>…</tool_call> ",
    "<tool_call>{...}</tool_call> ",
    "<tool_call>{ then ",
    "</tool_call> ",
    "I use <think> for this: ",
    "<tool_calls>{",
    "<tool_call:x> ",
    "<|tool_call|> ",
    "<tool_call id=1> ",
]


@both
@pytest.mark.parametrize("mention", MENTIONS)
def test_a_mention_swallows_nothing_that_follows(dialect, mention):
    speaker = dialect([PING])
    call = ParsedToolCall(name="ping", arguments={})
    reply = read(speaker, mention + speaker.render_call(call) + " end")
    assert (reply.text, reply.calls, reply.problems) == (mention + " end", (call,), ())
    alone = read(speaker, mention + "The end.")
    assert (alone.text, alone.calls, alone.problems) == (mention + "The end.", (), ())


@both
@pytest.mark.parametrize("closer", ["</tool_call>", "</TOOL_CALL>", "</ tool_call\n>", "< / Tool_Call >"])
def test_the_closing_tag_may_be_spelled_in_any_case_with_white_space(dialect, closer):
    reply = read(dialect([PING]), f'a<tool_call>{{"name": "ping", "arguments": {{}}}} \n{closer}b')
    assert (reply.text, reply.calls) == ("ab", (ParsedToolCall(name="ping", arguments={}),))


class TestThinking:
    PING = '<tool_call>{"name": "ping"}</tool_call>'

    def ask(self, dialect, text, **fields):
        reply = read(dialect([PING]), text, **fields)
        return len(reply.calls), [problem.kind for problem in reply.problems], reply.text

    @both
    def test_a_call_in_thinking_is_text(self, dialect):
        text = f"<think>Maybe {self.PING}?</think>"
        assert self.ask(dialect, text + self.PING) == (1, [], text)
        assert self.ask(dialect, text) == (0, [], text)

    @both
    def test_a_thinking_tag_in_the_argument_of_a_draft_ends_no_thinking(self, dialect):
        text = f'<think><tool_call>{{"name": "ping", "arguments": {{"a": "</think>"}}}}</tool_call>{self.PING}</think>'
        assert self.ask(dialect, text) == (0, [], text)

    @both
    def test_text_before_a_closing_tag_that_nothing_opened_is_thinking(self, dialect):
        text = f"Maybe {self.PING}? <tool_call>{{'bad'}}</tool_call></think>\n"
        assert self.ask(dialect, text + self.PING) == (1, [], text)

    @both
    def test_a_stray_closing_tag_behind_closed_thinking_is_a_mention(self, dialect):
        assert self.ask(dialect, f"<think>a</think>{self.PING}</think>") == (1, [], "<think>a</think></think>")

    @both
    def test_a_call_in_thinking_that_never_ended_is_ambiguous_and_stays_in_the_text(self, dialect):
        text = f"Well.\n  <think>Let me. {self.PING}"
        assert self.ask(dialect, text) == (0, ["ambiguous"], text)

    @both
    def test_thinking_cut_by_a_length_limit_holds_drafts_only(self, dialect):
        text = f"<think>Maybe {self.PING} or"
        assert self.ask(dialect, text, truncated=True) == (0, [], text)

    @both
    def test_an_unclosed_thinking_tag_within_a_line_is_a_mention(self, dialect):
        assert self.ask(dialect, f"Mind <think>. {self.PING}") == (1, [], "Mind <think>. ")
        far = " " * 200
        assert self.ask(dialect, f"x{far}<think>{self.PING}")[0] == 1


class TestReported:
    CALL = ToolCall(id="c1", name="ping", arguments="")

    @both
    def test_reported_calls_follow_those_in_the_text_with_their_ids(self, dialect):
        reply = read(dialect([PING]), '<tool_call>{"name": "ping"}</tool_call>', tool_calls=(self.CALL,))
        assert [(call.name, call.id) for call in reply.calls] == [("ping", None), ("ping", "c1")]
        assert reply.entry.tool_calls == (self.CALL,)

    @both
    def test_a_reported_call_that_cannot_be_read_is_a_problem_with_its_id(self, dialect):
        calls = tuple(
            ToolCall(id=str(number), name=name, arguments=arguments)
            for number, (name, arguments) in enumerate(
                [("ping", "[]"), ("pong", "{}"), (" ", "{}"), ("ping", '{"a": 1}')]
            )
        )
        reply = read(dialect([PING]), None, tool_calls=calls)
        assert reply.text == ""
        assert [(p.kind, p.name, p.id, p.raw) for p in reply.problems] == [
            ("malformed", "ping", "0", "[]"),
            ("unknown_tool", "pong", "1", "{}"),
            ("malformed", None, "2", "{}"),
        ]
        assert [(call.id, call.arguments) for call in reply.calls] == [("3", {"a": 1})]

    @both
    @pytest.mark.parametrize("arguments", ["", "{}", '{"a": "b', " "])
    def test_a_length_limit_makes_the_last_reported_call_incomplete(self, dialect, arguments):
        calls = (self.CALL, ToolCall(id="c2", name="ping", arguments=arguments))
        reply = read(dialect([PING]), None, tool_calls=calls, truncated=True)
        assert [call.id for call in reply.calls] == ["c1"]
        assert [(p.kind, p.name, p.id, p.raw) for p in reply.problems] == [("incomplete", "ping", "c2", arguments)]

    @both
    def test_a_reported_call_with_whole_arguments_runs_although_the_reply_was_cut(self, dialect):
        whole = ToolCall(id="c2", name="ping", arguments='{"a": 1}')
        assert len(read(dialect([PING]), None, tool_calls=(whole,), truncated=True).calls) == 1


class TestNames:
    TOOLS = tuple(ToolSpec(name=name) for name in ("search_mail", "send_mail", "Read_File", "x1", "x2", "x3", "x4"))

    def detail(self, name, dialect=XmlDialect):
        (problem,) = read(dialect(self.TOOLS), f'<tool_call>{{"name": "{name}"}}</tool_call>').problems
        assert (problem.kind, problem.name) == ("unknown_tool", name)
        return problem.detail

    @both
    def test_an_unknown_tool_is_answered_with_the_closest_names(self, dialect):
        assert self.detail("send_mails", dialect).startswith(
            'there is no tool named "send_mails"; the closest are "send_mail"'
        )
        assert '"Read_File"' in self.detail("READ_FILE", dialect)

    def test_where_no_name_is_close_some_are_listed_and_the_rest_counted(self):
        assert self.detail("qqqqqqqq").endswith(
            'the tools are "search_mail", "send_mail", "Read_File", "x1", "x2" and 2 more.'
        )

    def test_a_runaway_name_is_quoted_in_part(self):
        assert len(self.detail("q" * 5000)) < 300

    def test_a_flood_of_unknown_names_is_answered_each_time(self):
        flood = "".join(f'<tool_call>{{"name": "send_mail{number}"}}</tool_call>' for number in range(100))
        problems = read(XmlDialect(self.TOOLS), flood).problems
        assert [problem.name for problem in problems] == [f"send_mail{number}" for number in range(100)]
        # Looking for close names costs; past the first few the tools are listed.
        assert "closest" in problems[0].detail
        assert "closest" not in problems[-1].detail


EVERY_KIND = ToolSpec(
    name="t",
    parameters={
        "properties": {
            "b": {"enum": ["</think>", 1]},
            "a": {"type": "object"},
            "n": {"$ref": "#/$defs/N"},
            "f": {"type": "number", "default": 2},
            "c": {"const": None},
        },
        "required": ["a", "b", "n", "f", "c"],
        "$defs": {"N": {"type": "integer", "examples": [5]}},
    },
)


@both
@pytest.mark.parametrize(
    ("tools", "called"), [([PING], ["ping", "ping"]), ([EVERY_KIND, PING, PING], ["t", "ping"])], ids=["one", "three"]
)
def test_a_dialect_reads_the_examples_of_its_own_prompt(dialect, tools, called):
    speaker = dialect(tools)
    reply = read(speaker, speaker.prompt_instructions(tools))
    assert [call.name for call in reply.calls] == called
    assert reply.problems == ()


def test_examples_fit_the_schemas_of_the_tools():
    (call, _) = read(XmlDialect(), XmlDialect().prompt_instructions([EVERY_KIND, PING])).calls
    assert call.arguments == {"b": 1, "a": {}, "n": 5, "f": 2, "c": None}


@both
def test_a_prompt_without_tools_still_teaches_two_calls(dialect):
    reply = read(dialect(EXAMPLE_TOOLS), dialect().prompt_instructions([]))
    assert [(call.name, call.arguments) for call in reply.calls] == [
        ("get_weather", {"location": "text"}),
        ("ping", {}),
    ]
    assert reply.problems == ()


@both
def test_the_prompt_embeds_the_catalogue_the_dialect_names(dialect):
    assert dialect.embeds_catalogue
    assert not dialect.sends_tool_specs
    assert render_catalogue([PING], dialect.call_format) in dialect().prompt_instructions([PING])


NESTED = {
    "of no form": ("<tool_call>{x:", "</tool_call>"),
    "of an unknown tool": ("<tool_call>zz[0|x", "</tool_call>"),
    "behind closed thinking": ("<think>\n<tool_call>{x:</think>", "</tool_call>"),
    "of slots in closed thinking": ("<think>\n<tool_call>ping[x</think>", "]</tool_call>"),
}


@pytest.mark.parametrize("dialect", ["xml", "pformat"])
@pytest.mark.parametrize("case", NESTED)
@pytest.mark.parametrize("end", ["</think>ok", ""])
def test_broken_drafts_in_one_another_are_not_copied_each(dialect, case, end):
    opener, closer = NESTED[case]
    text = "<think>\n" + opener * 4_000 + closer * 4_000 + end
    tools = [ToolSpec(name="ping", parameters={"properties": {"a": {"type": "string"}}})]
    tracemalloc.start()
    try:
        reply = get_dialect(dialect, tools).parse_response(ModelResponse(text=text))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert not reply.calls
    assert peak < 100 * len(text)


def test_a_broken_draft_hides_neither_the_end_of_thinking_nor_a_call_behind_it():
    ping = '<tool_call>{"name": "ping"}</tool_call>'
    for text in (
        f"<think>\n<tool_call>{{x: </think>{ping}",
        f"<think>\n<tool_call>{{x:<tool_call>y</think>{ping}</tool_call>",
    ):
        assert [call.name for call in get_dialect("xml").parse_response(ModelResponse(text=text)).calls] == ["ping"]
