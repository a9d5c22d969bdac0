"""Schemas that somebody wrote to break a request: the tool is reported, the others are not harmed."""

from __future__ import annotations

import tracemalloc
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooldialect.dialects import ToolSpec, available_wires, wire_for
from tooldialect.dialects.wires.tool_specs import prepare_tools

GOOD = ToolSpec(name="good", parameters={"type": "object", "properties": {"a": {"type": "string"}}})
NO_SCHEMAS = [
    {"required": 5},
    {"required": [["x"]]},
    {"patternProperties": "abc"},
    {"anyOf": 5},
    {"allOf": [7]},
    5,
    [1],
]


def aimed_at(place: str, target: Any) -> dict[str, Any]:
    return {"type": "object", "allOf": [{"$ref": f"#/{place}"}], place: target}


@pytest.mark.parametrize("place", ["default", "x"])
@pytest.mark.parametrize("target", NO_SCHEMAS, ids=str)
@pytest.mark.parametrize("wire", available_wires())
def test_a_reference_to_what_is_no_schema_goes_and_is_reported_by_name(wire, target, place):
    evil = ToolSpec(name="evil", parameters=aimed_at(place, target))
    request = wire_for(wire).encode([], [evil, GOOD])
    assert "good" in str(request)
    _, issues = prepare_tools([evil, GOOD])
    assert [(issue.name, issue.sent) for issue in issues] == [("evil", True)]
    assert f"'#/{place}', which is no JSON Schema" in issues[0].detail


@pytest.mark.parametrize("extra", [{}, {"$id": "https://example.org/tool"}, {"properties": {"p": {"$anchor": "p"}}}])
def test_neither_a_detour_nor_a_base_address_hides_what_is_no_schema(extra):
    parameters = {
        **aimed_at("default", {"$ref": "#/examples/0"}),
        "examples": [{"required": 5}],
        **extra,
    }
    prepared, issues = prepare_tools([ToolSpec(name="evil", parameters=parameters), GOOD])
    assert [tool.name for tool in prepared] == ["evil", "good"]
    assert [issue.name for issue in issues] == ["evil"]


def test_a_schema_under_a_key_that_no_draft_knows_is_followed():
    shared = {"properties": {"q": {"type": "string"}}, "required": ["q"]}
    parameters = {"allOf": [{"$ref": "#/components/schemas/a"}], "components": {"schemas": {"a": shared}}}
    (prepared,), issues = prepare_tools([ToolSpec(name="t", parameters=parameters)])
    assert (prepared.parameters["properties"], prepared.parameters["required"], issues) == (
        {"q": {"type": "string"}},
        ["q"],
        [],
    )


KEYWORDS = ["allOf", "anyOf", "required", "properties", "default", "x", "$ref", "enum", "type", "items", "$id"]
REFERENCES = st.lists(st.sampled_from([*KEYWORDS, "0", "a"]), max_size=3).map(lambda steps: "#/" + "/".join(steps))
ANY_SCHEMA = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["object", "a"]) | REFERENCES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYWORDS, "a"]), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYWORDS), ANY_SCHEMA, max_size=5), REFERENCES)
def test_no_schema_raises_or_harms_another_and_what_is_sent_is_one(parameters, reference):
    parameters.setdefault("allOf", [{"$ref": reference}])
    prepared, issues = prepare_tools([ToolSpec(name="evil", parameters=parameters), GOOD])
    sent = {tool.name: tool.parameters for tool in prepared}
    assert "good" in sent
    assert "evil" in sent or [issue.sent for issue in issues if issue.name == "evil"]
    if "evil" in sent:
        jsonschema_rs.meta.validate({key: value for key, value in sent["evil"].items() if key != "$schema"})


def chain(length: int, step: str) -> dict[str, Any]:
    definitions: dict[str, Any] = {
        f"d{n}": {step: [{"$ref": f"#/$defs/d{n + 1}"}], "required": [f"n{n}"]} for n in range(length)
    }
    definitions[f"d{length}"] = {}
    return {"type": "object", "allOf": [{"$ref": "#/$defs/d0"}], "$defs": definitions}


@pytest.mark.parametrize("step", ["allOf", "anyOf"])
@pytest.mark.parametrize("length", [40, 4_000])
def test_a_chain_of_references_keeps_its_names_in_little_memory(length, step):
    tool = ToolSpec(name="long", parameters=chain(length, step))
    tracemalloc.start()
    try:
        (prepared,), _ = prepare_tools([tool])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert set(prepared.parameters["required"]) == {f"n{n}" for n in range(length)}
    assert peak < 40_000_000


def test_past_a_bound_only_what_always_applies_is_required():
    length = 9_000
    choice = {"oneOf": [{"required": ["a"]}, {"required": ["a", "b"]}], "required": ["c"]}
    short = ToolSpec(name="short", parameters={"allOf": [choice]})
    long = chain(length, "allOf")
    long["$defs"][f"d{length}"] = choice
    (first, second), _ = prepare_tools([short, ToolSpec(name="with_many", parameters=long)])
    assert first.parameters["required"] == ["a", "c"]
    assert set(second.parameters["required"]) == {"c", *(f"n{n}" for n in range(length))}


def test_targets_that_lie_in_one_another_are_judged_up_to_a_bound():
    depth = 200
    nested: dict[str, Any] = {"type": "string", "description": "d" * 2_000}
    for _ in range(depth):
        nested = {"x": nested}
    branches = [{"$ref": "#/default" + "/x" * n} for n in range(depth)]
    parameters = {"allOf": branches, "default": nested}
    prepared, issues = prepare_tools([ToolSpec(name="evil", parameters=parameters), GOOD])
    assert [tool.name for tool in prepared] == ["evil", "good"]
    assert 0 < len(issues) < depth
    assert all("overlaps too many others" in issue.detail for issue in issues)
