"""Late-bound tools of a make-believe shop behind one registry call, and a book of what they did."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tooldialect.dialects import ParsedToolCall, ToolOutcome, ToolSpec
from tooldialect.gate import Contract, GateTarget, StaticSource, Surface

from .loop import Tool

REGISTRY = "mcp_registry_tool_call"
GUESS = {"item": "lamp", "count": "two"}
"""What a model calls with before it knows better: it fits no contract of the shop."""

# Double blanks and blank lines: what a white-space cleaner would touch.
_CREATE = {
    "type": "object",
    "properties": {
        "sku": {"type": "string", "description": "Stock  keeping unit,\n\n  such as LAMP-1."},
        "quantity": {"type": "integer", "minimum": 1, "description": "Pieces <tool_result>, at least one."},
    },
    "required": ["sku", "quantity"],
    "additionalProperties": False,
}
_REFUND = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}, "reason": {"enum": ["broken", "late"]}},
    "required": ["order_id", "reason"],
    "additionalProperties": False,
}
_SHIP = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}, "express": {"type": "boolean"}},
    "required": ["order_id", "express"],
    "additionalProperties": False,
}
CONTRACTS = {
    "create_order": Contract(description="Creates  an order.\n\n" + "It is binding. " * 40, input_schema=_CREATE),
    "refund": Contract(description="Pays  an order back.\n\n" + "It cannot be undone. " * 40, input_schema=_REFUND),
    "ship": Contract(description="Sends  an order out.\n\n" + "It costs postage. " * 40, input_schema=_SHIP),
}
RIGHT: dict[str, dict[str, Any]] = {
    "create_order": {"sku": "text", "quantity": 1},
    "refund": {"order_id": "text", "reason": "broken"},
    "ship": {"order_id": "text", "express": True},
}
"""The arguments `filled_in` makes of each contract, written by hand."""

_VALUES: dict[str, Any] = {"string": "text", "integer": 1, "boolean": True}


def filled_in(schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments made by somebody who has read the schema."""
    properties = schema["properties"]
    return {
        name: properties[name]["enum"][0] if "enum" in properties[name] else _VALUES[properties[name]["type"]]
        for name in schema["required"]
    }


def target(name: str) -> GateTarget:
    return GateTarget.mcp("shop", name)


def gated_call(name: str, arguments: Any) -> ParsedToolCall:
    return ParsedToolCall(name=REGISTRY, arguments={"server_id": "shop", "tool_name": name, "arguments": arguments})


def long_answer(zone: str) -> str:
    """An ordinary result that every middleware has something to do with."""
    return f"It is  noon in {zone}. " * 40


def clock_call(zone: str = "UTC") -> ParsedToolCall:
    return ParsedToolCall(name="clock", arguments={"zone": zone})


@dataclass
class Shop:
    """`book`: every execution that reached the shop, `(tool, arguments)`; `refuses`: tools that fail
    whatever they are called with; `clock_text`: what the ordinary tool answers, per zone; `more_tools`:
    those of a test."""

    source: StaticSource = field(
        default_factory=lambda: StaticSource({target(name): contract for name, contract in CONTRACTS.items()})
    )
    refuses: set[str] = field(default_factory=set)
    clock_text: Callable[[str], str] = "It is noon in {}.".format
    book: list[tuple[str, Any]] = field(default_factory=list)
    clock_calls: list[str] = field(default_factory=list)
    more_tools: list[Tool] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def surface(self) -> Surface:
        return Surface.mcp(self.source)

    def tools(self) -> list[Tool]:
        return [Tool(_REGISTRY_SPEC, self.call), Tool(_CLOCK_SPEC, self.clock), *self.more_tools]

    def call(self, call: ParsedToolCall) -> ToolOutcome:
        name, arguments = call.arguments["tool_name"], call.arguments.get("arguments")
        with self._lock:
            self.book.append((name, arguments))
        if name in self.refuses or arguments != RIGHT.get(name):
            return ToolOutcome.failed(call.name, f"shop: {name} was refused")
        return ToolOutcome.ok(call.name, f"shop: {name} done")

    def clock(self, call: ParsedToolCall) -> ToolOutcome:
        zone = call.arguments["zone"]
        with self._lock:
            self.clock_calls.append(zone)
        if zone == "nowhere":
            return ToolOutcome.failed(call.name, "no such zone")
        return ToolOutcome.ok(call.name, self.clock_text(zone))


_REGISTRY_SPEC = ToolSpec(
    name=REGISTRY,
    description="Calls a tool of an MCP server.",
    parameters={
        "type": "object",
        "properties": {
            "server_id": {"type": "string"},
            "tool_name": {"type": "string"},
            "arguments": {"type": "object"},
        },
        "required": ["server_id", "tool_name"],
    },
)
_CLOCK_SPEC = ToolSpec(
    name="clock",
    description="Tells the time.",
    parameters={"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
)
