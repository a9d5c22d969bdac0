"""Faults met in the field, as calls of `check_arguments`."""

from __future__ import annotations

from typing import Any

import pytest

from tooldialect.gate.arguments import ArgumentCheck, Violation, check_arguments
from tooldialect.gate.contract import Contract


def check(schema: dict[str, Any], arguments: Any, **fields: Any) -> ArgumentCheck:
    return check_arguments(arguments, Contract(input_schema=schema, **fields))


def test_structures_written_as_strings_are_read_and_strings_are_not() -> None:
    schema = {
        "type": "object",
        "properties": {
            "filter": {"type": "object"},
            "ids": {"type": "array", "items": {"type": "integer"}},
            "note": {"type": "string"},
        },
        "required": ["filter"],
    }
    written = {"filter": '{"a":1}', "ids": "[1,2]", "note": '{"keep":true}'}
    found = check(schema, written)
    assert found == ArgumentCheck({"filter": {"a": 1}, "ids": [1, 2], "note": '{"keep":true}'})
    assert written["filter"] == '{"a":1}'


def test_unions_references_and_items_are_seen_through() -> None:
    schema = {
        "type": "object",
        "properties": {
            "ids": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
            "children": {"type": "array", "items": {"$ref": "#/$defs/B"}},
            "any": {"anyOf": [{"type": "array"}, {"type": "string"}]},
        },
        "$defs": {"B": {"type": "object", "properties": {"t": {"type": "string"}}, "required": ["t"]}},
    }
    found = check(schema, {"ids": "[1,2]", "children": ['{"t":"x"}'], "any": "[1]"})
    assert found == ArgumentCheck({"ids": [1, 2], "children": [{"t": "x"}], "any": "[1]"})


NULLS = {
    "type": "object",
    "properties": {
        "q": {"type": "string"},
        "cursor": {"type": "string"},
        "limit": {"type": "integer"},
        "label": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "sub": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": ["string", "null"]}}},
    },
    "required": ["q"],
}


def test_null_for_an_optional_argument_is_absence_and_a_meant_null_stays() -> None:
    written = {"q": "x", "cursor": None, "limit": None, "label": None, "sub": {"a": None, "b": None}}
    assert check(NULLS, written) == ArgumentCheck({"q": "x", "label": None, "sub": {"b": None}})


def test_null_for_a_required_argument_is_a_violation() -> None:
    assert check(NULLS, {"q": None}) == ArgumentCheck({"q": None}, (Violation("/q", "type"),))


@pytest.mark.parametrize(
    ("arguments", "satisfied"),
    [
        ({"n": 5.0}, True),
        ({"n": True}, False),
        ({"n": 5.5}, False),
        ({"b": 1}, False),
        ({"x": False}, False),
        ({"e": True}, False),
        ({"e": 1.0}, True),
        ({"k": False}, False),
    ],
)
def test_booleans_are_no_numbers_and_whole_numbers_are_integers(arguments: dict[str, Any], satisfied: bool) -> None:
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "b": {"type": "boolean"},
            "x": {"type": "number"},
            "e": {"enum": [1, 2]},
            "k": {"const": 0},
        },
    }
    assert (not check(schema, arguments).violations) is satisfied


def test_defaults_are_neither_required_nor_written() -> None:
    schema = {
        "type": "object",
        "properties": {
            "term": {"type": "string"},
            "batch": {"type": "number", "default": 25},
            "after": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["term"],
    }
    assert check(schema, {"term": "x"}) == ArgumentCheck({"term": "x"})


def test_a_renamed_argument_is_told_by_both_names() -> None:
    schema = {
        "type": "object",
        "properties": {"window": {"type": "string"}},
        "required": ["window"],
        "additionalProperties": False,
    }
    assert set(check(schema, {"hours": "1"}).violations) == {
        Violation("/window", "missing"),
        Violation("/hours", "unknown"),
    }


def test_a_nested_contract_asks_for_its_required_names() -> None:
    schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["bug", "task"]},
            "when": {"type": "string", "format": "date"},
            "who": {"type": "object", "properties": {"id": {"type": "integer", "minimum": 1}}, "required": ["id"]},
        },
        "required": ["kind", "who"],
    }
    assert {violation.path for violation in check(schema, {}).violations} == {"/kind", "/who"}
    assert [violation.path for violation in check(schema, {"kind": "bug", "who": {}}).violations] == ["/who/id"]
    assert check(schema, {"kind": "bug", "who": {"id": 0}}).violations == (Violation("/who/id", "minimum"),)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "object", "properties": []},
        {"type": "object", "required": "q"},
        {"type": "object", "properties": {"x": {"type": "strnig"}}},
    ],
)
def test_a_malformed_schema_raises_nothing(schema: dict[str, Any]) -> None:
    assert check(schema, {"x": 1}).arguments == {"x": 1}


DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize(
    ("schema", "arguments", "satisfied"),
    [
        (
            {"$schema": DRAFT_4, "properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}}},
            {"n": 0},
            False,
        ),
        (
            {
                "$schema": DRAFT_7,
                "definitions": {"P": {"type": "string"}},
                "properties": {"p": {"$ref": "#/definitions/P"}},
            },
            {"p": 1},
            False,
        ),
        ({"properties": {"s": {"type": "string", "nullable": True, "example": "x"}}}, {"s": None}, True),
        (
            {"properties": {"t": {"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False}}},
            {"t": ["a", 1, 2]},
            False,
        ),
        ({"properties": {"any": True, "never": False}}, {"any": 1}, True),
        ({"properties": {"any": True, "never": False}}, {"never": 1}, False),
        ({"type": "OBJECT", "properties": {"q": {"type": "STRING"}}, "required": ["q"]}, {"q": "x"}, True),
        ({"type": "OBJECT", "properties": {"q": {"type": "STRING"}}, "required": ["q"]}, {"q": 1}, False),
    ],
)
def test_words_of_other_drafts_are_read(schema: dict[str, Any], arguments: dict[str, Any], satisfied: bool) -> None:
    found = check(schema, arguments)
    assert (not found.violations) is satisfied
    assert found.complete


def test_a_forgotten_definition_leaves_the_rest_checked() -> None:
    schema = {
        "type": "object",
        "properties": {"s": {"$ref": "#/$defs/Gone"}, "t": {"type": "string"}},
        "required": ["t"],
    }
    assert check(schema, {"s": [1], "t": "x"}) == ArgumentCheck({"s": [1], "t": "x"}, (), complete=False)
    assert check(schema, {"s": [1]}).violations == (Violation("/t", "missing"),)
    assert check(schema, {"t": 1}).violations == (Violation("/t", "type"),)


def test_a_union_at_the_root_is_checked_as_written() -> None:
    schema = {
        "type": "object",
        "anyOf": [
            {"type": "object", "properties": {"body": {"type": "string"}}, "required": ["body"]},
            {"type": "object", "properties": {"link": {"type": "string"}}, "required": ["link"]},
        ],
    }
    assert check(schema, {}).violations
    assert not check(schema, {"body": "x"}).violations
    assert check(schema, {"body": "x", "lnk": "y"}).violations == (Violation("/lnk", "unknown"),)
