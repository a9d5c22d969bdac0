"""C: what is no call is read as none, and what is broken as a problem."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tooldialect.dialects import ModelResponse, ParsedResponse, ParsedToolCall, ToolCall

from .clause import Chapter, require, require_same
from .same_json import same_json, shown_json
from .strategies import hostile_text, words, written_hostile
from .target import Subject
from .tools import TOOLS
from .trial import Trial

MISREAD = Chapter[Trial]("C", "misread")

_PROSE = (
    "It is raining in London.",
    "Let me think: 3 < 4 and 5 > 2, so a|b is fine.",
    "I could use get_weather for that, but run-it.v2 would also do; ping is not needed.",
    "Line one\n\n  line two\n- a list\n- of things\n",
    "```python\nif a < b:\n    print('<div>')\n```",
    " leading and trailing ",
    "`get_weather` takes a location. Shall I call it?",
    "e\u0301 \u2028 \ufeff \U0001f600",
    "",
)


@MISREAD.clause(
    "C3",
    "Prose without calls is no call, no problem, and unchanged text.",
    reason="Models explain what they could do.",
    prevents="A tool that runs because it was mentioned; words that vanish around a tag.",
    needs=("parsing",),
)
def _prose(trial: Trial) -> None:
    subject = trial.subject(TOOLS)

    def check(text: str) -> None:
        parsed = subject.parse_response(ModelResponse(text=text))
        require(not parsed.calls, f"prose was read as the call {[call.name for call in parsed.calls]}", got=text)
        require(
            not parsed.problems, f"prose was read as a broken call: {[p.detail for p in parsed.problems]}", got=text
        )
        require_same(text, parsed.text, "prose came back changed")
        require(
            parsed.entry.text == text,
            "the entry does not keep the text as the model wrote it",
            want=text,
            got=parsed.entry.text,
        )

    mentions = [
        text
        for tag in trial.about.protocol_tags
        for text in (
            f"The <{tag}> tag opens it, and what follows is still read.",
            f"Close it with </{tag}>, then go on.",
            f"I write <{tag}> and </{tag}> around it.",
            f"See `<{tag}>`:\nit is a tag.",
        )
    ]
    safe = st.text(alphabet=st.characters(exclude_characters="<>[]{}|`", exclude_categories=["Cs"]), max_size=40)
    trial.search.any(safe, check, [*_PROSE, *mentions])
    nothing = subject.parse_response(ModelResponse(text=None))
    require(
        not nothing.calls and not nothing.problems and nothing.text == "", "a reply without text is read as something"
    )


@MISREAD.clause(
    "C5",
    "Malformed calls are problems with the text kept, never invented arguments; no input raises.",
    reason="Models break off, misquote and miscount.",
    prevents="A tool that runs with `{}` because its arguments could not be read, or a loop that dies.",
    needs=("parsing",),
)
def _malformed(trial: Trial) -> None:
    subject = trial.subject(TOOLS)
    tags = trial.about.protocol_tags

    def survives(response: ModelResponse) -> ParsedResponse:
        parsed = subject.parse_response(response)
        require(
            parsed.entry.text == response.text,
            "the entry does not keep the text as the model wrote it",
            want=response.text,
            got=parsed.entry.text,
        )
        require(
            parsed.entry.tool_calls == response.tool_calls,
            "the entry does not keep the calls as the provider reported them",
        )
        for problem in parsed.problems:
            require(
                problem.detail.strip() != "" and problem.raw != "",
                "a problem says neither what was written nor why it is one",
            )
            require(not problem.outcome().success, "the outcome of a problem says that it succeeded")
        return parsed

    def check(text: str) -> None:
        for truncated in (False, True):
            survives(ModelResponse(text=text, truncated=truncated))

    trial.search.any(
        hostile_text(tags) | _broken_json(),
        check,
        [*written_hostile(tags), "\x00", "{", '{"name": "ping"', "[" * 2000, "{" * 2000],
    )
    trial.search.every(_broken_arguments(), lambda raw: _require_problem(trial, survives, raw))
    if "calls" in trial.about.meets() and not trial.is_native:
        _require_cut_calls_are_problems(trial, subject, survives)
        _require_good_and_broken(subject, survives)
        _require_arrays_are_problems(subject, survives)


def _broken_json() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from('{}[]":,\\|<>/ \n0a') | words, max_size=20).map("".join)


def _broken_arguments() -> list[str]:
    return [
        '{"location": "Lon',
        "{'location': 'London'}",
        "[1, 2]",
        "London",
        '{"location": London}',
        "{",
        "null",
        "3",
        '"x"',
        '{"a": NaN}',
    ]


def _require_problem(trial: Trial, survives: Any, raw: str) -> None:
    """Reported arguments that are no object: a problem under the call's own id, never `{}`."""
    if not trial.is_native:
        return
    reported = ModelResponse(
        text="hm",
        tool_calls=(
            ToolCall(id="bad", name="get_weather", arguments=raw),
            ToolCall(id="good", name="ping", arguments=""),
        ),
    )
    parsed = survives(reported)
    require(
        [(c.id, c.name, c.arguments) for c in parsed.calls] == [("good", "ping", {})],
        f"with {raw!r} as arguments the calls read are {parsed.calls}",
    )
    require(
        [(p.id, p.name) for p in parsed.problems] == [("bad", "get_weather")],
        f"the arguments {raw!r} are not reported as a problem of their call",
    )
    require(
        raw in parsed.problems[0].raw,
        "the problem does not hold what the model wrote",
        want=raw,
        got=parsed.problems[0].raw,
    )


def _require_cut_calls_are_problems(trial: Trial, subject: Subject, survives: Any) -> None:
    """A call that breaks off within its arguments is a problem; one that is damaged is never another call."""
    body = "middle" * 4
    call = ParsedToolCall(name="get_weather", arguments={"location": body, "unit": "metric"})
    whole = subject.render_call(call)
    require(body in whole, "a plain argument cannot be read in the call", got=whole)
    inside = whole.index(body) + len(body) // 2

    def check_cut(cut: int) -> None:
        for truncated in (False, True):
            parsed = survives(ModelResponse(text=f"Let me look.\n{whole[:cut]}", truncated=truncated))
            for read in parsed.calls:
                require(
                    read.name == call.name and same_json(read.arguments, call.arguments, trial.about.numbers),
                    f"a call that breaks off was read as {read.name}({shown_json(read.arguments)})",
                    got=whole[:cut],
                )
            if cut == inside:
                require(not parsed.calls, "a call that breaks off in its arguments was read as one", got=whole[:cut])
                require(parsed.problems, "a call that breaks off in its arguments is not reported", got=whole[:cut])

    trial.search.every([inside, *range(len(whole))], check_cut)

    def check_damage(place: int) -> None:
        damaged = whole[:place] + whole[place + 1 :]
        parsed = survives(ModelResponse(text=damaged))
        for read in parsed.calls:
            letters = set(shown_json(read.arguments)) <= set(whole) | set(shown_json(call.arguments))
            require(
                read.arguments and letters,
                f"a damaged call was read as {read.name}({shown_json(read.arguments)})",
                got=damaged,
            )

    trial.search.every(range(len(whole)), check_damage)


def _require_good_and_broken(subject: Subject, survives: Any) -> None:
    """A good call in front of one that breaks off: the one is read, the other reported."""
    good = ParsedToolCall(name="get_weather", arguments={"location": "London"})
    body = "middle" * 4
    broken = subject.render_call(ParsedToolCall(name="get_weather", arguments={"location": body, "unit": "metric"}))
    cut = broken[: broken.index(body) + len(body) // 2]
    text = f"{subject.render_call(good)}\n{cut}"
    for truncated in (False, True):
        parsed = survives(ModelResponse(text=text, truncated=truncated))
        read = [(call.name, call.arguments) for call in parsed.calls]
        require(
            read == [(good.name, good.arguments)],
            f"a good call before a broken one: the calls read are {read}",
            got=text,
        )
        require(parsed.problems, "a broken call is not reported where another call is read", got=text)


def _require_arrays_are_problems(subject: Subject, survives: Any) -> None:
    """Arguments that can be read and are no object, where a call shows its arguments as JSON."""
    arguments = {"location": "London"}
    whole = subject.render_call(ParsedToolCall(name="get_weather", arguments=arguments))
    spelled = next((form for form in _json_spellings(arguments) if form in whole), None)
    if spelled is None:
        return
    for other in ('["London"]', '"London"', "12"):
        text = whole.replace(spelled, other)
        parsed = survives(ModelResponse(text=text))
        read = [(call.name, call.arguments) for call in parsed.calls]
        require(not read, f"arguments that are no object were read as {read}", got=text)
        require(parsed.problems, "arguments that are no object are not reported", got=text)


def _json_spellings(value: Any) -> list[str]:
    return [json.dumps(value, separators=marks) for marks in ((", ", ": "), (",", ":"))] + [json.dumps(value, indent=2)]
