"""The marked rows of one transcript, read again before every model call.

Transcript entries are frozen: while those of the last rescan still begin the transcript,
only what was added is read. Of request dicts and plain texts nothing is assumed.
"""

from __future__ import annotations

from collections.abc import Iterable

from tooldialect.dialects import TranscriptEntry
from tooldialect.dialects.host_words import EntryTexts, HostTexts, starting_with

from .marker import PREFIX


class Rescan:
    """What one run remembers from its last rescan."""

    def __init__(self) -> None:
        # One tuple, replaced whole: threads see the entries with the texts read from them. It holds
        # the entries themselves, so that none can be collected and another take its identity.
        self._known: tuple[list[TranscriptEntry], list[str]] = ([], [])

    def marked(self, texts: Iterable[str]) -> list[str]:
        """The rows among the host-written `texts` that begin with a marker's first characters.

        Raises TypeError for rows that are no texts, and for one string in place of many: its
        characters would be rows, none of which ever credits anything.
        """
        if isinstance(texts, str):
            raise TypeError("a rescan takes the texts the host wrote, one a row, not a single string")
        if isinstance(texts, EntryTexts):
            return self._marked_entries(texts)
        if isinstance(texts, HostTexts):
            return texts.starting_with(PREFIX)
        rows = texts if isinstance(texts, list | tuple) else list(texts)
        try:
            return starting_with(rows, PREFIX)
        except (TypeError, AttributeError):
            odd = [type(row).__name__ for row in rows if not isinstance(row, str)]
            raise TypeError(
                f"a rescan takes texts, not {odd[0]}: give it wire.host_texts(request), or host_texts(entries)"
            ) from None

    def _marked_entries(self, texts: EntryTexts) -> list[str]:
        known, marked = self._known
        change = texts.starting_with_since(known, PREFIX)
        if change is None:
            marked = []
            change = texts.starting_with_since([], PREFIX)
        if change is None:
            return texts.starting_with(PREFIX)
        entries, added, passing = change
        marked = marked + added
        self._known = entries, marked
        return marked + passing
