"""Calls in the provider's structured channel: argument text that was never checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..call_arguments import read_arguments
from ..transcript import ParsedToolCall, Problem, ToolCall
from .names import KnownNames


def read_reported_calls(
    tool_calls: Sequence[ToolCall], known_names: Iterable[str] = (), *, truncated: bool = False
) -> tuple[list[ParsedToolCall], list[Problem]]:
    """Calls ready to run and problems, each in the provider's order, ids kept.

    `known_names`: the tools given; when empty, no name is unknown. `truncated`: the reply
    hit a length limit, so the last call may be cut. It is `incomplete` where its arguments
    cannot be read, and where there are none: a provider that parses partial arguments
    itself reports a call cut before its first argument as `{}`.
    """
    known = KnownNames(known_names)
    calls: list[ParsedToolCall] = []
    problems: list[Problem] = []
    for position, call in enumerate(tool_calls, start=1):
        read = _read(call, known, may_be_cut=truncated and position == len(tool_calls))
        if isinstance(read, Problem):
            problems.append(read)
        else:
            calls.append(read)
    return calls, problems


def _read(call: ToolCall, known: KnownNames, *, may_be_cut: bool) -> ParsedToolCall | Problem:
    if not call.name.strip():
        return Problem(
            kind="incomplete" if may_be_cut else "malformed",
            name=None,
            detail="the call names no tool.",
            raw=call.arguments,
            id=call.id,
        )
    if why := known.why_unknown(call.name):
        return Problem(kind="unknown_tool", name=call.name, detail=why, raw=call.arguments, id=call.id)
    try:
        arguments = read_arguments(call.arguments)
    except ValueError as error:
        reason = str(error)
    else:
        if arguments or not may_be_cut:
            return ParsedToolCall(name=call.name, arguments=arguments, id=call.id)
        reason = "no argument arrived"
    if may_be_cut:
        return Problem(
            kind="incomplete",
            name=call.name,
            detail=f"the reply hit its length limit within this call ({reason}). Call again, with less text.",
            raw=call.arguments,
            id=call.id,
        )
    return Problem(
        kind="malformed",
        name=call.name,
        detail=f"{reason}. Send the arguments as one JSON object.",
        raw=call.arguments,
        id=call.id,
    )
