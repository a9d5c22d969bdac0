from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from gate_world import GUESS, MAIL, PROXY, call, key, world
from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ToolCall,
    available_wires,
    dump_transcript,
    get_dialect,
    wire_for,
)
from tooldialect.gate import SignedLedger
from tooldialect.gate.__main__ import main

SECRET = "a secret of the platform"


def deliver(name="send", secret=SECRET):
    gate, _ = world({name: MAIL}, ledger=SignedLedger(secret))
    return gate.run().consult(call(name, GUESS)).outcome(PROXY, "c1")


def history(outcome):
    turn = AssistantTurn(text=None, tool_calls=(ToolCall(id="c1", name=PROXY, arguments="{}"),))
    return [ChatMessage(role="user", content="Send it"), turn, *get_dialect("native").format_results([outcome])]


def lines(messages):
    return "".join(json.dumps(message) + "\n" for message in messages)


@pytest.fixture
def scan(tmp_path, capfdbinary):
    """Runs the scan on a text; (exit status, standard output, standard error)."""

    def run(content, *options):
        file = tmp_path / "transcript.jsonl"
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        status = main(["scan", str(file), *options])
        output, error = capfdbinary.readouterr()
        return status, output.decode(), error.decode()

    return run


@pytest.fixture
def secret(tmp_path):
    file = tmp_path / "secret"
    file.write_text(SECRET + "\n")
    return str(file)


def verdicts(output):
    return [json.loads(line) for line in output.splitlines()]


def test_a_saved_transcript_is_told_row_by_row(scan):
    output = scan(dump_transcript(history(deliver())))
    assert output == (0, f"line 3, text 1: INTACT    {key('send')}@{MAIL.version}\n", "")


def test_rows_are_lines_of_the_file_and_texts_of_the_line(scan, secret):
    outcome = deliver()
    user = {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": outcome.output + " "}]}
    quoted = {"role": "user", "content": f"Summary: {outcome.output}"}
    content = lines([user]) + "\n" + lines([{"role": "assistant", "content": outcome.output}, quoted])
    status, output, _ = scan(content, "--wire", "openai-chat", "--json", "--secret-file", secret)
    claim = {"key": key("send"), "version": MAIL.version}
    assert status == 0
    assert verdicts(output) == [
        {"line": 1, "text": 2, **claim, "verdict": "REWRITTEN"},
        {"line": 4, "text": 1, **claim, "verdict": "DISPLACED"},
    ]


@pytest.mark.parametrize("name", available_wires())
def test_messages_of_a_wire_are_read_as_that_wire_wrote_them(name, scan, secret):
    wire = wire_for(name)
    messages = wire.messages(wire.encode(history(deliver())))
    status, output, _ = scan(lines(messages), "--wire", name, "--json", "--secret-file", secret)
    assert status == 0
    [verdict] = verdicts(output)
    assert (verdict["line"], verdict["key"], verdict["verdict"]) == (3, key("send"), "INTACT")


def test_a_foreign_delivery_is_unknown_with_a_secret_and_intact_without(scan, secret):
    content = dump_transcript(history(deliver(secret="another")))
    assert "UNKNOWN" in scan(content, "--secret-file", secret)[1]
    assert "INTACT" in scan(content)[1]
    assert "INTACT" in scan(dump_transcript(history(deliver())), "--secret-file", secret)[1]


def test_a_marker_that_cannot_be_read_has_no_key(scan):
    content = dump_transcript([ChatMessage(role="user", content="[contract-gate:cut")])
    assert scan(content) == (0, "line 1, text 1: REWRITTEN (marker not readable)\n", "")
    assert verdicts(scan(content, "--json")[1])[0]["key"] is None


def test_a_transcript_without_marked_rows_says_so(scan):
    content = dump_transcript([ChatMessage(role="user", content="hello")])
    assert scan(content) == (0, "no marked row among 1 host-written texts\n", "")
    assert scan(content, "--json") == (0, "", "")
    assert scan("")[0] == 0


def test_line_separators_inside_json_strings_are_no_line_ends(scan):
    text = deliver().output
    content = dump_transcript(
        [ChatMessage(role="user", content="a\u2028b\x85c"), ChatMessage(role="user", content=text)]
    )
    assert "line 2, text 1: INTACT" in scan("\ufeff" + content)[1]


UNREADABLE = {
    "not json": ("{", (), "line 1"),
    "a later line": (dump_transcript([ChatMessage(role="user", content="x")]) + "\n{}\n", (), "line 3"),
    "not utf-8": (b"\xff\xfe", (), "utf-8"),
    "an unknown key": ('{"kind":"chat","role":"user","content":"x","extra":1}', (), "line 1"),
    "a number on a wire": ("7\n", ("--wire", "openai-chat"), "line 1"),
    "an object without a role": ('{"content":"x"}', ("--wire", "anthropic"), "line 1"),
    "a content of no kind": ('\n{"role":"user","content":5}', ("--wire", "anthropic"), "line 2"),
    "parts of no kind": ('{"role":"user","parts":{}}', ("--wire", "gemini"), "line 1"),
    "no json on a wire": ("nonsense", ("--wire", "anthropic"), "line 1"),
    "too deep": ("[" * 5000, ("--wire", "openai-chat"), "line 1"),
    "a flagged text that no request can carry": (
        '{"kind":"chat","role":"user","content":"\\ud800","trusted_verbatim":true}',
        (),
        "line 1",
    ),
    "no such secret": ("", ("--secret-file", "/nonexistent/secret"), "/nonexistent/secret"),
    "a secret without content": ("", ("--secret-file", os.devnull), "secret"),
}


@pytest.mark.parametrize(("content", "options", "said"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_unreadable_input_is_one_clear_line_and_exit_status_2(content, options, said, scan):
    status, output, error = scan(content, *options)
    assert (status, output) == (2, "")
    assert error.startswith("tooldialect.gate scan: ")
    assert error.count("\n") == 1
    assert said in error
    assert "Traceback" not in error


def test_a_file_that_is_not_there_is_unreadable(capfdbinary):
    assert main(["scan", "/nonexistent/file"]) == 2
    assert b"/nonexistent/file" in capfdbinary.readouterr().err


@pytest.mark.parametrize("options", [[], ["scan"], ["scan", "x", "--wire", "telegraph"], ["look", "x"]])
def test_a_command_line_that_makes_no_sense_is_exit_status_2(options, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(options)
    assert stopped.value.code == 2


def test_a_dash_is_standard_input(monkeypatch, capfdbinary):
    content = dump_transcript(history(deliver())).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert main(["scan", "-"]) == 0
    assert b"INTACT" in capfdbinary.readouterr().out


def test_it_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "tooldialect.gate", "scan", "-"],
        input=dump_transcript(history(deliver())),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "INTACT" in done.stdout


def test_no_text_of_the_transcript_is_printed(scan):
    text = deliver().output
    content = dump_transcript([ChatMessage(role="user", content=f"PRIVATE {text} PRIVATE")])
    for options in ((), ("--json",)):
        assert "PRIVATE" not in scan(content, *options)[1]
