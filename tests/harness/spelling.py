"""A model's reply as its provider reports it, in the dialect the model was taught."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tooldialect.dialects import ParsedToolCall, ToolDialect, Wire


def spell_reply(dialect: ToolDialect, wire: Wire, text: str, calls: Sequence[ParsedToolCall]) -> dict[str, Any]:
    """Ids restart with every reply, as some providers' do."""
    if dialect.call_format != "native":
        return _reply(wire, "\n".join([text, *map(dialect.render_call, calls)]), [])
    return _reply(wire, text, [(f"call_{number}", call) for number, call in enumerate(calls)])


def _reply(wire: Wire, text: str, calls: list[tuple[str, ParsedToolCall]]) -> dict[str, Any]:
    if wire.name == "anthropic":
        uses = [{"type": "tool_use", "id": id, "name": call.name, "input": call.arguments} for id, call in calls]
        return {
            "role": "assistant",
            "content": [{"type": "text", "text": text}, *uses],
            "stop_reason": "tool_use" if calls else "end_turn",
        }
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
            for id, call in calls
        ]
    return {"choices": [{"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}]}
