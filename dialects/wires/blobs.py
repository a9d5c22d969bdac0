"""Bytes in a request that is JSON."""

from __future__ import annotations

import base64


class Base64Text(str):
    """Base64 text for a field that is bytes, right for both ways to the provider.

    JSON shows the text, as the HTTP API wants it. boto3 takes bytes or a `str` that it encodes,
    and writes base64 of its own: it gets the bytes, else they would be encoded twice.
    """

    __slots__ = ()

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return base64.b64decode(self)
