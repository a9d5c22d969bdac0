"""Which contracts a transcript still holds, read from its rows and from nothing else.

A row credits its keys iff it leads with a well-formed marker, its payload still has the
token's XXH3-64, and the ledger verifies; in that order, so that a flood of fakes costs a
prefix test, a header and one fast hash each, and no look-up in the ledger.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from .ledger import DIGEST_DIGITS, Ledger, payload_digest
from .marker import PREFIX, parse_marker

_log = logging.getLogger("tooldialect.gate")

_MEMO_ROWS = 4096
_MEMO_CHARACTERS = 16 * 1024 * 1024


class RowReader:
    """Reads what one row credits, and remembers what cannot change.

    A row whose payload does not fit its token never will, and one that was verified stays
    verified. A ledger's no is asked again: another process may issue the row later.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        # By digest: comparing a row with the one text that was verified under its digest is many
        # times faster than hashing the row, which every rescan of rows that were parsed anew would do.
        self._verified = _Memo()
        self._misses = _Memo()

    def claims(self, text: str) -> Mapping[str, str]:
        """`{key: version}` as credited by this row; empty for any other text."""
        found = self._verified.get(text[_DIGEST])
        if found is None or found[0] != text:
            found = self._verify(text)
        return MappingProxyType(found[1])

    def credited(self, marked: Iterable[str]) -> dict[str, frozenset[str]]:
        """`{key: versions}` of every intact delivery among texts that begin with a marker's first characters."""
        credited: dict[str, frozenset[str]] = {}
        known, digest, verify = self._verified.get, _DIGEST, self._verify
        for text in marked:
            found = known(text[digest])
            if found is None or found[0] != text:
                found = verify(text)
            for key, versions in found[2]:
                credited[key] = credited[key] | versions if key in credited else versions
        return credited

    def _verify(self, text: str) -> _Row:
        if self._misses and text in self._misses:
            return _NOTHING
        marker = parse_marker(text)
        if marker is None:
            return _NOTHING
        token, claims, payload = marker
        digest = token[:DIGEST_DIGITS]
        if digest != payload_digest(payload):
            self._misses.remember(text, (text, {}, []))
            return _NOTHING
        if not verified(self._ledger, token, payload, claims):
            return _NOTHING
        row = text, claims, [(key, frozenset((version,))) for key, version in claims.items()]
        self._verified.remember(digest, row)
        return row


# A row's text, what it claims, and what it credits. A plain tuple: a named one takes longer to make
# than a header to read.
_Row: TypeAlias = tuple[str, dict[str, str], list[tuple[str, frozenset[str]]]]
_NOTHING: _Row = ("", {}, [])
# Where a marker has the digest of its payload.
_DIGEST = slice(len(PREFIX), len(PREFIX) + DIGEST_DIGITS)


class _Memo(dict[str, _Row]):
    """Bounded by entries and by characters; the oldest is forgotten first. Thread-safe."""

    def __init__(self) -> None:
        super().__init__()
        self._characters = 0
        self._lock = threading.Lock()

    def remember(self, key: str, row: _Row) -> None:
        characters = len(row[0])
        if characters > _MEMO_CHARACTERS:
            return
        with self._lock:
            if key in self:
                self._characters -= len(self[key][0])
            self[key] = row
            self._characters += characters
            while self._characters > _MEMO_CHARACTERS or len(self) > _MEMO_ROWS:
                self._characters -= len(self.pop(next(iter(self)))[0])


def verified(ledger: Ledger, token: str, payload: str, claims: Mapping[str, str]) -> bool:
    """The ledger's word on a marker; one that raises, or answers anything but True, says no."""
    try:
        return ledger.verify(token, payload, claims) is True
    except Exception:
        _log.exception("[contract-gate] the ledger could not verify %s", ", ".join(sorted(claims)))
        return False
