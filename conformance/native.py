"""N: calls and results as records, paired one to one."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ModelResponse,
    OpenAIChatWire,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    TranscriptEntry,
)

from .clause import Chapter, require, require_same
from .entries import USER, batch_of, call_turn, marked, numbered, ok, require_same_entries
from .faults import Refused
from .strategies import any_text, rounds, words
from .trial import Trial

N = Chapter[Trial]("N", "native")


@N.clause(
    "N1",
    "An outcome without a call id is refused with an error that names the tool.",
    reason="Providers pair by id, and history is replayed.",
    prevents="An invented id that spoils every later request.",
    needs=("native",),
)
def _no_id(trial: Trial) -> None:
    def check(outcomes: list[ToolOutcome]) -> None:
        nameless = [outcome for outcome in outcomes if outcome.tool_call_id is None]
        try:
            trial.subject().format_results(outcomes)
        except Refused as refusal:
            require(
                nameless[0].name in refusal.message,
                f"the refusal does not name {nameless[0].name!r}: {refusal.message}",
            )
        else:
            require(False, f"the outcome of {nameless[0].name!r} has no call id and was accepted")

    lost = ToolOutcome.ok("lookup_order", "x")
    written = [
        [lost],
        [lost.verbatim()],
        [ok("a"), lost],
        [lost, ok("a")],
        [ok("a"), lost, marked("b", call_id="call-1")],
    ]
    trial.search.every(written, check)


@N.clause(
    "N2",
    "Complete cycles pass untouched.",
    reason="Prompt caches depend on a prefix that does not change.",
    prevents="A repair that rewrites what was whole.",
    needs=("native", "replay"),
)
def _untouched(trial: Trial) -> None:
    def check(rounds_: list[list[ToolOutcome]]) -> None:
        history = _healthy(trial, rounds_)
        require_same_entries(history, trial.subject().replay(history), "a healthy history was changed")

    written = [[[ok("one")]], [numbered([ok("a"), marked("b"), ok("c")])], [[ok("a")], numbered([ok("b"), ok("c")])]]
    written.append([numbered([ToolOutcome.failed("fetch", "no such page"), ok(""), ok("  c\n")])])
    trial.search.any(st.lists(rounds(any_text), max_size=3), check, written)

    def check_stored(history: list[TranscriptEntry]) -> None:
        require_same_entries(history, trial.subject().replay(history), "a healthy history was changed")

    # A host may store every result in a batch of its own.
    two = [ok("one", call_id="a"), ok("two", call_id="b")]
    apart: list[TranscriptEntry] = [USER, call_turn(two), *map(batch_of, two)]
    three = numbered([ok("a"), ok("b"), ok("c")])
    mixed = ToolResultBatch(results=(*batch_of(three[1]).results, *batch_of(three[2]).results))
    trial.search.every(
        [apart, [*apart, *apart], [USER, USER, *apart[1:], call_turn(three), batch_of(three[0]), mixed]], check_stored
    )
    many = numbered([ok(f"result {n}") for n in range(300)])
    alone: list[TranscriptEntry] = [USER, call_turn(many), *map(batch_of, many)]
    trial.search.every([alone], check_stored)


@N.clause(
    "N4",
    "Argument strings, `extra_content` and reasoning come back byte for byte.",
    reason="Providers sign what they wrote, and caches compare it.",
    prevents="Re-serialised arguments and lost signatures, which providers refuse.",
    needs=("native", "replay", "parsing"),
)
def _byte_for_byte(trial: Trial) -> None:
    def check(response: ModelResponse) -> None:
        entry = trial.subject().parse_response(response).entry
        for field in ("text", "tool_calls", "reasoning_content", "metadata"):
            want, got = getattr(response, field), getattr(entry, field)
            require(want == got, f"{field} of the entry is {got!r}, not {want!r} as the provider reported it")
        answers = ToolResultBatch(
            results=tuple(ToolResult(tool_call_id=call.id, name=call.name, content="x") for call in response.tool_calls)
        )
        history: list[TranscriptEntry] = [USER, entry, *([answers] if response.tool_calls else [])]
        require_same_entries(history, trial.subject().replay(history), "replay changed what the provider had reported")
        sent = trial.subject().provider_messages(history, OpenAIChatWire())
        calls = [call["function"]["arguments"] for message in sent for call in message.get("tool_calls", ())]
        for call, arguments in zip(response.tool_calls, calls, strict=True):
            require_same(call.arguments, arguments, "argument text changed on its way to the provider")

    written = [
        ModelResponse(
            text="hm",
            tool_calls=(ToolCall(id="a", name="f", arguments=raw, extra_content=extra),),
            reasoning_content=why,
        )
        for raw, extra, why in (
            ('{"a":1.0}', None, None),
            ('{ "a" :\t1e3,\n"b": "\\u00e9\\/é" }', {"google": {"thought_signature": "AbC=="}}, "because\n"),
            ('{"b": 1, "a": 2, "a": 3}', {"n": 1.0, "z": 1, "a": [None]}, " "),
        )
    ]
    written.append(ModelResponse(text=None, metadata={"signature": "x"}, tool_calls=written[0].tool_calls))
    spaces = st.sampled_from(("", " ", "\n", "\t "))
    arguments = st.builds(
        lambda a, number, b: f'{{{a}"n"{b}:{number}{a}}}', spaces, st.sampled_from(("1", "1.0", "1e2", "-0.0")), spaces
    )
    responses = st.builds(
        ModelResponse,
        text=st.none() | words,
        tool_calls=st.lists(
            st.builds(ToolCall, id=words, name=words, arguments=arguments), max_size=3, unique_by=lambda call: call.id
        ).map(tuple),
        reasoning_content=st.none() | any_text,
    )
    trial.search.any(responses, check, written)


@N.clause(
    "N5",
    "A marked result stays paired with its call.",
    reason="A delivery is an answer; providers want it as the result of that call.",
    prevents="A request with an unanswered call and a loose message.",
    needs=("native", "replay"),
)
def _marked_stays_paired(trial: Trial) -> None:
    def check(outcomes: list[ToolOutcome]) -> None:
        history = [USER, call_turn(outcomes), *trial.subject().format_results(outcomes)]
        for entries in (history, trial.subject().replay(history)):
            results = [r for entry in entries if isinstance(entry, ToolResultBatch) for r in entry.results]
            for outcome in outcomes:
                answers = [result for result in results if result.tool_call_id == outcome.tool_call_id]
                require(len(answers) == 1, f"the call {outcome.tool_call_id} has {len(answers)} results")
                require_same(outcome.output, answers[0].content, "a result is paired with another call")
        sent = trial.subject().provider_messages(history, OpenAIChatWire())
        by_id = {message["tool_call_id"]: message["content"] for message in sent if message["role"] == "tool"}
        for outcome in outcomes:
            require(outcome.tool_call_id in by_id, f"the call {outcome.tool_call_id} is unanswered in the request")
            if outcome.trusted_verbatim:
                require_same(
                    outcome.output, str(by_id[outcome.tool_call_id or ""]), "the marked result changed in the request"
                )

    written = [[marked("b")], numbered([ok("a"), marked("b"), ok("c")]), numbered([marked("a"), marked("b")])]
    trial.search.any(rounds(words), check, written)


def _healthy(trial: Trial, rounds_: Sequence[list[ToolOutcome]]) -> list[TranscriptEntry]:
    history: list[TranscriptEntry] = [ChatMessage(role="system", content="s"), USER]
    for outcomes in rounds_:
        history += [call_turn(outcomes), *trial.subject().format_results(outcomes), USER]
    return [*history, AssistantTurn(text="done")]
