"""Transcripts and outcomes as JSON text.

JSON Lines, one entry a line, split on LF alone: other line separators (U+2028, U+0085)
are ordinary characters of JSON strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from .errors import TranscriptError, VerbatimError
from .record import Record, refuse_others
from .text import compact_json, read_json
from .transcript import ENTRY_KINDS, DiscriminatedEntry, ToolOutcome, TranscriptEntry

T = TypeVar("T")


def dump_transcript(entries: Iterable[TranscriptEntry]) -> str:
    """One JSON object a line; fields that hold their default are omitted, but for `kind`."""
    entries = list(entries)
    try:
        return "".join(compact_json(_as_object(entry)) + "\n" for entry in entries)
    except AttributeError:
        refuse_others(entries, ENTRY_KINDS, "dump_transcript")
        raise


def load_transcript(text: str, trusted: bool = True) -> list[TranscriptEntry]:
    """The entries `dump_transcript` wrote; absent keys are defaults, blank lines are skipped.

    `trusted=False` drops every `trusted_verbatim`: for text that a client could have written,
    since the flag is the word of host code alone. Raises TranscriptError, with its `line`,
    for a line that is not an entry (an unknown key too), VerbatimError for a flagged text
    that no request can carry.
    """
    return [
        _validate(_entry(), value if trusted else _without_flags(value), f"line {number}", number)
        for number, value in _values(text)
    ]


def load_outcomes(text: str) -> list[ToolOutcome]:
    """Outcomes from a JSON array, or from one JSON object a line.

    Raises TranscriptError that names the place, VerbatimError as `load_transcript` does.
    """
    if text.lstrip(" \t\r\n").startswith("["):
        values = _read(text, "the array", None)
        return [_validate(_outcome(), value, f"item {index}", None) for index, value in enumerate(values, 1)]
    return [_validate(_outcome(), value, f"line {number}", number) for number, value in _values(text)]


def _as_object(record: Record) -> dict[str, Any]:
    # Not `model_dump`: pydantic's serializer gives up on metadata nested less deeply than
    # records take.
    fields: dict[str, Any] = {}
    for name, field in type(record).model_fields.items():
        value = getattr(record, name)
        if name == "kind" or field.is_required() or value != field.default:
            fields[name] = [_as_object(item) for item in value] if isinstance(value, tuple) else value
    return fields


def _without_flags(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    kept = {key: item for key, item in value.items() if key != "trusted_verbatim" or not isinstance(item, bool)}
    results = kept.get("results")
    if isinstance(results, list):
        kept["results"] = [_without_flags(result) for result in results]
    return kept


def _values(text: str) -> Iterator[tuple[int, Any]]:
    """The JSON value of each line that is not blank, and the line's number from 1."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, _read(line, f"line {number}", number)


def _read(text: str, where: str, line: int | None) -> Any:
    try:
        return read_json(text)
    except ValueError as error:
        raise TranscriptError(f"{where} is not JSON: {error}", line=line) from None


# Built when they are first needed: most processes that import this read no transcript.
@cache
def _entry() -> TypeAdapter[TranscriptEntry]:
    return TypeAdapter(DiscriminatedEntry)


@cache
def _outcome() -> TypeAdapter[ToolOutcome]:
    return TypeAdapter(ToolOutcome)


def _validate(adapter: TypeAdapter[T], value: Any, where: str, line: int | None) -> T:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        raise TranscriptError(f"{where}: {_reason(error)}", line=line) from None
    except VerbatimError as error:
        raise VerbatimError(f"{where}: {error}") from None


def _reason(error: ValidationError) -> str:
    if any(problem["type"] == "union_tag_not_found" for problem in error.errors(include_url=False)):
        return 'no "kind": is this a provider message?'
    return "; ".join(
        ": ".join(filter(None, (".".join(map(str, problem["loc"])), problem["msg"])))
        for problem in error.errors(include_url=False, include_input=False)
    )
