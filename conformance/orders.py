"""What the scripted model says to a host, and what came of it: orders in a shop whose contracts are late-bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tooldialect.dialects import ParsedToolCall

from .clause import require
from .gating import CALL_TOOL
from .scripted_model import Said
from .stage import CLOCK, TARGETS, Stage

ORDER = TARGETS[0]
GUESS = {"item": "lamp", "count": "two"}
RIGHT = {"sku": "LAMP-1", "quantity": 2}
CLEARED = "[Old result cleared]"


def ordered(name: str = ORDER, arguments: Mapping[str, Any] = GUESS) -> ParsedToolCall:
    return ParsedToolCall(
        name=CALL_TOOL.name, arguments={"server_id": "shop", "tool_name": name, "arguments": dict(arguments)}
    )


def clock(zone: str = "UTC") -> ParsedToolCall:
    return ParsedToolCall(name=CLOCK.name, arguments={"zone": zone})


def says(*calls: ParsedToolCall, text: str = "Let me see.") -> Said:
    return Said(text, calls)


def deliveries_made(stage: Stage, before: int = 0, *, want: int = 1) -> list[str]:
    made = stage.ledger.deliveries[before:]
    require(
        len(made) == want, f"the guess led to {len(made)} deliveries, not {want}: is the call run through the gate?"
    )
    return made


def reasons_in_words(stage: Stage) -> str:
    return " ".join(reason.name for reason in stage.reasons) or "by nothing"
