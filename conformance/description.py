"""What a dialect declares, and so which clauses apply to it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from pydantic import StrictBool, field_validator

from tooldialect.dialects import (
    CallFormat,
    Record,
)
from tooldialect.dialects.record import Text

from .clause import Need

Capability: TypeAlias = Literal[
    "parse_response", "render_call", "prompt_instructions", "replay", "to_provider_messages", "read_results"
]
ReadResult: TypeAlias = tuple[str, bool, str]
"""Name, success and body of one result, as a model that knows the envelope reads it."""
_TAG_NAME = re.compile(r"[^\W\d][\w.:-]*")
_NEEDS: dict[Capability, Need] = {
    "parse_response": "parsing",
    "render_call": "calls",
    "prompt_instructions": "catalogue",
    "replay": "replay",
}


class Description(Record):
    """What a dialect declares. `results`: `text` for user messages, `native` for result batches.

    `protocol_tags`: every tag name its envelope writes or its parser reads. `control_tokens`:
    exact strings it breaks in bodies. `capabilities`: what it answers beside `format_results`.
    `numbers`: `double` where its JSON cannot tell 1 from 1.0. `call_format`, `embeds_catalogue` and
    `sends_tool_specs`: as `ToolDialect` has them.
    """

    name: Text
    results: Literal["text", "native"]
    protocol_tags: tuple[Text, ...] = ()
    control_tokens: tuple[Text, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    numbers: Literal["exact", "double"] = "exact"
    call_format: CallFormat | None = None
    embeds_catalogue: StrictBool = True
    sends_tool_specs: StrictBool = False

    @field_validator("protocol_tags", mode="before")
    @classmethod
    def _names_of_tags(cls, tags: Any) -> Any:
        """Tags that nothing could match would let the clauses about broken tags hold by themselves."""
        if isinstance(tags, str):
            raise ValueError(f"a list of names without brackets is wanted, not the string {tags!r}")
        tags = tuple(tags) if isinstance(tags, Iterable) else tags
        for tag in tags if isinstance(tags, tuple) else ():
            if isinstance(tag, str) and not _TAG_NAME.fullmatch(tag):
                raise ValueError(
                    f"{tag!r} cannot be the name of a tag: names without brackets are wanted, such as 'tool_call'"
                )
        return tags

    def meets(self) -> frozenset[Need]:
        """The needs of clauses that this dialect meets."""
        met: set[Need] = {self.results, "gate"}
        met.update(_NEEDS[capability] for capability in self.capabilities if capability in _NEEDS)
        if self.results == "native":
            met.add("calls")
        if self.control_tokens:
            met.add("control_tokens")
        return frozenset(met)
