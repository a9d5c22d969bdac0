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
from typing import NamedTuple, TypeVar

from .ledger import DIGEST_DIGITS, Ledger, payload_digest
from .marker import MAX_HEADER_BYTES, PREFIX, Marker, read_header, read_marker

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
        # By header: comparing a row with the one text that was verified under its header is many
        # times faster than hashing the row, which every rescan of rows that were parsed anew would do.
        self._verified = _Memo[_Verified]()
        self._misses = _Memo[None]()

    def claims(self, text: str) -> Mapping[str, str]:
        """`{key: version}` as credited by this row; empty for any other text."""
        found = self._verified.get(read_header(text))
        if found is None or found.text != text:
            found = self._verify(text)
        return found.claims

    def credited(self, marked: Iterable[str]) -> dict[str, frozenset[str]]:
        """`{key: versions}` of every intact delivery among texts that begin with a marker's first characters."""
        credited: dict[str, frozenset[str]] = {}
        known = self._verified.get
        for text in marked:
            found = known(text[: text.find("]", _SHORTEST, MAX_HEADER_BYTES) + 1])
            if found is None or found.text != text:
                found = self._verify(text)
            for key, versions in found.versions:
                credited[key] = credited[key] | versions if key in credited else versions
        return credited

    def _verify(self, text: str) -> _Verified:
        if self._misses and text in self._misses:
            return _NOTHING
        marker = read_marker(text)
        if marker is None:
            return _NOTHING
        token, claims, payload = marker
        if token[:DIGEST_DIGITS] != payload_digest(payload):
            self._misses.remember(text, None, len(text))
            return _NOTHING
        if not verified(self._ledger, marker):
            return _NOTHING
        versions = tuple([(key, frozenset((version,))) for key, version in claims.items()])
        found = _Verified(text, MappingProxyType(claims), versions)
        self._verified.remember(text[: -len(payload)] if payload else text, found, len(text))
        return found


class _Verified(NamedTuple):
    """A row, and what it credits, in the two forms that are asked for."""

    text: str
    claims: Mapping[str, str]
    versions: tuple[tuple[str, frozenset[str]], ...]


_NOTHING = _Verified("", MappingProxyType({}), ())
_SHORTEST = len(PREFIX)


M = TypeVar("M")


class _Memo(dict[str, M]):
    """Bounded by entries and by characters; the oldest is forgotten first. Thread-safe."""

    def __init__(self) -> None:
        super().__init__()
        self._sizes: dict[str, int] = {}
        self._characters = 0
        self._lock = threading.Lock()

    def remember(self, key: str, value: M, characters: int) -> None:
        if characters > _MEMO_CHARACTERS:
            return
        with self._lock:
            self._characters += characters - self._sizes.get(key, 0)
            self[key] = value
            self._sizes[key] = characters
            while len(self) > _MEMO_ROWS or self._characters > _MEMO_CHARACTERS:
                oldest = next(iter(self))
                del self[oldest]
                self._characters -= self._sizes.pop(oldest)


def verified(ledger: Ledger, marker: Marker) -> bool:
    """The ledger's word on a marker; one that raises, or answers anything but True, says no."""
    try:
        return ledger.verify(marker.token, marker.payload, marker.claims) is True
    except Exception:
        _log.exception("[contract-gate] the ledger could not verify %s", ", ".join(sorted(marker.claims)))
        return False
