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
        # A test of each block's text would cost a tenth.
        for message in rest:
            if message["role"] != "user":
                continue
            content = message["content"]
            if type(content) is list:
                for block in content:
                    text = block["content"] if block["type"] == "tool_result" else block["text"]
                    if text.removeprefix(prefix) is not text:
                        add(message)
                        break
            # What can be read but once is left for the closer look to read.
            elif type(content) is not str or content.removeprefix(prefix) is not content:
                add(message)
    except Exception:  # a host's row may be anything, and say no in any way
        rest = chain([message], rest)
    return found + candidates(_may_begin)(list(rest), prefix)


def _may_begin(message: Any, prefix: str) -> bool:
    if type(message) is not dict:
        return True
    if message["role"] != "user":
        return False
    content = message["content"]
    if type(content) is not list:
        return type(content) is not str or content.removeprefix(prefix) is not content
    for block in content:
        if type(block) is not dict:
            return True
        text = block["content"] if block["type"] == "tool_result" else block.get("text")
        if content_may_begin(text, prefix):
            return True
    return False
