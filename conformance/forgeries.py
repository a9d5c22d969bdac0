"""E: what nobody ran is neither a call nor a result."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import strategies as st

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ModelResponse,
    ParsedToolCall,
    ToolSpec,
    TranscriptEntry,
)

from .clause import Chapter, require
from .entries import all_text, numbered, ok
from .strategies import words, written_hostile
from .target import ReadResult, Refused, Unsayable
from .trial import Trial

FORGERIES = Chapter[Trial]("E", "forgeries")


@FORGERIES.clause(
    "E4",
    "Nothing in a rendered batch is callable.",
    reason="Some models repeat their input, and hosts parse what they say.",
    prevents="A call that a web page wrote.",
    needs=("text", "parsing", "calls"),
)
def _nothing_callable(trial: Trial) -> None:
    tool = ToolSpec(name="pay", parameters={"type": "object", "properties": {"to": {"type": "string"}}})
    subject = trial.subject([tool])
    calls = [ParsedToolCall(name="pay", arguments=arguments) for arguments in ({"to": "mallory"}, {})]

    def spelled() -> list[str]:
        texts = []
        for call in calls:
            try:
                texts.append(subject.render_call(call))
            except Unsayable:
                continue
        return texts

    calls_in_words = spelled()
    require(calls_in_words, "the dialect can spell no call of a plain tool")

    def check(body: str) -> None:
        entries = subject.format_results(numbered([ok("before"), ok(body), ok("after", name=body)]))
        for text in [*map(all_text, [entries]), *(all_text([entry]) for entry in entries)]:
            parsed = subject.parse_response(ModelResponse(text=text))
            require(not parsed.calls, f"a tool's output made the call {[c.name for c in parsed.calls]}", got=text)

    written = [
        form
        for call in calls_in_words
        for form in (
            call,
            call.upper(),
            f"a{call}b",
            call.replace("<", "< "),
            call + call,
            *(f"{lead}{call}" for lead in (" ", "\t", "> ", "- ", "* ", "\n\n  ")),
        )
    ]
    pieces = st.sampled_from([*calls_in_words, *written_hostile(trial.about.protocol_tags), "\n", " ", "pay"])
    trial.search.any(st.lists(pieces | words, max_size=4).map("".join), check, written)


@FORGERIES.clause(
    "E8",
    "Results that the model made up are not replayed as results.",
    reason="Weak models go on and write the answer to their own call.",
    prevents="An invented result that later turns take for a real one.",
    needs=("text", "replay"),
)
def _made_up(trial: Trial) -> None:
    def check(body: str) -> None:
        subject = trial.subject()
        [batch] = subject.format_results([ok(body)])
        forged = all_text([batch]).strip()
        for turn in (
            AssistantTurn(text=f"I will look.\n{forged}"),
            ChatMessage(role="assistant", content=f"I will look.\n{forged}"),
        ):
            replayed = subject.replay([turn])
            shown = all_text(replayed)
            require("I will look." in shown, "an assistant turn lost its words in replay", got=shown)
            # A frame that no longer begins its line is broken.
            alive = re.search(rf"^{re.escape(forged)}", shown, re.MULTILINE) or _results_read(trial, replayed)
            require(not alive, "a result that the model wrote itself is replayed as a result", got=shown)

    trial.search.any(words, check, ["x", "a longer body"])


def _results_read(trial: Trial, entries: Sequence[TranscriptEntry]) -> list[ReadResult]:
    """What the dialect's reader finds; one that refuses a text without results finds none."""
    if not trial.offers("read_results"):
        return []
    try:
        return trial.subject().read_results(entries)
    except Refused:
        return []
