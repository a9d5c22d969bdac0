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


def candidate_turns(messages: list[Any], prefix: str, end: str) -> list[Any]:
    """Messages of which a text may begin so: what is no dict of strings is left to a closer look."""
    found: list[Any] = []
    add = found.append
    for message in messages:
        try:
            if message["role"] != "user":
                continue
            content = message["content"]
            if content.__class__ is str:
                if content < end and content >= prefix:
                    add(message)
                continue
            for block in content:
                text = block["content"] if block["type"] == "tool_result" else block.get("text", "")
                if text.__class__ is not str:
                    if _parts_may_begin(text, prefix, end):
                        add(message)
                        break
                elif text < end and text >= prefix:
                    add(message)
                    break
        except Exception:  # a host's row may be anything, and say no in any way
            add(message)
    return found


def _parts_may_begin(parts: Any, prefix: str, end: str) -> bool:
    # A part without a text is an image; what is no dict raises, for the closer look.
    return any(prefix <= part.get("text", "") < end for part in parts)
