"""A dialect that is a program: JSON-RPC 2.0, one message a line, on its stdin and stdout (protocol.md).

A program that hangs, dies, floods or answers nonsense is reported as such, with the request it
was given; it is started anew for the next one.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

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
from .faults import ProgramFault, Refused, TargetError, Unsayable
from .target import Subject, Target

RENDER_ERROR = -32001
"""The code of an error that says: the format cannot say this (`RenderError`)."""

MAX_LINE = 64 * 1024 * 1024
_LONGEST_QUOTE = 200
# Seconds that the pipes of a killed program may stay open.
_STOPPING = 5.0
_PATIENCE = 3
_LAST_LINES = 10
_LAST_BYTES = 16 * 1024
# What a pipe takes without anybody reading, on every system.
_PIPE = 4096

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
        self._program: _Program | None = None
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
            self._program = _Program(self.command)
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
            raise ProgramFault(f"nonsense in answer to {label}: no JSON: {_quote(line)}") from None
        if not isinstance(reply, dict) or reply.get("jsonrpc") != "2.0" or reply.get("id") != self._asked:
            raise ProgramFault(f"nonsense in answer to {label}: no JSON-RPC 2.0 response with its id: {_quote(line)}")
        if reply.get("input_changed") is True:
            changed.append(method)
        error = reply.get("error")
        if error is not None:
            if (
                not isinstance(error, dict)
                or not isinstance(error.get("code"), int)
                or not isinstance(error.get("message"), str)
            ):
                raise ProgramFault(f"nonsense in answer to {label}: an error without code and message: {_quote(line)}")
            kind = Unsayable if error["code"] == RENDER_ERROR else Refused
            raise kind(method, f"error {error['code']}", error["message"])
        if "result" not in reply:
            raise ProgramFault(f"nonsense in answer to {label}: neither result nor error: {_quote(line)}")
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


class _Program:
    """A running program. Threads read its pipes, so that neither a flood nor silence blocks us."""

    def __init__(self, command: Sequence[str]) -> None:
        try:
            self.process = subprocess.Popen(  # noqa: S603 - what to run is what the user asks to test
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # A group of its own, so that a shell's children end with it.
                start_new_session=True,
            )
        except (OSError, IndexError) as error:
            raise TargetError(f"{' '.join(command)!r} cannot be started: {error}") from error
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._stdin = self.process.stdin
        self._lines: queue.Queue[bytes | None] = queue.Queue(maxsize=2)
        self._last_words = b""
        self._stopped = False
        self._threads = [
            threading.Thread(target=self._read_lines, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(self.process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def exchange(self, request: dict[str, Any], timeout: float, label: str) -> str:
        """The next line behind the request. Raises ProgramFault."""
        if not self._lines.empty() and self._lines.queue[0] is not None:
            raise ProgramFault(
                f"a flood before {label}: a line that nobody asked for: {_quote(self._lines.get() or '')}"
            )
        message = json.dumps(request).encode() + b"\n"
        if len(message) <= _PIPE:
            self._write(message)
        else:
            # It may stop reading in the middle.
            threading.Thread(target=self._write, args=(message,), daemon=True).start()
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            raise ProgramFault(f"no answer to {label} within {timeout:g} seconds") from None
        if line is None:
            self.process.wait()
            raise ProgramFault(f"the program ended with status {self.process.returncode} on {label}{self._words()}")
        if len(line) > MAX_LINE:
            raise ProgramFault(f"a flood in answer to {label}: more than {MAX_LINE >> 20} MiB without a line's end")
        try:
            return line.decode()
        except UnicodeDecodeError:
            raise ProgramFault(f"nonsense in answer to {label}: not UTF-8: {_quote(line)}") from None

    def stop(self) -> None:
        self._stopped = True
        self._kill()
        self.process.wait()
        given_up = time.monotonic() + _STOPPING
        while self._threads[0].is_alive():
            if time.monotonic() > given_up:
                # A child that left the group holds the pipes. Closing them would wait for it.
                return
            # The reader may stand before a full queue.
            while not self._lines.empty():
                self._lines.get_nowait()
            self._threads[0].join(timeout=0.05)
        self._threads[1].join(timeout=1)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _kill(self) -> None:
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def _write(self, message: bytes) -> None:
        try:
            self._stdin.write(message)
            self._stdin.flush()
        except (OSError, ValueError):
            pass  # it died; the reader says so

    def _read_lines(self, pipe: IO[bytes]) -> None:
        try:
            while not self._stopped:
                line = pipe.readline(MAX_LINE + 1)
                if not line:
                    break
                self._lines.put(line)
        except (OSError, ValueError):
            pass
        if not self._stopped:
            self._lines.put(None)

    def _read_errors(self, pipe: IO[bytes]) -> None:
        try:
            while chunk := os.read(pipe.fileno(), 4096):
                self._last_words = (self._last_words + chunk)[-_LAST_BYTES:]
        except (OSError, ValueError):
            pass

    def _words(self) -> str:
        self._threads[1].join(timeout=5)
        lines = self._last_words.decode(errors="replace").strip().splitlines()[-_LAST_LINES:]
        if len(lines) <= 1:
            return "".join(f"; its last words: {_quote(line)}" for line in lines)
        return "; its last words:" + "".join(f"\n  {line[:_LONGEST_QUOTE]}" for line in lines)


def _dump(records: Sequence[BaseModel]) -> list[dict[str, Any]]:
    return [record.model_dump(mode="json") for record in records]


def _quote(line: str | bytes) -> str:
    text = line.decode(errors="replace") if isinstance(line, bytes) else line
    return repr(text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…")
