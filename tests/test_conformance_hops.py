"""Where a delivery broke first, read from what a driver tells."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tooldialect.conformance.hops import first_break, how, nearest, seen_at
from tooldialect.dialects import ChatMessage, ToolOutcome, ToolResult, ToolResultBatch

DELIVERY = (
    "[contract-gate:0123456789abcdef:tool:x@0123456789abcdef]NOT EXECUTED.\n\n" + "Mind  the terms. " * 30 + "End."
)
OTHER = DELIVERY.replace("tool:x", "tool:y").replace("0123456789abcdef:", "fedcba9876543210:")
WHOLE = ChatMessage(role="user", content=DELIVERY, trusted_verbatim=True)


@dataclass
class Row:
    """A record of a host's own."""

    body: str
    trusted_verbatim: bool = True


@pytest.mark.parametrize(
    "value",
    [
        WHOLE,
        [ToolOutcome.ok("x", DELIVERY).verbatim()],
        ToolResultBatch(results=[ToolResult(tool_call_id="1", content=DELIVERY, trusted_verbatim=True)]),
        {"messages": [{"role": "tool", "content": [{"type": "text", "text": DELIVERY}]}]},
        (Row(DELIVERY),),
        {"content": DELIVERY, "trusted_verbatim": True},
    ],
)
def test_texts_are_found_in_any_structure(value):
    hop = seen_at("here", [value])
    assert DELIVERY in hop.texts
    assert hop.flagged.get(DELIVERY) in (True, None)
    assert first_break([hop], DELIVERY) is None


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (f"Results:\n{DELIVERY}", "9 characters stand before it, 0 behind"),
        (f"{DELIVERY}\n\nGo on.", "0 characters stand before it, 8 behind"),
        (DELIVERY[:200], f"cut after {len(DELIVERY[:200].rstrip())} of {len(DELIVERY)} characters"),
        (" ".join(DELIVERY.split()), "its white space was changed"),
        (DELIVERY[60:] + "!", f"{len(DELIVERY) - 59} characters in place of {len(DELIVERY)}"),
    ],
)
def test_the_first_hop_that_changes_it_is_named_with_what_it_did(changed, words):
    hops = [seen_at("outcome", [WHOLE]), seen_at("cap", [changed, "other"]), seen_at("cleaner", ["gone"])]
    where, got = first_break(hops, DELIVERY)
    assert got == changed
    assert where == f"cap ({words})"
    assert how(DELIVERY, changed) == words


def test_a_hop_that_shows_nothing_of_it_breaks_nothing():
    hops = [seen_at("outcome", [WHOLE]), seen_at("another outcome", ["It is noon."]), seen_at("history", [WHOLE])]
    assert first_break(hops, DELIVERY) is None


def test_where_it_vanishes_the_last_hop_that_had_it_is_named():
    hops = [seen_at("outcome", [WHOLE]), seen_at("history", [WHOLE]), seen_at("summariser", ["A summary."])]
    where, _ = first_break(hops, DELIVERY)
    assert where == "the one behind history, where it was seen last, whole"


def test_a_dropped_flag_is_a_break_though_the_bytes_are_the_same():
    hops = [seen_at("outcome", [WHOLE]), seen_at("store", [WHOLE.model_copy(update={"trusted_verbatim": False})])]
    where, _ = first_break(hops, DELIVERY)
    assert where == "store (the bytes are the same, the flag trusted_verbatim is gone)"


def test_another_delivery_is_not_taken_for_it():
    assert nearest([OTHER, "noon"], DELIVERY) is None
    assert nearest([OTHER, f"x{DELIVERY}"], DELIVERY) == f"x{DELIVERY}"
