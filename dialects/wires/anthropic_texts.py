"""What the host wrote in Anthropic messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from .candidates import candidates, content_may_begin
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
        rest = chain([message], rest)
    return found + candidates(_may_begin)(list(rest), prefix)


def _may_begin(message: Any, prefix: str) -> bool:
    if message["role"] != "user":
        return False
    content = message["content"]
    if type(content) is str:
        return content.removeprefix(prefix) is not content
    for block in content:
        text = block["content"] if block["type"] == "tool_result" else block.get("text")
        if text is not None and content_may_begin(text, prefix):
            return True
    return False
