"""Bytes in a request that is JSON."""

from __future__ import annotations

import binascii


class Base64Text(str):
    """Base64 text for a field that is bytes, right for both ways to the provider.

    JSON shows the text, as the HTTP API wants it. boto3 takes bytes or a `str` that it encodes,
    and writes base64 of its own: it gets the bytes, else they would be encoded twice.
    """

    __slots__ = ()

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return binascii.a2b_base64(self)


def base64_text(value: object) -> Base64Text | None:
    """The value, if it is base64 text."""
    if not isinstance(value, str):
        return None
    try:
        binascii.a2b_base64(str(value), strict_mode=True)
    except ValueError:
        return None
    return Base64Text(value)
