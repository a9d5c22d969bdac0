"""Count the JSON-RPC frames between an MCP client and a server that talk over stdio.

    python stdio_tap.py LOG -- COMMAND [ARG...]

runs COMMAND and passes every byte of stdin and stdout on unchanged; stderr is inherited.
For each frame (a line that is a JSON object; a batch is its objects) LOG gets one JSON line
`{"from": "client" | "server", "method": str | null, "id": ..., "name": ...}`, `name` being
`params.name`, the tool of a `tools/call`. A frame is in LOG before its receiver can have it.
The exit status is the command's. Needs nothing but the standard library, on POSIX.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_USAGE = 2
_CHUNK = 65536


def read_frames(log: str | Path) -> list[dict[str, Any]]:
    """What a tap has written so far, in order; nothing where it has not started."""
    path = Path(log)
    return [json.loads(line) for line in path.read_text().split("\n") if line] if path.exists() else []


def count_methods(log: str | Path, sender: str = "client") -> Counter[str]:
    """Requests and notifications of one side by method, such as `tools/call`."""
    return Counter(frame["method"] for frame in read_frames(log) if frame["from"] == sender and frame["method"])


class Tap:
    """Cuts one direction of the stream into frames, whatever the chunks are."""

    def __init__(self, log: int, sender: str) -> None:
        self._log = log
        self._sender = sender
        self._partial: list[bytes] = []

    def feed(self, chunk: bytes) -> None:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            self._write(b"".join([*self._partial, line]))
            self._partial.clear()
        self._partial.append(rest)

    def _write(self, line: bytes) -> None:
        for frame in _frames(line):
            params = frame.get("params")
            entry = {
                "from": self._sender,
                "method": frame.get("method"),
                "id": frame.get("id"),
                "name": params.get("name") if isinstance(params, dict) else None,
            }
            # One write to a file opened for appending: lines of both directions never mix.
            os.write(self._log, json.dumps(entry).encode() + b"\n")


def _frames(line: bytes) -> Iterator[dict[str, Any]]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return
    for frame in value if isinstance(value, list) else [value]:
        if isinstance(frame, dict):
            yield frame


def _pump(source: int, sink: int, tap: Tap) -> None:
    try:
        while chunk := os.read(source, _CHUNK):
            tap.feed(chunk)
            view = memoryview(chunk)
            while view:
                view = view[os.write(sink, view) :]
    except OSError:
        pass  # the reader has gone; the end of the other direction ends the tap
    finally:
        os.close(sink)


def run(log: str, command: list[str]) -> int:
    """Run `command` behind the tap until its stdout ends; its exit status."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert server.stdin is not None
    assert server.stdout is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: server.send_signal(received))
    # Own descriptors: each pump closes its sink, so that both ends learn of the other's end.
    to_server, to_client = os.dup(server.stdin.fileno()), os.dup(sys.stdout.fileno())
    server.stdin.close()
    # A daemon: when the server ends first, the client may keep our stdin open.
    threading.Thread(target=_pump, args=(sys.stdin.fileno(), to_server, Tap(descriptor, "client")), daemon=True).start()
    _pump(server.stdout.fileno(), to_client, Tap(descriptor, "server"))
    status = server.wait()
    return status if status >= 0 else 128 - status


def main(arguments: list[str]) -> int:
    if len(arguments) <= _USAGE or arguments[1] != "--":
        print("usage: stdio_tap.py LOG -- COMMAND [ARG...]", file=sys.stderr)
        return _USAGE
    try:
        return run(arguments[0], arguments[2:])
    except OSError as error:
        print(f"stdio_tap: cannot run {arguments[2]}: {error}", file=sys.stderr)
        return 127


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stderr.flush()
    # Not sys.exit: the client's pump may be blocked in a read for good.
    os._exit(status)
