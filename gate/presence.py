"""Which contracts a transcript still holds, read from its rows and from nothing else.

A row credits its keys iff it leads with a well-formed marker, its payload still has the
token's XXH3-64, and the ledger verifies; in that order, so that a flood of fakes costs a
prefix test, a header and one fast hash each, and no look-up in the ledger.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from .ledger import DIGEST_DIGITS, Ledger, payload_digest
from .marker import PREFIX, Marker, read_marker

_log = logging.getLogger("tooldialect.gate")

_NOTHING: Mapping[str, str] = MappingProxyType({})
_MEMO_ROWS = 4096
_MEMO_CHARACTERS = 16 * 1024 * 1024


class RowReader:
    """Reads what one row credits, and remembers what cannot change.

    A row whose payload does not fit its token never will, and one that was verified stays
    verified. A ledger's no is asked again: another process may issue the row later.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._memo: OrderedDict[str, Mapping[str, str]] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def claims(self, text: str) -> Mapping[str, str]:
        """`{key: version}` as credited by this row; empty for any other text."""
        if not text.startswith(PREFIX):
            return _NOTHING
        known = self._memo.get(text)
        if known is not None:
            return known
        marker = read_marker(text)
        if marker is None:
            return _NOTHING
        if marker.token[:DIGEST_DIGITS] != payload_digest(marker.payload):
            return self._remember(text, _NOTHING)
        if not verified(self._ledger, marker):
            return _NOTHING
        return self._remember(text, MappingProxyType(marker.claims))

    def _remember(self, text: str, claims: Mapping[str, str]) -> Mapping[str, str]:
        if len(text) > _MEMO_CHARACTERS:
            return claims
        with self._lock:
            if text not in self._memo:
                self._memo[text] = claims
                self._characters += len(text)
            while len(self._memo) > _MEMO_ROWS or self._characters > _MEMO_CHARACTERS:
                forgotten, _ = self._memo.popitem(last=False)
                self._characters -= len(forgotten)
        return claims


def verified(ledger: Ledger, marker: Marker) -> bool:
    """The ledger's word on a marker; one that raises, or answers anything but True, says no."""
    try:
        return ledger.verify(marker.token, marker.payload, marker.claims) is True
    except Exception:
        _log.exception("[contract-gate] the ledger could not verify %s", ", ".join(sorted(marker.claims)))
        return False


def credited(marked: Iterable[str], reader: RowReader) -> dict[str, frozenset[str]]:
    """`{key: versions}` of every intact delivery among rows that begin with a marker's first characters."""
    found: dict[str, frozenset[str]] = {}
    for text in marked:
        for key, version in reader.claims(text).items():
            versions = found.get(key)
            found[key] = frozenset((version,)) if versions is None else versions | {version}
    return found
