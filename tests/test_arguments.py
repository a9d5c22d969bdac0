"""What satisfies a contract, what is told where it does not, and what is executed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooldialect.gate.arguments import ArgumentCheck, Violation, check_arguments
from tooldialect.gate.contract import Contract


def check(schema: dict[str, Any], arguments: Any, injected: tuple[str, ...] = (), **fields: Any) -> ArgumentCheck:
    return check_arguments(arguments, Contract(input_schema=schema, **fields), injected)


MAIL = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "cc": {"type": "array", "items": {"type": "string"}}},
    "required": ["to"],
}


@pytest.mark.parametrize("written", ['{"to":"a"}', '"{\\"to\\":\\"a\\"}"', ' {"to":"a"} '])
def test_a_string_that_holds_the_whole_object_is_read(written: str) -> None:
    assert check(MAIL, written) == ArgumentCheck({"to": "a"})


@pytest.mark.parametrize(
    "written", ["[1]", "no", "1", None, [], [("to", "a")], 1, True, b"{}", {1}, object(), float("nan")]
)
def test_what_is_no_object_is_a_violation_at_the_root(written: Any) -> None:
    found = check(MAIL, written)
    assert found.violations == (Violation("", "type"),)
    assert found.arguments is written


@pytest.mark.parametrize(
    ("value", "path"),
    [(float("nan"), "/x"), ([0, float("inf")], "/x/1"), ({1, 2}, "/x"), (b"x", "/x"), ({"y": {3: 4}}, "/x/y")],
)
def test_what_is_not_json_is_a_violation_where_it_stands(value: Any, path: str) -> None:
    assert check({"properties": {"x": {"type": "boolean"}}}, {"x": value}).violations == (Violation(path, "json"),)


def test_an_integer_beyond_every_reader_raises_nothing() -> None:
    assert check({"properties": {"x": {"minimum": 1}}}, {"x": 10**5000}).violations == (Violation("/x", "json"),)


def test_a_lone_surrogate_raises_nothing() -> None:
    assert not check({"properties": {"x": {"maxLength": 1}}}, {"x": "\ud800"}).violations


def test_required_names_of_the_contract_add_to_those_of_the_schema() -> None:
    assert check(MAIL, {}, required=("cc",)).violations == (Violation("/cc", "missing"), Violation("/to", "missing"))


def test_an_unknown_name_is_a_violation() -> None:
    assert check(MAIL, {"to": "a", "a/b~": 1}).violations == (Violation("/a~1b~0", "unknown"),)


@pytest.mark.parametrize(
    "more",
    [
        {"additionalProperties": True},
        {"additionalProperties": {}},
        {"patternProperties": {"^n": {}}},
        {"properties": {}, "required": []},
    ],
)
def test_a_schema_that_takes_others_or_names_none_knows_no_unknown_name(more: dict[str, Any]) -> None:
    assert not check({**MAIL, **more}, {"to": "a", "n": 1}).violations


@pytest.mark.parametrize(
    "rest",
    [
        {"$ref": "#/$defs/n"},
        {"allOf": [{"$ref": "#/$defs/n"}]},
        {"anyOf": [{"$ref": "#/$defs/n"}, {"properties": {"m": {}}}]},
        {"oneOf": [{"properties": {"n": {"type": "integer"}}}, {"required": ["q"]}]},
        {"if": {"properties": {"n": {}}}},
        {"dependentSchemas": {"to": {"properties": {"n": {}}}}},
    ],
)
def test_names_are_known_through_everything_that_speaks_of_the_object(rest: dict[str, Any]) -> None:
    schema = {**MAIL, **rest, "$defs": {"n": {"properties": {"n": {"type": "integer"}}}}}
    assert not check(schema, {"to": "a", "n": 1}).violations
    assert check(schema, {"to": "a", "n": 1, "z": 1}).violations == (Violation("/z", "unknown"),)


def test_injected_names_are_neither_required_nor_unknown_and_stay() -> None:
    schema = {**MAIL, "required": ["to", "connection"], "additionalProperties": False}
    assert not check(schema, {"to": "a"}, ("connection", "id")).violations
    kept = check(schema, {"id": None, "to": "a", "connection": "7"}, ("connection", "id"))
    assert kept == ArgumentCheck({"id": None, "to": "a", "connection": "7"})
    assert list(kept.arguments) == ["id", "to", "connection"]
    assert check(schema, {"to": "a"}).violations == (Violation("/connection", "missing"),)
    assert check(schema, {"to": "a"}, ("connection",), required=("connection",)) == ArgumentCheck({"to": "a"})


SPELLED = [("integer", "5", 5), ("integer", "-3", -3), ("number", "0.5", 0.5), ("boolean", "true", True)]
SPELLED += [("array", "[1]", [1]), ("object", '{"a":1}', {"a": 1}), ("integer", "5.0", 5.0)]


@pytest.mark.parametrize(("kind", "text", "meant"), SPELLED)
def test_a_string_is_read_only_where_no_string_is_allowed(kind: str, text: str, meant: Any) -> None:
    value = check({"properties": {"v": {"type": kind}}}, {"v": text}).arguments["v"]
    assert value == meant
    assert type(value) is type(meant)
    for allowing in (
        {"type": [kind, "string"]},
        {"oneOf": [{"type": kind}, {"type": "string"}]},
        {"anyOf": [{"type": kind}, {}]},
    ):
        refusing = {**allowing, "maxLength": 0, "not": {"const": text}}
        assert check({"properties": {"v": refusing}}, {"v": text}).arguments == {"v": text}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("integer", "007"),
        ("integer", "5.5"),
        ("integer", "x"),
        ("number", "NaN"),
        ("number", "1e999"),
        ("boolean", "1"),
        ("boolean", "yes"),
        ("null", "null"),
        ("integer", "9" * 5000),
        ("array", '{"a":1}'),
        ("object", "[1]"),
        ("array", "[1"),
        ("integer", ""),
    ],
)
def test_a_string_that_spells_something_else_stays_and_is_refused(kind: str, text: str) -> None:
    assert check({"properties": {"v": {"type": kind}}}, {"v": text}) == ArgumentCheck(
        {"v": text}, (Violation("/v", "type"),)
    )


INTEGER = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "written", "meant"),
    [
        ({"additionalProperties": INTEGER}, "5", 5),
        ({"properties": {"v": {"allOf": [{}, INTEGER]}}}, "5", 5),
        ({"properties": {"v": {"$ref": "#/$defs/i"}}, "$defs": {"i": {"$ref": "#/$defs/j"}, "j": INTEGER}}, "5", 5),
        ({"properties": {"v": {"prefixItems": [INTEGER], "items": {"type": "boolean"}}}}, ["5", "true"], [5, True]),
        ({"properties": {"v": {"enum": [1, 2]}}}, "2", 2),
        ({"properties": {"v": {"const": True}}}, "true", True),
        ({"allOf": [{"properties": {"v": INTEGER}}]}, "5", 5),
        (
            {"anyOf": [{"properties": {"v": INTEGER}, "required": ["v"]}, {"properties": {"v": {"type": "boolean"}}}]},
            "5",
            5,
        ),
        ({"dependentSchemas": {"v": {"properties": {"v": INTEGER}}}}, "5", 5),
        ({"properties": {"v": {"type": "object", "properties": {"w": INTEGER}}}}, '{"w":"5"}', {"w": 5}),
        (
            {"properties": {"v": {"items": {"$ref": "#/properties/v"}, "type": ["array", "integer"]}}},
            [["1"], "2"],
            [[1], 2],
        ),
    ],
)
def test_lenience_reaches_every_depth(schema: dict[str, Any], written: Any, meant: Any) -> None:
    assert check(schema, {"v": written}) == ArgumentCheck({"v": meant})


def test_a_discriminator_tells_which_branch_is_meant() -> None:
    branch = {
        kind: {"properties": {"kind": {"const": kind}, "n": {"type": wanted}}, "required": ["kind"], "type": "object"}
        for kind, wanted in (("a", "integer"), ("b", "string"))
    }
    schema = {"properties": {"v": {"oneOf": list(branch.values())}}}
    assert check(schema, {"v": {"kind": "a", "n": "5"}}) == ArgumentCheck({"v": {"kind": "a", "n": 5}})
    assert check(schema, {"v": {"kind": "b", "n": "5"}}) == ArgumentCheck({"v": {"kind": "b", "n": "5"}})


def test_null_is_taken_away_at_every_depth_but_never_from_an_array() -> None:
    schema = {"properties": {"v": {"items": {"properties": {"a": {"type": "string"}}}}, "w": {"items": INTEGER}}}
    assert check(schema, {"v": [{"a": None}, {}]}) == ArgumentCheck({"v": [{}, {}]})
    assert check(schema, {"w": [1, None]}) == ArgumentCheck({"w": [1, None]}, (Violation("/w/1", "type"),))


def test_what_is_wrong_is_told_by_place_and_keyword_and_never_by_value() -> None:
    schema = {
        "properties": {
            "a": {"minimum": 3},
            "b": {"items": {"pattern": "^x"}},
            "c": {"properties": {"d": {"enum": ["p"]}}, "required": ["e"], "additionalProperties": False},
            "f": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
            "g": {"anyOf": [{"type": "array", "minItems": 2}, {"type": "null"}]},
        }
    }
    secret = {"a": 1, "b": ["x", "SECRET"], "c": {"d": "SECRET", "z": 1}, "f": "SECRET", "g": [1]}
    found = check(schema, secret)
    assert set(found.violations) == {
        Violation("/a", "minimum"),
        Violation("/b/1", "pattern"),
        Violation("/c/d", "enum"),
        Violation("/c/e", "missing"),
        Violation("/c/z", "unknown"),
        Violation("/f", "anyOf"),
        Violation("/g", "minItems"),
    }
    assert "SECRET" not in repr(found.violations)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None, max_examples=200)
@given(
    JSON,
    JSON.filter(lambda value: isinstance(value, dict))
    | st.dictionaries(
        st.sampled_from(
            [
                "type",
                "properties",
                "items",
                "anyOf",
                "required",
                "$ref",
                "$id",
                "$schema",
                "not",
                "enum",
                "pattern",
                "$anchor",
            ]
        ),
        JSON,
        max_size=4,
    ),
)
def test_any_value_and_any_schema_raise_nothing(arguments: Any, schema: dict[str, Any]) -> None:
    try:
        contract = Contract(input_schema=schema)
    except ValueError:
        return
    before = repr(arguments)
    check_arguments(arguments, contract)
    assert repr(arguments) == before


@settings(deadline=None, max_examples=100)
@given(
    st.dictionaries(
        st.sampled_from(["s", "t"]), st.one_of(st.integers(), st.lists(st.integers()), st.booleans()).map(json.dumps)
    )
)
def test_a_string_is_never_read_where_a_string_is_allowed(arguments: dict[str, str]) -> None:
    schema = {
        "properties": {"s": {"type": "string"}, "t": {"anyOf": [{"type": "integer"}, {"type": "string"}]}},
        "required": ["x"],
    }
    assert check(schema, arguments).arguments == arguments


@pytest.mark.parametrize(
    ("schema", "bad"),
    [
        (
            {
                "$id": "https://a.test/root",
                "properties": {"v": {"$ref": "child"}},
                "$defs": {"c": {"$id": "child", **INTEGER}},
            },
            "x",
        ),
        ({"properties": {"v": {"$ref": "#c"}}, "$defs": {"c": {"$anchor": "c", **INTEGER}}}, "x"),
        ({"properties": {"v": {"$dynamicRef": "#c"}}, "$defs": {"c": {"$dynamicAnchor": "c", **INTEGER}}}, "x"),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema",
                "properties": {"v": {"$ref": "#c"}},
                "definitions": {"c": {"$id": "#c", **INTEGER}},
            },
            "x",
        ),
        ({"properties": {"v": {"$ref": "#/$defs/a~1b%20c"}}, "$defs": {"a/b c": INTEGER}}, "x"),
        ({"properties": {"v": {"$ref": "#/$defs/l/0"}}, "$defs": {"l": [INTEGER]}}, "x"),
        ({"dependencies": {"v": ["w"]}, "properties": {"v": {}, "w": {}}}, "x"),
        ({"dependencies": {"v": {"properties": {"v": INTEGER}}}}, "x"),
    ],
)
def test_local_references_and_old_words_are_followed(schema: dict[str, Any], bad: Any) -> None:
    found = check(schema, {"v": bad})
    assert found.violations
    assert found.complete
