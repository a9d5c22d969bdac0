"""The answers that are no delivery: short, without contract and without marker."""

from __future__ import annotations

from collections.abc import Sequence

from tooldialect.dialects import ParsedToolCall

from .closest import closest
from .delivery import quote
from .sources.base import NotFound
from .target import GateTarget

_SHOWN_ALTERNATIVES = 12


def malformed_call(call: ParsedToolCall, fields: Sequence[str]) -> str:
    """The envelope names no target; `fields` are those that have to, where they are known."""
    given = ", ".join(quote(name) for name in sorted(call.arguments)[:_SHOWN_ALTERNATIVES]) or "no fields"
    needed = " and ".join(quote(name) for name in fields) or "every field that names the target"
    return (
        f"The call to {quote(call.name)} was NOT executed: it does not say which tool is meant. It has {given}; "
        f"it needs {needed}, each a string that is not blank. Call it again."
    )


def unknown_target(target: GateTarget, answer: NotFound, fields: Sequence[str]) -> str:
    """The source knows no such target: the closest valid names, how many there are and, where
    it is known, which of the target's parts they are for, in the model's words (`fields`)."""
    names, part = answer.alternatives, answer.part
    known_part = part is not None and 0 <= part < len(target.parts)
    wrong = target.parts[part : part + 1] if part is not None and known_part else target.parts
    said = f"The call was NOT executed: there is no {quote(wrong[0] if known_part else target.key)}"
    if known_part and len(target.parts) > 1:
        said += f" in {quote(target.key)}"
    if not names:
        return f"{said}. No other name is known either."
    place = f" for {quote(fields[part])}" if part is not None and known_part and part < len(fields) else ""
    shown = ", ".join(quote(name) for name in closest(wrong, names, _SHOWN_ALTERNATIVES))
    return f"{said}. The closest of the {len(names)} valid names{place}: {shown}. Call it again with one of them."


def same_batch(target: GateTarget) -> str:
    """The contract stands beside this answer and the model has not had a chance to read it."""
    return (
        f"The call to {quote(target.key)} was NOT executed: another call of the same batch was answered with the "
        "contract of the tool. Read it, then call again."
    )
