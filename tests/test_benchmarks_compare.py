"""What is told of two runs: what moved, and what is only noise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_package import run_of
from benchmarks.compare import compare, markdown

POSITIVE = st.floats(1e-3, 1e3)
OLD = {"consult/a": {"us": [10.0, 0.02], "of json.loads": [0.5, 0.02], "of jsonschema": [0.1, 0.0]}}
TIMES = {f"consult/{name}": {"us": [10.0, 0.01]} for name in "bcdef"}


def moved(old, new):
    return [(move.case, move.what, round(move.ratio, 2)) for move in compare(old, new).moved()]


def test_what_moved_beyond_noise_is_told_and_nothing_else():
    new = {"consult/a": {"us": [10.0, 0.02], "of json.loads": [1.0, 0.02], "of jsonschema": [0.105, 0.0]}}
    assert moved(run_of(OLD), run_of(new)) == [("consult/a", "of json.loads", 2.0)]
    text = markdown(compare(run_of(OLD), run_of(new)))
    assert "| consult/a | of json.loads | 0.5 | 1 | x 2.00 |" in text
    assert "slower" in text
    assert "of jsonschema |" not in text


@given(
    st.dictionaries(
        st.sampled_from("abc"), st.dictionaries(st.sampled_from(["of x", "us"]), st.tuples(POSITIVE, st.floats(0, 2)))
    )
)
def test_a_run_did_not_move_against_itself(results):
    run = run_of(
        {case: {what: list(numbers) for what, numbers in metrics.items()} for case, metrics in results.items()}
    )
    assert moved(run, run) == []
    assert "only in" not in markdown(compare(run, run))


@given(POSITIVE, st.floats(0, 0.3), st.floats(0.02, 50))
def test_the_wider_the_spread_the_less_is_believed(value, spread, factor):
    def runs(width):
        return run_of({"a": {"of x": [value, width]}}), run_of({"a": {"of x": [value * factor, width]}})

    assert len(moved(*runs(spread + 0.01))) <= len(moved(*runs(0.01)))


@pytest.mark.parametrize("slower_by", [1.0, 1.4])
def test_what_all_times_have_in_common_is_the_machine(slower_by):
    new = {case: {"us": [10.0 * slower_by, 0.01]} for case in TIMES}
    assert moved(run_of(TIMES), run_of(new)) == []
    new["consult/b"] = {"us": [20.0 * slower_by, 0.01]}
    assert moved(run_of(TIMES), run_of(new)) == [("consult/b", "us", 2.0)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"machine": {"python": "CPython 3.13.0"}}, "another Python: CPython 3.11.7, now CPython 3.13.0"),
        ({"machine": {"processor": "Two"}}, "another machine: One, 2 cores, Linux, now Two"),
        ({"versions": {"orjson": "2"}}, "another orjson: 1, now 2"),
        ({"versions": {}}, "another orjson: 1, now (unknown)"),
        ({"quick": True}, "the new run was quick, the other one in full"),
        ({"machine": {"load": 1.9}}, "the machine was busy in the new run: the load was 1.9 on 2 cores"),
        ({"machine": {"waited": 0.4}}, "the machine was busy in the new run: the cases had to wait"),
    ],
)
def test_what_else_differs_is_said(change, said):
    python = change.get("machine", {}).get("python", "CPython 3.11.7")
    notes = "\n".join(compare(run_of(OLD), run_of(OLD, python, **change)).notes)
    assert said in notes
    assert said not in "\n".join(compare(run_of(OLD), run_of(OLD)).notes)


def test_times_are_not_compared_between_pythons():
    new = {case: {"us": [50.0, 0.0]} for case in TIMES}
    new["consult/b"] = {"us": [5000.0, 0.0]}
    assert moved(run_of(TIMES), run_of(new, "CPython 3.13.0")) == []


def test_cases_of_one_run_alone_and_other_inputs_are_named():
    old = {"a/gone": {"of x": [1, 0]}, "a/b": {"of x": [1, 0], "rows": [10, 0]}}
    new = {"a/new": {"of x": [1, 0]}, "a/b": {"of x": [1, 0], "rows": [20, 0]}}
    notes = compare(run_of(old), run_of(new)).notes
    assert "only in the old run: a/gone" in notes
    assert "only in the new run: a/new" in notes
    assert "a/b is no longer the same: 10 rows, now 20" in notes


def test_targets_newly_kept_or_missed_are_named():
    old = {"serialise/dense x": {"ns a byte": [8.0, 0]}, "serialise/hostile x KiB": {"ns a byte": [3.0, 0]}}
    new = {"serialise/dense x": {"ns a byte": [9.5, 0]}, "serialise/hostile x KiB": {"ns a byte": [2.0, 0]}}
    notes = compare(run_of(old), run_of(new)).notes
    assert "missed now: any dense body (≤ 9 ns a byte): 8, now 9.5" in notes
    assert "kept now: one hostile tag in every line (≤ 2.5 ns a byte): 3, now 2" in notes


def test_a_target_that_one_run_did_not_measure_is_neither_kept_nor_missed_now():
    run = run_of({"serialise/dense x": {"ns a byte": [90.0, 0]}})
    assert "now:" not in markdown(compare(run_of({}), run)) + markdown(compare(run, run_of({})))


def test_what_became_slower_by_so_much_is_told_apart():
    new = {"consult/a": {"of json.loads": [0.7, 0.02]}}
    comparison = compare(run_of(OLD), run_of(new))
    assert [move.what for move in comparison.slower(20)] == ["of json.loads"]
    assert comparison.slower(50) == []
    assert compare(run_of(new), run_of(OLD)).slower(0) == []


def test_figures_that_have_no_ratio_are_left_out():
    old = {"a": {"of x": [0.0, 0], "us": [-3.0, 0.1], "of y": [1.0, 0]}}
    assert moved(run_of(old), run_of({"a": {"of x": [1.0, 0], "us": [4.0, 0.1], "of y": [-1.0, 0]}})) == []


def test_a_time_of_something_else_is_still_a_time():
    figure = "ms of pydantic"
    old = run_of({"import/all": {figure: [10.0, 0.01]}})
    new = run_of({"import/all": {figure: [20.0, 0.01]}})
    new["machine"] = {**new["machine"], "python": "CPython 3.99.0"}
    assert figure not in [move.what for move in compare(old, new).moves]
