"""The command line: table, counter-example, files, exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

import broken_for_cli
from tooldialect.conformance import Profile, PythonTarget, clauses, run
from tooldialect.conformance.record_schema import published
from tooldialect.conformance.report import byte_diff, every_table, visible

TESTS = Path(__file__).parent


def suite(*arguments, cwd=TESTS):
    return subprocess.run(
        [sys.executable, "-m", "tooldialect.conformance", *arguments],
        capture_output=True, text=True, check=False, cwd=cwd, timeout=120,
    )  # fmt: skip


def test_all_hold_and_the_exit_status_is_0(tmp_path):
    done = suite("tooldialect.dialects:XmlDialect", "--select", "V,E3", "--json", str(tmp_path / "out.json"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "8 pass" in done.stdout
    document = json.loads((tmp_path / "out.json").read_text())
    Draft202012Validator(published("report")).validate(document)
    assert document["target"] == "tooldialect.dialects:XmlDialect"
    assert [clause["id"] for clause in document["clauses"]] == [*(f"V{n}" for n in range(1, 8)), "E3"]


def test_a_failure_is_shown_with_its_example_and_bytes_and_the_exit_status_is_1(tmp_path):
    done = suite(
        "broken_for_cli:TrimsNewline",
        "--select",
        "V1,V2",
        "--json",
        str(tmp_path / "out.json"),
        "--junit",
        str(tmp_path / "out.xml"),
    )
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert "V1: A marked outcome is an entry of its own, identical from first to last byte." in lines
    assert 'with: "two lines\\nend\\n"' in lines
    assert "first difference at byte 13 of 14 wanted, 13 got" in lines
    assert " want: two lines\\nend⟦\\n⟧" in lines
    assert "  got: two lines\\nend⟦⟧" in lines
    document = json.loads((tmp_path / "out.json").read_text())
    Draft202012Validator(published("report")).validate(document)
    failed, passed = document["clauses"]
    assert (failed["status"], failed["example"], passed["status"]) == ("fail", "two lines\nend\n", "pass")
    [case] = [case for case in ET.parse(tmp_path / "out.xml").iter("testcase") if case.find("failure") is not None]
    assert case.get("name") == "V1"


def test_a_drawn_counter_example_is_shrunk_and_found_again_under_its_seed():
    first, second = (suite("broken_for_cli:LosesLongNames", "--select", "F3", "--seed", "7") for _ in range(2))
    assert first.returncode == 1
    assert first.stdout == second.stdout
    [shown] = [line for line in first.stdout.splitlines() if line.startswith("with: ")]
    outcomes = json.loads(shown.removeprefix("with: "))
    assert [outcome["output"] for outcome in outcomes] == ["", "", "", ""]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no.such.module:Dialect"], "'no.such.module:Dialect' cannot be imported: ModuleNotFoundError"),
        (["tooldialect.dialects:Nobody"], "cannot be imported: AttributeError"),
        (["tooldialect.dialects"], "names no dialect: write package.module:factory"),
        (["tooldialect.dialects:ToolSpec"], "makes no dialect"),
        (["json:dumps"], "not a ToolDialect"),
        (["broken_for_cli:NUMBER"], "'broken_for_cli:NUMBER' is a int, neither a dialect nor a factory"),
        (["broken_for_cli:exits_when_made"], "'broken_for_cli:exits_when_made' makes no dialect: SystemExit: 5"),
        (["broken_for_cli:Yaml"], "Yaml.call_format is 'yaml': Input should be 'native', 'json' or 'slots'"),
        (["broken_for_cli:BracketTags"], "'<result>' cannot be the name of a tag: names without brackets are wanted"),
        (["broken_for_cli:AtTags"], "'@@end' cannot be the name of a tag: names without brackets are wanted"),
        (["broken_for_cli:OneString"], "a list of names without brackets is wanted, not the string 'result'"),
        (["--stdio", "node 'unclosed"], "--stdio \"node 'unclosed\" is no command line: No closing quotation"),
        (["--stdio", ""], "--stdio names no program"),
        (["--stdio", "cat", "--timeout", "-1"], "--timeout -1: seconds above 0 are wanted"),
        (["--stdio", "cat", "--timeout", "0"], "--timeout 0: seconds above 0 are wanted"),
        (["--stdio", "cat", "--timeout", "nan"], "--timeout nan: seconds above 0 are wanted"),
        (["--stdio", "cat", "--timeout", "inf"], "--timeout inf: seconds above 0 are wanted"),
        (["tooldialect.dialects:XmlDialect", "--select", ""], "--select names no clause"),
        (["tooldialect.dialects:XmlDialect", "--json", "/nonexistent/x"], "--json /nonexistent/x: there is no directory /nonexistent"),
        (["tooldialect.dialects:XmlDialect", "--junit", "/"], "--junit /: is a directory"),
        (["--stdio", "no-such-program here"], "cannot be started"),
        (["--stdio", f"{sys.executable} drivers/faulty.py 'dies at once'"], "ended with status 1 on describe (request 1); its last words: 'cannot find my dialect'"),
        (["--stdio", f"{sys.executable} drivers/faulty.py 'hangs at once'", "--timeout", "0.5"], "no answer to describe (request 1) within 0.5 seconds"),
        (["tooldialect.dialects:XmlDialect", "--select", "Q9"], "'Q9' selects no clause"),
        (["tooldialect.dialects:XmlDialect", "--profile", "slow"], "known are quick, thorough"),
        (["tooldialect.dialects:XmlDialect", "--expect", "E3"], "gives no reason"),
        (["tooldialect.dialects:XmlDialect", "--expect", "Q9=later"], "selects no clause"),
        ([], "name one thing to test"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_told_in_one_line_with_exit_status_2(arguments, said):
    done = suite(*arguments)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert said in line
    assert done.stdout == ""


def test_an_expected_failure_is_none_and_one_that_passes_is():
    known = suite("broken_for_cli:TrimsNewline", "--select", "V1", "--expect", "V1=issue 12")
    assert known.returncode == 0
    assert "1 expected failure" in known.stdout
    passing = suite("broken_for_cli:TrimsNewline", "--select", "V2", "--expect", "V2=issue 12")
    assert passing.returncode == 1
    assert "it holds, though a failure was expected (issue 12)" in passing.stdout


def test_a_program_is_judged_by_its_command():
    done = suite("--stdio", f"{sys.executable} drivers/minimal.py", "--select", "V,F4")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 pass" in done.stdout


def test_the_clauses_are_listed_as_in_the_readme():
    readme = (TESTS.parent / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("--list -->\n\n")[2].partition("<!-- end of clauses -->")[0]
    assert suite("--list").stdout == every_table() == shown


def test_characters_that_a_terminal_hides_are_shown():
    assert visible("a\n\t\r\x00\x1b\u2028\ufeff\u202eé😀\\") == "a\\n\\t\\r\\u0000\\u001b\\u2028\\ufeff\\u202eé😀\\\\"


def test_the_first_byte_that_differs_is_counted_in_bytes():
    assert byte_diff("éa", "éb")[0] == "first difference at byte 2 of 3 wanted, 3 got"
    assert byte_diff("same", "same and more")[0] == "first difference at byte 4 of 4 wanted, 13 got"


@pytest.mark.parametrize(
    ("dialect", "clause", "said"),
    [
        ("CallNone", "C1", "render_call returned NoneType, not str"),
        ("PromptNone", "C6", "prompt_instructions returned NoneType, not str"),
        ("ParsedTuple", "C1", "parse_response returned tuple, not ParsedResponse"),
        ("ReplayOne", "V5", "replay returned ChatMessage, not a list of entries"),
        ("ReplayNone", "V5", "replay returned NoneType, not a list of entries"),
        ("ReplayExits", "V5", "replay raised SystemExit: 5"),
        ("ResultsText", "V1", "format_results returned str, not a list of entries"),
        ("ResultsDicts", "V1", "format_results returned a list with dict in it, not a list of entries"),
        ("MessagesNone", "V7", "to_provider_messages returned NoneType, not a list of messages"),
        ("ReadsDicts", "E2", "in it, not a list of (name, success, body)"),
        ("exits_for_tools", "C5", "making the dialect raised SystemExit: 5"),
    ],
)
def test_a_wrong_type_and_an_exit_fail_their_clauses_and_the_others_go_on(dialect, clause, said):
    made = getattr(broken_for_cli, dialect)
    results = list(run(PythonTarget(made), profile=Profile("written", examples=0, megabyte=1 << 10, shrink=False)))
    assert [result.id for result in results] == [known.id for known in clauses("dialect")]
    told = {result.id: (result.status, result.detail) for result in results}
    assert told[clause][0] == "fail"
    assert said in told[clause][1]
    assert "pass" in {status for status, _ in told.values()}


def test_a_wrong_type_is_a_row_of_the_table_and_the_exit_status_is_1():
    done = suite("broken_for_cli:CallNone", "--select", "C1,F4")
    assert (done.returncode, done.stderr) == (1, "")
    assert "render_call returned NoneType, not str" in done.stdout
    assert "1 pass, 1 fail" in done.stdout
