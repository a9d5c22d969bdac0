"""The tap that tests and the demo count frames with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from demo_tap import TAP, stdio_tap


def through(log: Path, sent: bytes, program: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, str(TAP), str(log), "--", sys.executable, "-c", program]
    return subprocess.run(command, input=sent, capture_output=True, timeout=60, check=False)


def test_bytes_pass_unchanged_in_both_directions(tmp_path: Path) -> None:
    sent = b"plain\n\xff\x00 no utf-8\r\n" + b"x" * 200_000 + b"\nno newline at the end"
    done = through(tmp_path / "log", sent, "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())")
    assert done.stdout == sent
    assert stdio_tap.read_frames(tmp_path / "log") == []


def test_frames_are_counted_by_method_and_sender(tmp_path: Path) -> None:
    def call(number: int, tool: str) -> dict[str, object]:
        return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": {}}}

    answers = [{"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "method": "notifications/message"}]
    program = f"import sys; sys.stdin.read(); print({json.dumps(answers[0])!r}); print({json.dumps(answers[1])!r})"
    frames = [call(1, "a"), [call(2, "b"), call(3, "b")], {"jsonrpc": "2.0", "method": "notifications/cancelled"}]
    log = tmp_path / "log"
    through(log, b"".join(json.dumps(frame).encode() + b"\n" for frame in frames), program)
    assert stdio_tap.count_methods(log) == {"tools/call": 3, "notifications/cancelled": 1}
    assert stdio_tap.count_methods(log, "server") == {"notifications/message": 1}
    assert [frame["name"] for frame in stdio_tap.read_frames(log) if frame["method"] == "tools/call"] == ["a", "b", "b"]


def test_a_frame_cut_anywhere_is_counted_once(tmp_path: Path) -> None:
    frame = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode() + b"\n"
    for cut in range(len(frame)):
        log = tmp_path / str(cut)
        with log.open("ab") as file:
            tap = stdio_tap.Tap(file.fileno(), "client")
            tap.feed(frame[:cut])
            tap.feed(frame[cut:])
        assert stdio_tap.count_methods(log) == {"tools/list": 1}


def test_the_exit_status_is_the_commands(tmp_path: Path) -> None:
    assert through(tmp_path / "log", b"", "raise SystemExit(7)").returncode == 7
    killed = through(tmp_path / "log", b"", "import os; os.kill(os.getpid(), 9)")
    assert killed.returncode == 128 + 9


def test_a_command_that_ends_ends_the_tap_though_the_client_stays(tmp_path: Path) -> None:
    command = [sys.executable, str(TAP), str(tmp_path / "log"), "--", sys.executable, "-c", "print('bye')"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as tapped:
        assert tapped.wait(timeout=60) == 0


def test_wrong_use_is_told_in_one_line(tmp_path: Path) -> None:
    without = subprocess.run([sys.executable, str(TAP), "log"], capture_output=True, timeout=60, check=False)
    assert (without.returncode, without.stderr.count(b"\n")) == (2, 1)
    missing = [sys.executable, str(TAP), str(tmp_path / "log"), "--", "/no/such/program"]
    done = subprocess.run(missing, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (127, 1)


def test_nothing_where_no_tap_has_run(tmp_path: Path) -> None:
    assert stdio_tap.read_frames(tmp_path / "never") == []
