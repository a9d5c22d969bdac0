"""The marker that leads a delivery: `[contract-gate:TOKEN:KEY@VERSION[,KEY@VERSION…]]`.

TOKEN is 16 to 128 lower-case hex digits, VERSION 16. Keys are sorted, unique and at most
256; the header is shorter than 16 KiB. Everything after the `]` is the payload.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from .ledger import Ledger

PREFIX = "[contract-gate:"
MAX_KEYS = 256
MAX_HEADER_BYTES = 16 * 1024

_KEY = r"[^\s\x00-\x1f\x7f-\x9f,@\]<>]++"
_VERSION = "[0-9a-f]{16}"
# The first claim apart: most markers have no other.
_HEADER = re.compile(rf"\[contract-gate:([0-9a-f]{{16,128}}):({_KEY})@({_VERSION})((?:,{_KEY}@{_VERSION})*+)\]")
_LONGEST_TOKEN = 128
_CERTAINLY_FITS = 1024
_MAX_SIGHTINGS = 256


class Marker(NamedTuple):
    """A well-formed leading marker: its token, what it claims (`{key: version}`), the payload behind it."""

    token: str
    claims: dict[str, str]
    payload: str


def read_marker(text: str) -> Marker | None:
    """The marker at the very start of `text`, or None where there is none that is well formed."""
    found = parse_marker(text)
    return None if found is None else Marker(*found)


def parse_marker(text: str, start: int = 0) -> tuple[str, dict[str, str], str] | None:
    """Token, claims and payload of the marker at `start`, or None where there is none that is well formed."""
    match = _HEADER.match(text, start, start + MAX_HEADER_BYTES - 1)
    if match is None or not (text.isascii() or _fits(match.group())):
        return None
    token, key, version, others = match.groups()
    claims = {key: version}
    if others:
        claims.update([(key, version) for key, _, version in [claim.partition("@") for claim in others[1:].split(",")]])
        keys = list(claims)
        # As many as the separators say: a dict hides what is repeated.
        if len(keys) > MAX_KEYS or len(keys) <= others.count(",") or keys != sorted(keys):
            return None
    return token, claims, text[match.end() :]


def find_markers(text: str) -> list[Marker]:
    """The well-formed markers in `text`, wherever they stand: for explaining, never for crediting.

    At most the first 256 openers are looked at, so that a flood of them stays cheap.
    """
    found = []
    start = text.find(PREFIX)
    for _ in range(_MAX_SIGHTINGS):
        if start < 0:
            break
        marker = parse_marker(text, start)
        if marker is not None:
            found.append(Marker(*marker))
        start = text.find(PREFIX, start + len(PREFIX))
    return found


def _fits(header: str) -> bool:
    try:
        return len(header.encode()) < MAX_HEADER_BYTES
    except UnicodeEncodeError:  # a lone surrogate: no key of ours holds one
        return False


def write_marker(token: str, claims: Mapping[str, str]) -> str:
    """The marker for these claims, keys sorted by code point."""
    return f"{PREFIX}{token}:{','.join(f'{key}@{claims[key]}' for key in sorted(claims))}]"


def marked(ledger: Ledger, payload: str, claims: Mapping[str, str]) -> str:
    """The message that delivers `payload`: the marker of a token issued for it, then the payload."""
    return write_marker(ledger.issue(payload, claims), claims) + payload


def longest_header(claims: Mapping[str, str]) -> int:
    """Characters of the marker for these claims with the longest token a ledger may issue."""
    return len(write_marker("0" * _LONGEST_TOKEN, claims))


def fits_header(claims: Mapping[str, str]) -> bool:
    """Whether one marker can carry these claims, whatever the ledger's token length."""
    if len(claims) == 1:
        [(key, version)] = claims.items()
        # Asked at every consult: one short name need not be written out to see that there is room for it.
        if len(key) + len(version) < _CERTAINLY_FITS and key.isascii() and version.isascii():
            return True
    return bool(claims) and len(claims) <= MAX_KEYS and _fits(write_marker("0" * _LONGEST_TOKEN, claims))
