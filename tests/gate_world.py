"""A small world for tests of the gate: one MCP surface, contracts at hand, calls to make."""

from __future__ import annotations

from tooldialect.dialects import ParsedToolCall
from tooldialect.gate import Contract, ContractGate, GateTarget, StaticSource, Surface

PROXY = "mcp_registry_tool_call"
PREFIX = "[contract-gate:"
MAIL = Contract(
    description="Send a mail",
    input_schema={
        "type": "object",
        "properties": {"to": {"type": "string"}, "subject": {"type": "string"}},
        "required": ["to"],
    },
)
GUESS = {"recipient": "a@example.test"}
GOOD = {"to": "a@example.test"}


def call(name, arguments=None, id=None):
    """A call of the tool `name` of the server `srv`."""
    return ParsedToolCall(
        name=PROXY, arguments={"server_id": "srv", "tool_name": name, "arguments": arguments or {}}, id=id
    )


def target(name):
    return GateTarget.mcp("srv", name)


def key(name):
    return f"mcp:srv:{name}"


def world(contracts=None, **options):
    """A gate over one MCP surface, and its source, whose contracts can be changed."""
    contracts = {"send": MAIL} if contracts is None else contracts
    source = StaticSource({target(name): contract for name, contract in contracts.items()})
    return ContractGate([Surface.mcp(source)], **options), source


def delivered(run, name="send", arguments=None):
    """The message that answers a guess."""
    decision = run.consult(call(name, arguments or GUESS))
    assert decision.message is not None, decision.reason
    assert decision.message.startswith(PREFIX)
    return decision.message
