"""Images and other bytes that go with a text."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Annotated, Self

from pydantic import AfterValidator, model_validator

from .record import Record, Text

# Compiled by the first attachment. RFC 6838, section 4.2: the characters of a registered name.
_MEDIA_TYPE = r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}"
# RFC 3986, section 3.1, and no character that ends an address in running text.
_URL = r"(?i)[a-z][a-z0-9+.-]*:[^\s\x00-\x20\x7f<>\"]+"


def _media_type(value: str) -> str:
    lowered = value.lower()
    if not re.fullmatch(_MEDIA_TYPE, lowered):
        raise ValueError(f"{value!r} is no media type: write type/subtype, such as image/png, without parameters")
    return lowered


def _base64(value: str) -> str:
    try:
        binascii.a2b_base64(value.encode("ascii"), strict_mode=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise ValueError(f"data is not base64 (standard alphabet, padded, no line breaks): {error}") from None
    if not value:
        raise ValueError("data is empty: an attachment holds at least one byte")
    return value


def _url(value: str) -> str:
    if not re.fullmatch(_URL, value):
        raise ValueError('url is no absolute address (scheme, colon, and neither white space nor < > " in it)')
    if value[:5].lower() == "data:":
        raise ValueError("url is a data: address; put its base64 text into data")
    return value


class Attachment(Record):
    """What a text cannot say, such as an image: its media type, and the bytes or where they are.

    `media_type` is `type/subtype` without parameters, kept in lower case. Exactly one of
    `data` (the bytes as base64 of RFC 4648 section 4, padded, without line breaks) and `url`
    (absolute, of any scheme but `data:`). What a wire cannot send it names in words.
    """

    media_type: Annotated[Text, AfterValidator(_media_type)]
    data: Annotated[Text, AfterValidator(_base64)] | None = None
    url: Annotated[Text, AfterValidator(_url)] | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.data is None) == (self.url is None):
            raise ValueError("an attachment has either data (base64 text) or a url, exactly one of them")
        return self

    @classmethod
    def from_bytes(cls, media_type: str, content: bytes) -> Self:
        """The attachment that holds these bytes."""
        return cls(media_type=media_type, data=base64.b64encode(content).decode())
