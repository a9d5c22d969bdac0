"""The command line of the benchmarks: what it refuses, and that whatever it is handed is printed without harm."""

import io
import json
import os
import subprocess
import sys
import threading

import pytest

from benchmark_package import ROOT, run_of
from benchmarks.__main__ import main
from benchmarks.case import Case, Metric
from benchmarks.runner import CaseFailedError, CaseResult, run_case


def run_it(*options, **others):
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    command = [sys.executable, "-m", "benchmarks", *options]
    return subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False, **others)


def test_a_case_runs_in_a_process_of_its_own_and_json_stays_json_beside_a_comparison(tmp_path):
    old = tmp_path / "old.json"
    case = "rescan/openai-chat 100 rows"
    old.write_text(json.dumps(run_of({case: {"of json.dumps": [1e-9, 0.0]}})))
    options = ("--quick", "--json", "--only", "openai-chat 100 rows", "--compare", str(old))
    done = run_it(*options, "--fail-if-slower", "50")
    report = json.loads(done.stdout)
    assert list(report["results"]) == [case]
    assert report["results"][case]["rows"][0] == 100
    assert report["results"][case]["of json.dumps"][0] > 0
    assert report["versions"]["orjson"] != "(not installed)"
    assert "slower" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--wire", "gemini"],
        ["--fail-if-slower", "5"],
        ["--transcript", "x", "--quick"],
        ["--transcript", "x", "--only", "y"],
        ["--into", "x", "--only", "y"],
        ["--into", "x", "--json"],
        ["--into", __file__],
    ],
)
def test_options_that_make_no_sense_together_are_refused(options, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(options)
    assert stopped.value.code == 2


def test_a_word_that_no_case_has_is_told(capsys):
    assert main(["--only", "no such case"]) == 2
    assert "no case has 'no such case' in its name" in capsys.readouterr().err


HOSTILE = "\ud800\x1b]0;x\x07\u202e\n# T|"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_whatever_an_older_run_holds_is_printed_without_harm(encoding, tmp_path, monkeypatch):
    old = run_of({f"consult/{HOSTILE}": {"us": [1, 0]}}, HOSTILE, machine={"processor": HOSTILE})
    old["versions"] = {"orjson": HOSTILE, HOSTILE: HOSTILE}
    file = tmp_path / "old.json"
    file.write_text(json.dumps(old))
    monkeypatch.setattr("benchmarks.__main__.run_case", lambda *_, **__: CaseResult({"us": Metric(1.0, 0.5)}, 0.0))
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["--only", "openai-chat 100 rows", "--compare", str(file)]) == 0
    stream.flush()
    printed = stream.buffer.getvalue().decode(encoding)
    assert r"* another Python: \ud800\x1b]0;x\x07\u202e\n# T|, now " in printed
    assert r"only in the old run: consult/\ud800\x1b]0;x\x07\u202e\n# T\|" in printed
    assert all(one.isprintable() or one == "\n" for one in printed)


def test_a_name_that_no_terminal_takes_is_told_in_one_line(tmp_path, capsys):
    assert main(["--compare", str(tmp_path / HOSTILE)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error[:-1].isprintable()


def test_a_case_that_ends_with_an_error_has_a_status_of_its_own(monkeypatch, capsys):
    def fail(*_, **__):
        raise CaseFailedError("loop/x failed: for a reason")

    monkeypatch.setattr("benchmarks.__main__.run_case", fail)
    assert main(["--only", "openai-chat 100 rows", "--json"]) == 3
    assert "loop/x failed: for a reason" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_read_once_whatever_its_name_holds(tmp_path, monkeypatch, capsys):
    # The bar is drawn.
    monkeypatch.setenv("FORCE_COLOR", "1")
    pipe = tmp_path / "a[" / "nope]\x1b[31m|\n.json"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b'[{"role": "user", "content": "PRIVATE"}]',), daemon=True)
    writer.start()
    assert main(["--transcript", str(pipe)]) == 0
    output, error = capsys.readouterr()
    assert r"nope]\x1b[31m|\n.json (messages of openai-chat; 1 row" in output
    assert r"nope]\x1b[31m\|\n.json | 1 |" in output
    assert "\x1b[31m" not in output + error
    assert "PRIVATE" not in output + error


def test_of_a_file_whose_process_fails_the_kind_of_error_is_told_and_no_more():
    failing = Case("yours", "a\x1b.json", lambda rounds: {})
    with pytest.raises(CaseFailedError) as failed:
        run_case(failing, ["--case", "", "--transcript", "-"], quick=True, given=b'{"PRIVATE": 1}', done=lambda: None)
    assert str(failed.value) == "yours/a\\x1b.json failed:\nUnusable"


@pytest.mark.skipif(os.name != "posix", reason="a script and a signal")
@pytest.mark.parametrize(
    ("script", "said"), [("kill -9 $$", "ended by signal 9"), ("echo 'PRIVATE words' >&2; exit 7", "exit status 7")]
)
def test_of_a_process_that_says_no_error_it_is_told_how_it_ended(script, said, tmp_path, monkeypatch):
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(CaseFailedError) as failed:
        run_case(Case("yours", "a", lambda rounds: {}), [], quick=True, given=b"", done=lambda: None)
    assert str(failed.value) == f"yours/a failed:\n{said}"
