"""What OpenAI-shaped messages have in common: roles, host texts and the tools field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .reply import field, message_list, text_parts
from .tool_specs import PreparedTool

# A tool's words without a call are the user's turn: a `tool` message must answer a call.
ROLES = {"system": "system", "user": "user", "tool": "user"}
_HOST_ROLES = ("user", "tool", "function")


def host_texts_of(messages: Any) -> Iterator[str]:
    """Each text part of user turns and tool results, from dicts or objects, of a list or a request."""
    for message in message_list(messages):
        if field(message, "role") in _HOST_ROLES:
            yield from text_parts(field(message, "content"))


def function_tools(tools: Sequence[PreparedTool], spell: Callable[[str], str] = str) -> list[dict[str, Any]]:
    """The `tools` field, names as `spell` gives them."""
    described = []
    for tool in tools:
        function: dict[str, Any] = {"name": spell(tool.name)}
        if tool.description.strip():
            function["description"] = tool.description
        function["parameters"] = tool.parameters
        described.append({"type": "function", "function": function})
    return described
