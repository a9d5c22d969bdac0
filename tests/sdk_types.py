"""The SDKs' own request types as judges: lazy iterables forced, keys they do not know refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from anthropic.types import MessageParam, TextBlockParam, ToolParam
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
from pydantic import BaseModel, ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

_CLOSED = ConfigDict(extra="forbid")


@with_config(_CLOSED)
class _OpenAIRequest(TypedDict, total=False):
    messages: list[ChatCompletionMessageParam]
    tools: list[ChatCompletionFunctionToolParam]


@with_config(_CLOSED)
class _AnthropicRequest(TypedDict, total=False):
    messages: list[MessageParam]
    system: list[TextBlockParam]
    tools: list[ToolParam]


_OPENAI = TypeAdapter(_OpenAIRequest)
_ANTHROPIC = TypeAdapter(_AnthropicRequest)


def check_openai(request):
    _force(_OPENAI.validate_python(request))


def check_anthropic(request):
    _force(_ANTHROPIC.validate_python(request))


def _force(value):
    """Validates what pydantic left lazy. A reply model where a parameter belongs is a key too many:
    the unions hold both, and the models take any key."""
    if isinstance(value, BaseModel):
        raise AssertionError(f"not a parameter of a request: {value!r}")
    if isinstance(value, Mapping):
        for item in value.values():
            _force(item)
    elif isinstance(value, Iterator | list | tuple) or type(value).__name__ == "ValidatorIterator":
        for item in value:
            _force(item)
