"""Why a contract is, or is not, credited: the verdict on each marked row, for people.

Slower than the rescan on purpose: it also looks for markers that are not at byte 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from .ledger import DIGEST_DIGITS, Ledger, payload_digest
from .marker import PREFIX, Marker, find_markers, read_marker
from .presence import verified


class Verdict(StrEnum):
    """`INTACT` is credited; nothing else is.

    `REWRITTEN`: the payload is not the one that was issued (or the marker is broken).
    `DISPLACED`: a marker that does not stand at byte 0 of its row. `UNKNOWN`: intact, but
    this ledger did not issue it. `STALE`: intact, of a version that is no longer wanted.
    """

    INTACT = "INTACT"
    REWRITTEN = "REWRITTEN"
    DISPLACED = "DISPLACED"
    UNKNOWN = "UNKNOWN"
    STALE = "STALE"


@dataclass(frozen=True, slots=True)
class Sighting:
    """One key of one marked row. `row` counts the given texts from 0; `key` and `version`
    are None where the marker is too damaged to be read."""

    row: int
    key: str | None
    version: str | None
    verdict: Verdict


def explain(
    texts: Iterable[str],
    ledger: Ledger | None = None,
    wanted: Callable[[str], str | None] = lambda _key: None,
) -> list[Sighting]:
    """Every marked row, in order. Without a ledger, a payload that fits its token counts as
    issued; `wanted(key)` is the version a target has now, None where any will do.

    Raises TypeError for a single string in place of many.
    """
    if isinstance(texts, str):
        raise TypeError("explain takes the texts the host wrote, one a row, not a single string")
    sightings = []
    for row, text in enumerate(texts):
        leading = read_marker(text)
        if leading is not None:
            intact = _judge(leading, ledger)
            for key, version in leading.claims.items():
                stale = intact is Verdict.INTACT and wanted(key) not in (None, version)
                sightings.append(Sighting(row, key, version, Verdict.STALE if stale else intact))
        elif text.startswith(PREFIX):
            sightings.append(Sighting(row, None, None, Verdict.REWRITTEN))
        else:
            sightings += [
                Sighting(row, key, version, Verdict.DISPLACED)
                for marker in find_markers(text)
                for key, version in marker.claims.items()
            ]
    return sightings


def _judge(marker: Marker, ledger: Ledger | None) -> Verdict:
    if marker.token[:DIGEST_DIGITS] != payload_digest(marker.payload):
        return Verdict.REWRITTEN
    if ledger is not None and not verified(ledger, marker.token, marker.payload, marker.claims):
        return Verdict.UNKNOWN
    return Verdict.INTACT
