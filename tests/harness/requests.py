"""What a model was sent, read from the provider's request alone: no wire, no gate helps here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_HEADER = re.compile(r"\[contract-gate:[0-9a-f]+:([^\]]*)\]")


@dataclass(frozen=True)
class Seen:
    """One contract as it stands in a request: the text's unit as a whole, and the schema in it."""

    key: str
    unit: str
    schema: dict[str, Any]


def host_units(request: dict[str, Any]) -> Iterator[str]:
    """Each text of a user turn or a tool result that the provider keeps apart from its neighbours."""
    for message in request["messages"]:
        if message["role"] in ("user", "tool"):
            content = message["content"]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for part in parts:
                if part["type"] == "text":
                    yield part["text"]
                elif part["type"] == "tool_result":
                    yield part["content"]


def seen_contracts(request: dict[str, Any]) -> list[Seen]:
    """The contracts that lead a unit and can still be read there."""
    return [contract for unit in host_units(request) for contract in _contracts_of(unit)]


def _contracts_of(unit: str) -> Iterator[Seen]:
    header = _HEADER.match(unit)
    document = unit.find('{"tool":')
    while header is not None and document >= 0:
        try:
            value, end = json.JSONDecoder().raw_decode(unit, document)
        except ValueError:
            return
        yield Seen(value["tool"], unit, value["input_schema"])
        document = unit.find('{"tool":', end)
