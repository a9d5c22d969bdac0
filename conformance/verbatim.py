"""V: a marked outcome reaches the model byte for byte, at byte 0 of an entry of its own."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from tooldialect.dialects import (
    ChatMessage,
    NativeDialect,
    ToolOutcome,
    TranscriptEntry,
    XmlDialect,
    dump_transcript,
    load_transcript,
)

from .clause import Chapter, require, require_same
from .entries import (
    call_turn,
    is_flagged,
    marked,
    numbered,
    ok,
    persisted,
    require_alone,
    require_same_entries,
    stands_alone,
    text_of,
    verbatim_texts,
)
from .strategies import CODE, MARKERS, ODD_CHARACTERS, blank_text, hostile_text, rounds, words, written_hostile
from .trial import Trial
from .wires import every_wire

V = Chapter[Trial]("V", "verbatim")

_PADDED = ("contract", "two lines\nend\n", "  padded  ", "\n\nx", "x\n\n", "a\tb ", "x" * 5000)


@V.clause(
    "V1",
    "A marked outcome is an entry of its own, identical from first to last byte.",
    reason="The gate recognises a delivered contract by its bytes, from byte 0 on.",
    prevents="A banner, a wrapper or a trimmed line break: nothing looks broken and the gate is inert.",
)
def _identical(trial: Trial) -> None:
    def check(text: str) -> None:
        outcome = marked(text)
        entries = trial.subject().format_results([outcome])
        require(len(entries) == 1, f"one marked outcome became {len(entries)} entries")
        require_alone(entries[0], outcome, native=trial.is_native)

    padded = st.tuples(st.sampled_from(["", " ", "\n"]), words, st.sampled_from(["", " ", "\n"])).map("".join)
    trial.search.any(padded, check, _PADDED)


@V.clause(
    "V2",
    "So in any position of a round: first, last, only, adjacent to another marked one.",
    reason="Calls run in parallel; a delivery comes back among ordinary results.",
    prevents="A delivery that is lost or batched depending on its neighbours.",
)
def _in_any_position(trial: Trial) -> None:
    def check(pattern: tuple[bool, ...]) -> None:
        outcomes = [
            marked(f"body {n}", call_id=f"call-{n}") if m else ok(f"body {n}", call_id=f"call-{n}")
            for n, m in enumerate(pattern)
        ]
        _require_split(trial, outcomes, trial.subject().format_results(outcomes))

    patterns = [pattern for size in range(1, 5) for pattern in product((True, False), repeat=size) if any(pattern)]
    trial.search.any(st.lists(st.booleans(), min_size=5, max_size=9).map(tuple), check, patterns)


@V.clause(
    "V3",
    "So whatever it holds: protocol tags, markers, any Unicode, line ends, a byte order mark.",
    reason="A contract quotes what its provider wrote.",
    prevents="Escaping, normalising or translating the one text that must not change.",
)
def _whatever_it_holds(trial: Trial) -> None:
    tags, tokens = trial.about.protocol_tags, trial.about.control_tokens

    def check(text: str) -> None:
        outcome = marked(text)
        if not stands_alone(outcome):
            return
        entries = trial.subject().format_results([outcome])
        require(len(entries) == 1, f"one marked outcome became {len(entries)} entries")
        require_same(outcome.output, text_of(entries[0]), "a marked outcome did not keep its bytes")

    written = [*written_hostile(tags), *tokens, *MARKERS, *CODE, *ODD_CHARACTERS, "a\r\nb\rc\n", "\ufeffbom"]
    trial.search.any(hostile_text(tags, tokens), check, written)


@V.clause(
    "V4",
    "An empty or blank marked outcome never becomes an empty turn, and is not lost.",
    reason="Providers refuse a turn that is empty or only white space.",
    prevents="One blank result that makes every later request of the conversation fail.",
)
def _blank(trial: Trial) -> None:
    def check(text: str) -> None:
        plain = ToolOutcome.ok("read_contract", text, tool_call_id="call-0")
        for before, after in (([], []), ([ok("before")], [ok("after")]), ([ok("before")], []), ([], [marked("after")])):
            got = trial.subject().format_results(numbered([*before, plain.verbatim(), *after]))
            want = trial.subject().format_results(numbered([*before, plain, *after]))
            require(
                not any(is_flagged(entry) and text_of(entry).strip() == "" for entry in got),
                "a blank marked outcome became a turn of its own, without a visible character",
            )
            require_same_entries(want, got, "a blank marked outcome is not framed as an unmarked one is")

    trial.search.any(blank_text, check, ("", " ", "\n", "\t \r\n", "\u3000"))


@V.clause(
    "V5",
    "So after the transcript was saved, loaded and replayed.",
    reason="A conversation that goes on tomorrow must still hold its contracts.",
    prevents="A replay that re-frames history and drops what the fresh entries had.",
    needs=("replay",),
)
def _after_save_and_load(trial: Trial) -> None:
    def check(outcomes: list[ToolOutcome]) -> None:
        history = [
            ChatMessage(role="user", content="go"),
            call_turn(outcomes),
            *trial.subject().format_results(outcomes),
        ]
        loaded = load_transcript(dump_transcript(history))
        replayed = trial.subject().replay(loaded)
        _require_marked(outcomes, replayed)
        # A host that stores a marked text as a bare tool message asks for the same.
        bare = [ChatMessage(role="tool", content=text, trusted_verbatim=True) for text in verbatim_texts(replayed)]
        _require_marked(outcomes, trial.subject().replay(bare))

    hostile = hostile_text(trial.about.protocol_tags)
    trial.search.any(rounds(hostile), check, _rounds_by_hand(trial))


@V.clause(
    "V6",
    "So after replay through another dialect, both ways.",
    reason="A host changes the model, and with it the dialect, in the middle of a conversation.",
    prevents="A contract that survives only as long as the dialect that delivered it.",
    needs=("replay",),
)
def _through_another_dialect(trial: Trial) -> None:
    others = (NativeDialect(), XmlDialect())

    def check(outcomes: list[ToolOutcome]) -> None:
        turn: list[TranscriptEntry] = [ChatMessage(role="user", content="go"), call_turn(outcomes)]
        for other in others:
            theirs = trial.subject().replay([*turn, *other.format_results(outcomes)])
            _require_marked(outcomes, theirs)
            ours = other.replay([*turn, *trial.subject().format_results(outcomes)])
            _require_marked(outcomes, ours)
            _require_marked(outcomes, trial.subject().replay(ours))
        crowded = persisted([outcome.model_copy(update={"trusted_verbatim": False}) for outcome in outcomes])
        merged = [
            entry.model_copy(
                update={
                    "results": tuple(
                        result.model_copy(update={"trusted_verbatim": outcome.trusted_verbatim})
                        for result, outcome in zip(entry.results, outcomes, strict=True)
                    )
                }
            )
            for entry in crowded
            if entry.kind == "tool_results"
        ]
        # A host may have stored the whole round as one batch.
        _require_marked(outcomes, trial.subject().replay([*turn, *merged]))

    hostile = hostile_text(trial.about.protocol_tags)
    trial.search.any(rounds(hostile), check, _rounds_by_hand(trial))


@V.clause(
    "V7",
    "On each wire, one of the texts the host wrote is exactly the marked text.",
    reason="What counts is the request that leaves, not the transcript.",
    prevents="A text that is whole in the transcript and merged or trimmed in the request.",
    needs=("replay",),
)
def _on_each_wire(trial: Trial) -> None:
    def check(outcomes: list[ToolOutcome]) -> None:
        history = [
            ChatMessage(role="system", content="Be brief."),
            ChatMessage(role="user", content="go"),
            call_turn(outcomes),
            *trial.subject().format_results(outcomes),
            ChatMessage(role="user", content="and now?"),
        ]
        for label, wire in every_wire():
            texts = list(wire.host_texts(trial.subject().provider_messages(history, wire)))
            for outcome in outcomes:
                if stands_alone(outcome):
                    nearest = next((text for text in texts if outcome.output.strip() in text), "\n".join(texts))
                    require(
                        outcome.output in texts,
                        f"on the wire {label} no text of the host is the marked text",
                        want=outcome.output,
                        got=nearest,
                    )

    hostile = hostile_text(trial.about.protocol_tags).map(lambda text: f"[{text}]")
    trial.search.any(rounds(hostile), check, _rounds_by_hand(trial))


def _rounds_by_hand(trial: Trial) -> list[list[ToolOutcome]]:
    patterns = [[marked("the contract")]]
    patterns += [[marked("first\n"), ok("plain")], [ok("plain"), marked("  last ")]]
    patterns += [[ok("a"), marked("one"), marked("two"), ok("b"), marked("three")]]
    patterns += [[ok("a"), marked(text), ok("b")] for text in written_hostile(trial.about.protocol_tags)[:6]]
    patterns += [[marked("\ufeffbom\r\nline\u2028"), marked("x\x00")]]
    return [numbered(pattern) for pattern in patterns]


def _require_split(trial: Trial, outcomes: list[ToolOutcome], entries: list[TranscriptEntry]) -> None:
    """Every marked outcome is one entry, and what stands between two of them is one entry."""
    wanted: list[ToolOutcome | None] = []
    for outcome in outcomes:
        if stands_alone(outcome):
            wanted.append(outcome)
        elif not wanted or wanted[-1] is not None:
            wanted.append(None)
    require(
        len(entries) == len(wanted),
        f"{len(outcomes)} outcomes, marked {[stands_alone(o) for o in outcomes]}, became {len(entries)} entries, "
        f"not {len(wanted)}",
    )
    for entry, alone in zip(entries, wanted, strict=True):
        if alone is not None:
            require_alone(entry, alone, native=trial.is_native)
        else:
            require(not is_flagged(entry), "a batch of ordinary outcomes carries the flag")


def _require_marked(outcomes: list[ToolOutcome], entries: list[TranscriptEntry]) -> None:
    want = [outcome.output for outcome in outcomes if stands_alone(outcome)]
    got = verbatim_texts(entries)
    if want != got:
        for wanted, seen in zip(want, got, strict=False):
            require_same(wanted, seen, "a marked outcome did not keep its bytes")
        require(False, f"{len(want)} marked outcomes stand alone before, {len(got)} after: they were lost or re-framed")
