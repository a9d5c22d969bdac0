"""Calls for the examples of a prompt, made of the tools it lists: an invented tool would be called.

Examples stand in the host's own words. What a server wrote, names and values alike, is in
them only where it is too short and plain to say anything.
"""

from __future__ import annotations

import re
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
# Stands for the tools where none has plain names: no tool is called so.
_ANY_TOOL = ToolSpec(name="TOOL", parameters={"properties": {"PARAMETER": {"type": "string"}}})
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_.:/$-]{0,63}")
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_.-]{1,32}")
_LARGEST = 10**9
_VALUES: tuple[tuple[str, Any], ...] = (
    ("string", "text"),
    ("integer", 1),
    ("number", 1.5),
    ("boolean", True),
    ("array", []),
    ("object", {}),
)


def sample_tools(tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ToolSpec]:
    """The tools of the examples: the first two whose names are plain, or one twice."""
    plain = (tool for tool in tools or EXAMPLE_TOOLS if _has_plain_names(tool))
    first = next(plain, _ANY_TOOL)
    return first, next(plain, first)


def sample_calls(tools: Sequence[ToolSpec]) -> list[ParsedToolCall]:
    """A call of each of the `sample_tools`."""
    return [
        ParsedToolCall(
            name=tool.name,
            arguments={name: _value(schema, tool.parameters) for name, schema in _shown(tool).items()},
        )
        for tool in sample_tools(tools)
    ]


def _has_plain_names(tool: ToolSpec) -> bool:
    return all(map(_PLAIN_NAME.fullmatch, (tool.name, *_shown(tool))))


def _shown(tool: ToolSpec) -> dict[str, Any]:
    schemas, required = parameters_of(tool.parameters)
    names = [name for name in schemas if name in required] or list(schemas)[:1]
    return {name: schemas[name] for name in names}


def _value(schema: Any, root: Any) -> Any:
    types = allowed_types(schema, root)
    if isinstance(schema, Mapping) and "$ref" in schema:
        schema = resolve(root, schema["$ref"])
    published = _published(schema) if isinstance(schema, Mapping) else []
    plain = [value for value in published if _is_plain(value)]
    return plain[0] if plain else next((value for kind, value in _VALUES if kind in types), None)


def _published(schema: Mapping[str, Any]) -> list[Any]:
    if "const" in schema:
        return [schema["const"]]
    listed = [values for keyword in ("enum", "examples") if isinstance(values := schema.get(keyword), list)]
    return [*(value for values in listed for value in values), *(schema[key] for key in ("default",) if key in schema)]


def _is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return _PLAIN_VALUE.fullmatch(value) is not None
    return value is None or (isinstance(value, (bool, int, float)) and abs(value) <= _LARGEST)
