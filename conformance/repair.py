"""N: a history that a provider would refuse is repaired, and nothing that was said is lost."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ToolCall,
    ToolResult,
    ToolResultBatch,
    TranscriptEntry,
    dump_transcript,
    load_transcript,
)

from .clause import Chapter, require
from .entries import USER, batch_of, call_turn, is_flagged, ok, require_same_entries, text_of
from .strategies import words
from .trial import Trial

REPAIR = Chapter[Trial]("N", "repair")


@REPAIR.clause(
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


@REPAIR.clause(
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
    first, second = map(batch_of, two)
    secret = ToolResultBatch(results=(ToolResult(tool_call_id="b", content="delivery\n", trusted_verbatim=True),))
    nobody = ToolResultBatch(results=(ToolResult(tool_call_id="z", content="nobody's"),))
    nobodys_secret = ToolResultBatch(results=(ToolResult(tool_call_id="z", content=" kept ", trusted_verbatim=True),))
    system = ChatMessage(role="system", content="mind the gap")
    both = ToolResultBatch(results=(first.results[0], secret.results[0], nobodys_secret.results[0]))
    return [
        [USER, turn],
        [USER, turn, first],
        [USER, turn, first, USER],
        [USER, turn, second, first],
        [USER, turn, first, system, second],
        [USER, turn, USER, first, secret],
        [USER, turn, first, first, second, second],
        [first, USER, turn, second],
        [USER, nobody, turn, first, second, nobody],
        [USER, nobodys_secret, turn, first, nobodys_secret],
        [USER, turn, both],
        [USER, turn, first, turn, first, second],
        [USER, turn, turn, first, second, first, second],
        [USER, turn, first, secret, secret],
    ]


@REPAIR.clause(
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
        real = [batch_of(outcome) for outcome in outcomes]
        doubled: list[TranscriptEntry] = [USER, turn, *real, *(batch_of(outcome, "second") for outcome in outcomes)]
        _require_answers(
            trial, doubled, [outcome.output for outcome in outcomes], "of two results the first one counts"
        )
        interrupted = trial.subject().replay([USER, turn, USER])
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
    interrupted = load_transcript(dump_transcript(trial.subject().replay([USER, turn])))
    real = ToolResultBatch(results=(ToolResult(tool_call_id="a", name="read_file", content=content),))
    _require_answers(trial, [*interrupted, real], [content], "a real result beats one that a repair made up")
    _require_answers(
        trial, [USER, turn, real, batch_of(ok("second", call_id="a"))], [content], "of two results the first one counts"
    )
    for number in (2, 3):
        shared = call_turn([ok("", call_id="a")] * number)
        replayed = trial.subject().replay([*trial.subject().replay([USER, shared]), real])
        got = [result.content for entry in replayed if isinstance(entry, ToolResultBatch) for result in entry.results]
        require(
            len(got) == number and content in got,
            f"a late result of one of {number} calls with one id is lost; there stand {got}",
        )


def _require_answers(trial: Trial, history: Sequence[TranscriptEntry], want: list[str], rule: str) -> None:
    replayed = trial.subject().replay(history)
    got = [result.content for entry in replayed if isinstance(entry, ToolResultBatch) for result in entry.results]
    require(got == want, f"{rule}: {want}, but there stand {got}")
