"""Calls for the examples of a prompt, made of the tools it lists: an invented tool would be called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .parsing.schema_types import allowed_types, parameters_of
from .schema_refs import resolve
from .transcript import ParsedToolCall, ToolSpec

EXAMPLE_TOOLS = (
    ToolSpec(
        name="get_weather",
        description="Current weather in a city",
        parameters={
            "type": "object",
            "properties": {"location": {"type": "string"}, "unit": {"enum": ["metric", "imperial"]}},
            "required": ["location"],
        },
    ),
    ToolSpec(name="ping"),
)
_VALUES: tuple[tuple[str, Any], ...] = (
    ("string", "text"),
    ("integer", 1),
    ("number", 1.5),
    ("boolean", True),
    ("array", []),
    ("object", {}),
)


def sample_calls(tools: Sequence[ToolSpec]) -> list[ParsedToolCall]:
    """Two calls: of the first two tools, or of one twice."""
    first, *others = tools
    return [_sample(first), _sample(others[0] if others else first)]


def _sample(tool: ToolSpec) -> ParsedToolCall:
    schemas, required = parameters_of(tool.parameters)
    names = [name for name in schemas if name in required] or list(schemas)[:1]
    return ParsedToolCall(name=tool.name, arguments={name: _value(schemas[name], tool.parameters) for name in names})


def _value(schema: Any, root: Any) -> Any:
    types = allowed_types(schema, root)
    if isinstance(schema, Mapping) and "$ref" in schema:
        schema = resolve(root, schema["$ref"])
    if isinstance(schema, Mapping):
        if "const" in schema:
            return schema["const"]
        for keyword in ("enum", "examples"):
            values = schema.get(keyword)
            if isinstance(values, list) and values:
                return values[0]
        if "default" in schema:
            return schema["default"]
    return next((value for kind, value in _VALUES if kind in types), None)
