"""Tool schemas keep their meaning on the wire, and one that cannot does not take the others with it."""

import jsonschema
import pytest
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import MistralRequestValidator, ValidationMode

from tooldialect.dialects import ChatMessage, ToolSpec
from tooldialect.dialects.wires import MistralWire, OpenAIChatWire

ASKED = [ChatMessage(role="user", content="q")]
GOOD = ToolSpec(name="good")
STRING = {"type": "string"}
FOREIGN = [r"\p{L}+", r"^(?<year>\d+)$", r"\d{1,99999999999}"]


def tool(schema, name="t", description=""):
    return ToolSpec(name=name, description=description, parameters=schema)


def sent_schema(wire, schema):
    (sent,) = wire.encode(ASKED, [tool(schema)])["tools"]
    return sent["function"]["parameters"]


def of_property(schema):
    return {"type": "object", "properties": {"a": schema}}


def accepted_by_mistral(request):
    MistralRequestValidator(ValidationMode.test).validate_request(ChatCompletionRequest(**request, model="x"))
    return True


@pytest.mark.parametrize("pattern", [*FOREIGN, "(" * 3000 + ")" * 3000])
@pytest.mark.parametrize(
    "place",
    [
        lambda pattern: of_property({"type": "string", "pattern": pattern}),
        lambda pattern: {"type": "object", "patternProperties": {pattern: STRING}, "additionalProperties": False},
        lambda pattern: of_property({"not": {"pattern": pattern}}),
    ],
)
def test_a_pattern_that_python_refuses_harms_no_request_to_mistral(place, pattern):
    tools = [tool(place(pattern), "bad"), GOOD]
    request = MistralWire().encode(ASKED, tools)
    assert accepted_by_mistral(request)
    assert "good" in [sent["function"]["name"] for sent in request["tools"]]
    assert {issue.name for issue in MistralWire().tool_issues(tools)} == {"bad"}


def test_without_a_refused_pattern_the_tool_is_still_offered_and_takes_what_it_took():
    schema = of_property({"type": "string", "pattern": r"^\p{L}+$"})
    assert sent_schema(MistralWire(), schema)["properties"] == {"a": STRING}
    schema = {"type": "object", "patternProperties": {r"^\p{L}+$": STRING}, "additionalProperties": False}
    assert jsonschema.Draft7Validator(sent_schema(MistralWire(), schema)).is_valid({"é": "x"})


@pytest.mark.parametrize("pattern", ["(?i)x", "[a-z]++", "[[a]"])
def test_a_pattern_of_python_alone_is_sent_to_mistral(pattern):
    schema = of_property({"type": "string", "pattern": pattern})
    request = MistralWire().encode(ASKED, [tool(schema)])
    assert accepted_by_mistral(request)
    assert request["tools"][0]["function"]["parameters"]["properties"]["a"]["pattern"] == pattern
    assert MistralWire().tool_issues([tool(schema)]) == []


OLD_TUPLE = {"type": "array", "items": [STRING, STRING], "additionalItems": False}
NEW_TUPLE = {"type": "array", "prefixItems": [STRING, STRING], "items": False}


@pytest.mark.parametrize("pair", [OLD_TUPLE, NEW_TUPLE, {"type": "array", "prefixItems": [STRING, STRING]}])
@pytest.mark.parametrize("draft", [{}, {"$schema": "http://json-schema.org/draft-07/schema#"}])
def test_a_tuple_means_the_same_to_its_reader(pair, draft):
    schema = {**draft, **of_property(pair)} if pair is OLD_TUPLE else of_property(pair)
    for validator, wire in (
        (jsonschema.Draft7Validator, MistralWire()),
        (jsonschema.Draft202012Validator, OpenAIChatWire()),
    ):
        sent = sent_schema(wire, schema)
        assert jsonschema.validators.validator_for(sent) is validator
        judge = validator(sent)
        assert judge.is_valid({"a": ["x", "y"]})
        assert not judge.is_valid({"a": ["x", 1]})
        assert judge.is_valid({"a": ["x", "y", 3]}) == ("items" not in pair)


def test_a_respelled_schema_does_not_claim_its_old_draft():
    bound = {"type": "integer", "minimum": 0, "exclusiveMinimum": True}
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", **of_property(bound)}
    sent = sent_schema(OpenAIChatWire(), schema)
    assert "$schema" not in sent
    assert sent["properties"]["a"] == {"type": "integer", "exclusiveMinimum": 0}


def test_of_two_tools_with_one_name_a_bad_one_does_not_take_the_good_one_down():
    tools = [tool(STRING, "x", "a"), ToolSpec(name="x", description="b")]
    request = OpenAIChatWire().encode(ASKED, tools)
    assert [sent["function"]["description"] for sent in request["tools"]] == ["b"]
    assert [(issue.name, issue.sent) for issue in OpenAIChatWire().tool_issues(tools)] == [("x", False)]


TARGET = {"type": "object", "properties": {"a": STRING}, "required": ["a"]}
CONDITIONS = {
    "if": {"properties": {"mode": {"const": "x"}, "asked": {"const": 1}}},
    "then": {"properties": {"extra": STRING, "mode": {"const": "x"}}, "required": ["extra"]},
    "else": {"properties": {"other": STRING}},
    "dependentSchemas": {"mode": {"properties": {"depends": STRING}}},
}


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_properties_of_conditions_are_offered_and_limit_nothing_else(keyword):
    sent = sent_schema(OpenAIChatWire(), {"type": "object", "properties": {"mode": STRING}, keyword: [CONDITIONS]})
    assert sent["properties"] == {"mode": STRING, "asked": {}, "extra": STRING, "other": STRING, "depends": STRING}
    assert "required" not in sent


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#Foo", "$defs": {"X": {"$anchor": "Foo", **TARGET}}},
        {"$id": "https://e/x.json", "$ref": "https://e/x.json#/$defs/X", "$defs": {"X": TARGET}},
        {"$id": "https://e/x.json", "$ref": "x.json#/$defs/X", "$defs": {"X": TARGET}},
        {"$id": "https://e/x.json", "$ref": "y.json", "$defs": {"X": {"$id": "y.json", **TARGET}}},
        {"$dynamicRef": "#m", "$defs": {"X": {"$dynamicAnchor": "m", **TARGET}}},
        {"$ref": "#old", "definitions": {"X": {"$id": "#old", **TARGET}}},
    ],
)
def test_a_root_by_a_named_reference_has_the_properties_it_refers_to(schema):
    sent = sent_schema(OpenAIChatWire(), schema)
    assert sent["properties"] == {"a": STRING}
    assert sent["required"] == ["a"]
    assert OpenAIChatWire().tool_issues([tool(schema)]) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://elsewhere/x.json"},
        {"$id": "https://e/x.json", "$ref": "https://e/x.json#nowhere", "additionalProperties": False},
        {"$id": "https://e/x.json", "allOf": [{"$ref": "http://[/"}], "unevaluatedProperties": False},
        {
            "$ref": "#A",
            "$defs": {"X": {"$anchor": "A", **TARGET}, "Y": {"$anchor": "A"}},
            "additionalProperties": False,
        },
        {"$ref": "#A", "x-unknown": {"$anchor": "A", "properties": 5}, "additionalProperties": False},
        {"$dynamicRef": "#nowhere", "additionalProperties": False},
    ],
)
def test_a_root_that_cannot_be_found_is_left_open_and_reported(schema):
    wire = OpenAIChatWire()
    sent = sent_schema(wire, schema)
    assert jsonschema.Draft202012Validator({"type": sent["type"], "properties": sent["properties"]}).is_valid({"a": 1})
    assert not {"additionalProperties", "unevaluatedProperties"} & set(sent)
    assert [(issue.name, issue.sent) for issue in wire.tool_issues([tool(schema)])] == [("t", True)]


def test_a_name_in_a_branch_of_the_root_is_still_there():
    schema = {"allOf": [{"$anchor": "A", "properties": {"a": STRING}}], "properties": {"b": {"$ref": "#A"}}}
    sent = sent_schema(OpenAIChatWire(), schema)
    assert jsonschema.Draft202012Validator(sent).is_valid({"b": {"a": "x"}})
    assert not jsonschema.Draft202012Validator(sent).is_valid({"b": {"a": 1}})
