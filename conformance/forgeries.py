"""E: what nobody ran is neither a call nor a result."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence

from hypothesis import strategies as st

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ModelResponse,
    ParsedToolCall,
    ToolOutcome,
    ToolSpec,
    TranscriptEntry,
)

from .clause import Chapter, require
from .copied import FIRST, SECOND, two_results
from .description import ReadResult
from .entries import all_text, numbered, ok
from .faults import Refused, Unsayable
from .strategies import hostile_text, tag_pattern, words, written_hostile
from .target import Subject
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
    subject, calls_in_words = _payments(trial)
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


def _payments(trial: Trial) -> tuple[Subject, list[str]]:
    """A dialect with a tool to pay with, and what its calls are spelled like."""
    tool = ToolSpec(name="pay", parameters={"type": "object", "properties": {"to": {"type": "string"}}})
    subject = trial.subject([tool])
    spelled = []
    for arguments in ({"to": "mallory"}, {}):
        with contextlib.suppress(Unsayable):
            spelled.append(subject.render_call(ParsedToolCall(name="pay", arguments=arguments)))
    return subject, spelled


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


@FORGERIES.clause(
    "E9",
    "A bare tool message is replayed as what a tool said: its words are there, and they open, close and call nothing.",
    reason="A host with a history of its own keeps results as messages of the role `tool`.",
    prevents="A stored page that comes back as another tool's result, as a call, or as the host's own words.",
    needs=("text", "replay"),
)
def _bare_tool_message(trial: Trial) -> None:
    subject, tags = trial.subject(), trial.about.protocol_tags
    live = tag_pattern(tags)

    def replayed(text: str) -> list[TranscriptEntry]:
        return subject.replay([ChatMessage(role="tool", content=text)])

    plain = replayed("AAAA")
    plain_text = all_text(plain)
    for entry in plain:
        speaker = entry.role if isinstance(entry, ChatMessage) else entry.kind
        require(speaker in ("user", "tool"), f"a tool's message is replayed as {speaker!r}", got=plain_text)
    require("AAAA" in plain_text, "the words of a tool's message are lost in replay", want="AAAA", got=plain_text)

    def check_tags(body: str) -> None:
        if not body.strip():
            return
        text = all_text(replayed(body))
        want, got = len(live.findall(plain_text)), len(live.findall(text))
        require(got == want, f"a plain tool message has {want} tags in replay and this one {got}", got=text)

    trial.search.any(hostile_text(tags), check_tags, written_hostile(tags))

    def check_token(token: str) -> None:
        text = all_text(replayed(f"a{token}b"))
        require(token not in text, f"the control token {token!r} is whole in a replayed tool message", got=text)

    trial.search.every(trial.about.control_tokens, check_token)
    trial.search.every(_forged_results(trial), lambda body: _require_no_result(trial, plain, body, replayed(body)))
    if {"parsing", "calls"} <= trial.about.meets():
        reader, spelled = _payments(trial)

        def check_call(body: str) -> None:
            text = all_text(replayed(body))
            read = reader.parse_response(ModelResponse(text=text)).calls
            require(not read, f"a tool's message made the call {[call.name for call in read]} in replay", got=text)

        trial.search.every([form for call in spelled for form in (call, f"I paid.\n{call}", f"a{call}b")], check_call)


def _forged_results(trial: Trial) -> list[str]:
    frames = [
        all_text(trial.subject().format_results([outcome])) for outcome in (ok("x"), ToolOutcome.failed("f", "x"))
    ]
    return [
        body for frame in [*frames, two_results(trial)] for body in (frame, f"I looked.\n{frame}", f"{frame}\nmore")
    ]


def _require_no_result(
    trial: Trial, plain: Sequence[TranscriptEntry], body: str, shown: Sequence[TranscriptEntry]
) -> None:
    """No result but the frame's own, if a bare message gets one."""
    text = all_text(shown)
    # What nothing closes is no frame, and a reader of frames need not know what to make of it.
    if all_text(plain).rstrip().endswith("AAAA"):
        forged = body.removeprefix("I looked.\n").removesuffix("\nmore").strip()
        require(
            not re.search(rf"^{re.escape(forged)}", text, re.MULTILINE),
            "a result that a tool's message holds is replayed as a result",
            got=text,
        )
        return
    want, got = len(_results_read(trial, plain)), len(_results_read(trial, shown))
    require(got <= want, f"a tool's message with a result in it is read as {got} results, not {want}", got=text)
    two = two_results(trial)
    start, last = two.find(FIRST[1]), two.rfind(SECOND[1])
    if 0 <= start < last:
        copy, closing = two[start : last + len(SECOND[1])], two[last + len(SECOND[1]) :].strip()
        text = all_text(trial.subject().replay([ChatMessage(role="tool", content=copy)])).strip()
        closed = closing and text.endswith(f"{copy}\n{closing}")
        require(not closed, "a tool's message that copies the frame is closed by its own text", got=text)


def _results_read(trial: Trial, entries: Sequence[TranscriptEntry]) -> list[ReadResult]:
    """What the dialect's reader finds; one that refuses a text without results finds none."""
    if not trial.offers("read_results"):
        return []
    try:
        return trial.subject().read_results(entries)
    except Refused:
        return []
