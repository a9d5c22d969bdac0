"""F: a round of outcomes becomes entries: all of them, once, in order, and the same each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hypothesis import strategies as st

from tooldialect.dialects import (
    AssistantTurn,
    Attachment,
    ChatMessage,
    ModelResponse,
    ParsedToolCall,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
    TranscriptEntry,
    dump_transcript,
    load_transcript,
)

from .clause import Chapter, require, require_same
from .entries import all_text, call_turn, marked, numbered, ok, persisted, require_same_entries, stands_alone, text_of
from .strategies import any_text, hostile_text, rounds, words
from .trial import Trial

F = Chapter[Trial]("F", "framing")

# Words that tell of success or failure, in bodies: they decide nothing.
_TELLING_BODIES = ("error", "Error: x", "0 errors", "failed", "ok", "success")
_MIXED = [ok("one"), ok("two"), marked("three"), ok("four"), marked("five"), marked("six"), ok("seven")]


@F.clause(
    "F1",
    "Outcomes keep their order and each appears exactly once.",
    reason="A model pairs what it reads with what it asked for.",
    prevents="A result that is lost, doubled, or read as the answer to another call.",
)
def _order(trial: Trial) -> None:
    def check(pattern: tuple[bool, ...]) -> None:
        # Bodies of which none is part of another.
        outcomes = [_token(place, is_marked) for place, is_marked in enumerate(pattern)]
        require_order(outcomes)
        require_order(
            [outcome.model_copy(update={"success": place % 2 == 1}) for place, outcome in enumerate(outcomes)]
        )

    def require_order(outcomes: Sequence[ToolOutcome]) -> None:
        text = all_text(trial.subject().format_results(outcomes))
        places = []
        for outcome in outcomes:
            count = text.count(outcome.output)
            require(count == 1, f"the outcome {outcome.output!r} appears {count} times", want=outcome.output, got=text)
            places.append(text.index(outcome.output))
        require(places == sorted(places), "outcomes changed their order", got=text)

    patterns = [(False,), (False, False), (True,), (False, True), (False, False, True, False), (False,) * 12]
    trial.search.any(st.lists(st.booleans(), min_size=1, max_size=12).map(tuple), check, patterns)


@F.clause(
    "F2",
    "A round equals the concatenation of its segments.",
    reason="A batch before and after a marked outcome is a batch like any other.",
    prevents="A second batch without its frame, or a frame that depends on what stands elsewhere.",
)
def _segments(trial: Trial) -> None:
    def check(outcomes: list[ToolOutcome]) -> None:
        whole = trial.subject().format_results(outcomes)
        parts: list[TranscriptEntry] = []
        for segment in _segmented(outcomes):
            parts += trial.subject().format_results(segment)
        require_same_entries(parts, whole, "a round with marked outcomes differs from its segments, each on its own")

    trial.search.any(rounds(words), check, [numbered(_MIXED), numbered(_MIXED[1:4]), numbered(_MIXED[:4])])


@F.clause(
    "F3",
    "A round without a marked outcome is one entry.",
    reason="Without the feature nothing may change; chat templates refuse two user turns in a row.",
    prevents="Results scattered over turns that a provider merges or refuses.",
)
def _one_entry(trial: Trial) -> None:
    def check(outcomes: list[ToolOutcome]) -> None:
        entries = trial.subject().format_results(outcomes)
        require(len(entries) == 1, f"{len(outcomes)} unmarked outcomes became {len(entries)} entries")
        kind = "tool_results" if trial.is_native else "chat"
        require(entries[0].kind == kind, f"a batch is {entries[0].kind!r}, not {kind!r}")
        require(
            not isinstance(entries[0], ChatMessage) or entries[0].role == "user",
            "a batch of results is not a user message",
        )

    written = [[ok("one")], numbered([ok("one"), ok("two")]), numbered([ok("")]), numbered([ok("a")] * 30)]
    trial.search.any(rounds(any_text, marks=False), check, written)


@F.clause(
    "F4",
    "Nothing in, nothing out.",
    reason="A round without calls has no results to report.",
    prevents="An empty frame that a model takes for a result, or an empty turn that a provider refuses.",
)
def _nothing(trial: Trial) -> None:
    entries = trial.subject().format_results([])
    require(entries == [], "no outcomes became entries", want="", got=dump_transcript(entries))
    if trial.offers("replay"):
        require(trial.subject().replay([]) == [], "an empty history became entries")


@F.clause(
    "F5",
    "Name and success of every outcome are visible in text, or carried natively.",
    reason="Some providers have no failure flag; only the text can tell.",
    prevents="A failure that the model reads as a success, or a result it cannot attribute.",
)
def _name_and_success(trial: Trial) -> None:
    def check(outcomes: list[ToolOutcome]) -> None:
        entries = trial.subject().format_results(outcomes)
        if trial.is_native:
            _require_carried(outcomes, entries)
            return
        if trial.offers("read_results"):
            got = [(name, success) for name, success, _ in trial.subject().read_results(entries)]
            want = [(outcome.name, outcome.success) for outcome in outcomes]
            require(got == want, f"names and success are read as {got}, not {want}")
        text = all_text(entries)
        for place, outcome in enumerate(outcomes):
            require(outcome.name in text, f"the name {outcome.name!r} cannot be read", got=text)
            flipped = [*outcomes]
            flipped[place] = outcome.model_copy(update={"success": not outcome.success})
            other = all_text(trial.subject().format_results(flipped))
            require(other != text, "a failed outcome reads exactly as one that succeeded", got=text)

    written = [
        [ToolOutcome.ok("alpha", "x", tool_call_id="call-0")],
        [ToolOutcome.failed("alpha", "x", tool_call_id="call-0")],
        numbered([ToolOutcome.failed("alpha", "x"), ToolOutcome.ok("beta", "x"), ToolOutcome.failed("gamma", "x")]),
    ]
    written += [
        numbered([ToolOutcome(name="alpha", output=body, success=success), ok("x")])
        for body in _TELLING_BODIES
        for success in (True, False)
    ]
    trial.search.any(rounds(words, marks=trial.is_native), check, written)
    trial.search.every(_TELLING_BODIES, lambda body: _require_flag_of_the_outcome(trial, body))


@F.clause(
    "F6",
    "Replaying persisted results gives the bytes that the fresh ones had.",
    reason="Prompt caches depend on a prefix that does not change.",
    prevents="A history that is re-read, and paid for, anew with every request.",
    needs=("replay",),
)
def _replay_gives_the_same(trial: Trial) -> None:
    def check(outcomes: list[ToolOutcome]) -> None:
        fresh = trial.subject().format_results(outcomes)
        user = ChatMessage(role="user", content="go")
        turn = call_turn(outcomes)
        stored = load_transcript(dump_transcript(fresh))
        ways = {"as this dialect wrote them": stored, "stored as results": persisted(outcomes)}
        if not trial.is_native:
            ways["stored as results without names"] = persisted(outcomes, named=False)
        for way, entries in ways.items():
            replayed = trial.subject().replay([user, turn, *entries])
            want = fresh if not trial.is_native or way != "stored as results" else persisted(outcomes)
            require_same_entries(want, replayed[len(replayed) - len(want) :], f"results {way} are replayed otherwise")

    written = [[ok("one")], numbered([ok("one"), ok("two\n", name="fetch")]), *_shared_ids()]
    hostile = hostile_text(trial.about.protocol_tags)
    trial.search.any(rounds(hostile, marks=False), check, written)
    if not trial.is_native:
        _require_names_by_turn(trial)


@F.clause(
    "F7",
    "The same input gives the same output, and inputs are left as they were.",
    reason="Hosts keep what they hand over, and send it again.",
    prevents="A transcript that changes while it is rendered; a cache that never hits.",
)
def _deterministic(trial: Trial) -> None:
    tool = ToolSpec(name="alpha", parameters={"type": "object", "properties": {"a": {}, "b": {"type": "string"}}})
    call = ParsedToolCall(name="alpha", arguments={"b": "x", "a": {"y": [1], "x": 2}})

    def check(outcomes: list[ToolOutcome]) -> None:
        subject = trial.target.make([tool])
        first = subject.format_results(outcomes)
        require_same_entries(first, subject.format_results(outcomes), "formatting twice gives two results")
        require_same_entries(
            first, trial.target.make([tool]).format_results(outcomes), "two dialects of one kind differ"
        )
        if trial.offers("replay"):
            history = [ChatMessage(role="user", content="go"), call_turn(outcomes), *first]
            replayed = subject.replay(history)
            require_same_entries(replayed, subject.replay(history), "replaying twice gives two results")
        if "calls" in trial.about.meets() and trial.offers("parse_response"):
            spelled = trial.spell([call], subject)
            require(spelled == trial.spell([call], subject), "spelling a call twice gives two spellings")
            once, twice = (subject.parse_response(spelled) for _ in range(2))
            require(once == twice, "reading a response twice gives two readings")
        if trial.offers("prompt_instructions"):
            once_told, twice_told = (subject.prompt_instructions([tool]) for _ in range(2))
            require_same(once_told, twice_told, "the catalogue differs from time to time")
        changed = subject.changed_inputs
        require(not changed, f"{changed[0] if changed else ''} changed the list or the records it was given")

    trial.search.any(rounds(words), check, [numbered([ok("a"), ok("b"), ok("c"), ok("d")]), numbered(_MIXED)])


@F.clause(
    "F8",
    "Replay in a text dialect leaves messages alone, and none of them blank.",
    reason="A model without a structured channel cannot be sent records.",
    prevents="A call or a result that never reaches the model, or a turn that a provider refuses.",
    needs=("text", "replay"),
)
def _only_messages(trial: Trial) -> None:
    def check(history: list[TranscriptEntry]) -> None:
        replayed = trial.subject().replay(history)
        for entry in replayed:
            require(isinstance(entry, ChatMessage), f"replay left a {entry.kind!r} entry")
            require(text_of(entry).strip() != "", "replay wrote a blank turn")
        spoken = [entry for entry in history if isinstance(entry, ChatMessage) and entry.role in ("system", "user")]
        kept = [entry for entry in replayed if entry in spoken]
        require(kept == spoken, "a system or user message was changed, moved or lost in replay")
        twice = trial.subject().replay(replayed)
        require_same_entries(replayed, twice, "replaying what was replayed changes it again")

    turn = AssistantTurn(text=None, tool_calls=(ToolCall(id="c", name="a", arguments="{}"),))
    batch = ToolResultBatch(results=(ToolResult(tool_call_id="c", content="", name="a"),))
    user = ChatMessage(role="user", content="go  \n")
    system = ChatMessage(role="system", content=" be brief")
    written: list[list[TranscriptEntry]] = [
        [user, turn, batch, system],
        [user, AssistantTurn(text=None), AssistantTurn(text=" \n"), AssistantTurn(text="done")],
        [user, AssistantTurn(text="first", tool_calls=turn.tool_calls), batch, user],
        [ChatMessage(role="tool", content="bare"), system],
    ]
    written += [[ChatMessage(role=role, content=text), user] for text in _protocol_texts(trial) for role in _SPEAKERS]
    trial.search.any(_histories(), check, written)


@F.clause(
    "F9",
    "The entry of a reply keeps the reasoning and the metadata that the provider reported beside the text.",
    reason="Providers sign what they wrote and want it back, whatever way the calls are written.",
    prevents="A turn that a provider refuses because its reasoning or its signature is gone.",
    needs=("text", "parsing"),
)
def _reported_is_kept(trial: Trial) -> None:
    def check(response: ModelResponse) -> None:
        entry = trial.subject().parse_response(response).entry
        for field in ("reasoning_content", "metadata"):
            want, got = getattr(response, field), getattr(entry, field)
            require(want == got, f"{field} of the entry is {got!r}, not {want!r} as the provider reported it")

    responses = st.builds(ModelResponse, text=st.none() | words, reasoning_content=st.none() | any_text)
    written = [
        ModelResponse(text="hm", reasoning_content="because\n"),
        ModelResponse(text="hm", metadata={"signature": "x", "n": [1.0, None]}),
        ModelResponse(text=None, reasoning_content=" ", metadata={"a": {}}),
    ]
    trial.search.any(responses, check, written)


@F.clause(
    "F10",
    "An outcome's attachments are on the entry that shows it, in order.",
    reason="A screenshot is the result; the text beside it says that there is one.",
    prevents="An image that a tool returned and no model ever sees.",
)
def _attachments(trial: Trial) -> None:
    first, second, third = (Attachment(media_type="image/png", url=f"https://example.org/{n}.png") for n in "abc")

    def check(attached: list[tuple[Attachment, ...]]) -> None:
        outcomes = numbered([ok(f"body {place}") for place in range(len(attached))])
        outcomes = [o.model_copy(update={"attachments": a}) for o, a in zip(outcomes, attached, strict=True)]
        want = [attachment for group in attached for attachment in group]
        for others in ([], [marked("alone", call_id="call-x"), ok("last", call_id="call-y")]):
            entries = trial.subject().format_results([*outcomes, *others])
            shown = [("as formatted", entries)]
            if trial.offers("replay"):
                history = [call_turn([*outcomes, *others]), *load_transcript(dump_transcript(entries))]
                shown.append(("in replay", trial.subject().replay(history)))
            for way, seen in shown:
                got = [attachment for entry in seen for attachment in _attached(entry)]
                require(got == want, f"the attachments {way} are {got}, not {want}")
                for outcome in outcomes:
                    texts = [entry for entry in seen if outcome.output in text_of(entry)]
                    beside = [attachment for entry in texts for attachment in _attached(entry)]
                    missing = [attachment for attachment in outcome.attachments if attachment not in beside]
                    require(not missing, f"the attachments {missing} are {way} on another entry than their outcome")

    cases: list[list[tuple[Attachment, ...]]] = [[(first,)], [(first, second), (), (third,)], [(), (second, first)]]
    trial.search.every(cases, check)


def _attached(entry: TranscriptEntry) -> list[Attachment]:
    if isinstance(entry, ToolResultBatch):
        return [attachment for result in entry.results for attachment in result.attachments]
    return list(entry.attachments) if isinstance(entry, ChatMessage) else []


_SPEAKERS: tuple[Literal["user", "system"], ...] = ("user", "system")


def _protocol_texts(trial: Trial) -> list[str]:
    """What a user may quote: a result and, where there is a spelling, a call."""
    texts = [all_text(trial.subject().format_results([ok("quoted")]))]
    if trial.offers("render_call"):
        texts.append(trial.subject().render_call(ParsedToolCall(name="ping", arguments={})))
    return [form for text in texts for form in (text, f"It showed me\n{text}\nWhy?")]


def _histories() -> st.SearchStrategy[list[TranscriptEntry]]:
    calls = st.builds(
        ToolCall,
        id=st.sampled_from(("a", "b")),
        name=words,
        arguments=st.sampled_from(('{"a": 1}', "", "not json", "[1]")),
    )
    results = st.builds(
        ToolResult,
        tool_call_id=st.sampled_from(("a", "b", "c")),
        content=any_text,
        name=st.none() | words,
        success=st.booleans(),
    )
    entries: st.SearchStrategy[TranscriptEntry] = st.one_of(
        st.builds(ChatMessage, role=st.sampled_from(("user", "system", "assistant", "tool")), content=words),
        st.builds(
            AssistantTurn,
            text=st.none() | words | st.just(" "),
            tool_calls=st.lists(calls, max_size=2, unique_by=lambda call: call.id).map(tuple),
        ),
        st.builds(ToolResultBatch, results=st.lists(results, min_size=1, max_size=2).map(tuple)),
    )
    return st.lists(entries, max_size=5)


def _require_flag_of_the_outcome(trial: Trial, body: str) -> None:
    """The frame of a body that tells of success or failure is that of a body that tells of nothing."""
    if trial.is_native:
        return

    def framed(text: str, *, success: bool) -> str:
        return all_text(trial.subject().format_results([ToolOutcome(name="alpha", output=text, success=success)]))

    for success in (True, False):
        first, second = (sign * len(body) for sign in ("Q", "Z"))
        plain = framed(first, success=success)
        if plain.replace(first, second) != framed(second, success=success):
            return  # a frame may hang on its body, by a checksum say
        telling = framed(body, success=success)
        require_same(plain.replace(first, body), telling, f"the body {body!r} changes what its frame tells")


def _token(place: int, is_marked: bool) -> ToolOutcome:
    body = f"body {place:03} end"
    return marked(body, call_id=f"call-{place}") if is_marked else ok(body, call_id=f"call-{place}")


def _segmented(outcomes: Sequence[ToolOutcome]) -> list[list[ToolOutcome]]:
    segments: list[list[ToolOutcome]] = []
    is_open = False
    for outcome in outcomes:
        if is_open and not stands_alone(outcome):
            segments[-1].append(outcome)
        else:
            segments.append([outcome])
        is_open = not stands_alone(outcome)
    return segments


def _require_carried(outcomes: Sequence[ToolOutcome], entries: Sequence[TranscriptEntry]) -> None:
    results = [result for entry in entries if isinstance(entry, ToolResultBatch) for result in entry.results]
    got = [(result.name, result.success, result.tool_call_id) for result in results]
    want = [(outcome.name, outcome.success, outcome.tool_call_id) for outcome in outcomes]
    require(got == want, f"name, success and call id are carried as {got}, not {want}")


def _shared_ids() -> list[list[ToolOutcome]]:
    """Calls of one turn that share an id are answered in order."""
    return [[ok("one", name="alpha", call_id="same"), ok("two", name="beta", call_id="same")]]


def _require_names_by_turn(trial: Trial) -> None:
    """A result without a name has that of the nearest call before it with its id."""

    def check(names: tuple[str, str]) -> None:
        history: list[TranscriptEntry] = []
        for name in names:
            outcome = ok(f"from {name}", name=name, call_id="again")
            history += [call_turn([outcome]), *persisted([outcome], named=False)]
        replayed = [text_of(entry) for entry in trial.subject().replay(history)]
        for name in names:
            [fresh] = trial.subject().format_results([ok(f"from {name}", name=name)])
            require(
                text_of(fresh) in replayed,
                "an id that restarts gives a result another tool's name",
                want=text_of(fresh),
            )
        late = ok("late", name=names[1], call_id="again")
        [again] = trial.subject().replay([*history, *persisted([late], named=False)])[len(replayed) :]
        [fresh] = trial.subject().format_results([late])
        require_same(text_of(fresh), text_of(again), "a second result of a call is replayed otherwise than the first")
        orphan = ToolResultBatch(results=(ToolResult(tool_call_id="call-of-nobody", content="x"),))
        [shown] = trial.subject().replay([orphan])
        require("call-of-nobody" in text_of(shown), "a result of which only the id is known does not show it")

    trial.search.every([("alpha", "beta"), ("beta", "alpha")], check)
