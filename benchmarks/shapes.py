"""Which provider a request is for, told by its shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# What everything reads alike that has no sign of a provider: roles and plain texts.
USUAL = "openai-chat"
_NAMED_OTHERWISE = {"gemini": "contents", "openai-responses": "input"}
CONVERSATIONS = ("messages", *_NAMED_OTHERWISE.values())
_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})
_RESPONSES_PARTS = frozenset({"input_text", "output_text", "input_image", "input_file"})
_CHAT_PARTS = frozenset({"image_url", "input_audio", "refusal"})
_BEDROCK_BLOCKS = (
    "text",
    "toolUse",
    "toolResult",
    "reasoningContent",
    "image",
    "document",
    "cachePoint",
    "guardContent",
)
_BEDROCK_FIELDS = ("modelId", "inferenceConfig", "toolConfig", "additionalModelRequestFields")
_LANGCHAIN_TYPES = frozenset({"human", "ai", "tool", "system", "constructor", "AIMessageChunk"})


def conversation_of(wire: str) -> str:
    """The field of a request that holds its conversation."""
    return _NAMED_OTHERWISE.get(wire, "messages")


def is_request(value: Any) -> bool:
    return isinstance(value, dict) and (
        isinstance(value.get("messages"), list)
        or any(isinstance(value.get(key), list | str) for key in ("contents", "input"))
    )


def is_entry(value: Any) -> bool:
    """Whether this is a line of a saved transcript."""
    return isinstance(value, dict) and isinstance(value.get("kind"), str)


def is_message(value: Any) -> bool:
    return isinstance(value, dict) and (
        isinstance(value.get("role"), str) or isinstance(value.get("type"), str) or isinstance(value.get("parts"), list)
    )


def wires_of(value: Any) -> list[str]:
    """The wires that a request, or a list of messages, bears a sign of."""
    rows = value
    found: dict[str, None] = {}
    if isinstance(value, dict):
        found |= dict.fromkeys(_signs_of_request(value))
        rows = value.get("messages", ())
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            found |= dict.fromkeys(_signs_of_message(row))
    # Whose messages are those of Chat and more.
    if "langchain" in found:
        found.pop(USUAL, None)
    return list(found)


def _signs_of_request(request: dict[str, Any]) -> Iterator[str]:
    for wire, key in _NAMED_OTHERWISE.items():
        if key in request:
            yield wire
    system = request.get("system")
    if isinstance(system, str) or "anthropic_version" in request:
        yield "anthropic"
    elif isinstance(system, list) and system and isinstance(system[0], dict):
        yield "anthropic" if "type" in system[0] else "bedrock"
    if any(key in request for key in _BEDROCK_FIELDS):
        yield "bedrock"


def _signs_of_message(row: dict[str, Any]) -> Iterator[str]:
    kind = row.get("type")
    if isinstance(row.get("parts"), list):
        yield "gemini"
    elif isinstance(kind, str) and "role" not in row:
        yield "langchain" if kind in _LANGCHAIN_TYPES else "openai-responses"
    if row.get("role") in ("tool", "function"):
        yield USUAL
    calls = row.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            yield "langchain" if "args" in call else USUAL
    content = row.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict):
            yield from _signs_of_part(part)


def _signs_of_part(part: dict[str, Any]) -> Iterator[str]:
    kind = part.get("type")
    if kind is None:
        if any(key in part for key in _BEDROCK_BLOCKS):
            yield "bedrock"
    elif not isinstance(kind, str):
        return
    elif kind in _ANTHROPIC_BLOCKS or (kind in ("image", "document") and "source" in part):
        yield "anthropic"
    elif kind in _RESPONSES_PARTS:
        yield "openai-responses"
    elif kind in _CHAT_PARTS:
        yield USUAL
