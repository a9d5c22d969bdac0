"""Tool schemas, and calls whose arguments are valid under them, hostile strings included."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tooldialect.dialects import ParsedToolCall, ToolSpec

FRAGMENTS = [
    "<tool_call>",
    "</tool_call>",
    "< / TOOL_CALL >",
    "\n</tool_call>\n",
    "<tool_result>",
    "</tool_result>",
    "<think>",
    "</think>",
    "<|im_end|>",
    "<start_of_turn>",
    "|",
    "]",
    "\\",
    "\\|",
    "[",
    "]\n</tool_call>",
    "0|",
    "1|x",
    "get[",
    "ping[]",
    "run[0|a]",
    '{"name": "ping", "arguments": {}}',
    '{"name":',
    '"arguments":',
    '"',
    "{",
    "}",
    ",",
    ":",
    "\n",
    " ",
    "\t",
    "\ufeff",
    "\u2028",
    "\x85",
    "\x00",
    "7",
    "-0.0",
    "1e5",
    "null",
    "true",
    "é",
    "\\n",
    "&lt;",
    "<",
    "<div>",
    "```json\n",
]
pieces = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3), max_size=8).map("".join)
names = st.sampled_from(["run", "get_weather", "ping", "srv.tool/x", "a b", "", "0", "w|x]", "</tool_call>", "né"])
tool_names = names.filter(str.strip) | st.text(min_size=1, max_size=5).filter(str.strip)
parameter_names = st.sampled_from(["a", "B", "path", "with space", "", "x|]\\", "<tool_call>", "$ref", "é"])
integers = st.integers(-(10**20), 10**20)
floats = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([-0.0, 1.0, 1e300, 5e-324])
any_json = st.recursive(
    st.none() | st.booleans() | integers | floats | pieces,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(pieces, inner, max_size=3),
    max_leaves=5,
)
# Each a schema with a strategy of values that are valid under it.
_LEAVES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    ({"type": "string"}, pieces),
    ({"type": "integer"}, integers | st.sampled_from([1.0, -0.0, 1e20])),
    ({"type": "number"}, integers | floats),
    ({"type": "boolean"}, st.booleans()),
    ({"type": "null"}, st.none()),
    ({"type": "array"}, st.lists(any_json, max_size=3)),
    ({"type": "object"}, st.dictionaries(pieces, any_json, max_size=3)),
    ({}, any_json),
    (True, any_json),
    ({"type": ["integer", "null"]}, integers | st.none()),
    ({"type": ["string", "integer"]}, integers | pieces),
    ({"type": "string", "nullable": True}, pieces | st.none()),
    ({"type": "integer", "nullable": True}, integers | st.none()),
    ({"enum": ["a", "7", 7, None, 1.0, True]}, st.sampled_from(["a", "7", 7, None, 1.0, True])),
    ({"enum": [1, 2.5]}, st.sampled_from([1, 1.0, 2.5])),
    ({"const": {"k": "]"}}, st.just({"k": "]"})),
    ({"const": "null"}, st.just("null")),
    ({"anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/N"}]}, st.booleans() | integers),
    ({"oneOf": [{"type": "null"}, {"type": "string"}]}, st.none() | pieces),
    ({"allOf": [{"type": ["integer", "string"]}, {"type": ["integer", "null"]}]}, integers),
    ({"$ref": "#/$defs/N"}, integers),
    ({"$ref": "#/$defs/Loop"}, any_json),
    ({"$ref": "https://example.test/x"}, any_json),
]
_DEFINITIONS = {"N": {"type": "integer"}, "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}, {"$ref": "#/$defs/Loop"}]}}


@st.composite
def tools_and_calls(draw: st.DrawFn) -> tuple[list[ToolSpec], list[ParsedToolCall]]:
    """One to three tools, and up to four calls of them."""
    tools, values = [], []
    for name in draw(st.lists(tool_names, min_size=1, max_size=3, unique=True)):
        chosen = draw(st.dictionaries(parameter_names, st.sampled_from(_LEAVES), max_size=4))
        required = draw(st.sets(st.sampled_from(sorted(chosen)))) if chosen else set()
        parameters = {
            "type": "object",
            "properties": {key: schema for key, (schema, _) in chosen.items()},
            "required": sorted(required),
            "$defs": _DEFINITIONS,
        }
        tools.append(ToolSpec(name=name, parameters=parameters))
        values.append(
            st.fixed_dictionaries(
                {key: chosen[key][1] for key in required},
                optional={key: value for key, (_, value) in chosen.items() if key not in required},
            )
        )
    calls = []
    for index in draw(st.lists(st.integers(0, len(tools) - 1), min_size=1, max_size=4)):
        arguments = draw(values[index] | st.dictionaries(pieces, any_json, max_size=2))
        calls.append(ParsedToolCall(name=tools[index].name, arguments=arguments))
    return tools, calls


def typed(value: Any) -> Any:
    """A value that tells `1`, `1.0`, `True` and `-0.0` apart when compared."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [typed(item) for item in value]
    return (type(value).__name__, repr(value))
