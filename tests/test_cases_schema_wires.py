"""Tool lists as real servers publish them, in a request."""

from __future__ import annotations

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooldialect.dialects import ToolSpec
from tooldialect.dialects.wires import AnthropicWire, BedrockWire, GeminiWire, OpenAIChatWire
from tooldialect.dialects.wires.tool_names import original_names, wire_name

WIRES = [OpenAIChatWire(), AnthropicWire(), GeminiWire(), BedrockWire()]
each_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)


def sent(wire, *tools):
    return {
        tool["name"]: next(schema for key, schema in tool.items() if key in SCHEMA_KEYS)
        for tool in listed(wire.encode([], tools))
    }


SCHEMA_KEYS = {"parameters", "input_schema", "parametersJsonSchema", "inputSchema"}


def listed(request):
    """The tools of a request of any provider."""
    if "toolConfig" in request:
        specs = [tool["toolSpec"] for tool in request["toolConfig"]["tools"]]
        return [{**spec, "inputSchema": spec["inputSchema"]["json"]} for spec in specs]
    for tool in request.get("tools", ()):
        if "functionDeclarations" in tool:
            return tool["functionDeclarations"]
    return [tool.get("function", tool) for tool in request.get("tools", ())]


def schema_of(wire, schema):
    return sent(wire, ToolSpec(name="t", parameters=schema))["t"]


@each_wire
def test_c03_names_that_differ_in_refused_signs_stay_apart(wire):
    names = ["docs.search", "docs_search", "docs/search", "docs:search", "docs search"]
    tools = [ToolSpec(name=name) for name in names]
    spelled = list(sent(wire, *tools))
    assert len(set(spelled)) == 5
    assert "docs_search" in spelled
    assert spelled == list(sent(wire, *reversed(tools)))
    back = original_names(names)
    assert {back.get(name, name) for name in spelled} == set(names)
    assert wire.tool_name("docs.search") in spelled


def test_a_valid_name_that_looks_respelled_is_respelled_too():
    taken = wire_name("docs.search")
    assert len({"docs.search", taken} & {wire_name("docs.search"), wire_name(taken)}) == 1
    assert wire_name(taken) != taken


@given(
    st.sets(
        st.one_of(st.text(max_size=70), st.text("ab_", min_size=60, max_size=70), st.sampled_from(["", "f\n", "é"]))
    )
)
def test_names_are_spelled_injectively_and_read_back(names):
    names = names | {wire_name(name) for name in names}
    spelled = {wire_name(name) for name in names}
    assert len(spelled) == len(names)
    assert all(0 < len(name) <= 64 and set(name) <= ALPHABET for name in spelled)
    back = original_names(names)
    assert {back.get(name, name) for name in spelled} == names


ALPHABET = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


@each_wire
def test_c05_definitions_and_closed_objects_are_kept(wire):
    schema = {
        "type": "object",
        "properties": {"mode": {"$ref": "#/$defs/Mode", "description": "how"}},
        "additionalProperties": False,
        "$defs": {"Mode": {"type": "string", "enum": ["slow", "fast"]}},
    }
    assert schema_of(wire, schema) == schema


@each_wire
def test_c07_a_bad_schema_is_reported_by_name_and_the_others_are_sent(wire, caplog):
    caplog.set_level(logging.WARNING, "tooldialect.dialects")
    good = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    bad = [
        {"type": "string"},
        {"type": "object", "properties": []},
        {"type": "object", "required": "q"},
        {"type": "object", "properties": {"x": {"type": "strnig"}}},
    ]
    tools = [ToolSpec(name="good", parameters=good)]
    tools += [ToolSpec(name=f"bad{n}_{wire.name}", parameters=schema) for n, schema in enumerate(bad)]
    assert sent(wire, *tools) == {"good": good}
    issues = wire.tool_issues(tools)
    assert [(issue.name, issue.sent) for issue in issues] == [(tool.name, False) for tool in tools[1:]]
    assert all(issue.detail for issue in issues)
    assert [record.args[0] for record in caplog.records] == [tool.name for tool in tools[1:]]
    wire.encode([], tools)
    assert len(caplog.records) == 4


@each_wire
def test_c09_a_root_of_alternatives_is_offered_whole(wire):
    schema = {
        "type": "object",
        "anyOf": [
            {"type": "object", "properties": {"body": {"type": "string"}}, "required": ["body"]},
            {"type": "object", "properties": {"link": {"type": "string"}}, "required": ["link"]},
        ],
    }
    tool = ToolSpec(name="t", parameters=schema)
    assert sent(wire, tool)["t"] == {
        "type": "object",
        "properties": {"body": {"type": "string"}, "link": {"type": "string"}},
    }
    assert tool.parameters == schema


@each_wire
def test_a_property_of_several_branches_takes_what_any_of_them_does(wire):
    schema = {
        "properties": {"kind": {"type": "string"}},
        "required": ["kind"],
        "allOf": [{"properties": {"size": {"minimum": 0}, "kind": {"maxLength": 9}}, "required": ["size"]}],
        "oneOf": [
            {"properties": {"kind": {"const": "a"}, "x": {}}, "required": ["kind", "x", "both"]},
            {
                "properties": {"kind": {"const": "b"}, "y": {}},
                "required": ["both"],
                "anyOf": [{"properties": {"z": {}}}],
            },
        ],
        "patternProperties": {"^p": {}},
        "enum": [{}],
        "not": {"required": ["q"]},
    }
    assert schema_of(wire, schema) == {
        "type": "object",
        "properties": {
            "kind": {"allOf": [{"type": "string"}, {"maxLength": 9}, {"anyOf": [{"const": "a"}, {"const": "b"}]}]},
            "size": {"minimum": 0},
            "x": {},
            "y": {},
            "z": {},
        },
        "required": ["both", "kind", "size"],
        "patternProperties": {"^p": {}},
    }


@each_wire
def test_a_root_that_is_a_reference_is_spelled_out(wire):
    definition = {"type": "object", "properties": {"inner": {"$ref": "#/$defs/Node"}, "a/b": {}}, "required": ["inner"]}
    schema = {"$ref": "#/$defs/Node", "$defs": {"Node": definition}}
    assert schema_of(wire, schema) == {**definition, "$defs": {"Node": definition}}


@each_wire
def test_references_into_a_branch_still_lead_there(wire):
    schema = {
        "$defs": {"root": {}, "list": {"items": {"$ref": "#/oneOf/0/properties/a"}}},
        "oneOf": [
            {"properties": {"a": {"type": "string"}, "next": {"$ref": "#/oneOf/1"}}},
            {"properties": {"b": {"$ref": "#/oneOf/0"}}},
        ],
    }
    reshaped = schema_of(wire, schema)
    assert set(reshaped["properties"]) == {"a", "next", "b"}
    assert followed(reshaped, reshaped["$defs"]["list"]["items"]["$ref"]) == {"type": "string"}
    assert set(followed(reshaped, reshaped["properties"]["next"]["$ref"])["properties"]) == {"b"}
    assert reshaped["$defs"]["root"] == {}


def followed(document, reference):
    for step in reference.removeprefix("#/").split("/"):
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


@each_wire
def test_a_root_that_doubles_with_every_reference_is_reshaped_in_one_pass(wire):
    definitions = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2, "properties": {f"p{n}": {}}} for n in range(300)
    }
    schema = {"$ref": "#/$defs/d0", "$defs": {**definitions, "d300": {"$ref": "#/$defs/d0"}}}
    assert set(schema_of(wire, schema)["properties"]) == {f"p{n}" for n in range(300)}


@each_wire
def test_a_root_may_be_null_and_needs_no_type(wire):
    assert schema_of(wire, {"type": ["object", "null"]}) == {"type": "object", "properties": {}}
    assert schema_of(wire, {}) == {"type": "object", "properties": {}}


@each_wire
def test_c11_the_same_set_of_tools_gives_the_same_bytes(wire):
    yak = {"type": "object", "properties": {"b": {"enum": ["z", "a"]}, "a": {"prefixItems": [{"type": "string"}, {}]}}}
    turned = {
        "properties": {"a": {"prefixItems": [{"type": "string"}, {}]}, "b": {"enum": ["z", "a"]}},
        "type": "object",
    }
    bee = ToolSpec(name="bee", parameters={"type": "object"})
    first = wire.encode([], [ToolSpec(name="yak", parameters=yak), bee])
    second = wire.encode([], [bee, ToolSpec(name="yak", parameters=turned), bee])
    assert json.dumps(first) == json.dumps(second)
    assert sent(wire, ToolSpec(name="yak", parameters=yak))["yak"]["properties"]["b"]["enum"] == ["z", "a"]


@each_wire
def test_two_tools_of_one_name_are_reported_and_one_is_sent(wire):
    tools = [
        ToolSpec(name="t", description="b"),
        ToolSpec(name="t", description="a"),
        ToolSpec(name="t", description="a"),
    ]
    assert len(sent(wire, *tools)) == 1
    assert [(issue.name, issue.sent) for issue in wire.tool_issues(tools)] == [("t", False)]


@each_wire
@pytest.mark.parametrize(
    "reference",
    [
        "#/$defs/Gone",
        "https://example.invalid/s.json",
        "file:///etc/passwd",
        "#/properties/t/7",
        "#/required/" + "9" * 5000,
        "#/required/-1",
        "other#",
    ],
    ids=lambda reference: reference[:24],
)
def test_c13_a_reference_that_leads_nowhere_is_reported_and_the_rest_is_sent(wire, reference):
    schema = {
        "type": "object",
        "properties": {"s": {"$ref": reference, "title": "S"}, "t": {"type": "string"}},
        "required": ["t"],
    }
    tools = [ToolSpec(name="ok", parameters={"type": "object"}), ToolSpec(name="dangling", parameters=schema)]
    listed = sent(wire, *tools)
    assert set(listed) == {"ok", "dangling"}
    assert listed["dangling"]["properties"] == {"s": {"title": "S"}, "t": {"type": "string"}}
    (issue,) = wire.tool_issues(tools)
    assert (issue.name, issue.sent) == ("dangling", True)
    assert reference in issue.detail


@each_wire
def test_references_by_anchor_and_literals_that_look_like_references_are_left_alone(wire):
    anchored = {"type": "object", "properties": {"a": {"$ref": "#here"}}, "$defs": {"x": {"$anchor": "here"}}}
    literal = {
        "type": "object",
        "properties": {"$ref": {"const": {"$ref": "#/nowhere"}}, "b": {"default": {"$ref": "#/no"}}},
    }
    for schema in (anchored, literal):
        assert schema_of(wire, schema) == schema


@each_wire
def test_an_unknown_dialect_of_json_schema_is_judged_by_the_current_one(wire):
    schema = {"$schema": "http://127.0.0.1:9/none", "type": "object", "properties": {}}
    assert schema_of(wire, schema) == schema


@each_wire
def test_older_spellings_of_tuples_and_bounds_are_respelled(wire):
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {
            "pair": {"type": "array", "items": [{"type": "string"}, {}], "additionalItems": False},
            "some": {"type": "array", "items": [{}]},
            "above": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
            "upto": {"type": "number", "maximum": 9, "exclusiveMaximum": False},
            "items": {"default": {"items": []}},
        },
    }
    assert schema_of(wire, schema)["properties"] == {
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {}], "items": False},
        "some": {"type": "array", "prefixItems": [{}]},
        "above": {"type": "number", "exclusiveMinimum": 0},
        "upto": {"type": "number", "maximum": 9},
        "items": {"default": {"items": []}},
    }
