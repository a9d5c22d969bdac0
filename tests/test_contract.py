from __future__ import annotations

import json
import subprocess
import sys

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tooldialect.gate import Contract

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
SCHEMAS = st.dictionaries(st.text(max_size=5), JSON, max_size=4)


def version(schema, **fields):
    return Contract(input_schema=schema, **fields).version


def reordered(value):
    if isinstance(value, dict):
        return {key: reordered(item) for key, item in reversed(value.items())}
    return [reordered(item) for item in value] if isinstance(value, list) else value


def test_the_version_is_the_xxh3_of_description_schema_required_and_effect():
    contract = Contract(description="D", input_schema={"b": 1, "a": "é"}, required=("x",), effect="read")
    text = '["D",{"a":"é","b":1},["x"],"read"]'
    assert contract.version == xxhash.xxh3_64_hexdigest(text.encode())
    assert len(contract.version) == 16


@given(SCHEMAS)
def test_the_order_of_keys_does_not_count(schema):
    assert version(schema) == version(reordered(schema))


@given(SCHEMAS, SCHEMAS)
def test_versions_differ_where_the_schemas_do(one, other):
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (version(one) == version(other)) == same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}),
        ({"properties": {"x": {}}}, {"properties": {"x": {}}, "required": ["x"]}),
        ({"const": 1}, {"const": True}),
        ({"const": 1}, {"const": 1.0}),
        ({"const": 1}, {"const": "1"}),
        ({"const": None}, {}),
        ({"const": "\u00e9"}, {"const": "e\u0301"}),
    ],
)
def test_what_a_server_means_differently_is_another_version(one, other):
    assert version(one) != version(other)


@pytest.mark.parametrize("fields", [{"description": "d"}, {"required": ()}, {"required": ("a",)}, {"effect": "read"}])
def test_every_field_counts(fields):
    assert version({}, **fields) != version({})


def test_fields_are_not_mistaken_for_each_other():
    versions = {version({}), version({}, description="x"), version({}, effect="x"), version({}, required=("x",))}
    assert len(versions) == 4


def test_a_version_is_the_same_in_another_process_with_another_hash_seed():
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in "zyx"}}
    program = f"from tooldialect.gate import Contract; print(Contract(input_schema={schema!r}).version)"
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    for seed in ("1", "2"):
        seen = subprocess.run(
            [sys.executable, "-c", program],
            env={**environment, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert seen.stdout.strip() == version(schema)


def test_strings_are_cleaned_like_those_of_records():
    contract = Contract(description="a\ud83d\ude00b\ud800", input_schema={"k\ud800": ["\udfff"]}, required=("\ud800",))
    assert contract.description == "a😀b\ufffd"
    assert contract.input_schema == {"k\ufffd": ["\ufffd"]}
    assert contract.required == ("\ufffd",)
    contract.version.encode()


@pytest.mark.parametrize(
    "fields",
    [
        {"input_schema": {"x": float("nan")}},
        {"input_schema": []},
        {"input_schema": {}, "extra": 1},
        {"description": "x"},
    ],
)
def test_what_is_no_contract_is_refused(fields):
    with pytest.raises(ValidationError):
        Contract(**fields)


def test_a_copy_with_another_schema_has_another_version():
    contract = Contract(input_schema={"a": 1})
    assert contract.model_copy(update={"input_schema": {"a": 2}}).version != contract.version
