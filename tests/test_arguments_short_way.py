"""The short way to a yes: it never says what the check in full would not."""

from __future__ import annotations

import enum
import json
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from test_arguments_differential import ARGUMENTS, contracts
from tooldialect.gate.arguments import ArgumentCheck, Violation, check_arguments
from tooldialect.gate.arguments.checker import Checker
from tooldialect.gate.arguments.patterns import is_refusal
from tooldialect.gate.arguments.place import MAX_STEPS, Places
from tooldialect.gate.contract import Contract

ROW = {"type": "object", "properties": {"id": {"type": "integer"}, "tags": {"items": {"type": "string"}}}}
ORDINARY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "minLength": 1},
        "kind": {"enum": ["a", "b", 3]},
        "limit": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]},
        "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
        "either": {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}]},
        "free": {},
        "map": {"type": "object", "additionalProperties": {"type": "number"}},
        "code": {"type": "string", "pattern": "^[a-z]+$"},
    },
    "required": ["to"],
    "$defs": {"row": ROW},
}
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "to": st.sampled_from(["", "x", 1]),
        "kind": st.sampled_from(["a", "c", 3, 3.0, True]),
        "limit": st.sampled_from([None, 1, -1, 1.0, "1"]),
        "rows": st.lists(
            st.sampled_from([{"id": 1}, {"id": "1"}, {"tags": ["x"]}, {"tags": [1]}, {"z": {}}, 4]), max_size=3
        ),
        "either": st.sampled_from([1, 2, 2.5, 1.5, "x"]),
        "free": st.sampled_from([1, [1], {"a": 1}, {"a": {"b": {}}}, float("nan"), (1,)]),
        "map": st.dictionaries(st.sampled_from("ab"), st.sampled_from([1, 0.5, "x", float("inf")]), max_size=2),
        "code": st.sampled_from(["abc", "ABC", "a" * 2000]),
        "more": st.sampled_from([1, {}]),
    },
)


def agree(schema: dict[str, Any], arguments: dict[str, Any]) -> bool:
    """Compare both ways, and the short one with another validator; return whether it was taken."""
    checker = Checker(Contract(input_schema=schema), frozenset())
    try:
        vouched = checker.vouches(arguments)
    except ValueError:
        return False
    if vouched:
        assert checker.check(arguments) == (arguments, (), checker.complete)
        if checker.complete:
            assert jsonschema.Draft202012Validator(schema).is_valid(arguments)
        json.dumps(arguments, allow_nan=False)
    return bool(vouched)


@settings(deadline=None, max_examples=80)
@given(VALUES)
def test_the_short_way_agrees_with_the_full_one_on_an_ordinary_contract(arguments: dict[str, Any]) -> None:
    agree(ORDINARY, arguments)


@settings(deadline=None, max_examples=40)
@given(contracts(), ARGUMENTS)
def test_the_short_way_agrees_with_the_full_one_on_any_contract(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    agree(schema, arguments)


@settings(deadline=None, max_examples=60)
@given(contracts(), st.lists(st.tuples(ARGUMENTS, st.sets(st.sampled_from("abq"))), min_size=1, max_size=4))
def test_a_contract_at_hand_answers_as_one_made_ready_for_the_call(
    schema: dict[str, Any], calls: list[tuple[dict[str, Any], set[str]]]
) -> None:
    contract = Contract(input_schema=schema)
    for arguments, injected in calls * 2:
        left = {name: value for name, value in arguments.items() if name not in injected}
        assert check_arguments(left, contract, injected) == Checker(contract, frozenset(injected)).check(left)


@pytest.mark.parametrize(
    "arguments",
    [
        {"to": "x"},
        {"to": "x", "kind": "a", "limit": None, "either": 1, "code": "abc"},
        {"to": "x", "rows": [{"id": 1, "tags": ["a"], "extra": 1}] * 150},
        {"to": "x", "free": {"a": 1}, "map": {"a": 0.5}},
    ],
)
def test_ordinary_calls_take_the_short_way(arguments: dict[str, Any]) -> None:
    assert agree(ORDINARY, arguments)


class Colour(enum.Enum):
    RED = 3


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), {1: 2}, {"a": b"x"}, 1 << 20_000, {1}, object()],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("name", ["free", "more", "map", "limit"])
def test_what_is_not_json_never_passes(name: str, value: Any) -> None:
    found = check_arguments({"to": "x", name: value}, Contract(input_schema={**ORDINARY, "additionalProperties": {}}))
    assert [violation.kind for violation in found.violations] == ["json"]


def test_a_tuple_counts_as_an_array_and_an_enum_member_as_its_value() -> None:
    contract = Contract(input_schema=ORDINARY)
    assert not check_arguments({"to": "x", "rows": ({"id": 1},), "limit": Colour.RED}, contract).violations
    read = check_arguments({"to": "x", "rows": ({"id": "1"},), "limit": Colour.RED}, contract)
    assert read == ArgumentCheck({"to": "x", "rows": [{"id": 1}], "limit": 3})


def shared(width: int, levels: int) -> Any:
    value: Any = [1] * width
    for _ in range(levels):
        value = [value] * width
    return value


@pytest.mark.parametrize("levels", [1, 2, 6])
def test_parts_that_are_shared_never_take_the_short_way(levels: int) -> None:
    inner: dict[str, Any] = {"type": "integer"}
    for _ in range(levels + 1):
        inner = {"type": "array", "items": inner}
    checker = Checker(Contract(input_schema={"properties": {"x": inner}}), frozenset())
    assert not checker.vouches({"x": shared(1000, levels)})
    assert levels > 2 or checker.vouches({"x": shared(2, levels)})


def test_a_recursive_contract_has_no_short_way() -> None:
    checker = Checker(Contract(input_schema={"properties": {"a": {"$ref": "#"}}}), frozenset())
    assert not checker.vouches({"a": {}})


def test_an_equal_contract_is_not_made_ready_again(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    validator_for = jsonschema_rs.validator_for
    monkeypatch.setattr(jsonschema_rs, "validator_for", lambda *a, **k: made.append(a) or validator_for(*a, **k))  # type: ignore[redundant-expr]
    for _ in range(3):
        contract = Contract(input_schema={"properties": {"only-here": {"type": "integer"}}})
        assert not check_arguments({"only-here": 1}, contract).violations
    assert len(made) == 1


def test_two_contracts_of_one_version_are_told_apart() -> None:
    one = Contract(input_schema={"properties": {"v": {"type": "integer"}}})
    other = Contract(input_schema={"properties": {"v": {"type": "boolean"}}})
    other.__dict__["version"] = one.version
    assert not check_arguments({"v": 1}, one).violations
    assert check_arguments({"v": 1}, other).violations == (Violation("/v", "type"),)
    assert not check_arguments({"v": 1}, one).violations


class PanicException(BaseException):
    pass


def test_a_fault_in_the_engine_is_no_exception_of_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    class Faulty:
        def is_valid(self, _: Any) -> bool:
            raise PanicException

    monkeypatch.setattr(jsonschema_rs, "validator_for", lambda *_, **__: Faulty())
    contract = Contract(input_schema={"properties": {"faulty": {"type": "integer"}}, "required": ["q"]})
    found = check_arguments({"faulty": "x"}, contract)
    assert found.violations == (Violation("/q", "missing"),)
    assert not found.complete

    def refuse(*_: Any, **__: Any) -> Any:
        raise PanicException

    monkeypatch.setattr(jsonschema_rs, "validator_for", refuse)
    contract = Contract(input_schema={"properties": {"faulty2": {"pattern": "unheard-of"}}, "required": ["q"]})
    assert Violation("/q", "missing") in check_arguments({"faulty2": "x"}, contract).violations
    assert not is_refusal(KeyboardInterrupt())


TYPED = {"i": {"type": "integer"}, "n": {"type": "number"}, "b": {"type": "boolean"}, "s": {"type": "string"}}
SAMPLES = {
    "i": st.integers(-99, 99),
    "n": st.sampled_from([0.5, -2.25, 7]),
    "b": st.booleans(),
    "s": st.text(max_size=3),
}
OBJECTS = st.fixed_dictionaries({}, optional=SAMPLES)


@settings(deadline=None, max_examples=80)
@given(OBJECTS, st.lists(OBJECTS, max_size=3), st.dictionaries(st.sampled_from(["p1", "p2"]), st.integers()), st.data())
def test_lenience_undoes_what_models_write(
    top: dict[str, Any], rows: list[dict[str, Any]], matched: dict[str, int], data: st.DataObject
) -> None:
    schema = {
        "properties": {**TYPED, "rows": {"type": "array", "items": {"properties": TYPED}}},
        "patternProperties": {"^p": {"type": "integer"}},
    }
    meant = {**top, "rows": rows, **matched}

    def spelled(value: Any) -> Any:
        if isinstance(value, dict):
            written = {name: spelled(item) for name, item in value.items()}
            absent = data.draw(st.sets(st.sampled_from(sorted(TYPED))))
            return {**dict.fromkeys(sorted(absent - value.keys())), **written}
        if isinstance(value, list):
            value = [spelled(item) for item in value]
        return json.dumps(value) if not isinstance(value, str) and data.draw(st.booleans()) else value

    written = spelled(meant)
    found = check_arguments(written, Contract(input_schema=schema))
    assert found == ArgumentCheck(meant)
    assert json.dumps(found.arguments, sort_keys=True) == json.dumps(meant, sort_keys=True)


@pytest.mark.parametrize(
    "schema", [{"required": ["q"]}, {"properties": {}, "required": ["q"]}, {"anyOf": [{"required": ["q"]}]}]
)
def test_a_schema_that_only_requires_names_takes_others(schema: dict[str, Any]) -> None:
    assert not check_arguments({"q": 1, "z": 1}, Contract(input_schema=schema)).violations


def test_one_bad_row_among_many_is_found() -> None:
    rows: list[Any] = [{"id": n} for n in range(50_000)]
    rows[31_234] = {"id": "x"}
    found = check_arguments({"to": "x", "rows": rows}, Contract(input_schema=ORDINARY))
    assert found.violations == (Violation("/rows/31234/id", "type"),)
    assert found.complete


@pytest.mark.parametrize("word", ["anyOf", "oneOf", "not", "if"])
def test_beside_what_is_too_much_to_ask_the_rest_is_checked(word: str) -> None:
    steps = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 150} for n in range(60)}
    bomb = {"$ref": "#/$defs/d0"}
    schema = {
        word: [bomb] if word in ("anyOf", "oneOf") else bomb,
        "properties": {"p": {"type": "string"}, "q": {}},
        "required": ["q"],
        "$defs": {**steps, "d60": {}},
    }
    found = check_arguments({"p": 1}, Contract(input_schema=schema))
    assert set(found.violations) == {Violation("/p", "type"), Violation("/q", "missing")}
    assert not found.complete


def test_lenience_looks_at_a_bounded_number_of_places(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[int] = []
    spend = Places.spend

    def counted(self: Places, steps: int) -> None:
        spent.append(steps)
        spend(self, steps)

    monkeypatch.setattr(Places, "spend", counted)
    branches = [{"properties": {f"p{n}": {"type": "integer"}}} for n in range(500)]
    contract = Contract(input_schema={"properties": {"x": {"anyOf": branches}}, "required": ["q"]})
    found = check_arguments({"x": {f"p{n}": "1" for n in range(1500)}}, contract)
    assert MAX_STEPS <= sum(spent) < MAX_STEPS + 1000
    assert Violation("/q", "missing") in found.violations
    assert not found.complete


def test_what_is_taken_away_no_longer_asks_for_its_neighbours() -> None:
    schema = {
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "dependentRequired": {"a": ["b"]},
    }
    assert check_arguments({"b": None, "a": None}, Contract(input_schema=schema)) == ArgumentCheck({})
