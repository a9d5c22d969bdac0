"""Which tool names a response may use, and what a model is told about another one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from .spelling import BLANK, CALL_CLOSER

# Matching costs (tools x length squared): enough for a slip, bounded for a flood.
_LONGEST_MATCHED = 100
_MOST_MATCHED = 16
_MOST_SHOWN = 5
_LONGEST_QUOTED = 80


class KnownNames:
    """The names of the tools given. Without tools no name is unknown."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(dict.fromkeys(names))
        self._set = frozenset(self._names)
        self._matched = 0

    def misspelled_call(self, text: str, position: int) -> str | None:
        """The known name at `position` where it stands as in a call that is spelled wrong: with
        a bracket behind it, or with nothing but the closing tag."""
        found = self._call_head.match(text, position)
        return found["name"] if found else None

    @cached_property
    def _call_head(self) -> re.Pattern[str]:
        names = sorted((re.escape(name) for name in self._names if name), key=len, reverse=True)
        heads = rf"(?P<name>{'|'.join(names)}){BLANK}(?:[\[({{]|(?i:{CALL_CLOSER}))" if names else r"(?!)"
        return re.compile(heads, re.ASCII)

    def why_unknown(self, name: str) -> str | None:
        """What a model is told of an unknown name, or None where the name may be called."""
        if not self._names or name in self._set:
            return None
        near = self._closest(name)
        hint = f"the closest are {_listed(near)}" if near else f"the tools are {_listed(self._names[:_MOST_SHOWN])}"
        if not near and len(self._names) > _MOST_SHOWN:
            hint += f" and {len(self._names) - _MOST_SHOWN} more"
        return f"there is no tool named {quoted(name)}; {hint}."

    def _closest(self, name: str) -> list[str]:
        if self._matched >= _MOST_MATCHED or len(name) > _LONGEST_MATCHED:
            return []
        from difflib import get_close_matches  # a slip is rare, and difflib large

        self._matched += 1
        folded = {known.casefold(): known for known in self._names if len(known) <= _LONGEST_MATCHED}
        return [folded[key] for key in get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)]


def quoted(name: str) -> str:
    """A name for a message: in quotes, cut where a model ran away."""
    return f'"{name}"' if len(name) <= _LONGEST_QUOTED else f'"{name[:_LONGEST_QUOTED]}…"'


def _listed(names: Iterable[str]) -> str:
    return ", ".join(quoted(name) for name in names)
