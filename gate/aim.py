"""What a call is aimed at: the surface it goes through, the target, the inner arguments."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, NamedTuple

from tooldialect.dialects import ParsedToolCall

from .errors import GateError
from .surface import Surface
from .target import GateTarget

_log = logging.getLogger("tooldialect.gate")


class Aim(NamedTuple):
    """`surface` is None for a call that is not gated, `target` for one that does not say
    what it is aimed at. `call` is None where the host asked about a bare target."""

    surface: Surface | None
    target: GateTarget | None
    arguments: Any
    call: ParsedToolCall | None


def take_aim(surfaces: Iterable[Surface], subject: ParsedToolCall | GateTarget, arguments: Any) -> Aim:
    """Through the first surface that matches the call's name or, for a bare target, its kind.

    What a surface cannot read names no target. Raises TypeError for what is neither call nor
    target, GateError for a surface whose `read` returns a target of another kind.
    """
    if isinstance(subject, GateTarget):
        serving = next((surface for surface in surfaces if surface.kind == subject.kind), None)
        return Aim(serving, subject, {} if arguments is None else arguments, None)
    if not isinstance(subject, ParsedToolCall):
        raise TypeError(f"a gate is consulted about a ParsedToolCall or a GateTarget, not {type(subject).__name__}")
    matching = next((surface for surface in surfaces if surface.matches(subject.name)), None)
    if matching is None:
        return Aim(None, None, subject.arguments, subject)
    try:
        read = matching.read(subject)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        # A host's surface met what a model may write; the model is told, the loop goes on.
        _log.warning(
            "[contract-gate] the surface of kind %r could not read a call: %s", matching.kind, type(error).__name__
        )
        read = None
    if read is None:
        return Aim(matching, None, {}, subject)
    target, inner = read
    if target.kind != matching.kind:
        raise GateError(
            f"the surface of kind {matching.kind!r} read a target of kind {target.kind!r}: its contracts would never "
            "be found out of date. Give both the same kind."
        )
    return Aim(matching, target, {} if inner is None else inner, subject)
