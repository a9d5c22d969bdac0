"""A running program: a line in, a line out, whatever it does instead."""

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
from typing import IO, Any

from .faults import ProgramFault, TargetError

MAX_LINE = 64 * 1024 * 1024
_LONGEST_QUOTE = 200
# Seconds that the pipes of a killed program may stay open.
_STOPPING = 5.0
_LAST_LINES = 10
_LAST_BYTES = 16 * 1024
# What a pipe takes without anybody reading, on every system.
_PIPE = 4096


class Program:
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
                f"a flood before {label}: a line that nobody asked for: {quoted(self._lines.get() or '')}"
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
            raise ProgramFault(f"nonsense in answer to {label}: not UTF-8: {quoted(line)}") from None

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
            return "".join(f"; its last words: {quoted(line)}" for line in lines)
        return "; its last words:" + "".join(f"\n  {line[:_LONGEST_QUOTE]}" for line in lines)


def quoted(line: str | bytes) -> str:
    text = line.decode(errors="replace") if isinstance(line, bytes) else line
    return repr(text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…")
