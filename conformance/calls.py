"""C: what the catalogue teaches, the parser reads, and nothing else."""

from __future__ import annotations

from hypothesis import strategies as st

from tooldialect.dialects import (
    ModelResponse,
    ParsedToolCall,
    ToolCall,
)

from .clause import Chapter, require
from .faults import Unsayable
from .same_json import same_json, shown_json
from .sample_calls import arguments_of, calls_by_hand, is_plain, require_calls
from .strategies import words
from .tools import PING, TOOLS
from .trial import Trial

C = Chapter[Trial]("C", "calls")


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
            require(not is_plain(call), f"a plain call cannot be said: {refusal}")
            return
        require_calls(trial, [call], subject.parse_response(spelled), spelled)

    arguments = arguments_of(trial)
    trial.search.any(
        st.builds(ParsedToolCall, name=st.sampled_from([t.name for t in TOOLS]), arguments=arguments),
        check,
        calls_by_hand(trial),
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
                f"an unknown tool was read as {read.name}({shown_json(read.arguments)}), written {shown_json(call.arguments)}",
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
        require_calls(trial, calls, parsed, spelled)
        around = ModelResponse(text=f"{_BEFORE}\n{spelled.text}\n{_BEHIND}", tool_calls=spelled.tool_calls)
        parsed_around = subject.parse_response(around)
        require_calls(trial, calls, parsed_around, around)
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
    calls = st.builds(ParsedToolCall, name=st.sampled_from([t.name for t in TOOLS]), arguments=arguments_of(trial))
    between = st.sampled_from(("\n", "\n\n", "\nThen this one:\n", "\nand\n\n"))
    trial.search.any(st.tuples(st.lists(calls, min_size=1, max_size=4), between), check, written)


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
