"""C: what the catalogue teaches, the parser reads, and nothing else."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import strategies as st

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ModelResponse,
    ParsedResponse,
    ParsedToolCall,
    ToolCall,
)

from .clause import Chapter, Violation, require, require_same
from .entries import all_text
from .strategies import any_text, hostile_text, json_values, tag_pattern, words, written_hostile
from .target import Subject, Unsayable
from .tools import ANYTHING, PING, TOOLS
from .trial import Trial

C = Chapter[Trial]("C", "calls")

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


@C.clause(
    "C1",
    "What the catalogue teaches, the parser reads: a call of any tool with any arguments comes back equal, types included.",
    reason='`1`, `1.0`, `true` and `"1"` are four values to a tool.',
    prevents="A call that runs with other arguments than the model wrote.",
    needs=("parsing", "calls"),
)
def _comes_back(trial: Trial) -> None:
    def check(call: ParsedToolCall) -> None:
        subject = trial.subject(TOOLS)
        try:
            spelled = trial.spell([call], subject)
        except Unsayable as refusal:
            require(not _is_plain(call), f"a plain call cannot be said: {refusal}")
            return
        _require_calls(trial, [call], subject.parse_response(spelled), spelled)

    arguments = _arguments(trial)
    trial.search.any(
        st.builds(ParsedToolCall, name=st.sampled_from([t.name for t in TOOLS]), arguments=arguments),
        check,
        _calls_by_hand(trial),
    )


@C.clause(
    "C2",
    "An unknown tool gets no invented arguments, and the call is not lost.",
    reason="Models call tools that they remember from elsewhere.",
    prevents="A host that is asked to run a tool with arguments nobody wrote.",
    needs=("parsing", "calls"),
)
def _unknown_tool(trial: Trial) -> None:
    teller, reader = trial.subject(TOOLS), trial.subject([PING])

    def check(call: ParsedToolCall) -> None:
        try:
            spelled = trial.spell([call], teller)
        except Unsayable:
            return
        parsed = reader.parse_response(spelled)
        for read in parsed.calls:
            require(
                read.name == call.name and same_json(read.arguments, call.arguments, trial.about.numbers),
                f"an unknown tool was read as {read.name}({_shown(read.arguments)}), written {_shown(call.arguments)}",
                got=spelled.text,
            )
        require(parsed.calls or parsed.problems, "a call of an unknown tool vanished", got=spelled.text)
        for problem in parsed.problems:
            require(
                problem.raw.strip() != "" and problem.detail.strip() != "",
                "a problem says neither what was written nor why it is one",
            )

    written = [
        ParsedToolCall(name="get_weather", arguments={"location": "London", "unit": "metric"}),
        ParsedToolCall(name="get_weather", arguments={}),
        ParsedToolCall(name="run-it.v2", arguments={"text": "a", "count": 3}),
    ]
    calls = st.builds(
        ParsedToolCall,
        name=st.just("get_weather"),
        arguments=st.dictionaries(st.sampled_from(("location", "unit")), words),
    )
    trial.search.any(calls, check, written)


@C.clause(
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


_BEFORE, _BEHIND = "First I look at the sky.", "That is all I need for now."


@C.clause(
    "C4",
    "Several calls keep their order, and the words around them stay.",
    reason="A batch may depend on its order; results are paired by it.",
    prevents="A second call that is dropped, or a first one that runs twice.",
    needs=("parsing", "calls"),
)
def _several(trial: Trial) -> None:
    def check(batch: tuple[list[ParsedToolCall], str]) -> None:
        calls, between = batch
        subject = trial.subject(TOOLS)
        try:
            spelled = trial.spell(calls, subject, between)
        except Unsayable:
            return
        parsed = subject.parse_response(spelled)
        _require_calls(trial, calls, parsed, spelled)
        around = ModelResponse(text=f"{_BEFORE}\n{spelled.text}\n{_BEHIND}", tool_calls=spelled.tool_calls)
        parsed_around = subject.parse_response(around)
        _require_calls(trial, calls, parsed_around, around)
        told = parsed_around.text
        require(_BEFORE in told, "words before the first call were lost", want=_BEFORE, got=told)
        require(_BEHIND in told, "words behind the last call were lost", want=_BEHIND, got=told)
        require(told.index(_BEFORE) < told.rindex(_BEHIND), "words around calls changed their order", got=told)
        if len(calls) > 1:
            require(between.strip() in parsed.text, "words between calls were lost", want=between, got=parsed.text)

    london, paris = (ParsedToolCall(name="get_weather", arguments={"location": place}) for place in ("London", "Paris"))
    ping = ParsedToolCall(name="ping", arguments={})
    written = [
        ([london, paris], "\n"),
        ([london, london], "\n"),
        ([paris, ping, london], "\nand then\n"),
        ([ping] * 5, "\n\n"),
    ]
    calls = st.builds(ParsedToolCall, name=st.sampled_from([t.name for t in TOOLS]), arguments=_arguments(trial))
    between = st.sampled_from(("\n", "\n\n", "\nThen this one:\n", "\nand\n\n"))
    trial.search.any(st.tuples(st.lists(calls, min_size=1, max_size=4), between), check, written)


@C.clause(
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


@C.clause(
    "C7",
    "In replay a structured call is shown as this dialect writes it.",
    reason="A model imitates its own history.",
    prevents="A conversation that teaches the model another spelling than the one that is read.",
    needs=("text", "replay", "parsing", "calls"),
)
def _shown_as_written(trial: Trial) -> None:
    subject = trial.subject(TOOLS)

    def check(calls: list[ParsedToolCall]) -> None:
        turn = AssistantTurn(
            text="Let me look.",
            tool_calls=tuple(
                ToolCall(id=f"c{n}", name=c.name, arguments=_dumped(c.arguments)) for n, c in enumerate(calls)
            ),
        )
        [shown] = subject.replay([turn])
        require(
            isinstance(shown, ChatMessage) and shown.role == "assistant",
            "an assistant turn is not replayed as the assistant's",
        )
        require(
            all_text([shown]).startswith("Let me look."),
            "the words of the turn do not come first",
            got=all_text([shown]),
        )
        response = ModelResponse(text=all_text([shown]))
        _require_calls(trial, calls, subject.parse_response(response), response)

    def check_unreadable(raw: str) -> None:
        turn = AssistantTurn(text="Let me look.", tool_calls=(ToolCall(id="c", name="ping", arguments=raw),))
        text = all_text(subject.replay([turn]))
        require(
            raw in text and "ping" in text,
            "a call whose arguments cannot be read is not shown as it was",
            want=raw,
            got=text,
        )
        require(
            not subject.parse_response(ModelResponse(text=text)).calls,
            "a call that could not be read is shown as one that can",
            got=text,
        )

    plain = [call for call in _calls_by_hand(trial) if _is_plain(call)]
    calls = st.builds(ParsedToolCall, name=st.just("get_weather"), arguments=st.fixed_dictionaries({"location": words}))
    trial.search.any(st.lists(calls, min_size=1, max_size=3), check, [[call] for call in plain] + [plain])
    trial.search.every(["not json", '{"a": ', "[1, 2]", "12"], check_unreadable)


@C.clause(
    "C8",
    "A call is spelled in the format the dialect declares, and what its arguments hold opens nothing in it.",
    reason="A rendered call stands in the assistant's turn; chat templates and parsers read it there.",
    prevents="An argument that ends its call or its turn, and a catalogue that teaches one format while another is written.",
    needs=("text", "calls"),
)
def _spelled(trial: Trial) -> None:
    subject = trial.subject(TOOLS)
    tags, tokens = trial.about.protocol_tags, trial.about.control_tokens
    live = tag_pattern(tags)

    def spelled(text: str) -> str:
        return subject.render_call(ParsedToolCall(name="get_weather", arguments={"location": text}))

    plain = spelled("London")
    quoted = '"London"' in plain.replace(" ", "")
    require("London" in plain, "a plain argument cannot be read in the call", got=plain)
    if trial.about.call_format in ("json", "slots"):
        require(
            quoted == (trial.about.call_format == "json"),
            f"a call is not spelled as {trial.about.call_format}",
            got=plain,
        )

    def check(text: str) -> None:
        try:
            call = spelled(text)
        except Unsayable:
            return
        want, got = len(live.findall(plain)), len(live.findall(call))
        require(got == want, f"a call has {want} tags around a plain argument and {got} around this one", got=call)
        alive = [token for token in tokens if token in call]
        require(not alive, f"the control tokens {alive} are whole in a call", got=call)

    trial.search.any(hostile_text(tags, tokens), check, [*written_hostile(tags), *tokens])


@C.clause(
    "C9",
    "Calls that the provider reports beside the text are read or are problems.",
    reason="Some providers find calls by themselves, whatever the prompt asked for.",
    prevents="A call that nobody runs and nobody answers.",
    needs=("parsing",),
)
def _reported_calls(trial: Trial) -> None:
    def check(calls: tuple[ToolCall, ...]) -> None:
        parsed = trial.subject(TOOLS).parse_response(ModelResponse(text="Let me look.", tool_calls=calls))
        want = sorted(call.name for call in calls)
        got = sorted([call.name for call in parsed.calls] + [problem.name or "" for problem in parsed.problems])
        require(got == want, f"of the reported calls {want} those read or told as problems are {got}")

    london = ToolCall(id="a", name="get_weather", arguments='{"location": "London"}')
    ping = ToolCall(id="b", name="ping", arguments="{}")
    trial.search.every([(london,), (ping,)], check)


def same_json(a: Any, b: Any, numbers: str = "exact") -> bool:
    """Equal, types included; `1`, `1.0` and `True` differ where the dialect's JSON can tell."""
    if numbers == "double":
        return json.dumps(_as_doubles(a), sort_keys=True) == json.dumps(_as_doubles(b), sort_keys=True)
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _as_doubles(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_doubles(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_doubles(inner) for inner in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return math.fabs(value) if value == 0 else float(value)


def _require_calls(trial: Trial, want: list[ParsedToolCall], parsed: ParsedResponse, spelled: ModelResponse) -> None:
    written = spelled.text if not trial.is_native else _shown([call.arguments for call in spelled.tool_calls])
    require(
        not parsed.problems,
        f"a call as the dialect writes it is a problem: {[p.detail for p in parsed.problems]}",
        got=written,
    )
    require(len(parsed.calls) == len(want), f"{len(want)} calls were written, {len(parsed.calls)} read", got=written)
    for read, call in zip(parsed.calls, want, strict=True):
        require(read.name == call.name, f"a call of {call.name!r} was read as one of {read.name!r}", got=written)
        if not same_json(read.arguments, call.arguments, trial.about.numbers):
            raise Violation(
                f"the arguments of {call.name!r} came back changed",
                want=json.dumps(call.arguments, ensure_ascii=False, sort_keys=True),
                got=json.dumps(read.arguments, ensure_ascii=False, sort_keys=True),
            )


def _is_plain(call: ParsedToolCall) -> bool:
    return all(isinstance(value, str) and value.isalpha() for value in call.arguments.values())


def _arguments(trial: Trial) -> st.SearchStrategy[dict[str, Any]]:
    texts = st.one_of(
        any_text, hostile_text(trial.about.protocol_tags, trial.about.control_tokens), st.sampled_from(_TRICKY)
    )
    values = texts | json_values(trial.about.numbers)
    names = st.sampled_from(("location", "unit", "days", *ANYTHING.parameters["properties"])) | st.text(max_size=4)
    return st.dictionaries(names, values, max_size=4)


_TRICKY = (
    "007", "1", "1.0", "-0", "1e3", "true", "false", "null", "None", "[]", "{}", '"quoted"', '{"a": 1}', "a|b", "a]b", "a\\b",
    "a\\|b", "\\", "]", "|", "0|x", "[0|x]", "a]\n", "\n", "", " ", " x ", "a\nb", "C:\\dir\\new", "NaN", "Infinity", "'", "``` x",
)  # fmt: skip


def _calls_by_hand(trial: Trial) -> list[ParsedToolCall]:
    texts = [*_TRICKY, *written_hostile(trial.about.protocol_tags), *trial.about.control_tokens[:8]]
    by_name: list[tuple[str, dict[str, Any]]] = [
        ("ping", {}),
        ("get_weather", {"location": "London", "unit": "metric"}),
        ("get_weather", {"unit": "imperial"}),
        ("run-it.v2", {"count": 3, "flag": True, "list": [1, "a", None], "map": {"k": [{}]}, "nothing": None}),
        ("run-it.v2", {"any": 1, "either": 1}),
        ("run-it.v2", {"any": "1", "either": "1", "text": "1"}),
        ("run-it.v2", {"any": True, "either": None, "list": [], "map": {}}),
        ("run-it.v2", {"flag": "true", "count": "3", "list": "[]", "map": "{}", "nothing": "null", "share": "0.5"}),
        ("run-it.v2", {"unheard": "of", "text": "x"}),
        ("run-it.v2", {"": "empty name", "a|b": 1, "<x>": 2}),
    ]
    if trial.about.numbers == "exact":
        by_name += [
            ("run-it.v2", {"share": 1.0, "any": 1.0, "count": 10**20, "either": -1}),
            ("run-it.v2", {"share": 1, "any": -0.0}),
        ]
    by_name += [("run-it.v2", {"text": text, "any": text, "list": [text], "either": text}) for text in texts]
    return [ParsedToolCall(name=name, arguments=arguments) for name, arguments in by_name]


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
                    f"a call that breaks off was read as {read.name}({_shown(read.arguments)})",
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
            letters = set(_shown(read.arguments)) <= set(whole) | set(_shown(call.arguments))
            require(
                read.arguments and letters,
                f"a damaged call was read as {read.name}({_shown(read.arguments)})",
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


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_dumped = _shown
