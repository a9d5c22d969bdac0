"""Attachments on the wire: which ones a provider takes, and words for the others.

The words are a part or a turn of their own behind the results, never inside a result's text:
that text is the tool's, and may be verbatim.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..attachment import Attachment

# What OpenAI, Anthropic and Bedrock name as the image types they take.
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_FETCHED = ("http:", "https:")


def is_image(attachment: Attachment) -> bool:
    """Whether it is an image of a type that every provider of images takes."""
    return attachment.media_type in IMAGE_TYPES


def is_document(attachment: Attachment) -> bool:
    """Whether it is a document of the one type that OpenAI and Anthropic read."""
    return attachment.media_type == "application/pdf"


def is_sent_or_fetched(attachment: Attachment) -> bool:
    """Whether its bytes are here, or where any provider can fetch them: the web."""
    return attachment.url is None or attachment.url.lower().startswith(_FETCHED)


def as_url(attachment: Attachment) -> str:
    """Its address; bytes as a `data:` address (RFC 2397)."""
    return attachment.url or f"data:{attachment.media_type};base64,{attachment.data}"


def left_out(attachments: Iterable[Attachment]) -> str:
    """The line for the model that names, in order, what does not go with the request; empty for none."""
    named = ", ".join(attachment.media_type for attachment in attachments)
    return f"(Attachments not shown: {named}.)" if named else ""
