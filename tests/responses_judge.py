"""The `openai` types of Responses as judge: extra keys refused, lazy iterables forced."""

from __future__ import annotations

from openai.types.responses import FunctionToolParam, ResponseInputItem, ResponseInputItemParam
from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

from sdk_types import _force


@with_config(ConfigDict(extra="forbid"))
class _Request(TypedDict, total=False):
    input: list[ResponseInputItemParam]
    tools: list[FunctionToolParam]


_REQUEST = TypeAdapter(_Request)
_OBJECTS = TypeAdapter(list[ResponseInputItem])


def check_responses(request):
    _force(_REQUEST.validate_python(request))


def as_objects(request):
    """The items as the SDK's own models."""
    return _OBJECTS.validate_python(request["input"])
