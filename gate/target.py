"""What a gated call is aimed at, and the key that names it in a marker."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Self
from urllib.parse import unquote

from pydantic import ValidationInfo, field_validator

from tooldialect.dialects import Record
from tooldialect.dialects.record import Text

# The marker's own punctuation, and whatever a line- or space-minded rewriter would touch.
_RESERVED = re.compile(r"[%:,@\]<>\s\x00-\x20\x7f-\xa0]")
# Composio's API folds its slugs.
_ASCII_UPPER = {ord(lower): ord(lower) - 32 for lower in "abcdefghijklmnopqrstuvwxyz"}


def _escape(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


class GateTarget(Record):
    """One late-bound tool: `kind` is the namespace, `parts` name the tool in it.

    Equal targets have equal keys and different targets different ones.
    """

    kind: Text
    parts: tuple[Text, ...]

    def __init__(self, kind: str, parts: tuple[str, ...]) -> None:
        super().__init__(kind=kind, parts=parts)  # type: ignore[call-arg]  # mypy reads the fields of the base

    @field_validator("kind")
    @classmethod
    def _kind_is_a_word(cls, kind: str) -> str:
        if not kind.strip():
            raise ValueError("a target needs a kind, such as 'mcp' or 'tool'")
        return kind

    @field_validator("parts")
    @classmethod
    def _parts_are_named(cls, parts: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if not parts or not all(part.strip() for part in parts):
            raise ValueError(f"a target needs at least one part and none may be blank: {parts!r}")
        if info.data.get("kind") == "composio":
            return tuple(part.translate(_ASCII_UPPER) for part in parts)
        return parts

    @classmethod
    def composio(cls, slug: str) -> Self:
        """A Composio action; slugs fold to ASCII upper case."""
        return cls("composio", (slug,))

    @classmethod
    def mcp(cls, server: str, tool: str) -> Self:
        """A tool of an MCP server, both exactly as spelled."""
        return cls("mcp", (server, tool))

    @classmethod
    def workflow(cls, workflow_id: str) -> Self:
        """A workflow of the host."""
        return cls("workflow", (workflow_id,))

    @classmethod
    def tool(cls, name: str) -> Self:
        """A tool of the host whose schema was deferred."""
        return cls("tool", (name,))

    @classmethod
    def from_key(cls, key: str) -> Self:
        """The target that has this key. Raises ValueError for what is no key."""
        kind, *parts = (unquote(part, errors="strict") for part in key.split(":"))
        target = cls(kind, tuple(parts))
        if target.key != key:
            raise ValueError(f"{key!r} is not the key of any target")
        return target

    @cached_property
    def key(self) -> str:
        """`kind:part[:part…]`, parts percent-encoded where they hold what the marker reserves."""
        return ":".join(_RESERVED.sub(_escape, part) for part in (self.kind, *self.parts))

    def __eq__(self, other: object) -> bool:
        # Of a record's own comparison only this much matters, and a rescan looks up every key.
        return isinstance(other, GateTarget) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return self.key
