"""botocore as judge of a Converse request: its validation, and what its model says beside.

The validation looks at types and required members alone; enums, patterns, lengths and
one-key unions stand in the model that it loads.
"""

from __future__ import annotations

import json
import re

import botocore.session
from botocore.parsers import create_parser
from botocore.serialize import create_serializer
from botocore.validate import ParamValidator

MODEL_ID = "anthropic.claude-3-haiku-20240307-v1:0"
_OPERATION = botocore.session.get_session().get_service_model("bedrock-runtime").operation_model("Converse")


def check_bedrock(request):
    params = {"modelId": MODEL_ID, **request}
    report = ParamValidator().validate(params, _OPERATION.input_shape)
    assert not report.has_errors(), report.generate_report()
    faults = list(_faults(params, _OPERATION.input_shape, ""))
    assert not faults, faults


def body_of(request):
    """What boto3 sends, read back."""
    sent = create_serializer("rest-json").serialize_to_request({"modelId": MODEL_ID, **request}, _OPERATION)
    return json.loads(sent["body"])


def as_boto3(data):
    """A reply of the API as boto3 gives it: bytes are bytes, blocks it does not know are marked."""
    raw = {"body": json.dumps(data).encode(), "headers": {}, "status_code": 200}
    return create_parser("rest-json").parse(raw, _OPERATION.output_shape)


def _faults(value, shape, place):
    limits = shape.metadata
    if shape.type_name == "structure" and not getattr(shape, "is_document_type", False):
        if getattr(shape, "is_tagged_union", False) and len(value) != 1:
            yield place, "is a union of one key", sorted(value)
        for key, item in value.items():
            yield from _faults(item, shape.members[key], f"{place}.{key}")
    elif shape.type_name == "list":
        if len(value) < limits.get("min", 0):
            yield place, "is too short"
        for index, item in enumerate(value):
            yield from _faults(item, shape.member, f"{place}[{index}]")
    elif shape.type_name == "string":
        if shape.enum and value not in shape.enum:
            yield place, "is none of", shape.enum
        if not limits.get("min", 0) <= len(value) <= limits.get("max", len(value)):
            yield place, "has a length that is refused"
        if "pattern" in limits and not re.fullmatch(limits["pattern"], value):
            yield place, "does not match", limits["pattern"]
    elif shape.type_name == "blob" and len(value) < limits.get("min", 0):
        yield place, "is too short"
