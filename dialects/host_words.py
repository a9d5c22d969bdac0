"""What the host wrote in a transcript, as the units a provider keeps apart.

A rescan before every model call asks thousands of rows for the few that begin with a marker.
So these texts can also be had by their beginning: each row's text is then read once, and its
role, its type and whatever else decides only where the text fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeAlias

from .transcript import AssistantTurn, ChatMessage, ToolResult, ToolResultBatch, TranscriptEntry

TextsOf: TypeAlias = Callable[[Any], Iterable[str]]
# (rows, prefix): in order, each row that may have a text beginning so, and any it cannot tell of.
Candidates: TypeAlias = Callable[[list[Any], str], list[Any]]


class HostTexts(Iterator[str]):
    """The texts of some rows in order, read once: one by one, or all that begin with a prefix."""

    def __init__(self, rows: Iterable[Any], texts_of: TextsOf, candidates: Candidates) -> None:
        self._rows = rows
        self._texts_of = texts_of
        self._candidates = candidates
        self._texts: Iterator[str] | None = None

    def __next__(self) -> str:
        if self._texts is None:
            self._texts = chain.from_iterable(map(self._texts_of, self._rows))
        return next(self._texts)

    def starting_with(self, prefix: str) -> list[str]:
        """Those of the texts not read yet that begin with `prefix`, which is not empty."""
        if self._texts is not None:
            return starting_with(self._texts, prefix)
        # A list: an error inside a host's generator is not one of the row before it.
        rows = self._rows if type(self._rows) is list else list(self._rows)
        self._texts = iter(())
        return self._among(rows, prefix)

    def _among(self, rows: list[Any], prefix: str) -> list[str]:
        return self._checked(self._candidates(rows, prefix), prefix)

    def _checked(self, candidates: Iterable[Any], prefix: str) -> list[str]:
        return [text for row in candidates for text in self._texts_of(row) if text.startswith(prefix)]


class EntryTexts(HostTexts):
    """The texts of transcript entries, which are frozen: what was read of one stays true of it."""

    def __init__(self, entries: Iterable[TranscriptEntry]) -> None:
        super().__init__(entries, _texts_of_entry, _candidate_entries)

    def starting_with_since(
        self, known: list[TranscriptEntry], prefix: str
    ) -> tuple[list[TranscriptEntry], list[str], list[str]] | None:
        """What has changed since the entries were `known`, where all of those are still here, unchanged
        and in order: the entries that can be known next time, their new texts that begin with
        `prefix`, and such texts behind them. None where some are not, or were read already.
        """
        if self._texts is not None:
            return None
        entries = self._rows = self._rows if type(self._rows) is list else list(self._rows)
        if not _begins_with(entries, known):
            return None
        self._texts = iter(())
        added = entries[len(known) :]
        if not added:
            return known, [], []
        candidates, count = _scan(added, prefix, to_the_end=False)
        frozen = added if count == len(added) else added[:count]
        marked = self._checked(candidates, prefix)
        return known + frozen if known else frozen, marked, self._among(added[count:], prefix)


def host_texts(entries: Iterable[TranscriptEntry]) -> EntryTexts:
    """Each user message and each tool result. System and assistant text never: a model can
    quote what it was shown, and a quotation proves nothing about what stands in context."""
    return EntryTexts(entries)


def starting_with(texts: Iterable[str], prefix: str) -> list[str]:
    """Those that begin with `prefix`, which is not empty.

    Raises TypeError or AttributeError for what is no text.
    """
    # `removeprefix` gives back the very text that does not begin so. Up to 3.12 a call of `startswith`
    # costs twice as much, and a comparison that is true of every other text has the processor wait.
    return [text for text in texts if text.removeprefix(prefix) is not text and text.startswith(prefix)]


def _texts_of_entry(entry: TranscriptEntry) -> Iterator[str]:
    if isinstance(entry, ToolResultBatch):
        for result in entry.results:
            yield result.content
    elif isinstance(entry, ChatMessage) and entry.role in ("user", "tool"):
        yield entry.content


def _candidate_entries(entries: list[Any], prefix: str) -> list[Any]:
    return _scan(entries, prefix, to_the_end=True)[0]


def _scan(entries: list[Any], prefix: str, *, to_the_end: bool) -> tuple[list[Any], int]:
    """Entries that may have a text beginning with `prefix`, and how many were looked at: all, or those
    before the first that is not exactly our records. A host's subclass may have thawed."""
    found: list[Any] = []
    add = found.append
    for at, entry in enumerate(entries):
        kind = type(entry)
        if kind is ChatMessage:
            text = entry.content
            if text.removeprefix(prefix) is not text:
                add(entry)
            continue
        if kind is AssistantTurn:
            continue
        if kind is ToolResultBatch:
            # Most have one result: a comprehension takes longer than that.
            may_begin = False
            for result in entry.results:
                if type(result) is not ToolResult:
                    break
                text = result.content
                if text.removeprefix(prefix) is not text:
                    may_begin = True
            else:
                if may_begin:
                    add(entry)
                continue
        if not to_the_end:
            return found, at
        add(entry)
    return found, len(entries)


def _begins_with(entries: list[Any], known: list[Any]) -> bool:
    count = len(known)
    if not count:
        return True
    if len(entries) < count or any(entries[at] is not known[at] for at in (0, count // 2, count - 1)):
        return False
    # Lists compare what is identical without asking it, in C; equal frozen records have equal texts.
    return (entries if len(entries) == count else entries[:count]) == known
