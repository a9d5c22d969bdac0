"""How the scripted model writes: replies in the shape of a provider, calls as it was taught.

Written by hand from what the prompts teach, so that the library does not answer itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .model import Call, Turn
from .tools import TOOLS

_SLOTS = {tool.name: sorted(tool.parameters.get("properties", {})) for tool in TOOLS}


def openai_calls(turn: Turn, number: int) -> dict[str, Any]:
    """A chat completion with structured calls."""
    calls = [
        {
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for place, call in enumerate(turn.calls)
    ]
    message = {"role": "assistant", "content": turn.text, **({"tool_calls": calls} if calls else {})}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}]}


def anthropic_calls(turn: Turn, number: int) -> dict[str, Any]:
    """A message with `tool_use` blocks."""
    calls = [
        {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": call.name, "input": call.arguments}
        for place, call in enumerate(turn.calls)
    ]
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": turn.text}, *calls],
        "stop_reason": "tool_use" if calls else "end_turn",
    }


def openai_text(write: Callable[[Call], str]) -> Callable[[Turn, int], dict[str, Any]]:
    """A chat completion whose calls stand in its text."""

    def spell(turn: Turn, _number: int) -> dict[str, Any]:
        message = {"role": "assistant", "content": _in_text(turn, write)}
        return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    return spell


def plain_text(write: Callable[[Call], str]) -> Callable[[Turn, int], str]:
    """The generated text of a local model."""
    return lambda turn, _number: _in_text(turn, write)


def json_call(call: Call) -> str:
    """The call of the xml dialect."""
    return _tagged(json.dumps({"name": call.name, "arguments": call.arguments}))


def slot_call(call: Call) -> str:
    """The call of p-format; in the JSON form where the catalogue showed no slots for it."""
    slots = _SLOTS[call.name]
    if not set(call.arguments) <= set(slots):
        return json_call(call)
    filled = [f"{slots.index(name)}|{_slot_value(value)}" for name, value in call.arguments.items()]
    return _tagged(f"{call.name}[{'|'.join(filled)}]")


def _slot_value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("]", "\\]")


def _tagged(call: str) -> str:
    return f"<tool_call>\n{call}\n</tool_call>"


def _in_text(turn: Turn, write: Callable[[Call], str]) -> str:
    return "\n".join([turn.text, *map(write, turn.calls)])
