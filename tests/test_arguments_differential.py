"""The verdict of `check_arguments` against that of `jsonschema`, on schemas nobody wrote by hand."""

from __future__ import annotations

from typing import Any

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from tooldialect.gate.arguments import check_arguments
from tooldialect.gate.contract import Contract

NAMES = st.sampled_from(["a", "b", "c", "a/b", "~x"])
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, -2.5, "", "x", "ab", "xyz"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
ASSERTIONS: dict[str, st.SearchStrategy[Any]] = {
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(VALUES, min_size=1, max_size=3),
    "const": VALUES,
    "minimum": st.integers(-2, 2),
    "maximum": st.integers(-2, 2),
    "exclusiveMinimum": st.integers(-2, 2),
    "exclusiveMaximum": st.integers(-2, 2),
    "multipleOf": st.sampled_from([1, 2, 0.5]),
    "minLength": st.integers(0, 2),
    "maxLength": st.integers(0, 2),
    "pattern": st.sampled_from(["^x", "b$", "[a-y]{2}"]),
    "minItems": st.integers(0, 2),
    "maxItems": st.integers(0, 2),
    "uniqueItems": st.booleans(),
    "required": st.lists(NAMES, max_size=2, unique=True),
    "minProperties": st.integers(0, 2),
    "maxProperties": st.integers(0, 2),
    "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2),
}
REFERENCES = st.sampled_from(["#/$defs/p", "#/$defs/q", "#tree"]).map(lambda target: {"$ref": target})


def _applied(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    several = st.lists(inner, min_size=1, max_size=2)
    named = st.dictionaries(NAMES, inner, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "allOf": several,
            "anyOf": several,
            "oneOf": several,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "properties": named,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "x"]), inner, max_size=2),
            "additionalProperties": inner,
            "propertyNames": inner,
            "prefixItems": several,
            "items": inner,
            "contains": inner,
            "minContains": st.integers(0, 2),
            "maxContains": st.integers(0, 2),
            "dependentSchemas": named,
            "unevaluatedProperties": inner,
            "unevaluatedItems": inner,
        },
    )


def _few(keywords: dict[str, Any]) -> dict[str, Any]:
    return dict(list(keywords.items())[:4])


LEAVES = st.booleans() | REFERENCES | st.fixed_dictionaries({}, optional=ASSERTIONS).map(_few)
SCHEMAS = st.recursive(LEAVES, lambda inner: _applied(inner).map(_few), max_leaves=8)


@st.composite
def contracts(draw: st.DrawFn) -> dict[str, Any]:
    """A schema whose definitions refer to nothing about the same value, so that no checker loops."""
    tree = {"$anchor": "tree", "type": ["object", "integer"], "additionalProperties": {"$ref": "#tree"}}
    definitions = {
        "p": draw(st.fixed_dictionaries({}, optional=ASSERTIONS).map(_few)),
        "q": {"items": {"$ref": "#/$defs/p"}},
    }
    root = draw(_applied(SCHEMAS).map(lambda keywords: dict(list(keywords.items())[:5])))
    return {**root, "$defs": {**definitions, "tree": tree}}


ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=4)
OPEN = {"patternProperties": {"^(a|b|c|a/b|~x)$": True}}


def compare(schema: dict[str, Any], arguments: dict[str, Any]) -> bool:
    """Compare the verdicts where they speak of the same; return whether all was checked."""
    # Lenience and unknown names are ours alone: judge what would be executed, names allowed.
    opened = {"allOf": [schema], "$defs": schema["$defs"], **OPEN}
    opened["allOf"] = [{key: value for key, value in schema.items() if key != "$defs"}]
    found = check_arguments(arguments, Contract(input_schema=opened))
    satisfied = jsonschema.Draft202012Validator(opened).is_valid(found.arguments)
    if found.complete:
        assert (not found.violations) is satisfied
    elif satisfied:
        assert not found.violations
    return found.complete


@settings(deadline=None, max_examples=40)
@given(contracts(), ARGUMENTS)
def test_the_verdict_is_that_of_another_validator(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    compare(schema, arguments)


def test_few_inputs_take_the_fallback() -> None:
    partial: list[bool] = []

    @settings(deadline=None, max_examples=40, database=None, derandomize=True)
    @given(contracts(), ARGUMENTS)
    def collect(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
        partial.append(not compare(schema, arguments))

    collect()
    assert len(partial) > 30
    assert sum(partial) <= len(partial) * 0.02


@settings(deadline=None, max_examples=20)
@given(contracts(), ARGUMENTS)
def test_checking_twice_changes_nothing_more(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    before = repr(arguments)
    contract = Contract(input_schema=schema)
    once = check_arguments(arguments, contract)
    assert repr(arguments) == before
    assert repr(check_arguments(once.arguments, contract).arguments) == repr(once.arguments)
