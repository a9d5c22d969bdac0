from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooldialect.gate.pruning import fit_document

LONG = "words " * 20


def document(schema, description="What it does"):
    return {"tool": "mcp:srv:x", "description": description, "input_schema": schema}


def fit(schema, budget, description="What it does"):
    text, pruned = fit_document(document(schema, description), budget)
    return json.loads(text), pruned


def length(schema, description="What it does"):
    return len(json.dumps(document(schema, description), separators=(",", ":"), ensure_ascii=False))


NESTED = {
    "type": "object",
    "description": "root " + LONG,
    "properties": {
        "a": {
            "type": "object",
            "description": "first " + LONG,
            "properties": {"b": {"type": "string", "description": "second " + LONG}},
        }
    },
}


def test_what_fits_is_left_alone():
    assert fit(NESTED, length(NESTED)) == (document(NESTED), False)


def test_the_deepest_description_goes_first_and_the_tools_own_last():
    budget = length(NESTED) - 1
    kept, pruned = fit(NESTED, budget)
    assert pruned
    a = kept["input_schema"]["properties"]["a"]
    assert "description" not in a["properties"]["b"]
    assert a["description"].startswith("first")

    kept, _ = fit(NESTED, budget - 200)
    assert "description" not in kept["input_schema"]["properties"]["a"]
    assert kept["input_schema"]["description"].startswith("root")
    assert kept["description"] == "What it does"

    kept, _ = fit(NESTED, budget - 400)
    assert "description" not in kept["input_schema"]
    assert kept["description"].startswith("W")


def test_the_beginning_of_the_tools_own_description_is_kept_as_far_as_there_is_room():
    schema = {"type": "object"}
    kept, pruned = fit(schema, length(schema, "") + 10, "abcdefghijklmnop")
    assert pruned
    assert kept["description"] == "abcdefghij"


@pytest.mark.parametrize("budget", [0, -5, 1])
def test_a_schema_is_whole_however_little_room_there_is(budget):
    kept, pruned = fit(NESTED, budget)
    assert pruned
    assert kept["description"] == ""
    assert kept["input_schema"] == {
        "type": "object",
        "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}},
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [{"description": LONG}]},
        {"default": {"description": LONG}},
        {"const": {"description": LONG}},
        {"examples": [{"description": LONG}]},
        {"x-vendor": {"description": LONG}},
        {"properties": {"description": {"type": "string", "default": LONG}}},
        {"required": ["description"]},
        {"properties": {"a": {"enum": [{"properties": {"b": {"description": LONG}}}]}}},
        {"description": {"not": "text", "long": LONG}},
    ],
)
def test_data_named_description_stays(schema):
    kept, _ = fit(schema, 0)
    assert kept["input_schema"] == schema


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: {"properties": {"p": inner}},
        lambda inner: {"properties": {"description": inner}},
        lambda inner: {"patternProperties": {"p": inner}},
        lambda inner: {"$defs": {"p": inner}},
        lambda inner: {"definitions": {"p": inner}},
        lambda inner: {"dependentSchemas": {"p": inner}},
        lambda inner: {"dependencies": {"p": inner, "q": ["p"]}},
        lambda inner: {"items": inner},
        lambda inner: {"items": [inner, inner]},
        lambda inner: {"prefixItems": [inner]},
        lambda inner: {"additionalItems": inner},
        lambda inner: {"contains": inner},
        lambda inner: {"contentSchema": inner},
        lambda inner: {"unevaluatedItems": inner},
        lambda inner: {"additionalProperties": inner},
        lambda inner: {"unevaluatedProperties": inner},
        lambda inner: {"propertyNames": inner},
        lambda inner: {"not": inner},
        lambda inner: {"if": inner, "then": inner, "else": inner},
        lambda inner: {"allOf": [inner, True]},
        lambda inner: {"anyOf": [inner]},
        lambda inner: {"oneOf": [{"not": inner}]},
    ],
)
def test_descriptions_are_found_wherever_schemas_stand(wrap):
    kept, _ = fit(wrap({"type": "string", "description": LONG}), 0)
    assert kept["input_schema"] == wrap({"type": "string"})


SCHEMAS = st.recursive(
    st.fixed_dictionaries({"type": st.just("string")}, optional={"description": st.text(max_size=30)}),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "description": st.text(max_size=30),
            "properties": st.dictionaries(st.sampled_from(["a", "description", "é"]), inner, max_size=2),
            "items": inner,
            "anyOf": st.lists(inner, max_size=2),
            "enum": st.just([{"description": "data"}]),
        },
    ),
    max_leaves=8,
)


def without_descriptions(schema):
    """Independent of the code: these schemas are described in the strategy above."""
    kept = {key: value for key, value in schema.items() if key != "description"}
    if "properties" in kept:
        kept["properties"] = {name: without_descriptions(inner) for name, inner in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = without_descriptions(kept["items"])
    if "anyOf" in kept:
        kept["anyOf"] = [without_descriptions(inner) for inner in kept["anyOf"]]
    return kept


@given(SCHEMAS, st.text(max_size=40), st.integers(0, 600))
def test_a_budget_that_can_be_met_is_met_and_nothing_but_descriptions_goes(schema, description, budget):
    before = copy.deepcopy(schema)
    text, pruned = fit_document(document(schema, description), budget)
    kept = json.loads(text)
    assert schema == before
    assert without_descriptions(kept["input_schema"]) == without_descriptions(schema)
    assert description.startswith(kept["description"])
    assert pruned == (length(schema, description) > budget)
    assert len(text) <= max(budget, length(without_descriptions(schema), ""))


def test_a_schema_as_deep_as_any_contract_is_pruned():
    schema = {"description": LONG}
    for _ in range(290):
        schema = {"not": schema}
    kept, _ = fit(schema, 0)
    assert LONG not in json.dumps(kept)
