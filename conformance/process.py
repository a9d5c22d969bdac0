"""A dialect that is a program: JSON-RPC 2.0, one message a line, on its stdin and stdout (protocol.md).

A program that hangs, dies, floods or answers nonsense is reported as such, with the request it
was given; it is started anew for the next one.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from tooldialect.dialects import (
    ModelResponse,
    ParsedResponse,
    ParsedToolCall,
    ToolOutcome,
    ToolSpec,
    TranscriptEntry,
    Wire,
)
from tooldialect.dialects.transcript import DiscriminatedEntry

from .description import Description, ReadResult
from .faults import ProgramFault, Refused, Unsayable
from .program import Program, quoted
from .target import Subject, Target

RENDER_ERROR = -32001
"""The code of an error that says: the format cannot say this (`RenderError`)."""


_PATIENCE = 3


_T = TypeVar("_T")
_ENTRIES: TypeAdapter[list[TranscriptEntry]] = TypeAdapter(list[DiscriminatedEntry])
_READ: TypeAdapter[list[ReadResult]] = TypeAdapter(list[ReadResult])
_MESSAGES: TypeAdapter[list[dict[str, Any]]] = TypeAdapter(list[dict[str, Any]])
_TEXT: TypeAdapter[str] = TypeAdapter(str)
_PARSED: TypeAdapter[ParsedResponse] = TypeAdapter(ParsedResponse)
_DESCRIPTION: TypeAdapter[Description] = TypeAdapter(Description)


class ProcessTarget(Target):
    """`command` and its arguments. `timeout`: seconds for one request, the first one included."""

    def __init__(self, command: Sequence[str], *, timeout: float = 10.0, name: str | None = None) -> None:
        self.command, self.timeout = list(command), timeout
        self.name = name or " ".join(self.command)
        self._program: Program | None = None
        self._description: Description | None = None
        self._faults: list[ProgramFault] = []
        self._asked = 0

    def describe(self) -> Description:
        if self._description is None:
            self._description = self.ask("describe", {}, _DESCRIPTION)
        return self._description

    def make(self, tools: Sequence[ToolSpec] = ()) -> Subject:
        return ProcessSubject(self, tools)

    def elsewhere(self, tools: Sequence[ToolSpec] = ()) -> Subject:
        self._stop()
        return self.make(tools)

    def close(self) -> None:
        self._stop()

    def cpu_seconds(self) -> float:
        """Processor time of the program so far where the system tells it, else the clock."""
        try:
            stat = Path(f"/proc/{self._program.process.pid if self._program else ''}/stat").read_text(encoding="ascii")
            fields = stat.rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return time.perf_counter()

    def ask(self, method: str, params: dict[str, Any], shape: TypeAdapter[_T], changed: list[str] | None = None) -> _T:
        """The result of one request; where the program says that it changed its input, `changed` gets
        the method. Raises Refused, Unsayable, ProgramFault; TargetError where the
        program cannot be started."""
        if len(self._faults) >= _PATIENCE:
            raise ProgramFault(
                f"not asked any more, after {_PATIENCE} faults; the last one: {str(self._faults[-1]).splitlines()[0]}"
            )
        self._asked += 1
        label = f"{method} (request {self._asked})"
        if self._program is None:
            self._program = Program(self.command)
        request = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        try:
            reply = self._program.exchange(request, self.timeout, label)
            return self._read(reply, method, label, shape, [] if changed is None else changed)
        except ProgramFault as fault:
            self._faults.append(fault)
            self._stop()
            raise

    def _read(self, line: str, method: str, label: str, shape: TypeAdapter[_T], changed: list[str]) -> _T:
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError):
            raise ProgramFault(f"nonsense in answer to {label}: no JSON: {quoted(line)}") from None
        if not isinstance(reply, dict) or reply.get("jsonrpc") != "2.0" or reply.get("id") != self._asked:
            raise ProgramFault(f"nonsense in answer to {label}: no JSON-RPC 2.0 response with its id: {quoted(line)}")
        if reply.get("input_changed") is True:
            changed.append(method)
        error = reply.get("error")
        if error is not None:
            if (
                not isinstance(error, dict)
                or not isinstance(error.get("code"), int)
                or not isinstance(error.get("message"), str)
            ):
                raise ProgramFault(f"nonsense in answer to {label}: an error without code and message: {quoted(line)}")
            kind = Unsayable if error["code"] == RENDER_ERROR else Refused
            raise kind(method, f"error {error['code']}", error["message"])
        if "result" not in reply:
            raise ProgramFault(f"nonsense in answer to {label}: neither result nor error: {quoted(line)}")
        try:
            return shape.validate_python(reply["result"])
        except ValidationError as invalid:
            first = invalid.errors()[0]
            where = "/".join(map(str, first["loc"]))
            raise ProgramFault(
                f"nonsense in answer to {label}: the result's shape is wrong at {where!r}: {first['msg']}"
            ) from None

    def _stop(self) -> None:
        if self._program is not None:
            self._program.stop()
            self._program = None


class ProcessSubject(Subject):
    """The program's dialect for these tools, which every request carries: the program may be stateless."""

    def __init__(self, target: ProcessTarget, tools: Sequence[ToolSpec]) -> None:
        super().__init__()
        self._target = target
        self._tools = _dump(tools)

    def format_results(self, outcomes: Sequence[ToolOutcome]) -> list[TranscriptEntry]:
        return self._ask("format_results", _ENTRIES, outcomes=_dump(outcomes))

    def parse_response(self, response: ModelResponse) -> ParsedResponse:
        return self._ask("parse_response", _PARSED, response=_dump([response])[0])

    def render_call(self, call: ParsedToolCall) -> str:
        return self._ask("render_call", _TEXT, call=_dump([call])[0])

    def prompt_instructions(self, tools: Sequence[ToolSpec]) -> str:
        params = {"tools": _dump(tools), "made_for": self._tools}
        return self._target.ask("prompt_instructions", params, _TEXT, self.changed_inputs)

    def replay(self, history: Sequence[TranscriptEntry]) -> list[TranscriptEntry]:
        return self._ask("replay", _ENTRIES, history=_dump(history))

    def provider_messages(self, history: Sequence[TranscriptEntry], wire: Wire) -> list[dict[str, Any]]:
        if "to_provider_messages" not in self._target.describe().capabilities:
            return wire.messages(wire.encode(self.replay(history)))
        strict = bool(getattr(wire, "_strict", False))
        return self._ask(
            "to_provider_messages", _MESSAGES, history=_dump(history), wire=wire.name, strict_alternation=strict
        )

    def read_results(self, entries: Sequence[TranscriptEntry]) -> list[ReadResult]:
        return self._ask("read_results", _READ, entries=_dump(entries))

    def _ask(self, method: str, shape: TypeAdapter[_T], **params: Any) -> _T:
        return self._target.ask(method, {"tools": self._tools, **params}, shape, self.changed_inputs)


def _dump(records: Sequence[BaseModel]) -> list[dict[str, Any]]:
    return [record.model_dump(mode="json") for record in records]
