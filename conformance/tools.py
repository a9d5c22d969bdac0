"""Tools that the clauses about calls and catalogues offer."""

from __future__ import annotations

from tooldialect.dialects import ToolSpec

WEATHER = ToolSpec(
    name="get_weather",
    description="The weather in a place",
    parameters={
        "type": "object",
        "properties": {
            "location": {"type": "string"},
            "unit": {"enum": ["metric", "imperial"]},
            "days": {"type": "integer"},
        },
        "required": ["location"],
    },
)
ANYTHING = ToolSpec(
    name="run-it.v2",
    description="Runs it",
    parameters={
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "share": {"type": "number"},
            "flag": {"type": "boolean"},
            "list": {"type": "array"},
            "map": {"type": "object"},
            "any": {},
            "either": {"type": ["string", "integer", "null"]},
            "nothing": {"type": "null"},
        },
    },
)
PING = ToolSpec(name="ping", description="Answers")
OTHER = ToolSpec(
    name="zap_gremlin",
    description="Zaps",
    parameters={"type": "object", "properties": {"force": {"type": "string"}}, "required": ["force"]},
)
TOOLS = (WEATHER, ANYTHING, PING)
