"""Who issued a delivery: the proof behind a marker's token.

The token begins with the XXH3-64 of the payload. That detects every summariser, cap and
reformatter and costs almost nothing, but anybody can compute it; so a ledger also answers
for what it issued itself.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections import OrderedDict
from collections.abc import Mapping
from json.encoder import encode_basestring as _quote
from typing import Protocol

import xxhash

from .errors import GateError

DIGEST_DIGITS = 16


def payload_digest(payload: str) -> str:
    """XXH3-64 of the payload's UTF-8 bytes, 16 lower-case hex digits.

    A lone surrogate cannot come from us: such a payload has a digest that fits no token.
    """
    try:
        return xxhash.xxh3_64_hexdigest(payload.encode())
    except UnicodeEncodeError:
        return ""


def _hasher(key: bytes = b"") -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=16, key=key, person=b"contract-gate")


def _fingerprint(payload: bytes, claims: Mapping[str, str], hasher: hashlib.blake2b) -> bytes:
    # Canonical JSON of the claims, which are strings: a whole encoder costs as much as the hashing.
    bound = f"{{{','.join([f'{_quote(name)}:{_quote(claims[name])}' for name in sorted(claims)])}}}".encode()
    # A copy is made faster than another with these parameters, and the payload is not copied.
    state = hasher.copy()
    state.update(len(bound).to_bytes(8, "big") + bound)
    state.update(payload)
    return state.digest()


class Ledger(Protocol):
    """Issues tokens and verifies them. `claims` is `{key: version}`; a token is bound to
    payload and claims together and begins with the payload's XXH3-64."""

    def issue(self, payload: str, claims: Mapping[str, str], /) -> str: ...

    def verify(self, token: str, payload: str, claims: Mapping[str, str], /) -> bool: ...


class MemoryLedger:
    """Remembers a fingerprint of each of the last `capacity` deliveries of this process.

    Forgetting the oldest is safe: its contract is delivered once more. Thread-safe.
    """

    def __init__(self, capacity: int = 65_536) -> None:
        if capacity < 1:
            raise GateError(f"MemoryLedger needs room for at least one delivery, not {capacity}")
        self._capacity = capacity
        self._issued: OrderedDict[bytes, str] = OrderedDict()
        self._hasher = _hasher()
        self._lock = threading.Lock()

    def issue(self, payload: str, claims: Mapping[str, str], /) -> str:
        """The token for this delivery, 16 hex digits."""
        raw = payload.encode()
        token, fingerprint = xxhash.xxh3_64_hexdigest(raw), _fingerprint(raw, claims, self._hasher)
        with self._lock:
            self._issued[fingerprint] = token
            self._issued.move_to_end(fingerprint)
            while len(self._issued) > self._capacity:
                self._issued.popitem(last=False)
        return token

    def verify(self, token: str, payload: str, claims: Mapping[str, str], /) -> bool:
        """Whether this process issued exactly this payload with exactly these claims."""
        try:
            fingerprint = _fingerprint(payload.encode(), claims, self._hasher)
        except UnicodeEncodeError:  # a lone surrogate: not ours
            return False
        with self._lock:
            if self._issued.get(fingerprint) != token:
                return False
            self._issued.move_to_end(fingerprint)
            return True


class SignedLedger:
    """Signs payload and claims with a secret: no state, survives restarts, and every machine
    that has the secret verifies. Tokens have 48 hex digits."""

    def __init__(self, secret: bytes | str) -> None:
        if not isinstance(secret, bytes | bytearray | str):
            raise GateError(f"SignedLedger needs a secret of bytes or text, not {type(secret).__name__}")
        raw = secret.encode() if isinstance(secret, str) else bytes(secret)
        if not raw:
            raise GateError("SignedLedger needs a secret: with an empty one anybody could sign")
        # BLAKE2b takes keys of up to 64 bytes; a longer secret is condensed, not cut.
        self._key = raw if len(raw) <= hashlib.blake2b.MAX_KEY_SIZE else hashlib.blake2b(raw).digest()
        self._hasher = _hasher(self._key)

    def __reduce__(self) -> tuple[type[SignedLedger], tuple[bytes]]:
        return SignedLedger, (self._key,)

    def issue(self, payload: str, claims: Mapping[str, str], /) -> str:
        """The token for this delivery, 48 hex digits."""
        raw = payload.encode()
        return xxhash.xxh3_64_hexdigest(raw) + _fingerprint(raw, claims, self._hasher).hex()

    def verify(self, token: str, payload: str, claims: Mapping[str, str], /) -> bool:
        """Whether a holder of the secret issued exactly this payload with exactly these claims."""
        try:
            raw = payload.encode()
            if token[:DIGEST_DIGITS] != xxhash.xxh3_64_hexdigest(raw):
                return False
            signature = _fingerprint(raw, claims, self._hasher).hex()
        except UnicodeEncodeError:  # a lone surrogate: not ours
            return False
        shown = token[DIGEST_DIGITS:]
        return shown.isascii() and hmac.compare_digest(shown, signature)
