"""What OpenAI-shaped messages have in common: roles, host texts and the tools field."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..host_words import HostTexts
from .candidates import candidates
from .prepared_tools import PreparedTool
from .reply import field, message_list, text_parts

# Before 3.13 a call of `startswith` costs twice as much as one of `removeprefix`.
_CALLS_ARE_FAST = sys.version_info >= (3, 13)
# A tool's words without a call are the user's turn: a `tool` message must answer a call.
ROLES = {"system": "system", "user": "user", "tool": "user"}
_HOST_ROLES = ("user", "tool", "function")


def host_texts_of(messages: Any) -> HostTexts:
    """Each text part of user turns and tool results, from dicts or objects, of a list or a request."""
    return HostTexts(message_list(messages), _texts_of, _candidate_messages)


def _texts_of(message: Any) -> Iterator[str]:
    if field(message, "role") in _HOST_ROLES:
        yield from text_parts(field(message, "content"))


def _candidate_messages(messages: list[Any], prefix: str) -> list[Any]:
    found: list[Any] = []
    add = found.append
    rest = iter(messages)
    try:
        # A test of the text's type would cost as much as the rest. What a model said is not even
        # touched: once a request has been sent, the caches hold other things.
        if _CALLS_ARE_FAST:
            for message in rest:
                if message["role"] != "assistant":
                    text = message["content"]
                    if text and text.startswith(prefix):
                        add(message)
        else:
            for message in rest:
                if message["role"] != "assistant":
                    text = message["content"]
                    # The very text, where it does not begin so.
                    if text and text.removeprefix(prefix) is not text:
                        add(message)
    except Exception:  # a host's row may be anything, and say no in any way
        add(message)
    return found + candidates(_may_begin)(list(rest), prefix)


def _may_begin(message: Any, prefix: str) -> bool:
    if type(message) is not dict:
        return True
    text = message["role"] != "assistant" and message.get("content")
    return text.removeprefix(prefix) is not text if type(text) is str else bool(text)


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
