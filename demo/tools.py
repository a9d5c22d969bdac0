"""What the model is told it can call: three tools of the host, none of which shows a real schema."""

from __future__ import annotations

from tooldialect.dialects import ToolSpec

MCP_CALL = ToolSpec(
    name="mcp_registry_tool_call",
    description="Call a tool of a connected MCP server. Servers: git, time.",
    parameters={
        "type": "object",
        "properties": {
            "server_id": {"type": "string"},
            "tool_name": {"type": "string"},
            "arguments": {"type": "object", "description": "what the tool takes"},
        },
        "required": ["server_id", "tool_name"],
    },
)
DELEGATE = ToolSpec(
    name="delegate",
    description="Hand a task to a sub-agent; the answer is what it reports.",
    parameters={"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"]},
)
SAVE_NOTE = ToolSpec(
    name="save_note",
    description="Save a note in the working folder.",
    parameters={
        "type": "object",
        "properties": {
            "file_name": {"type": "string", "description": "ends in .md"},
            "body": {"type": "string"},
        },
        "required": ["file_name", "body"],
        "additionalProperties": False,
    },
)
# The whole schema stays with the host, to save context: the model reads it when it first calls wrongly.
SAVE_NOTE_DEFERRED = SAVE_NOTE.model_copy(update={"parameters": {"type": "object"}})

TOOLS = (MCP_CALL, DELEGATE, SAVE_NOTE_DEFERRED)
