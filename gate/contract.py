"""The contract of a late-bound tool: everything its provider says of how to call it."""

from __future__ import annotations

from functools import cached_property

import xxhash

from tooldialect.dialects import Record
from tooldialect.dialects.record import JsonObject, Text
from tooldialect.dialects.text import canonical_json


class Contract(Record):
    """`input_schema` is JSON Schema as the provider wrote it; `required` adds names to the
    schema's own; `effect` is the provider's word for what a call does (`read`, `write`, …)."""

    description: Text = ""
    input_schema: JsonObject
    required: tuple[Text, ...] | None = None
    effect: Text | None = None

    @cached_property
    def version(self) -> str:
        """XXH3-64 of the contract as JSON with sorted keys, 16 hex digits.

        The order of keys does not count, the order of lists (`enum`, `anyOf`) does.
        """
        fields = [
            self.description,
            self.input_schema,
            None if self.required is None else list(self.required),
            self.effect,
        ]
        return xxhash.xxh3_64_hexdigest(canonical_json(fields).encode())
