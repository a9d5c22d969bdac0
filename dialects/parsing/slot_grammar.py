"""Calls of p-format between their tags: slots, or the JSON form for what slots cannot say.

A slot call ends at the first unescaped `]` that white space and the closing tag follow, so
a value may hold the tags. A call that breaks off must not take the next one for its value:
where another call begins before that end, and reads well, and the tags do not balance, the
first was never closed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from ..transcript import ParsedToolCall
from .json_form import begins_json_call, read_json_call
from .names import KnownNames
from .slot_form import SLOT_NAME, SlotForm, is_blank
from .spelling import BLANK, CALL_CLOSER
from .tagged import Broken, Found, Page, Tag

_HEAD = re.compile(rf"(?P<name>{SLOT_NAME.pattern})\[")
_CUT_HEAD = re.compile(rf"(?:{SLOT_NAME.pattern})?\Z")
# A body begins behind `[`, which no escape holds: every opener agrees on what is escaped.
_END = re.compile(rf"\\[|\]\\]|(?P<end>\](?={BLANK}{CALL_CLOSER}))", re.IGNORECASE | re.ASCII)


class SlotGrammar:
    """Reads the calls of one response; `forms` are those of the tools given, by name."""

    def __init__(self, forms: Mapping[str, SlotForm]) -> None:
        self._forms = forms
        self._known = KnownNames(forms)
        self._ends: list[int] | None = None

    def begins(self, page: Page, position: int) -> bool:
        """A slot call, a JSON call, or a known name misspelled as a call."""
        start = page.skip_gap(position)
        return bool(
            _HEAD.match(page.text, start)
            or begins_json_call(page, position)
            or self._known.misspelled_call(page.text, start) is not None
            or (page.truncated and _CUT_HEAD.match(page.text, start))
        )

    def read(self, page: Page, opener: Tag) -> Found | Broken:
        """The call behind an opener where `begins` holds."""
        start = page.skip_gap(opener.end)
        head = _HEAD.match(page.text, start)
        if not head:
            if begins_json_call(page, opener.end):
                return read_json_call(page, opener, self._known)
            return self._misspelled(page, opener, start)
        name = head["name"]
        end = self._end_of(page, head.end())
        if end is None or self._runs_into_another(page, opener, end):
            detail = f"it has no `]` with the closing tag behind it. Write {self._right_form(name)}."
            return page.broken_off(opener, name, detail, ran_out=end is None)
        closer = page.closer_at(end + 1)
        assert closer is not None
        if why := self._known.why_unknown(name):
            return Broken("unknown_tool", name, why, closer.end)
        try:
            arguments = self._arguments(name, page.text, head.end(), end)
        except ValueError as error:
            detail = f"{error}. Write {self._right_form(name)}."
            return Broken("malformed", name, detail, closer.end)
        return Found(ParsedToolCall(name=name, arguments=arguments), closer.end)

    def _arguments(self, name: str, text: str, start: int, end: int) -> dict[str, Any]:
        form = self._forms.get(name)
        if form:
            return form.read(text, start, end)
        if not is_blank(text, start, end):
            raise ValueError("the slots of this tool are not known here")
        return {}

    def _misspelled(self, page: Page, opener: Tag, start: int) -> Broken:
        name = self._known.misspelled_call(page.text, start)
        detail = f"this is not how a call is written. Write {self._right_form(name)}."
        return page.broken_off(opener, name, detail, ran_out=page.ends_at(start))

    def _right_form(self, name: str | None) -> str:
        form = self._forms.get(name or "")
        if form and form.writable:
            return f"`{form.signature}`, leaving out the slots you do not need"
        return f'`{{"name": "{name or "TOOL"}", "arguments": {{…}}}}`'

    def _end_of(self, page: Page, start: int) -> int | None:
        if self._ends is None:
            self._ends = [found.start() for found in _END.finditer(page.text) if found["end"]]
        index = bisect_left(self._ends, start)
        return self._ends[index] if index < len(self._ends) else None

    def _runs_into_another(self, page: Page, opener: Tag, end: int) -> bool:
        inner = page.last_attempt_before(end)
        if inner is None or inner.start <= opener.start:
            return False
        own, closer = page.own_closer(opener), page.closer_at(end + 1)
        if own and closer and own.start == closer.start:
            return False
        read = page.read(inner)
        return isinstance(read, Found) or read.kind == "unknown_tool"
