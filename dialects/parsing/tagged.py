"""Finding calls that stand in tags: what is a call, what is a draft, what is only prose.

A call opener counts only where what follows can begin a call; everywhere else the tag is a
mention and swallows nothing. Text is what remains when the calls are cut out, exactly:

* a call that was read, or that was not but has its closing tag, is cut; so is one that a
  length limit cut off. A problem's `raw` holds what was cut.
* a call that breaks off with neither a closing tag nor a length limit stays in the text as
  well, since nobody can say where it ends.
* nothing inside a broken call is executed: where tags balance, it reaches to the closing
  tag that is its own.

Thinking: `<think>` … `</think>` is text, with all calls in it. A first `</think>` that
nothing opened belongs to a template that opened it in the prompt: all before it is
thinking. A `<think>` never closed is a mention inside a line; at the start of a line it is
thinking that never ended, and a complete call in it is `ambiguous`: neither run nor lost.
Where the reply was cut by a length limit such a call is a draft, as in any thinking.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

from ..tags import CALL_TAGS, THINK_TAGS
from ..transcript import ParsedToolCall, Problem, ProblemKind
from .spelling import BLANK

_TAG = re.compile(
    rf"<{BLANK}(?P<slash>/?){BLANK}(?:(?P<call>{'|'.join(map(re.escape, CALL_TAGS))})"
    rf"|(?:{'|'.join(map(re.escape, THINK_TAGS))})){BLANK}>",
    re.IGNORECASE | re.ASCII,
)
_GAP = re.compile("[ \t\r\n\f\v\ufeff]*+")
_PARTIAL_TAG = re.compile(rf"(?:<{BLANK}(?:/{BLANK}[a-z_]*+{BLANK})?)?\Z", re.IGNORECASE | re.ASCII)
# How far back the start of a line is looked for: an indented tag, in bounded time.
_LINE_LOOKBACK = 80


class Tag(NamedTuple):
    """One tag in the text: `text[start:end]`."""

    start: int
    end: int
    is_call: bool
    closes: bool


class Found(NamedTuple):
    """A call that was read; it reaches to `end`."""

    call: ParsedToolCall
    end: int


class Broken(NamedTuple):
    """A call that was not; reading goes on at `end`. `cut`: its raw text leaves the narrative.

    Without its text: of calls that lie in one another few are problems, and a copy of each would be quadratic.
    """

    kind: ProblemKind
    name: str | None
    detail: str
    end: int
    cut: bool = True

    def problem(self, raw: str) -> Problem:
        """The same for the model; `raw` is the text from its opener to `end`."""
        return Problem(kind=self.kind, name=self.name, detail=self.detail, raw=raw)


class Reading:
    """What a text holds. Calls and problems in order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.calls: list[ParsedToolCall] = []
        self.problems: list[Problem] = []


class CallGrammar(Protocol):
    """How a call is spelled between its tags."""

    def begins(self, page: Page, position: int) -> bool:
        """What follows an opener that ends at `position` can begin a call."""

    def read(self, page: Page, opener: Tag) -> Found | Broken:
        """The call behind an opener where `begins` holds."""


class Page:
    """A text, its tags found in one pass, and where a broken call ends."""

    def __init__(self, text: str, grammar: CallGrammar, *, truncated: bool) -> None:
        self.text = text
        self.truncated = truncated
        self.grammar = grammar
        self._read: dict[int, Found | Broken] = {}
        self.tags = [
            Tag(found.start(), found.end(), found["call"] is not None, bool(found["slash"]))
            for found in (_TAG.finditer(text) if "<" in text else ())
        ]

    def read(self, opener: Tag) -> Found | Broken:
        """The call behind an opener, read once."""
        if opener.start not in self._read:
            self._read[opener.start] = self.grammar.read(self, opener)
        return self._read[opener.start]

    def skip_gap(self, position: int) -> int:
        """The end of white space and byte order marks."""
        found = _GAP.match(self.text, position)
        return found.end() if found else position

    def closer_at(self, position: int) -> Tag | None:
        """The closing tag behind white space at `position`."""
        start = self.skip_gap(position)
        tag = self.tag_from(start)
        return tag if tag and tag.is_call and tag.closes and tag.start == start else None

    def tag_from(self, position: int) -> Tag | None:
        """The first tag that begins at or behind `position`."""
        index = bisect_left(self._starts, position)
        return self.tags[index] if index < len(self.tags) else None

    def ends_at(self, position: int) -> bool:
        """Nothing but white space and a cut tag is left."""
        return _PARTIAL_TAG.match(self.text, self.skip_gap(position)) is not None

    def last_attempt_before(self, position: int) -> Tag | None:
        """The last opener before `position` that can begin a call."""
        index = bisect_left(self._attempt_starts, position)
        return self._attempts[index - 1] if index else None

    def own_closer(self, opener: Tag) -> Tag | None:
        """The closing tag that balances the opener."""
        return self._balanced.get(opener.start)

    def broken_off(self, opener: Tag, name: str | None, detail: str, *, ran_out: bool) -> Broken:
        """A call not read whose end is not known.

        `ran_out`: reading it met the end of the text. Where a length limit cut the text, all of
        it may then be the call's arguments, with other calls in them: none of those is read.
        """
        cut_off = self.truncated and ran_out
        closer = None if cut_off else self.own_closer(opener)
        stop = None if cut_off or closer else self._next_stop(opener)
        if stop and not stop.closes:
            return Broken("malformed", name, detail, stop.start, cut=False)
        closer = closer or stop
        if closer:
            return Broken("malformed", name, detail, closer.end)
        if self.truncated:
            detail = "the reply hit its length limit within this call. Call again, with less text."
        kind: ProblemKind = "incomplete" if self.truncated or ran_out else "malformed"
        return Broken(kind, name, detail, len(self.text), cut=self.truncated)

    def _next_stop(self, opener: Tag) -> Tag | None:
        index = bisect_left(self._stop_starts, opener.end)
        return self._stops[index] if index < len(self._stops) else None

    @cached_property
    def _starts(self) -> list[int]:
        return [tag.start for tag in self.tags]

    @cached_property
    def _attempts(self) -> list[Tag]:
        return [tag for tag in self.tags if tag.is_call and not tag.closes and self.grammar.begins(self, tag.end)]

    @cached_property
    def _attempt_starts(self) -> list[int]:
        return [tag.start for tag in self._attempts]

    @cached_property
    def _stops(self) -> list[Tag]:
        attempts = set(self._attempt_starts)
        return [tag for tag in self.tags if (tag.closes and tag.is_call) or not tag.is_call or tag.start in attempts]

    @cached_property
    def _stop_starts(self) -> list[int]:
        return [tag.start for tag in self._stops]

    @cached_property
    def _balanced(self) -> dict[int, Tag]:
        open_tags: list[Tag] = []
        balanced: dict[int, Tag] = {}
        for tag in self.tags:
            if not tag.is_call:
                continue
            if not tag.closes:
                open_tags.append(tag)
            elif open_tags:
                balanced[open_tags.pop().start] = tag
        return balanced


def read_tagged(text: str, grammar: CallGrammar, *, truncated: bool) -> Reading:
    """The calls and problems of a model's text, and the text without them."""
    page = Page(text, grammar, truncated=truncated)
    reading = Reading(text)
    cuts: list[tuple[int, int]] = []
    think_closers = [tag.start for tag in page.tags if tag.closes and not tag.is_call]
    last_think_closer = think_closers[-1] if think_closers else -1
    position = 0
    thinking = thought = False
    drafts: list[tuple[Tag, Found]] = []
    for tag in page.tags:
        if tag.start < position or (tag.is_call and tag.closes):
            continue
        if not tag.is_call:
            if not tag.closes:
                if not thinking and (tag.start < last_think_closer or _starts_line(text, tag.start)):
                    thinking, drafts = True, []
            elif thinking or not thought:
                if not thinking:
                    reading, cuts = Reading(text), []
                thinking, thought = False, True
            continue
        if not grammar.begins(page, tag.end):
            continue
        found = page.read(tag)
        if thinking:
            if isinstance(found, Found):
                drafts.append((tag, found))
                position = found.end
            else:
                # Nothing inside it is a draft, but no one can say that it ends behind the thinking.
                following = bisect_left(think_closers, tag.end)
                position = min(found.end, *think_closers[following : following + 1], len(text))
            continue
        position = found.end
        if isinstance(found, Found):
            reading.calls.append(found.call)
            cuts.append((tag.start, found.end))
        else:
            reading.problems.append(found.problem(text[tag.start : found.end]))
            if found.cut:
                cuts.append((tag.start, found.end))
    if thinking and not truncated:
        reading.problems += [_in_open_thinking(text[tag.start : found.end], found.call.name) for tag, found in drafts]
    reading.text = _without(text, cuts)
    return reading


def _in_open_thinking(raw: str, name: str) -> Problem:
    return Problem(
        kind="ambiguous",
        name=name,
        detail=f"it stands behind a <{THINK_TAGS[0]}> that was never closed, so it may be a draft. "
        "Close the thinking, then call again.",
        raw=raw,
    )


def _starts_line(text: str, position: int) -> bool:
    before = text[max(0, position - _LINE_LOOKBACK) : position]
    line = before.rpartition("\n")[2]
    return not line.strip(" \t\r\ufeff") and (len(line) < _LINE_LOOKBACK or position == len(line))


def _without(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    kept = []
    position = 0
    for start, end in cuts:
        kept.append(text[position:start])
        position = end
    kept.append(text[position:])
    return "".join(kept)
