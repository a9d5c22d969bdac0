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
    dump_transcript,
    load_transcript,
)

from .clause import Chapter, require, require_same
from .entries import call_turn, is_flagged, marked, numbered, ok, require_same_entries, text_of
from .strategies import any_text, rounds, words
from .target import Refused
from .trial import Trial

N = Chapter[Trial]("N", "native")

_USER = ChatMessage(role="user", content="go")


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
    apart: list[TranscriptEntry] = [_USER, call_turn(two), *map(_batch, two)]
    three = numbered([ok("a"), ok("b"), ok("c")])
    mixed = ToolResultBatch(results=(*_batch(three[1]).results, *_batch(three[2]).results))
    trial.search.every(
        [apart, [*apart, *apart], [_USER, _USER, *apart[1:], call_turn(three), _batch(three[0]), mixed]], check_stored
    )
    many = numbered([ok(f"result {n}") for n in range(300)])
    alone: list[TranscriptEntry] = [_USER, call_turn(many), *map(_batch, many)]
    trial.search.every([alone], check_stored)


@N.clause(
    "N3",
    "Missing, duplicate, displaced and orphan results are repaired: one result per call, in call order, behind its turn.",
    reason="Processes die between a call and its result; hosts lose and repeat rows.",
    prevents="A conversation that a provider refuses from then on.",
    needs=("native", "replay"),
)
def _repaired(trial: Trial) -> None:
    def check(history: list[TranscriptEntry]) -> None:
        repaired = trial.subject().replay(history)
        faults = _pairing_faults(repaired)
        require(not faults, f"after replay a provider would refuse: {'; '.join(faults)}")
        again = trial.subject().replay(repaired)
        require_same_entries(repaired, again, "repairing twice differs from repairing once")

    trial.search.any(_damaged(), check, _damaged_by_hand())


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
        history: list[TranscriptEntry] = [_USER, entry, *([answers] if response.tool_calls else [])]
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
        history = [_USER, call_turn(outcomes), *trial.subject().format_results(outcomes)]
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


@N.clause(
    "N6",
    "Repair loses no user or system text, and no marked one.",
    reason="What people said and what the gate delivered is all that cannot be had again.",
    prevents="An instruction that vanishes because it stood beside a broken cycle.",
    needs=("native", "replay"),
)
def _nothing_lost(trial: Trial) -> None:
    def check(history: list[TranscriptEntry]) -> None:
        replayed = trial.subject().replay(history)
        spoken = [entry for entry in history if isinstance(entry, ChatMessage)]
        remaining = iter(entry for entry in replayed if isinstance(entry, ChatMessage))
        for said in spoken:
            require(
                any(said == other for other in remaining),
                f"a {said.role} message was lost or moved",
                want=said.content,
            )
        want, got = _marked_texts(history), _marked_texts(replayed)
        require(want == got, f"marked texts before {want}, after {got}")
        for entry in replayed:
            require(
                not is_flagged(entry) or isinstance(entry, ChatMessage) or len(getattr(entry, "results", ())) == 1,
                "a marked result shares its batch",
            )

    trial.search.any(_damaged(), check, _damaged_by_hand())


@N.clause(
    "N7",
    "Of several results of a call the first real one stays, and any real one beats one that a repair made up.",
    reason="A result can arrive after the repair that stood in for it.",
    prevents="A tool's real answer, dropped for a placeholder or for its own echo.",
    needs=("native", "replay"),
)
def _which_result(trial: Trial) -> None:
    def check(names: tuple[str, ...]) -> None:
        outcomes = [ok(f"real {name}", name=name, call_id=f"call-{name}") for name in names]
        turn = call_turn(outcomes)
        real = [_batch(outcome) for outcome in outcomes]
        doubled: list[TranscriptEntry] = [_USER, turn, *real, *(_batch(outcome, "second") for outcome in outcomes)]
        _require_answers(
            trial, doubled, [outcome.output for outcome in outcomes], "of two results the first one counts"
        )
        interrupted = trial.subject().replay([_USER, turn, _USER])
        made_up = [result for entry in interrupted if isinstance(entry, ToolResultBatch) for result in entry.results]
        require(len(made_up) == len(names), f"{len(names)} calls without results got {len(made_up)} in repair")
        for result, outcome in zip(made_up, outcomes, strict=True):
            require(not result.success, "a result that a repair made up does not say that it failed")
            require(
                result.content.strip() != "" and not result.trusted_verbatim,
                "a result that a repair made up is blank or marked",
            )
            require(result.name in (None, outcome.name), "a result that a repair made up names another tool")
        late = [*interrupted, *real]
        _require_answers(
            trial, late, [outcome.output for outcome in outcomes], "a real result beats one that a repair made up"
        )

    trial.search.every([("alpha",), ("alpha", "beta"), ("a", "b", "c")], check)
    trial.search.every(
        ["", "0", "A result", "The call", "~", "\U0001f600"], lambda content: _require_real(trial, content)
    )


def _require_real(trial: Trial, content: str) -> None:
    """Whatever a real result says, it is one; also for one of several calls that share an id."""
    turn = call_turn([ok("", call_id="a")])
    # Saved in between, as a host does: what was made up is known by its text.
    interrupted = load_transcript(dump_transcript(trial.subject().replay([_USER, turn])))
    real = ToolResultBatch(results=(ToolResult(tool_call_id="a", name="read_file", content=content),))
    _require_answers(trial, [*interrupted, real], [content], "a real result beats one that a repair made up")
    _require_answers(
        trial, [_USER, turn, real, _batch(ok("second", call_id="a"))], [content], "of two results the first one counts"
    )
    for number in (2, 3):
        shared = call_turn([ok("", call_id="a")] * number)
        replayed = trial.subject().replay([*trial.subject().replay([_USER, shared]), real])
        got = [result.content for entry in replayed if isinstance(entry, ToolResultBatch) for result in entry.results]
        require(
            len(got) == number and content in got,
            f"a late result of one of {number} calls with one id is lost; there stand {got}",
        )


def _require_answers(trial: Trial, history: Sequence[TranscriptEntry], want: list[str], rule: str) -> None:
    replayed = trial.subject().replay(history)
    got = [result.content for entry in replayed if isinstance(entry, ToolResultBatch) for result in entry.results]
    require(got == want, f"{rule}: {want}, but there stand {got}")


def _batch(outcome: ToolOutcome, content: str | None = None) -> ToolResultBatch:
    result = ToolResult(tool_call_id=outcome.tool_call_id or "", name=outcome.name, content=content or outcome.output)
    return ToolResultBatch(results=(result,))


def _healthy(trial: Trial, rounds_: Sequence[list[ToolOutcome]]) -> list[TranscriptEntry]:
    history: list[TranscriptEntry] = [ChatMessage(role="system", content="s"), _USER]
    for outcomes in rounds_:
        history += [call_turn(outcomes), *trial.subject().format_results(outcomes), _USER]
    return [*history, AssistantTurn(text="done")]


def _pairing_faults(history: Sequence[TranscriptEntry]) -> list[str]:
    """What a provider would refuse. Written from its rule; shares nothing with any repair."""
    faults = []
    place = 0
    while place < len(history):
        entry = history[place]
        place += 1
        if isinstance(entry, ToolResultBatch) and entry.results:
            faults.append("results that follow no calls")
        if isinstance(entry, AssistantTurn) and entry.tool_calls:
            answered = []
            while place < len(history):
                batch = history[place]
                if not isinstance(batch, ToolResultBatch):
                    break
                answered += [result.tool_call_id for result in batch.results]
                place += 1
            called = [call.id for call in entry.tool_calls]
            if called != answered:
                faults.append(f"the calls {called} are answered by {answered}")
    return faults


def _marked_texts(history: Sequence[TranscriptEntry]) -> list[str]:
    found = [
        result.content
        for entry in history
        if isinstance(entry, ToolResultBatch)
        for result in entry.results
        if result.trusted_verbatim
    ]
    return sorted(
        [*found, *(text_of(entry) for entry in history if isinstance(entry, ChatMessage) and is_flagged(entry))]
    )


def _damaged() -> st.SearchStrategy[list[TranscriptEntry]]:
    ids = st.sampled_from(("a", "b", "c"))
    calls = st.builds(ToolCall, id=ids, name=words, arguments=st.just("{}"))
    results = st.builds(ToolResult, tool_call_id=ids, content=words, trusted_verbatim=st.booleans())
    entries: st.SearchStrategy[TranscriptEntry] = st.one_of(
        st.builds(AssistantTurn, text=st.none() | words, tool_calls=st.lists(calls, max_size=3).map(tuple)),
        st.builds(ToolResultBatch, results=st.lists(results, min_size=1, max_size=3).map(tuple)),
        st.builds(ChatMessage, role=st.sampled_from(("user", "system")), content=words),
    )
    return st.lists(entries, max_size=7)


def _damaged_by_hand() -> list[list[TranscriptEntry]]:
    two = [ok("one", call_id="a"), ok("two", call_id="b")]
    turn = call_turn(two)
    first, second = map(_batch, two)
    secret = ToolResultBatch(results=(ToolResult(tool_call_id="b", content="delivery\n", trusted_verbatim=True),))
    nobody = ToolResultBatch(results=(ToolResult(tool_call_id="z", content="nobody's"),))
    nobodys_secret = ToolResultBatch(results=(ToolResult(tool_call_id="z", content=" kept ", trusted_verbatim=True),))
    system = ChatMessage(role="system", content="mind the gap")
    both = ToolResultBatch(results=(first.results[0], secret.results[0], nobodys_secret.results[0]))
    return [
        [_USER, turn],
        [_USER, turn, first],
        [_USER, turn, first, _USER],
        [_USER, turn, second, first],
        [_USER, turn, first, system, second],
        [_USER, turn, _USER, first, secret],
        [_USER, turn, first, first, second, second],
        [first, _USER, turn, second],
        [_USER, nobody, turn, first, second, nobody],
        [_USER, nobodys_secret, turn, first, nobodys_secret],
        [_USER, turn, both],
        [_USER, turn, first, turn, first, second],
        [_USER, turn, turn, first, second, first, second],
        [_USER, turn, first, secret, secret],
    ]
