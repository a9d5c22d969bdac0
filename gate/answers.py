"""The answers that are no delivery: short, without contract and without marker."""

from __future__ import annotations

from collections.abc import Sequence

from tooldialect.dialects import ParsedToolCall

from .closest import closest
from .delivery import quote
from .target import GateTarget

_SHOWN_ALTERNATIVES = 12


def malformed_call(call: ParsedToolCall) -> str:
    """The envelope names no target."""
    given = ", ".join(quote(name) for name in sorted(call.arguments)[:_SHOWN_ALTERNATIVES]) or "none"
    return (
        f"The call to {quote(call.name)} was NOT executed: it does not say which tool is meant. Its fields: {given}. "
        "Every field that names the target has to be there and be a string that is not blank. Call it again."
    )


def unknown_target(target: GateTarget, alternatives: Sequence[str]) -> str:
    """The source knows no such target: the closest valid names, and how many there are."""
    said = f"The call was NOT executed: there is no {quote(target.key)}."
    if not alternatives:
        return said + " No other name is known either."
    shown = ", ".join(quote(name) for name in closest(target.parts, alternatives, _SHOWN_ALTERNATIVES))
    return f"{said} The closest of the {len(alternatives)} valid names: {shown}. Call it again with one of them."


def same_batch(target: GateTarget) -> str:
    """The contract stands beside this answer and the model has not had a chance to read it."""
    return (
        f"The call to {quote(target.key)} was NOT executed: another call of the same batch was answered with the "
        "contract of the tool. Read it, then call again."
    )
