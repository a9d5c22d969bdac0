"""Reading replies and messages, whether they are dicts or an SDK's objects.

No SDK is imported: their objects are pydantic models, dataclasses or plain objects, and a
field is asked for by name.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from ..errors import WireError
from ..text import MAX_PART_DEPTH, clean_json

# `__api_exclude__` of the parsed types of `anthropic` and `openai`; a dump to dicts forgets it.
CLIENT_ONLY = frozenset({"parsed_output", "parsed_arguments"})


def field(source: Any, name: str, default: Any = None) -> Any:
    """A field of a dict or an object; `default` where it is missing."""
    # The type first: asking the abstract class takes ten times as long.
    if type(source) is dict or isinstance(source, Mapping):
        return source.get(name, default)
    return getattr(source, name, default)


def fields(source: Any) -> dict[str, Any]:
    """All fields that were set, one level deep, also those the SDK's types do not know; but not
    what an SDK's parse helper added for its caller, which the provider would refuse."""
    if isinstance(source, Mapping):
        return {key: value for key, value in source.items() if key not in CLIENT_ONLY}
    if isinstance(source, BaseModel):
        hidden = {*CLIENT_ONLY, *(getattr(source, "__api_exclude__", None) or ())}
        known = {name: getattr(source, name) for name in source.model_fields_set if hasattr(source, name)}
        found = {**known, **(source.model_extra or {})}
        return {name: value for name, value in found.items() if name not in hidden}
    if dataclasses.is_dataclass(source) and not isinstance(source, type):
        return {item.name: getattr(source, item.name) for item in dataclasses.fields(source)}
    return dict(getattr(source, "__dict__", {}))


def plain(value: Any) -> Any:
    """The value as JSON-like data, SDK objects at any depth made dicts, bytes base64 text."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in fields(value).items()}


def json_or_none(value: Any) -> Any:
    """The value as clean JSON, for a part of what is kept to be sent back; None for what JSON
    cannot say, or what is too deep to be kept."""
    try:
        return clean_json(plain(value), max_depth=MAX_PART_DEPTH)
    except (ValueError, RecursionError):
        return None


def copied(value: Any) -> Any:
    """A copy of JSON data: what a host writes into a request must not reach the history."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, (list, tuple)) else value


def items(value: Any, what: str) -> list[Any]:
    """The elements of a list field, none where it is null.

    Raises WireError, naming the field, for anything else.
    """
    if value is None:
        return []
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise WireError(f"{what} of the reply is {type(value).__name__}, not a list")
    return list(value)


def refuse_error(response: Any) -> None:
    """Raises WireError, with the provider's words, where the reply is an error in place of an answer."""
    if error := field(response, "error"):
        raise WireError(f"the reply is an error of the provider: {_words(field(error, 'message', error))}")


def _words(value: Any) -> str:
    try:
        return str(value)
    except (ValueError, RecursionError):
        # An integer of more digits than Python writes, or a circle.
        return type(value).__name__


def text_or_empty(value: Any) -> str:
    """A name or an id of a reply; empty where it is no text."""
    return value if isinstance(value, str) else ""


def is_record(value: Any) -> bool:
    """Whether the value can have fields: a dict or an SDK's object, no text, number or list."""
    return value is not None and not isinstance(value, (str, bytes, int, float, list, tuple))


def text_parts(content: Any, kinds: Container[str] = ("text",)) -> Iterator[str]:
    """Each text of a content field, a string or a list of parts; parts of other kinds are skipped."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Iterable) and not isinstance(content, (bytes, Mapping)):
        for part in content:
            if isinstance(part, str):
                yield part
            elif field(part, "type", "text") in kinds and isinstance(text := field(part, "text"), str):
                yield text


def parts_of(content: Any) -> Iterator[Any]:
    """The parts of a content field; none where it is no list of them."""
    if isinstance(content, Iterable) and not isinstance(content, (str, bytes, Mapping)):
        yield from content


def message_list(messages: Any, key: str = "messages") -> Iterable[Any]:
    """The messages of a request (under `key`), of a list of them, or of any iterable."""
    inner = field(messages, key, None)
    if inner is not None:
        messages = inner
    return messages if isinstance(messages, Iterable) and not isinstance(messages, (str, bytes, Mapping)) else ()
