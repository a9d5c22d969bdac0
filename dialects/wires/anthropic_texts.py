"""What the host wrote in Anthropic messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .reply import field, parts_of, text_parts


def texts_of_turn(message: Any) -> Iterator[str]:
    """Each text of a user turn: its blocks, and the parts of its results."""
    if field(message, "role") != "user":
        return
    content = field(message, "content")
    if isinstance(content, str):
        yield content
        return
    for block in parts_of(content):
        if field(block, "type") == "tool_result":
            yield from text_parts(field(block, "content"))
        else:
            yield from text_parts([block])


def candidate_turns(messages: list[Any], prefix: str) -> list[Any]:
    """Messages of which a text may begin so: what is no dict of strings is left to a closer look."""
    found: list[Any] = []
    add = found.append
    rest = iter(messages)
    try:
        # Most requests are such blocks throughout; a test of each text's type would cost a tenth.
        for message in rest:
            if message["role"] == "user":
                for block in message["content"]:
                    text = block["content"] if block["type"] == "tool_result" else block["text"]
                    if text.removeprefix(prefix) is not text:
                        add(message)
                        break
    except Exception:  # a host's row may be anything, and say no in any way
        if _may_begin(message, prefix):
            add(message)
    found += [message for message in rest if _may_begin(message, prefix)]
    return found


def _may_begin(message: Any, prefix: str) -> bool:
    try:
        if message["role"] != "user":
            return False
        content = message["content"]
        if content.__class__ is str:
            return content.removeprefix(prefix) is not content
        for block in content:
            text = block["content"] if block["type"] == "tool_result" else block.get("text", "")
            if text.__class__ is not str:
                # A part without a text is an image; what is no dict raises, for the closer look.
                if any(part.get("text", "").startswith(prefix) for part in text):
                    return True
            elif text.removeprefix(prefix) is not text:
                return True
    except Exception:
        return True
    return False
