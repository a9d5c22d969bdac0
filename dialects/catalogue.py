r"""What a model is told it can call.

Descriptions and schemas come from servers nobody vouches for. Every `<` in what they wrote
is `\u003c`, inside JSON, so none of it can close its block or spell a tag, and a line break
in a description begins no line of the catalogue.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from .dialect import CallFormat
from .parsing.json_form import JSON_LESS_THAN
from .parsing.schema_types import ANY_TYPE, allowed_types
from .tags import CATALOGUE_TAG
from .text import LINE_ENDS
from .transcript import ToolSpec

# What the line of a slot says in words; everything else of its schema follows as JSON.
_IN_WORDS = frozenset({"type", "description", "title", "nullable"})
# What the slots of a tool say already; everything else of its schema follows as JSON.
_IN_SLOTS = frozenset({"type", "properties", "required", "title", "description", "$schema", "additionalProperties"})


def render_catalogue(tools: Iterable[ToolSpec], call_format: CallFormat) -> str:
    """The tool section of a prompt, a block of lines; no tools, or `native`, give none: there
    the tools travel in the request's own field.

    `json`: a JSON object a line, `name`, `description` and `parameters` (the full schema).
    `slots`: a signature per tool, then what fills each slot.
    """
    render = {"json": _as_json, "slots": _as_slots}.get(call_format)
    tools = tuple(tools)
    if render is None or not tools:
        return ""
    return "\n".join([f"<{CATALOGUE_TAG}>", *map(render, tools), f"</{CATALOGUE_TAG}>"])


def _as_json(tool: ToolSpec) -> str:
    return _json({"name": tool.name, "description": tool.description, "parameters": tool.parameters})


def _as_slots(tool: ToolSpec) -> str:
    from .parsing.slot_form import SlotForm, shown_parameter  # for one dialect of three

    form = SlotForm(tool)
    head = form.signature if form.writable else f"{_json(tool.name)} (call it in the JSON form)"
    lines = [f"{head}  {_json(tool.description)}" if tool.description else head]
    for number, name in enumerate(form.parameters):
        schema = form.schemas[name]
        required = "required" if name in form.required else "optional"
        types = _type_words(allowed_types(schema, tool.parameters))
        words = f"  {number} {shown_parameter(name)}: {types}, {required}"
        details = schema if isinstance(schema, Mapping) else {}
        if details.get("description"):
            words += f". {_json(details['description'])}"
        rest = {key: value for key, value in details.items() if key not in _IN_WORDS}
        lines.append(f"{words}. {_json(rest)}" if rest else words)
    rest = {key: value for key, value in tool.parameters.items() if key not in _IN_SLOTS}
    if rest:
        lines.append(f"  also: {_json(rest)}")
    return "\n".join(lines)


def _type_words(types: frozenset[str]) -> str:
    if types >= ANY_TYPE - {"null"}:
        return "any value, as text"
    shown = types - {"integer"} if "number" in types else types
    return " or ".join(sorted(shown)) or "any value"


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False).replace("<", JSON_LESS_THAN)
    return text if text.isascii() else text.translate(LINE_ENDS)
