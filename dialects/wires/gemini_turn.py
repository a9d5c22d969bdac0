"""The parts of a model turn for Gemini, with signatures on exactly the part they came with."""

from __future__ import annotations

import binascii
import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from pydantic import BaseModel

from ..transcript import ToolCall
from .arguments import argument_object
from .fixed_texts import is_blank
from .kept_parts import PartSpelling
from .layout import Cycle
from .reply import fields, plain, text_or_empty
from .tool_names import wire_name

NAMESPACE = "gemini"
# FunctionDeclaration.name: 128 signs at most; earlier 64, so that both take it.
LONGEST_NAME = 64
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]*")
# "Thought Signatures": for a call that this model did not make.
SKIP_VALIDATION = "skip_thought_signature_validator"
_STANDARD = str.maketrans("-_", "+/")
_UNDERSCORED = re.compile(r"_([a-z])")

Part = dict[str, Any]


def as_part(source: Any) -> Part:
    """A part of a reply, SDK object or dict in either spelling, as JSON in the API's own spelling."""
    if isinstance(source, BaseModel):
        # The SDK's own dump spells enums and bytes as its requests do; what it alters in arguments is read elsewhere.
        try:
            return source.model_dump(mode="json", by_alias=True, exclude_none=True)
        except (ValueError, RecursionError):
            source = fields(source)
    if not isinstance(source, Mapping):
        source = fields(source)
    part = {_camel(str(key)): value for key, value in source.items() if value is not None}
    return {key: _shallow(value) for key, value in part.items()}


def _shallow(value: Any) -> Any:
    if isinstance(value, bytes):
        return plain(value)
    if isinstance(value, (str, int, float, list, tuple)):
        return value
    return {_camel(str(key)): item for key, item in fields(value).items() if item is not None}


def _camel(key: str) -> str:
    return _UNDERSCORED.sub(lambda found: found[1].upper(), key)


def call_of(part: Part) -> Mapping[str, Any] | None:
    """The call in a part, if it is one."""
    called = part.get("functionCall")
    return called if isinstance(called, Mapping) else None


def said(part: Part) -> str | None:
    """The text of an answer's part; a thought is none."""
    text = part.get("text")
    return text if isinstance(text, str) and part.get("thought") is not True else None


def signature_of(extra_content: Mapping[str, Any] | None) -> str | None:
    """The signature of a call where Google's OpenAI-shaped endpoint has it too: `google.thought_signature`."""
    google = (extra_content or {}).get("google")
    signature = google.get("thought_signature") if isinstance(google, Mapping) else None
    return signature if _is_base64(signature) else None


def _is_base64(text: Any) -> TypeGuard[str]:
    """Whether it is base64 of either alphabet, as a field of bytes must be."""
    if not isinstance(text, str) or not text.isascii():
        return False
    digits = text.rstrip("=").translate(_STANDARD)
    try:
        decoded = binascii.a2b_base64(digits + "=" * (-len(digits) % 4), strict_mode=True)
    except ValueError:
        return False
    # Left-over bits must be zero.
    return bool(digits) and binascii.b2a_base64(decoded, newline=False).decode().rstrip("=") == digits


def _called(part: Part) -> tuple[str | None, str] | None:
    call = call_of(part)
    if call is None:
        return None
    id_ = call.get("id")
    return (id_ if isinstance(id_, str) and id_ else None), text_or_empty(call.get("name"))


def _is_told(part: Part) -> bool:
    call = call_of(part)
    if call is not None:
        return set(part) <= {"functionCall", "thoughtSignature"} and set(call) <= {"id", "name", "args"}
    return set(part) == {"text"}


def _without_arguments(part: Part) -> Part:
    call = {key: value for key, value in (call_of(part) or {}).items() if key != "args"}
    return {**{key: value for key, value in part.items() if key != "thoughtSignature"}, "functionCall": call}


SPELLING = PartSpelling(
    namespace=NAMESPACE,
    is_told=_is_told,
    said=said,
    called=_called,
    without_arguments=_without_arguments,
    # A part is one thing: of two, the one that is refused would take the other with it.
    is_part=lambda part: (
        bool(part) and "functionResponse" not in part and not ("text" in part and call_of(part) is not None)
    ),
    respell=lambda name: wire_name(name, LONGEST_NAME, NAME),
)


def model_parts(cycle: Cycle) -> list[Part]:
    """The turn's parts: as they came, where the metadata still agrees with the turn, else its
    text, then its calls. A step's first call has a signature, its own or the documented dummy."""
    turn = cycle.turn
    names = [wire_name(call.name, LONGEST_NAME, NAME) for call in turn.tool_calls]
    calls = [
        _call_part(call, name, wire_id, is_first=position == 0)
        for position, (call, name, wire_id) in enumerate(zip(turn.tool_calls, names, cycle.ids, strict=True))
    ]
    kept = SPELLING.kept_of(turn)
    if SPELLING.agrees(kept, turn, names):
        restored = iter(calls)
        parts = [{**part, **next(restored)} if call_of(part) is not None else part for part in kept]
    else:
        parts = [{"text": str(turn.text)}, *calls] if turn.text is not None else calls
    return _acceptable(parts)


def _call_part(call: ToolCall, name: str, wire_id: str, *, is_first: bool) -> Part:
    part: Part = {"functionCall": {"name": name, "args": argument_object(call.arguments), "id": wire_id}}
    signature = signature_of(call.extra_content) or (SKIP_VALIDATION if is_first else None)
    return part if signature is None else {**part, "thoughtSignature": signature}


def _acceptable(parts: list[Part]) -> list[Part]:
    """Without blank texts and parts that only sign, which Vertex refuses (a signature that is
    not on a call is not checked); a turn of thoughts alone leads to nothing and goes."""
    sent = [_signed_rightly(part) for part in parts if _says_something(part)]
    return sent if any(part.get("thought") is not True or call_of(part) is not None for part in sent) else []


def _signed_rightly(part: Part) -> Part:
    if _is_base64(part.get("thoughtSignature", SKIP_VALIDATION)):
        return part
    return {key: value for key, value in part.items() if key != "thoughtSignature"}


def _says_something(part: Part) -> bool:
    if "text" in part:
        return isinstance(part["text"], str) and not is_blank(part["text"])
    return not set(part) <= {"thought", "thoughtSignature", "partMetadata"}
