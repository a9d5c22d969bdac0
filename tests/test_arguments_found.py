"""Contracts and arguments that once stalled, raised, or were judged wrongly."""

from __future__ import annotations

import json
import types
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooldialect.dialects import ParsedToolCall
from tooldialect.gate.arguments import ArgumentCheck, Violation, budget, check_arguments, checker, descent, place
from tooldialect.gate.contract import Contract


def check(schema: dict[str, Any], arguments: Any, injected: tuple[str, ...] = ()) -> ArgumentCheck:
    return check_arguments(arguments, Contract(input_schema=json.loads(json.dumps(schema))), injected)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps that lenience spends."""
    spent: list[int] = []
    spend = place.Places.spend

    def counted(self: place.Places, cost: int) -> None:
        spent.append(cost)
        spend(self, cost)

    monkeypatch.setattr(place.Places, "spend", counted)
    return spent


def test_unions_that_share_their_branches_are_looked_at_once(steps: list[int]) -> None:
    levels: dict[str, Any] = {f"L{n}": {"anyOf": [{"$ref": f"#/$defs/L{n + 1}"}] * 7} for n in range(6)}
    schema = {"properties": {"x": {"$ref": "#/$defs/L0"}}, "$defs": {**levels, "L6": {"type": "integer"}}}
    assert check(schema, {"x": "5"}).arguments == {"x": 5}
    assert check(schema, {"x": {"a": None}}).violations
    assert sum(steps) < 2_000


def test_a_branch_of_many_is_found_by_its_discriminator(steps: list[int]) -> None:
    branches = [
        {"properties": {"t": {"const": f"k{n}"}, "v": {"type": "integer"}}, "required": ["t"]} for n in range(200)
    ]
    schema = {"properties": {"x": {"items": {"oneOf": branches}}}}
    found = check(schema, {"x": [{"t": f"k{n % 200}", "v": "1"} for n in range(5000)]})
    assert found.arguments == {"x": [{"t": f"k{n % 200}", "v": 1} for n in range(5000)]}
    assert not found.violations
    assert sum(steps) < 150_000


def test_a_chain_of_definitions_costs_no_more_than_its_length(steps: list[int]) -> None:
    chain = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}], "properties": {f"p{n}": {"type": "integer"}}}
        for n in range(1000)
    }
    found = check({"$ref": "#/$defs/d0", "$defs": {**chain, "d1000": {}}}, {f"p{n}": "1" for n in range(1000)})
    assert found.arguments == {f"p{n}": 1 for n in range(1000)}
    assert sum(steps) < 20_000


def test_what_lenience_could_not_look_at_is_no_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place.Places.__init__, "__defaults__", (50,))
    schema = {
        "properties": {
            "x": {"items": {"properties": {"v": {"type": "integer"}}}},
            "u": {
                "items": {"oneOf": [{"properties": {"v": {"type": "integer"}}, "required": ["v"]}, {"type": "null"}]}
            },
            "s": {"maxLength": 1},
            "b": {"type": "boolean"},
        },
        "required": ["q"],
    }
    rows = [{"v": "1"} for _ in range(100)]
    found = check(schema, {"b": 7, "s": "12", "x": rows, "u": rows})
    assert set(found.violations) == {Violation("/s", "maxLength"), Violation("/q", "missing"), Violation("/b", "type")}
    assert not found.complete


def test_large_integers_are_not_compared_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    granted: list[float] = []
    pay = budget.Budget.pay

    def counted(self: budget.Budget, cost: float) -> bool:
        paid = pay(self, cost)
        granted.append(cost if paid else 0)
        return paid

    monkeypatch.setattr(budget.Budget, "pay", counted)
    many = [10**30 + n for n in range(8000)]
    schema = {"properties": {"x": {"uniqueItems": True}, "y": {"anyOf": [{"uniqueItems": True}, {"type": "null"}]}}}
    assert check(schema, {"x": many}) == ArgumentCheck({"x": many})
    assert check(schema, {"x": [*many, many[5]]}).violations == (Violation("/x", "uniqueItems"),)
    assert check(schema, {"y": many}) == ArgumentCheck({"y": many}, (), complete=False)
    assert sum(granted) < 3 * budget.ENGINE_PAIRS


@pytest.mark.parametrize(
    ("items", "unique"),
    [
        ([1, 1.0], False),
        ([1, True], True),
        ([0, False, None, "", [], {}], True),
        ([{"a": 1, "b": [1]}, {"b": [1.0], "a": 1}], False),
        ([[1], [True]], True),
        ([{"a": []}, {"a": {}}], True),
    ],
)
def test_items_are_compared_as_json(items: list[Any], unique: bool) -> None:
    many = [10**30 + n for n in range(5000)]
    assert check({"properties": {"x": {"uniqueItems": True}}}, {"x": items + many}).violations is not unique


@pytest.mark.parametrize("word", ["minimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength", "minItems"])
@pytest.mark.parametrize("bound", [10**400, -(10**400), 2**70])
def test_a_bound_beyond_every_number_raises_nothing(word: str, bound: int) -> None:
    found = check({"properties": {"a": {word: bound}}, "required": ["b"]}, {"a": 1})
    assert Violation("/b", "missing") in found.violations


def test_names_the_host_fills_in_are_counted_as_there() -> None:
    schema = {"minProperties": 2, "properties": {"a": {}}}
    assert check(schema, {"a": 1, "id": "z"}, ("id",)) == ArgumentCheck({"a": 1, "id": "z"})
    assert not check(schema, {"a": 1}, ("id",)).violations
    assert check(schema, {}, ("id",)).violations == (Violation("", "minProperties"),)


@pytest.mark.parametrize(
    "more",
    [
        {"not": {"required": ["id"]}},
        {"not": {"properties": {"id": {"const": 1}}}},
        {"not": {"maxProperties": 1}},
        {"oneOf": [{"required": ["a"]}, {"required": ["id"]}]},
        {"if": {"required": ["id"]}, "then": {"properties": {"n": {}}}, "else": {"required": ["n"]}},
        {"const": {"a": 1, "id": 1}},
        {"dependentRequired": {"a": ["id"], "id": ["n"]}},
    ],
)
@pytest.mark.parametrize("arguments", [{"a": 1}, {"a": 1, "id": 1}])
def test_names_the_host_fills_in_make_nothing_refused(more: dict[str, Any], arguments: dict[str, Any]) -> None:
    schema = {"properties": {"a": {"type": "integer"}}, **more}
    assert check(schema, arguments, ("id",)) == ArgumentCheck(arguments)
    assert Violation("/z", "unknown") in check({**schema, "title": "z"}, {**arguments, "z": 1}, ("id",)).violations


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def test_a_string_is_not_read_where_the_call_would_become_too_deep() -> None:
    schema = {"properties": {"x": {"type": "object"}, "y": {"properties": {"x": {"type": "object"}}}}}
    assert not check(schema, {"x": nested(190)}).violations
    for levels in (200, 298):
        found = check(schema, {"x": nested(levels)})
        assert found == ArgumentCheck({"x": nested(levels)}, (Violation("/x", "type"),))
    assert check(schema, {"y": {"x": nested(199)}}).violations == (Violation("/y/x", "type"),)
    assert not check({}, nested(200)).violations
    assert check({}, nested(250)) == ArgumentCheck(nested(250), (Violation("", "type"),))


class Hostile(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("no")

    def __getitem__(self, _: str) -> Any:
        raise RuntimeError("no")

    def __iter__(self) -> Any:
        raise RuntimeError("no")


def test_a_value_that_fails_when_it_is_read_raises_nothing(caplog: pytest.LogCaptureFixture) -> None:
    schema = {"properties": {"a": {}}, "required": ["a", "b", "id"]}
    for arguments in (Hostile(a=1), {"a": 1, "c": Hostile(a="SECRET")}):
        found = check(schema, arguments, ("id",))
        assert found.arguments is arguments
        assert found.violations == (Violation("/b", "missing"),)
        assert not found.complete
    assert "SECRET" not in caplog.text
    assert "RuntimeError" in caplog.text


def test_names_that_only_a_lost_condition_lists_are_known() -> None:
    schema = {"properties": {"a": {}}, "if": {"$ref": "#/gone"}, "then": {"properties": {"n": {}}}}
    assert not check(schema, {"n": 1}).violations


WORDS = [
    *("type", "enum", "const", "minimum", "maximum", "multipleOf", "exclusiveMinimum", "minLength", "maxItems"),
    *("properties", "items", "anyOf", "oneOf", "allOf", "not", "if", "then", "contains", "minContains", "required"),
    *("dependentRequired", "dependentSchemas", "uniqueItems", "patternProperties", "additionalProperties", "$ref"),
    *("prefixItems", "propertyNames", "minProperties", "pattern", "nullable", "$schema", "unevaluatedItems"),
]
EXTREMES = st.sampled_from(
    [10**400, -(10**400), 2**63, -(2**63) - 1, 2**64, 1e308, -1e308, 5e-324, 0, -0.0, "#", "#/properties/a", "(", ""]
)
EXTREME_VALUES = st.recursive(
    EXTREMES | st.none() | st.booleans() | st.sampled_from(["integer", "object", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*WORDS, "a", "b"]), inner, max_size=3),
    max_leaves=10,
)
OBJECTS = st.sampled_from([object(), b"x", {1}, (1, "2"), 1j, float("nan"), Hostile(a=1), range(3), int, "\ud800"])
ANYTHING = st.recursive(
    EXTREME_VALUES | OBJECTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab") | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(deadline=None, max_examples=150)
@given(
    st.dictionaries(st.sampled_from(WORDS), EXTREME_VALUES, max_size=4),
    ANYTHING | st.fixed_dictionaries({"a": ANYTHING}),
    st.sampled_from([(), ("a",)]),
)
def test_extreme_schemas_and_any_object_raise_nothing(schema: Any, arguments: Any, injected: tuple[str, ...]) -> None:
    try:
        contract = Contract(input_schema=schema)
    except ValueError:
        return
    check_arguments(arguments, contract, injected)


def test_the_parts_that_are_taken_apart_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    ask = descent.Descent._ask
    monkeypatch.setattr(descent.Descent, "_ask", lambda self, *given: asked.append(1) or ask(self, *given))  # type: ignore[redundant-expr]
    tree: Any = {}
    for _ in range(14):
        tree = {"c": [tree, dict(tree)]} if not tree else {"c": [tree, json.loads(json.dumps(tree))]}
    node = {"type": "object", "properties": {"c": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}
    found = check({"properties": {"t": {"$ref": "#/$defs/n"}}, "required": ["q"], "$defs": {"n": node}}, {"t": tree})
    assert found.violations == (Violation("/q", "missing"),)
    assert not found.complete
    assert len(asked) < 20_000


def test_exact_pairs_are_counted_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    pairs = budget._pairs
    monkeypatch.setattr(budget, "_pairs", lambda *given: looked_at.append(1) or pairs(*given))  # type: ignore[redundant-expr]
    node = {"anyOf": [{"properties": {"c": {"$ref": "#/$defs/n"}}}, {"items": {"$ref": "#/$defs/n"}}]}
    value: Any = 1
    for _ in range(100):
        value = {"c": value, "d": [value] * 3}
    check({"properties": {"t": {"$ref": "#/$defs/n"}}, "required": ["q"], "$defs": {"n": node}}, {"t": value})
    # One allowance to judge the whole, one to take it apart.
    assert len(looked_at) <= 2 * budget.COUNTED_PAIRS


HOURS = {
    "type": "object",
    "properties": {"zone": {"type": "string"}, "hours": {"type": "integer"}, "days": {"type": "array"}},
    "required": ["zone"],
    "additionalProperties": False,
}
repaired = st.sampled_from(["Berlin\ud83d", "\udc00", "5\ud800", "[1]\udfff", "\ud83d\ude00"])
unrepaired = st.sampled_from(["Berlin", "5", "[1]", "many"])
values = st.one_of(repaired, unrepaired, st.integers(0, 3), st.lists(repaired | unrepaired, max_size=2))
names = st.sampled_from(["zone", "hours", "days", "zone\ud800", "other"])


@given(st.dictionaries(names, values, max_size=4))
def test_a_lone_surrogate_hides_nothing_that_is_wrong(arguments):
    call = ParsedToolCall(name="t", arguments=arguments)
    clean = json.loads(json.dumps(call.arguments))
    # What a record made of the text, and the same text as a host would write it.
    assert check(HOURS, call.arguments) == check(HOURS, clean)
    kinds = sorted(violation.kind for violation in check(HOURS, clean).violations)
    assert sorted(violation.kind for violation in check(HOURS, arguments).violations) == kinds


class Name(str):
    __slots__ = ()


@given(st.dictionaries(st.sampled_from([Name("zone"), Name("hours"), "other"]), st.sampled_from([Name("x"), 5, "5"])))
def test_texts_of_a_class_of_their_own_are_judged_as_texts(arguments):
    plain = {
        str.__str__(name): str.__str__(value) if isinstance(value, str) else value for name, value in arguments.items()
    }
    assert check(HOURS, arguments) == check(HOURS, plain)


def test_a_long_text_that_is_shared_is_never_written_out(monkeypatch):
    written_out = types.SimpleNamespace(dumps=lambda *_, **__: pytest.fail("written out"))
    shared, schema = "a" * 1_000_000, {"properties": {"all": {"items": {"pattern": "("}}}, "required": ["zone"]}
    contract = Contract(input_schema=schema)
    monkeypatch.setattr(checker, "json", written_out)
    assert not check_arguments({"all": [shared] * 100}, contract).complete
