"""What a dialect that is a Python object returns and declares; a wrong type is its fault."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ModelResponse,
    ParsedToolCall,
    ToolDialect,
    ToolResultBatch,
    TranscriptEntry,
)

from .description import Capability, Description, ReadResult
from .faults import ProgramFault, TargetError

_T = TypeVar("_T")
_ENTRY = (ChatMessage, AssistantTurn, ToolResultBatch)


def one(type_: type[_T]) -> Callable[[str, Any], _T]:
    def read(request: str, returned: Any) -> _T:
        if not isinstance(returned, type_):
            raise ProgramFault(f"{request} returned {type(returned).__name__}, not {type_.__name__}")
        return returned

    return read


def _items(request: str, returned: Any, wanted: str) -> list[Any]:
    """What was returned as a list. A record and a string can be gone through, but are no lists."""
    if not isinstance(returned, Iterable) or isinstance(returned, BaseModel | str | bytes | dict):
        raise ProgramFault(f"{request} returned {type(returned).__name__}, not a list of {wanted}")
    return list(returned)


def entries(request: str, returned: Any) -> list[TranscriptEntry]:
    found = _items(request, returned, "entries")
    for item in found:
        if not isinstance(item, _ENTRY):
            raise ProgramFault(f"{request} returned a list with {type(item).__name__} in it, not a list of entries")
    return found


def messages(request: str, returned: Any) -> list[dict[str, Any]]:
    found = _items(request, returned, "messages")
    for item in found:
        if not isinstance(item, dict):
            raise ProgramFault(f"{request} returned a list with {type(item).__name__} in it, not a list of dict")
    return found


def read_results_of(request: str, returned: Any) -> list[ReadResult]:
    found = _items(request, returned, "(name, success, body)")
    for item in found:
        shape = [type(part) for part in item] if isinstance(item, list | tuple) else None
        if shape != [str, bool, str]:
            raise ProgramFault(
                f"{request} returned a list with {item!r:.80} in it, not a list of (name, success, body)"
            )
    return [(name, success, body) for name, success, body in found]


_OF_TEXT = ("render_call",)


def describe(dialect: ToolDialect, has_reader: bool, without: Collection[Capability]) -> Description:
    native = dialect.call_format == "native"
    probes: dict[Capability, Callable[[], object]] = {
        "parse_response": lambda: dialect.parse_response(ModelResponse(text="")),
        "render_call": lambda: dialect.render_call(ParsedToolCall(name="probe", arguments={})),
        "prompt_instructions": lambda: dialect.prompt_instructions(()),
        "replay": lambda: dialect.replay([]),
    }
    offered: list[Capability] = [
        name for name, probe in probes.items() if not (native and name in _OF_TEXT) and _offers(probe)
    ]
    if "replay" in offered:
        offered.append("to_provider_messages")
    if has_reader or hasattr(dialect, "read_results"):
        offered.append("read_results")
    declared = {
        "name": dialect.name,
        "results": "native" if native else "text",
        "protocol_tags": dialect.protocol_tags,
        "control_tokens": tuple(getattr(dialect, "control_tokens", ())),
        "capabilities": tuple(name for name in offered if name not in without),
        "call_format": dialect.call_format,
        "embeds_catalogue": dialect.embeds_catalogue,
        "sends_tool_specs": dialect.sends_tool_specs,
    }
    try:
        return Description.model_validate(declared)
    except ValidationError as invalid:
        first = invalid.errors()[0]
        raise TargetError(
            f"{type(dialect).__name__}.{first['loc'][0]} is {declared[str(first['loc'][0])]!r}: "
            f"{first['msg'].removeprefix('Value error, ')}"
        ) from None


def _offers(probe: Callable[[], object]) -> bool:
    """Whether a method is there: one that a dialect does without raises NotImplementedError."""
    try:
        probe()
    except NotImplementedError:
        return False
    except KeyboardInterrupt:
        raise
    except BaseException:  # whatever else it raises, the clauses will see
        return True
    return True
