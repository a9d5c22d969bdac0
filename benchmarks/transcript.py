"""A user's own files: requests of a provider, or transcripts that were saved.

What a file is, its shape tells; where two wires would read it differently, its user has to. No
message holds anything of what a file says, but where it is wrong.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tooldialect.dialects import (
    OpenAIChatWire,
    ToolDialectError,
    TranscriptError,
    Wire,
    get_dialect,
    host_texts,
    load_transcript,
    wire_for,
)
from tooldialect.dialects.text import compact_json, read_json

from .case import Unusable
from .shapes import CONVERSATIONS, USUAL, conversation_of, is_entry, is_message, is_request, wires_of

STDIN = "-"
SAVED = "transcript"
# Of a log of many requests so much is measured, at even distances: all would only take longer.
MOST_CHARACTERS = 32 * 1024 * 1024
# Batch files and the logs of gateways keep requests in one of these.
_AROUND = ("body", "request", "params", "input")
_GZIP = b"\x1f\x8b"
_REQUESTS_ALONE = "leave only requests in it"
_WANTED = "wanted: a request as JSON, requests or messages one a line, or what dump_transcript wrote"

_Values = list[tuple[int, Any]]


@dataclass(frozen=True)
class Call:
    """One model call: the request that a harness serialises, and the texts that a rescan is given.
    `frozen`: texts of saved entries, which a run that knows them does not read again."""

    request: Any
    rows: int
    texts: Callable[[], Iterable[str]]
    frozen: bool = False


@dataclass(frozen=True)
class Transcript:
    """What was read of a file: as what (`form`), and how many calls it holds (`of`)."""

    form: str
    calls: list[Call]
    of: int


def shown(file: str) -> str:
    """The file's name in messages and reports."""
    return "standard input" if file == STDIN else file


def read_bytes(file: str) -> bytes:
    """What a file holds, or standard input for `-`. Raises Unusable."""
    try:
        return sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except IsADirectoryError:
        raise Unusable(f"{shown(file)} is a folder: name the files in it") from None
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or "no such file"
        raise Unusable(f"{shown(file)}: {problem} (looked for in {Path.cwd()})") from None


def read(file: str, content: bytes, wire: str | None = None) -> Transcript:
    """The calls in a file, read as `wire` or as its shape tells. Raises Unusable."""
    try:
        return _read(content, wire)
    except _OddError as odd:
        place = f"{shown(file)}, line {odd.line}" if odd.line else shown(file)
        raise Unusable(f"{place}: {odd}") from None


class _OddError(Exception):
    """`line` is 0 for a file as a whole."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.line = line


def _read(content: bytes, wire: str | None) -> Transcript:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if content.startswith(_GZIP):
            raise _OddError(
                "compressed: unpack it first, as in zcat FILE | python -m benchmarks --transcript -"
            ) from None
        line = content.count(b"\n", 0, error.start) + 1
        raise _OddError("not UTF-8: save the file as UTF-8", line) from None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise _OddError(f"nothing in it; {_WANTED}")
    values, of = _values(text, lines)
    number, first = values[0]
    if wire == SAVED or (wire is None and is_entry(first)):
        return Transcript("a saved transcript", [_saved(values)], 1)
    opened = [(number, _opened(value)) for number, value in values]
    if is_request(opened[0][1]):
        for number, value in opened:
            if not is_request(value):
                raise _OddError(f"no request, as the first one is: {_REQUESTS_ALONE}", number)
        calls = [_call(value, number, wire) for number, value in opened]
        names = ", ".join(dict.fromkeys(name for name, _ in calls))
        form = f"a request of {names}" if of == 1 else f"{of:,} requests of {names}"
        return Transcript(form, [call for _, call in calls], of)
    for number, value in values:
        if not is_message(value):
            raise _OddError(_why_neither(value), number)
    name, call = _call([value for _, value in values], 0, wire)
    return Transcript(f"messages of {name}", [call], 1)


def _values(text: str, lines: Sequence[tuple[int, str]]) -> tuple[_Values, int]:
    """The values of a file, each with its line (0 in one document), and how many there are: of a
    log that is large some."""
    if len(lines) > 1 and _is_json(lines[0][1]):
        number, line = lines[0]
        chosen = lines
        if is_request(_opened(_parsed(line, number))):
            chosen = lines[:: -(-sum(len(line) for _, line in lines) // MOST_CHARACTERS)]
        return [(number, _parsed(line, number)) for number, line in chosen], len(lines)
    document = _parsed(text, 0)
    if isinstance(document, dict) and not is_request(document) and isinstance(document.get("requests"), list):
        # A batch of Anthropic's or Gemini's.
        document = document["requests"]
    if not isinstance(document, list):
        return [(0, document)], 1
    if not document:
        raise _OddError(f"an empty list; {_WANTED}")
    return [(0, value) for value in document], len(document)


def _is_json(text: str) -> bool:
    try:
        _parsed(text, 0)
    except _OddError:
        return False
    return True


def _parsed(text: str, line: int) -> Any:
    try:
        return read_json(text)
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg.lower()} at column {error.colno}); {_WANTED}"
        raise _OddError(problem, line or error.lineno) from None
    except ValueError:
        raise _OddError("JSON with NaN, an endless number or too many levels: no provider takes it", line) from None


def _opened(value: Any) -> Any:
    """The request in what a log keeps around it."""
    if isinstance(value, dict) and not is_request(value):
        for key in _AROUND:
            inner = value.get(key)
            if isinstance(inner, str):
                with suppress(ValueError):
                    inner = read_json(inner)
            if is_request(inner):
                return inner
    return value


def _why_neither(value: Any) -> str:
    if is_request(_opened(value)):
        return f"a request, where the first one is none: {_REQUESTS_ALONE}"
    for key in CONVERSATIONS if isinstance(value, dict) else ():
        if key in value:
            return f'no request: "{key}" holds no list of messages'
    for key in _AROUND if isinstance(value, dict) else ():
        if key in value:
            return f'no request in "{key}": take it out of what is around it, and {_REQUESTS_ALONE}'
    return f"neither a request nor a message: {_REQUESTS_ALONE}; {_WANTED}"


def _saved(values: _Values) -> Call:
    lines = []
    for number, value in values:
        if not is_entry(value):
            raise _OddError('no entry of a saved transcript: it has no "kind"', number)
        lines.append(compact_json(value))
    try:
        entries = load_transcript("\n".join(lines))
        request = OpenAIChatWire().encode(get_dialect("native").replay(entries))
    except TranscriptError as error:
        number = values[error.line - 1][0] if error.line else 0
        raise _OddError(
            "no entry of a saved transcript: a field is missing, unknown or of another type", number
        ) from None
    except ToolDialectError as error:
        raise _OddError(f"a transcript that no request can carry ({type(error).__name__})") from None
    return Call(request, len(entries), partial(host_texts, entries), frozen=True)


def _call(value: Any, line: int, named: str | None) -> tuple[str, Call]:
    name = named or _wire_of(value, line)
    wire, key = wire_for(name), conversation_of(name)
    request = value if isinstance(value, dict) else {key: value}
    if key not in request:
        raise _OddError(f'no request of {name}: it has no "{key}"', line)
    rows = request[key]
    if not isinstance(rows, list | str):
        raise _OddError(f'no request of {name}: "{key}" holds no list of messages', line)
    if not rows:
        raise _OddError(f'a request of {name} without a message: "{key}" is empty', line)
    if not isinstance(rows, str) and not all(isinstance(row, str) or is_message(row) for row in rows):
        raise _OddError(f'no request of {name}: in "{key}" is what is no message', line)
    if _texts(wire, request) is None:
        raise _OddError(f"no request of {name}: its messages cannot be read", line)
    return name, Call(request, 1 if isinstance(rows, str) else len(rows), partial(wire.host_texts, request))


def _wire_of(value: Any, line: int) -> str:
    names = wires_of(value) or [USUAL]
    if len(names) > 1:
        read = [_texts(wire_for(name), value) for name in names]
        if any(texts != read[0] for texts in read):
            raise _OddError(f"may be of {' or of '.join(names)}: say which with --wire", line)
    return names[0]


def _texts(wire: Wire, request: Any) -> list[str] | None:
    """What the host wrote, None where it cannot be read."""
    try:
        return list(wire.host_texts(request))
    except Exception:
        # A wire promises nothing of what is no request.
        return None
