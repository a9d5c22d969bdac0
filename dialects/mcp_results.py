"""An MCP tool result as a `ToolOutcome`: its failure flag, and all of its content."""

from __future__ import annotations

import base64
import json
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from .attachment import Attachment
from .text import compact_json
from .transcript import ToolOutcome

_LOG = logging.getLogger("tooldialect.dialects")
_ABSENT = object()
_MAX_DEPTH = 100
_ATTACHED = ("image", "audio")


def outcome_from_mcp(result: Any, name: str, tool_call_id: str | None = None) -> ToolOutcome:
    """The outcome of a `tools/call`, from the SDK's result object or the JSON it came as.

    Text blocks are joined by a line break (empty ones add nothing); where no text is, the
    structured content stands in for it, as JSON. A block that is not text is named in a line
    in its place; an image or a sound is an attachment besides. What JSON cannot say (NaN,
    dates, bytes) is written as strings.

    Raises TypeError where `isError` is no boolean (a truthy `"false"` would turn a success
    into a failure), or where the result is no MCP result at all.
    """
    failed = _field(result, "isError", "is_error")
    if failed is _ABSENT:
        failed = False
    if not isinstance(failed, bool):
        raise TypeError(f"the result of {name!r} has an isError that is {type(failed).__name__}, not a boolean")
    content = _field(result, "content")
    structured = _field(result, "structuredContent", "structured_content")
    if content is _ABSENT and structured is _ABSENT:
        raise TypeError(f"the result of {name!r} is no MCP tool result: {type(result).__name__} without content")
    blocks = _blocks(content, name)
    if structured is not _ABSENT and structured is not None:
        as_json = compact_json(_jsonable(structured))
        texts = [block.words for block in blocks if block.is_text]
        if not any(text.strip() for text in texts):
            blocks = [_Block(as_json, is_text=True), *(block for block in blocks if not block.is_text)]
        elif not any(_same_json(text, as_json) for text in texts):
            # The protocol asks servers to repeat structured content as text; this one said something else.
            _LOG.info("the result of %r has text; its structured content is left out", name)
    return ToolOutcome(
        name=name,
        output="\n".join(block.words for block in blocks if block.words),
        success=not failed,
        tool_call_id=tool_call_id,
        attachments=tuple(block.attachment for block in blocks if block.attachment is not None),
    )


@dataclass(frozen=True, slots=True)
class _Block:
    """Its text or, where it is none, the line that names it, and what is attached for it."""

    words: str
    is_text: bool = False
    attachment: Attachment | None = None


def _field(source: Any, *names: str) -> Any:
    for name in names:
        value = source.get(name, _ABSENT) if isinstance(source, Mapping) else getattr(source, name, _ABSENT)
        if value is not _ABSENT:
            return value
    return _ABSENT


def _blocks(content: Any, name: str) -> list[_Block]:
    if content is _ABSENT or content is None:
        return []
    if isinstance(content, str):
        return [_Block(content, is_text=True)]
    if not isinstance(content, (list, tuple)):
        raise TypeError(f"the result of {name!r} has a content that is {type(content).__name__}, not a list")
    return [_block(block) for block in content]


def _block(block: Any) -> _Block:
    kind, text = _field(block, "type"), _field(block, "text")
    if isinstance(text, str) and kind in ("text", _ABSENT):
        return _Block(text, is_text=True)
    inner = _field(block, "resource")
    about = block if inner is _ABSENT else inner
    details = [_field(about, "uri"), _field(about, "name"), _field(about, "mimeType", "mime_type")]
    words = [_words(detail) for detail in details if detail is not _ABSENT and detail is not None]
    label = kind if isinstance(kind, str) else type(block).__name__
    attachment = _attachment(block)
    state = "not shown" if attachment is None else "attached"
    # One line each: a server's name for a resource may hold line breaks.
    line = " ".join(f"[{label} block, {state}: {', '.join(words)}]".replace(": ]", "]").split())
    return _Block(line, attachment=attachment)


def _attachment(block: Any) -> Attachment | None:
    """The image or sound of a block. A server may write anything for one: what is no base64 stays a line."""
    kind, inner = _field(block, "type"), _field(block, "resource")
    about = block if inner is _ABSENT else inner
    media_type = _field(about, "mimeType", "mime_type")
    data = _field(about, "blob") if kind == "resource" else _field(about, "data")
    if not (isinstance(kind, str) and isinstance(media_type, str) and isinstance(data, str)):
        return None
    # Parameters (`audio/l16; rate=24000`) are not part of the type.
    media_type = media_type.partition(";")[0].strip()
    if kind not in _ATTACHED and not (kind == "resource" and media_type.lower().startswith(_ATTACHED)):
        return None
    try:
        return Attachment(media_type=media_type, data=data)
    except ValueError:
        return None


def _same_json(text: str, as_json: str) -> bool:
    try:
        return bool(json.loads(text) == json.loads(as_json))
    except (ValueError, RecursionError):
        return False


def _jsonable(value: Any, depth: int = 0) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if depth < _MAX_DEPTH:
        if isinstance(value, Mapping):
            return {_words(key): _jsonable(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [_jsonable(item, depth + 1) for item in value]
        if isinstance(value, (set, frozenset)):
            return sorted((_jsonable(item, depth + 1) for item in value), key=compact_json)
        if hasattr(value, "model_dump"):
            return _jsonable(value.model_dump(), depth + 1)
    return _words(value)


def _integer(value: int) -> int | str:
    # Past the digits CPython converts, hexadecimal is the only spelling that costs linear time.
    try:
        str(value)
    except ValueError:
        return hex(value)
    return int(value)


def _words(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # a foreign __str__ may raise anything, and the result must not be lost for it
        return f"<{type(value).__name__}>"
