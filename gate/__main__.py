"""`python -m tooldialect.gate scan FILE.jsonl`: the verdict on each marked row of a saved transcript."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tooldialect.dialects import ToolDialectError, available_wires, host_texts, load_transcript, wire_for
from tooldialect.dialects.command_line import read_input
from tooldialect.dialects.text import read_json

from .errors import GateError
from .explain import explain
from .ledger import Ledger, SignedLedger

_UNREADABLE = 2
_TRANSCRIPT = "transcript"
# What tells the speaker of a message, and where its words are, whatever the provider.
_SPEAKER = ("role", "type")
_WORDS = ("content", "parts", "output")


@dataclass(frozen=True, slots=True)
class _Row:
    """One text the host wrote: its 1-based line in the file, and which text of that line it is."""

    line: int
    part: int
    text: str


class _SecretFile:
    """Verifies with what a file holds, as it is or without the line break an editor left at its end."""

    def __init__(self, content: bytes) -> None:
        self._ledgers = [SignedLedger(secret) for secret in dict.fromkeys((content.rstrip(b"\r\n"), content))]

    def issue(self, payload: str, claims: Mapping[str, str], /) -> str:
        return self._ledgers[0].issue(payload, claims)

    def verify(self, token: str, payload: str, claims: Mapping[str, str], /) -> bool:
        return any(ledger.verify(token, payload, claims) for ledger in self._ledgers)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0, or 2 with one line on standard error."""
    options = _parser().parse_args(arguments)
    file = options.file
    try:
        ledger: Ledger | None = None
        if options.secret_file is not None:
            file = options.secret_file
            ledger = _SecretFile(Path(file).read_bytes())
            file = options.file
        rows = list(_rows(read_input(file), options.wire))
    except (OSError, UnicodeDecodeError, ToolDialectError) as error:
        print(f"tooldialect.gate scan: {file}: {' '.join(str(error).split())}", file=sys.stderr)
        return _UNREADABLE
    found = _verdicts(rows, ledger)
    if options.json:
        lines = [json.dumps(verdict) for verdict in found]
    else:
        lines = [_line(verdict) for verdict in found] or [f"no marked row among {len(rows)} host-written texts"]
    sys.stdout.buffer.write("".join(line + "\n" for line in lines).encode(errors="backslashreplace"))
    sys.stdout.buffer.flush()
    return 0


def _verdicts(rows: Sequence[_Row], ledger: Ledger | None) -> list[dict[str, Any]]:
    return [
        {
            "line": rows[sighting.row].line,
            "text": rows[sighting.row].part,
            "key": sighting.key,
            "version": sighting.version,
            "verdict": sighting.verdict.value,
        }
        for sighting in explain([row.text for row in rows], ledger)
    ]


def _line(verdict: dict[str, Any]) -> str:
    where = f"line {verdict['line']}, text {verdict['text']}"
    claim = "(marker not readable)" if verdict["key"] is None else f"{verdict['key']}@{verdict['version']}"
    return f"{where}: {verdict['verdict']:<9} {claim}"


def _rows(content: str, wire: str) -> Iterator[_Row]:
    # Lines end at `\n` alone: other separators are ordinary characters of JSON strings.
    for number, line in enumerate(content.split("\n"), 1):
        if line.strip():
            for part, text in enumerate(_texts(line, number, wire), 1):
                yield _Row(number, part, text)


def _texts(line: str, number: int, wire: str) -> Iterator[str]:
    if wire != _TRANSCRIPT:
        return wire_for(wire).host_texts([_message(line, number)])
    try:
        return host_texts(load_transcript(line))
    except ToolDialectError as error:
        raise GateError(str(error).replace("line 1", f"line {number}", 1)) from None


def _message(line: str, number: int) -> dict[str, Any]:
    try:
        message = read_json(line)
    except ValueError as error:
        raise GateError(f"line {number} is not JSON: {error}") from None
    if not isinstance(message, dict) or not any(isinstance(message.get(key), str) for key in _SPEAKER):
        raise GateError(f"line {number} is no message of this wire: an object with a role or a type is wanted")
    for key in _WORDS:
        if not isinstance(message.get(key), str | list | None):
            raise GateError(f"line {number} is no message of this wire: its {key} is neither text nor a list of parts")
    return message


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tooldialect.gate", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    scan = commands.add_parser("scan", help="the keys, versions and verdicts of a transcript's marked rows")
    scan.add_argument("file", metavar="FILE", help="JSON Lines, one entry or message a line; - is stdin")
    scan.add_argument(
        "--wire",
        choices=[_TRANSCRIPT, *available_wires()],
        default=_TRANSCRIPT,
        help="what a line is: an entry of dump_transcript (default) or a message of this provider",
    )
    scan.add_argument(
        "--secret-file",
        metavar="SECRET",
        help="verify with the SignedLedger secret in this file; "
        "without it a verdict says whether bytes are unchanged, not who issued them",
    )
    scan.add_argument("--json", action="store_true", help="one JSON object per key of a marked row")
    return parser


if __name__ == "__main__":
    sys.exit(main())
