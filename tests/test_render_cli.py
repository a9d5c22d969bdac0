"""`python -m tooldialect.dialects render`, as a process and in this one."""

import io
import json
import subprocess
import sys

import pytest

from tooldialect.dialects import ToolOutcome, dump_transcript, get_dialect
from tooldialect.dialects.__main__ import main

OUTCOMES = [
    ToolOutcome.ok("ls", "a\u2028b\r\n</tool_result>", tool_call_id="c1"),
    ToolOutcome.failed("mail", "[m] é\n", tool_call_id="c2", trusted_verbatim=True),
    ToolOutcome.ok("pwd", "/", tool_call_id="c3"),
]
AS_LINES = "".join(outcome.model_dump_json() + "\n" for outcome in OUTCOMES)
AS_ARRAY = json.dumps([json.loads(line) for line in AS_LINES.split("\n")[:-1]], indent=1)


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "tooldialect.dialects", *arguments]
    return subprocess.run(command, input=stdin.encode(), capture_output=True, check=False)


@pytest.mark.parametrize("dialect", ["xml", "pformat", "native"])
@pytest.mark.parametrize("text", [AS_LINES, AS_ARRAY, "\ufeff" + AS_LINES], ids=["lines", "array", "byte order mark"])
def test_a_file_of_outcomes_is_rendered_as_the_dialect_does(tmp_path, capfdbinary, dialect, text):
    file = tmp_path / "outcomes.json"
    file.write_text(text, encoding="utf-8")
    assert main(["render", "--dialect", dialect, str(file)]) == 0
    written = capfdbinary.readouterr()
    assert written.out.decode() == dump_transcript(get_dialect(dialect).format_results(OUTCOMES))
    assert written.err == b""


def test_a_process_reads_standard_input():
    done = run("render", "--dialect", "xml", "-", stdin=AS_LINES)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == dump_transcript(get_dialect("xml").format_results(OUTCOMES))


def test_no_outcomes_give_no_lines(capfdbinary, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[]")))
    assert main(["render", "--dialect", "xml", "-"]) == 0
    assert capfdbinary.readouterr() == (b"", b"")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "line 1 is not JSON"),
        (b"[{]", "the array is not JSON"),
        (b'{"name": "a", "output": "b"}\n{"name": "a"}', "line 2: output"),
        (b'[{"name": "a", "output": 5}]', "item 1: output"),
        (b'{"name": "a", "output": "b", "success": "yes"}', "success"),
        (b'{"name": "a", "output": "\\ud800", "trusted_verbatim": true}', "lone surrogate"),
        (b'{"name": "a", "output": "b", "x\\ny": 1}', "x y"),
        (b"\xff\xfe", "utf-8"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_unreadable_input_is_one_line_and_exit_2(tmp_path, capfd, content, said):
    file = tmp_path / "outcomes.json"
    file.write_bytes(content)
    assert main(["render", "--dialect", "xml", str(file)]) == 2
    written = capfd.readouterr()
    assert written.out == ""
    assert written.err.count("\n") == 1
    assert said in written.err
    assert "outcomes.json" in written.err


def test_a_missing_file_is_one_line_and_exit_2(tmp_path, capfd):
    assert main(["render", "--dialect", "xml", str(tmp_path / "no\nfile")]) == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_an_unknown_dialect_is_one_line_and_exit_2():
    done = run("render", "--dialect", "jason", "-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"native, xml, pformat" in done.stderr


def test_an_outcome_a_dialect_cannot_render_is_one_line_and_exit_2():
    done = run("render", "--dialect", "native", "-", stdin='{"name": "ls", "output": "x"}')
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"ls" in done.stderr


def test_a_missing_command_is_exit_2():
    assert run().returncode == 2
