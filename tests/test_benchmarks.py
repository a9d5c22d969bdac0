"""The benchmarks' own arithmetic and files, on numbers made up here: nothing is timed to be judged."""

import contextlib
import copy
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_package import ROOT, run_of
from benchmarks import compare
from benchmarks.__main__ import main
from benchmarks.case import Metric, Unusable
from benchmarks.machine import busy
from benchmarks.measure import Samples, measure
from benchmarks.report import index, markdown
from benchmarks.runner import pooled
from benchmarks.saved import folder_name, read_run, with_targets, write, write_again
from benchmarks.targets import exponent, judge

RESULTS = ROOT / "benchmarks" / "results"
POSITIVE = st.floats(1e-3, 1e3)


# --- measuring ----------------------------------------------------------------------------------------------------------


def test_contenders_run_in_every_round_and_the_caches_are_filled_before_each():
    ran = []
    contenders = {"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}
    samples = measure(contenders, 6, between=lambda: ran.append("between"))
    # Once each untimed, then rounds.
    assert ran[:2] == ["a", "b"]
    timed = ran[2:]
    assert set(timed[::2]) == {"between"}
    for at in range(0, len(timed), 4):
        assert sorted(timed[at + 1 : at + 4 : 2]) == ["a", "b"]
    assert {len(seconds) for seconds in samples.seconds.values()} == {len(timed) // 4}
    assert len(timed) // 4 >= 3


def test_what_a_contender_starts_from_is_brought_about_before_each_of_its_samples():
    ran = []
    contenders = {"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}
    measure(contenders, 3, before={"a": lambda: ran.append("reset")})
    timed = [at for at, name in enumerate(ran) if name == "a"][1:]
    assert len(timed) >= 3
    assert all(ran[at - 1] == "reset" for at in timed)
    assert ran.count("reset") == len(timed)


def test_no_sample_is_zero_however_little_was_done():
    samples = measure({"a": int, "b": int}, 3, between=int)
    assert samples.ratio("a", "b") > 0


def test_ratios_are_taken_within_rounds():
    # The machine was ten times slower in the second round: of that a ratio of medians would tell.
    samples = Samples({"a": [2.0, 20.0, 6.0], "b": [1.0, 10.0, 3.0]})
    assert samples.ratio("a", "b") == 2.0
    assert samples.ratio_spread("a", "b") == 0.0
    assert samples.difference("a", "b") == 3.0
    assert samples.median("a") == 6.0


def test_the_spread_of_a_difference_is_its_own():
    samples = Samples({"a": [101.0, 102.0, 103.0], "b": [100.0, 100.0, 100.0]})
    assert samples.difference_spread("a", "b") == 0.5
    assert samples.spread("a") < 0.01
    assert samples.difference_spread("b", "b") == 0.0


@given(st.lists(st.tuples(POSITIVE, st.floats(0, 1)), min_size=1, max_size=5))
def test_what_processes_say_of_a_case_is_spread_over_all_of_them(told_by):
    [metric] = pooled([{"ns": Metric(*numbers)} for numbers in told_by]).values()
    values = [value for value, _ in told_by]
    assert min(values) <= metric.value <= max(values)
    half = (max(values) - min(values)) / 2
    assert metric.spread * metric.value >= half * 0.999
    assert metric.spread >= min(spread for _, spread in told_by)


# --- targets ------------------------------------------------------------------------------------------------------------


def test_the_exponent_of_a_power_is_found():
    results = {
        f"rescan/openai-chat {rows} rows": {"rows": [rows, 0], "ns a row": [rows**0.1, 0]}
        for rows in (100, 1000, 10_000, 100_000)
    }
    assert exponent(results, "openai-chat") == pytest.approx(1.1)
    assert exponent({}, "openai-chat") is None
    same = {f"rescan/openai-chat {name} rows": {"rows": [1000, 0], "ns a row": [7, 0]} for name in "ab"}
    assert exponent(same, "openai-chat") is None


def test_a_target_is_judged_by_the_worst_case_and_not_where_nothing_was_measured():
    results = {
        "serialise/code HTML 64 KiB": {"ns a byte with tokens": [0.2, 0]},
        "serialise/code JSX 64 KiB": {"ns a byte with tokens": [1.2, 0]},
        "rescan/openai-chat 10000 rows": {"rows": [10_000, 0], "ns a row": [100, 0], "of search": [0.25, 0]},
        "rescan/openai-chat 10000 rows 50 marked": {"of search": [0.9, 0]},
    }
    verdicts = {verdict.what: verdict for verdict in judge(run_of(results))}
    code = verdicts["code of 64 KiB with control tokens"]
    assert (code.measured, code.kept) == (1.2, False)
    search = verdicts["the same, times faster than a marker search"]
    assert (search.measured, search.kept) == (4.0, True)
    assert verdicts["any dense body"].kept is None


@pytest.mark.parametrize(("python", "kept"), [("CPython 3.11.7", True), ("CPython 3.13.0", False)])
def test_a_target_is_that_of_the_python_that_was_measured(python, kept):
    run = run_of(
        {"rescan/openai-chat 10000 rows": {"rows": [10_000, 0], "ns a row": [1, 0], "of touch": [3, 0]}}, python
    )
    [verdict] = [verdict for verdict in judge(run) if verdict.what == "the same, of a bare touch loop"]
    assert verdict.kept is kept


# --- files --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "7",
        "{}",
        '{"results": 1}',
        json.dumps(run_of({"a": {"us": 1}})),
        json.dumps(run_of({"a": {"us": [10**400, 0]}})),
        json.dumps(run_of({"a": {"us": [1e299, 0]}})),
        json.dumps(run_of({"a": {"us": [1e-320, 0]}})),
        json.dumps(run_of({"a": {"us": [1, -0.1]}})),
        '{"results": {"a": {"us": [NaN, 0]}}}',
        json.dumps(run_of({"serialise/dense x": {"4n to n": [-1, 0]}})),
        json.dumps(run_of({"rescan/openai-chat 1000 rows": {"rows": [1000, 0], "ns a row": [0, 0]}})),
        json.dumps(run_of({}, machine={"load": "much"})),
        json.dumps(run_of({}, when=None)),
        "[" * 100_000,
        b"\xff",
    ],
)
def test_a_file_that_is_no_run_is_refused_in_words(content, tmp_path, capsys):
    file = tmp_path / "old.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(Unusable, match=r"name a results\.json"):
        read_run(file)
    assert main(["--compare", str(file), "--only", "no such case"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


FIGURES = st.one_of(st.integers(-(10**40), 10**40), st.floats(), st.sampled_from([0, 1, 1e29, 1e-29]))
JUDGED = {
    "rescan/openai-chat 1000 rows": ["rows", "ns a row"],
    "rescan/openai-chat 10000 rows": ["rows", "ns a row", "of search"],
    "serialise/dense x": ["4n to n", "ns a byte"],
    "consult/present": ["us", "of json.loads"],
}


@given(
    st.fixed_dictionaries(
        {
            case: st.fixed_dictionaries({what: st.tuples(FIGURES, FIGURES) for what in names})
            for case, names in JUDGED.items()
        }
    )
)
def test_whatever_figures_a_file_holds_they_are_refused_or_judged_and_compared(results):
    new = run_of({case: dict.fromkeys(names, (1000.0, 0.1)) for case, names in JUDGED.items()})
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(Unusable):
        file = Path(folder, "old.json")
        file.write_text(json.dumps(run_of(results)))
        compare.markdown(compare.compare(read_run(file), new))


def test_a_byte_order_mark_before_a_run_does_no_harm(tmp_path):
    run = run_of({"consult/a": {"us": [1.0, 0.5]}})
    file = tmp_path / "old.json"
    file.write_text(json.dumps(run), encoding="utf-8-sig")
    assert read_run(file) == run


def test_a_run_that_is_not_there_is_refused_in_words():
    with pytest.raises(Unusable, match="No such file"):
        read_run("/nonexistent/results.json")


def test_each_python_has_a_folder_and_the_index_shows_all(tmp_path):
    runs = [run_of({"serialise/dense x": {"ns a byte": [value, 0.1]}}, python) for python, value in PYTHONS.items()]
    folders = [write(run, tmp_path).name for run in runs]
    assert folders == ["cpython-3.13", "cpython-3.9", "pypy-3.11"]
    assert read_run(tmp_path / "cpython-3.13" / "results.json") == runs[0]
    table = (tmp_path / "README.md").read_text()
    assert "| target | wanted | CPython 3.9.1 | PyPy 3.11.2 | CPython 3.13.0 |" in table
    assert "| any dense body | ≤ 9 ns a byte | **10** (missed) | 2 | 8 |" in table
    assert not list(tmp_path.rglob(".new-*"))


PYTHONS = {"CPython 3.13.0": 8.0, "CPython 3.9.1": 10.0, "PyPy 3.11.2": 2.0}


def test_a_write_that_is_stopped_leaves_what_was_there(tmp_path, monkeypatch):
    old, new = run_of({}), run_of({"serialise/dense x": {"ns a byte": [1.0, 0.1]}})
    folder = write(old, tmp_path)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.saved.markdown", stop)
    with pytest.raises(KeyboardInterrupt):
        write(new, tmp_path)
    assert read_run(folder / "results.json") == old
    assert {path.name for path in folder.iterdir()} >= {"README.md", "results.json"}
    assert not list(tmp_path.rglob(".new-*"))


def test_the_committed_reports_are_those_of_the_committed_numbers():
    for path in RESULTS.glob("*/results.json"):
        run = read_run(path)
        assert path.parent.name == folder_name(run)
        report = (path.parent / "README.md").read_text(encoding="utf-8")
        assert report == markdown(run, sorted(file.name for file in path.parent.glob("*.png")))
    runs = {path.parent.name: read_run(path) for path in sorted(RESULTS.glob("*/results.json"))}
    assert (RESULTS / "README.md").read_text(encoding="utf-8") == index(runs)


def test_the_readme_shows_the_targets_of_all_runs():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "| target | wanted | CPython 3.11" in readme
    assert with_targets(readme, RESULTS) == readme


def test_reports_are_made_anew_from_the_numbers_alone(tmp_path):
    folder = write(run_of({"consult/a": {"us": [1.0, 0.5]}}), tmp_path)
    reports = [folder / "README.md", tmp_path / "README.md"]
    before = [report.read_text() for report in reports]
    for report in reports:
        report.unlink()
    assert write_again(tmp_path) == [folder]
    assert [report.read_text() for report in reports] == before
    assert main(["--report", "--into", str(tmp_path)]) == 0


def test_a_report_warns_of_a_busy_machine():
    quiet = run_of({})
    assert busy(quiet) == ""
    assert "busy" not in markdown(quiet, [])
    loaded = copy.deepcopy(quiet)
    loaded["machine"] |= {"load": 3.0}
    assert "**The machine was busy**: the load was 3.0 on 2 cores" in markdown(loaded, [])
