"""The pytest suite, and what runs below it without pytest."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tooldialect.conformance
from tooldialect.conformance import (
    PROFILES,
    DialectConformance,
    ExpectationError,
    PythonTarget,
    clauses,
    run,
)
from tooldialect.dialects import XmlDialect

ROOT = Path(__file__).resolve().parents[1]


class TestXml(DialectConformance):
    def make_dialect(self, tools):
        return XmlDialect(tools)


class NoParsing(XmlDialect):
    def parse_response(self, response):
        raise NotImplementedError


class Trims(XmlDialect):
    def format_results(self, outcomes):
        return [
            entry.model_copy(update={"content": entry.content.strip()}) if entry.trusted_verbatim else entry
            for entry in super().format_results(outcomes)
        ]


MINE = """
from tooldialect.conformance import DialectConformance
from tooldialect.dialects import XmlDialect

class Trims(XmlDialect):
    def format_results(self, outcomes):
        return [
            entry.model_copy(update={"content": entry.content.strip()}) if entry.trusted_verbatim else entry
            for entry in super().format_results(outcomes)
        ]

class TestMine(DialectConformance):
    expected_failures = {"V3": "issue 12", "F1": "issue 13"}

    def make_dialect(self, tools):
        return Trims(tools)
"""


def test_each_clause_is_a_test_with_its_id(tmp_path):
    (tmp_path / "test_mine.py").write_text(MINE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-k", "(V1 or V2 or V3 or F1 or N1) and not F10", "test_mine.py"],
        capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120,
    )  # fmt: skip
    told = dict(re.findall(r"^(\w+) test_mine\.py::TestMine::test_clause\[(\w+)\]", done.stdout, re.MULTILINE)[::-1])
    by_id = {
        id: outcome
        for outcome, id in re.findall(
            r"^(PASSED|FAILED|XFAIL) test_mine\.py::TestMine::test_clause\[(\w+)\]", done.stdout, re.MULTILINE
        )
    }
    assert told
    assert by_id == {"V1": "FAILED", "V2": "PASSED", "V3": "XFAIL", "F1": "FAILED"}
    assert "it holds, though a failure was expected (issue 13)" in done.stdout
    assert "first difference at byte 13 of 14 wanted, 13 got" in done.stdout
    assert "N1 needs results as records with call ids" in done.stdout


@pytest.mark.parametrize(
    ("expected", "said"), [({"Q1": "x"}, "'Q1', which is no clause"), ({"V1": " "}, "gives no reason")]
)
def test_a_wrong_list_of_expected_failures_is_an_error(expected, said):
    with pytest.raises(ExpectationError, match=re.escape(said)):
        type("Mine", (DialectConformance,), {"expected_failures": expected})
    with pytest.raises(ExpectationError, match=re.escape(said)):
        run(PythonTarget(XmlDialect), expected_failures=expected)


def test_a_dialect_without_parsing_runs_what_does_not_need_it():
    results = {result.id: result for result in run(PythonTarget(NoParsing))}
    assert {id for id, result in results.items() if result.status == "fail"} == set()
    assert results["C1"].detail == "needs reading a model's response"
    # F9 alone is about what a reading keeps.
    assert {id for id in results if id[0] in "VF" and results[id].status != "pass"} == {"F9"}
    assert results["E1"].status == "pass"


def test_the_same_seed_gives_the_same_counter_example():
    def example(seed):
        [result] = run(PythonTarget(Trims), select_only=["V5"], seed=seed)
        return result

    assert example(3) == example(3)


def test_expected_failures_are_told_apart():
    [known] = run(PythonTarget(Trims), select_only=["V1"], expected_failures={"V1": "issue 12"})
    assert (known.status, known.detail.split(":")[0]) == ("expected_failure", "issue 12")
    [holds] = run(PythonTarget(Trims), select_only=["V2"], expected_failures={"V2": "issue 12"})
    assert holds.status == "fail"


def test_nothing_is_written_to_disk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    list(run(PythonTarget(Trims), select_only=["V", "F"], profile=PROFILES["quick"]))
    assert list(tmp_path.iterdir()) == []


def test_one_file_imports_pytest():
    importing = [
        path.name
        for path in (ROOT / "conformance").glob("*.py")
        if re.search(r"^\s*(import|from) _?pytest", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert importing == ["suite.py"]
    code = "import sys, tooldialect.conformance as c; c.run; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_clause_says_why_and_what_it_prevents():
    for clause in clauses():
        assert [said[-1] for said in (clause.promise, clause.reason, clause.prevents)] == [".", ".", "."]
    assert len({clause.id for clause in clauses()}) == len(clauses())


def test_all_clauses_are_listed_and_those_of_each_kind():
    kinds = [clauses("dialect"), clauses("harness"), clauses("ledger"), clauses("counter")]
    assert clauses() == sum(kinds, ())
    assert [kind[0].id for kind in kinds] == ["V1", "H1", "L1", "T1"]


def test_an_unknown_name_of_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match="NoSuchConformance"):
        _ = tooldialect.conformance.NoSuchConformance
