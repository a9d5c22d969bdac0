"""Inputs made to stall: the work is bounded, and what can be checked is checked."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from tooldialect.gate.arguments import ArgumentCheck, Violation, budget, check_arguments
from tooldialect.gate.contract import Contract


def check(schema: dict[str, Any], arguments: Any) -> ArgumentCheck:
    return check_arguments(arguments, Contract(input_schema=schema))


def doubling(word: str, levels: int) -> dict[str, Any]:
    steps = {f"d{n}": {word: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {
        "type": "object",
        "properties": {"bomb": {"$ref": "#/$defs/d0"}, "plain": {"type": "string"}},
        "required": ["plain"],
        "$defs": {**steps, f"d{levels}": {"type": "integer"}},
    }


@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
def test_doubling_references_leave_their_neighbours_checked(word: str) -> None:
    schema = doubling(word, 60)
    assert Violation("/plain", "missing") in check(schema, {"bomb": 1}).violations
    assert Violation("/plain", "type") in check(schema, {"bomb": 1, "plain": 2}).violations


def test_doubling_conjunctions_are_checked_in_full() -> None:
    found = check(doubling("allOf", 60), {"bomb": [], "plain": "x"})
    assert found.violations == (Violation("/bomb", "type"),)
    assert found.complete


def test_what_cannot_be_taken_apart_is_left_unchecked_and_said_so() -> None:
    assert check(doubling("anyOf", 60), {"bomb": [], "plain": "x"}) == ArgumentCheck(
        {"bomb": [], "plain": "x"}, (), complete=False
    )


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize("levels", [30, 250, 5_000])
def test_a_recursive_schema_may_double_for_each_level_of_the_arguments(levels: int) -> None:
    both = [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]
    schema = {"anyOf": both, "properties": {"z": {"type": "integer"}, "a": {}}}
    found = check(schema, {**nested(levels), "z": "no"})
    assert found.violations == (Violation("/z", "type"),)
    assert not found.complete


def test_the_engine_is_not_asked_beyond_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    paid: list[float] = []
    pay = budget.Budget.pay

    def counted(self: budget.Budget, cost: float) -> bool:
        granted = pay(self, cost)
        paid.append(cost if granted else 0)
        return granted

    monkeypatch.setattr(budget.Budget, "pay", counted)
    check(doubling("anyOf", 60), {f"x{n}": 1 for n in range(100)} | {"bomb": 1})
    # One allowance to judge the whole, one to take it apart.
    assert 0 < sum(paid) <= 2 * budget.ENGINE_PAIRS


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#", "required": ["x"]},
        {"allOf": [{"$ref": "#"}], "required": ["x"]},
        {"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"oneOf": [{"$ref": "#/$defs/a"}]}}, "required": ["x"]},
        {"not": {"not": {"$ref": "#"}}, "required": ["x"]},
    ],
)
def test_a_schema_that_refers_to_itself_ends(schema: dict[str, Any]) -> None:
    assert check(schema, {}).violations == (Violation("/x", "missing"),)


@pytest.mark.parametrize(
    "reference",
    [
        "http://127.0.0.1:9/x.json",
        "https://example.test/s#/a",
        "file:///etc/passwd",
        "/etc/passwd",
        "http://[",
        7,
        "#nowhere",
    ],
)
def test_a_reference_out_of_the_document_is_never_opened(reference: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a socket or a file was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr("builtins.open", refuse)
    schema = {"properties": {"r": {"$ref": reference}, "n": {"type": "integer"}}, "required": ["n"]}
    assert check(schema, {"r": object, "n": 1} | {"r": 1}) == ArgumentCheck({"r": 1, "n": 1}, (), complete=False)
    assert check(schema, {"r": 1, "n": "x"}).violations == (Violation("/n", "type"),)


@pytest.mark.parametrize("declared", ["https://example.test/my-draft", "", "nonsense", 7, None])
def test_an_unknown_draft_reads_as_the_default_one(declared: Any) -> None:
    found = check({"$schema": declared, "properties": {"n": {"type": "integer"}}}, {"n": "x"})
    assert found.violations == (Violation("/n", "type"),)
    assert found.complete


@pytest.mark.parametrize("pattern", ["(", "(?=a)b", r"(a)\1", "((a{1,100}){1,100}){1,100}", 7, "a" * 20_000])
def test_one_bad_pattern_does_not_void_the_rest(pattern: Any) -> None:
    schema = {"properties": {"p": {"type": "string", "pattern": pattern, "maxLength": 3}}, "required": ["q"]}
    found = check(schema, {"p": "long"})
    assert set(found.violations) == {Violation("/p", "maxLength"), Violation("/q", "missing")}
    assert not found.complete


def test_a_bad_name_pattern_does_not_make_names_unknown() -> None:
    schema = {"properties": {"a": {}}, "patternProperties": {"(": {}}, "additionalProperties": False}
    assert check(schema, {"x": 1}) == ArgumentCheck({"x": 1}, (), complete=False)


def test_a_pattern_that_backtracks_elsewhere_is_judged_in_linear_time() -> None:
    schema = {"properties": {"p": {"pattern": "^(a+)+$"}}}
    assert check(schema, {"p": "a" * 100_000 + "b"}).violations == (Violation("/p", "pattern"),)


@pytest.mark.parametrize(
    ("word", "loose"),
    [
        ("not", {"$ref": "#/gone"}),
        ("oneOf", [{"type": "object"}, {"$ref": "#/gone"}]),
        ("if", {"$ref": "#/gone"}),
        ("allOf", [{"$ref": "#/gone"}]),
    ],
)
def test_a_part_that_cannot_be_read_refuses_nothing(word: str, loose: Any) -> None:
    schema = {"properties": {"p": {word: loose, "then": False, "else": False}}}
    assert check(schema, {"p": {}}) == ArgumentCheck({"p": {}}, (), complete=False)


def test_a_megabyte_that_misses_a_thousand_names_is_answered_with_the_first() -> None:
    found = check({"required": [f"r{n}" for n in range(1000)]}, {"x": ["aaaaaaaaaa"] * 80_000})
    assert len(found.violations) == 32
    assert found.violations[0] == Violation("/r0", "missing")


def test_a_megabyte_of_spelled_integers_is_read() -> None:
    schema = {"properties": {"x": {"type": "array", "items": {"type": "integer"}}}}
    found = check(schema, {"x": ["7"] * 250_000})
    assert found.arguments == {"x": [7] * 250_000}
    assert not found.violations


def test_many_branches_and_many_values_stay_bounded() -> None:
    branches = [{"type": "object", "properties": {"k": {"const": n}}, "required": ["k"]} for n in range(1000)]
    schema = {"properties": {"x": {"items": {"anyOf": branches}}}, "required": ["y"]}
    assert Violation("/y", "missing") in check(schema, {"x": [{} for _ in range(100_000)]}).violations


def test_ten_megabytes_of_schema_still_ask_for_their_required_names() -> None:
    properties = {f"p{n}": {"type": "integer", "description": "x" * 60} for n in range(100_000)}
    found = check({"properties": properties, "required": ["p1"]}, {"p2": "x"})
    assert Violation("/p1", "missing") in found.violations


def test_ten_megabytes_in_one_string() -> None:
    schema = {"properties": {"a": {"type": "object"}, "b": {"type": "string"}}, "required": ["c"]}
    found = check(schema, {"a": "[" * 10_000_000, "b": "x" * 10_000_000})
    assert Violation("/c", "missing") in found.violations


def test_a_cyclic_value_ends() -> None:
    cyclic: dict[str, Any] = {}
    cyclic["a"] = cyclic
    cyclic["b"] = [cyclic, cyclic]
    found = check({"properties": {"a": {"$ref": "#"}, "b": {}}, "required": ["n"]}, cyclic)
    assert Violation("/n", "missing") in found.violations


@pytest.mark.parametrize("levels", [400, 100_000])
def test_deep_arguments_neither_overflow_nor_stop_the_check(levels: int) -> None:
    schema = {"properties": {"a": {"$ref": "#"}, "n": {"type": "integer"}}, "type": ["object", "integer"]}
    assert check(schema, {**nested(levels), "n": "x"}).violations == (Violation("/n", "type"),)
    assert Violation("/n", "type") in check(schema, {"n": "[" * levels}).violations


def test_names_of_a_part_that_cannot_be_read_are_not_called_unknown() -> None:
    schema = {"properties": {"a": {}}, "allOf": [{"$ref": "https://example.test/more"}]}
    assert check(schema, {"a": 1, "b": 1}) == ArgumentCheck({"a": 1, "b": 1}, (), complete=False)
