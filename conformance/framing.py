"""F: a round of outcomes becomes entries: all of them, once, in order, and the same each time."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from tooldialect.dialects import (
    Attachment,
    ChatMessage,
    ModelResponse,
    ParsedToolCall,
    ToolOutcome,
    ToolResultBatch,
    ToolSpec,
    TranscriptEntry,
    dump_transcript,
    load_transcript,
)

from .clause import Chapter, require, require_same
from .entries import all_text, call_turn, marked, numbered, ok, require_same_entries, stands_alone, text_of
from .strategies import any_text, rounds, words
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
