"""Bodies and names made from what a frame writes itself, so that an envelope of any shape can be forged."""

from __future__ import annotations

from tooldialect.dialects import ToolOutcome

from .entries import all_text, numbered, ok
from .trial import Trial

FIRST, SECOND = ("fetch", "AAAA"), ("pay", "BBBB")


def two_results(trial: Trial, *, success: bool = True) -> str:
    """A batch of two, as it is framed: FIRST and SECOND, name and body each."""
    (first, body), (second, other) = FIRST, SECOND
    outcomes = [ok(body, name=first), ToolOutcome(name=second, output=other, success=success)]
    return all_text(trial.subject().format_results(numbered(outcomes)))
