"""F: what is replayed is what was, as messages that a text model can be sent."""

from __future__ import annotations

from typing import Literal

from hypothesis import strategies as st

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ParsedToolCall,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    TranscriptEntry,
    dump_transcript,
    load_transcript,
)

from .clause import Chapter, require, require_same
from .entries import all_text, call_turn, numbered, ok, persisted, require_same_entries, text_of
from .strategies import any_text, hostile_text, rounds, words
from .trial import Trial

REPLAYED = Chapter[Trial]("F", "replay")

_SPEAKERS: tuple[Literal["user", "system"], ...] = ("user", "system")


@REPLAYED.clause(
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


@REPLAYED.clause(
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
