"""The benchmarks' own arithmetic, on numbers made up here, and one case for real: nothing is timed to be judged."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def benchmarks():
    """The package by its path: with the root on `sys.path`, a bare `import gate` would find the folder."""
    found = {}
    for name in ("benchmarks", "benchmarks.measure", "benchmarks.targets", "benchmarks.report"):
        path = ROOT / name.replace(".", "/")
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        places = [str(path)] if path.is_dir() else None
        spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=places)
        found[name] = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found[name])
    yield found
    for name in found:
        del sys.modules[name]


def test_contenders_run_in_every_round_and_the_caches_are_filled_before_each(benchmarks):
    ran = []
    samples = benchmarks["benchmarks.measure"].measure(
        {"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}, 6, between=lambda: ran.append("between")
    )
    assert ran[::2] == ["between"] * 12
    for at in range(0, 24, 4):
        assert sorted(ran[at + 1 : at + 4 : 2]) == ["a", "b"]
    assert {name: len(seconds) for name, seconds in samples.seconds.items()} == {"a": 6, "b": 6}


def test_ratios_are_taken_within_rounds(benchmarks):
    # The machine was ten times slower in the second round: of that a ratio of medians would tell.
    samples = benchmarks["benchmarks.measure"].Samples({"a": [2.0, 20.0, 6.0], "b": [1.0, 10.0, 3.0]})
    assert samples.ratio("a", "b") == 2.0
    assert samples.ratio_spread("a", "b") == 0.0
    assert samples.difference("a", "b") == 3.0
    assert samples.median("a") == 6.0


def test_the_exponent_of_a_power_is_found(benchmarks):
    results = {
        f"rescan/openai-chat {rows} rows": {"rows": [rows, 0], "ns a row": [rows**0.1, 0]}
        for rows in (100, 1000, 10_000, 100_000)
    }
    assert benchmarks["benchmarks.targets"].exponent(results, "openai-chat") == pytest.approx(1.1)
    assert benchmarks["benchmarks.targets"].exponent({}, "openai-chat") is None


def test_a_target_is_judged_by_the_worst_case_and_not_where_nothing_was_measured(benchmarks):
    results = {
        "serialise/code HTML 64 KiB": {"ns a byte with tokens": [0.2, 0]},
        "serialise/code JSX 64 KiB": {"ns a byte with tokens": [1.2, 0]},
        "rescan/openai-chat 10000 rows": {"rows": [10_000, 0], "ns a row": [100, 0], "of search": [0.25, 0]},
        "rescan/openai-chat 10000 rows 50 marked": {"of search": [0.9, 0]},
    }
    verdicts = {verdict.what: verdict for verdict in benchmarks["benchmarks.targets"].judge(results)}
    code = verdicts["code of 64 KiB with control tokens"]
    assert (code.measured, code.kept) == (1.2, False)
    search = verdicts["the same, times faster than a marker search"]
    assert (search.measured, search.kept) == (4.0, True)
    assert verdicts["any dense body"].kept is None


def test_a_comparison_names_what_moved_more_than_its_spread(benchmarks):
    old = {"results": {"a/b": {"ns": [100.0, 0.05], "us": [1.0, 0.0], "gone": [1.0, 0.0]}}}
    new = {"results": {"a/b": {"ns": [110.0, 0.05], "us": [2.0, 0.0]}, "new": {"ns": [1.0, 0.0]}}}
    steady, moved = benchmarks["benchmarks.report"].comparison(old, new)
    assert "x 1.10" in steady
    assert "<--" not in steady
    assert "x 2.00" in moved
    assert moved.endswith("<--")


def run(*options):
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *options],
        cwd=ROOT,
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_case_runs_in_a_process_of_its_own_and_prints_its_numbers():
    done = run("--quick", "--json", "--only", "openai-chat 100 rows")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    [(case, numbers)] = report["results"].items()
    assert case == "rescan/openai-chat 100 rows"
    assert numbers["rows"][0] == 100
    assert numbers["of json.dumps"][0] > 0
    assert report["versions"]["orjson"] != "(not installed)"


def test_a_transcript_that_is_none_is_refused_in_one_line(tmp_path):
    (tmp_path / "notes.txt").write_text("[1]\n")
    done = run("--transcript", str(tmp_path / "notes.txt"))
    assert done.returncode == 1
    assert "neither a request with messages, nor messages, one a line" in done.stderr
