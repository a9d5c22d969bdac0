"""Replies in the shape of Chat Completions, which many servers besides OpenAI's speak."""

from __future__ import annotations

from typing import Any

from ..errors import WireError
from ..transcript import ModelResponse, ToolCall
from .arguments import reported_arguments
from .ids import given_ids, reported_id
from .reply import CLIENT_ONLY, field, fields, is_record, items, json_or_none, refuse_error, text_parts
from .tool_names import reported_name

_KNOWN_CALL_KEYS = frozenset({"id", "type", "function", "custom", "index", "extra_content", *CLIENT_ONLY})


def read_chat_reply(response: Any, names: dict[str, str], namespace: str) -> ModelResponse:
    """The first choice of a reply. `names`: wire name to tool name, for respelled ones.

    Keys of a call that no type knows, beside its id (and `reasoning_details` and `extra_content` of the
    message) are kept in the metadata under `namespace`, to be sent back. Raises WireError for what is no reply.
    """
    choice = _first_choice(response)
    message = field(choice, "message")
    if message is None:
        raise WireError("the reply's first choice has no message; was it a chunk of a stream?")
    if not is_record(message):
        raise WireError(f"the message of the reply's first choice is {type(message).__name__}, not an object")
    reported = items(field(message, "tool_calls"), "message.tool_calls")
    calls, unknown = [], {}
    taken = given_ids(field(call, "id") for call in reported)
    for position, call in enumerate(reported):
        calls.append(_call(call, names, taken))
        if kept := json_or_none({key: value for key, value in fields(call).items() if key not in _KNOWN_CALL_KEYS}):
            unknown[str(position)] = {**kept, "id": calls[-1].id}
    kept = {"calls": unknown} if unknown else {}
    for key in ("reasoning_details", "extra_content"):
        if value := json_or_none(field(message, key)):
            kept[key] = value
    return ModelResponse(
        text=_text(message),
        tool_calls=tuple(calls),
        reasoning_content=_first_string(message, "reasoning_content", "reasoning") or _thoughts(message),
        truncated=field(choice, "finish_reason") == "length",
        metadata={namespace: kept} if kept else None,
    )


def _first_choice(response: Any) -> Any:
    refuse_error(response)
    choices = items(field(response, "choices"), "choices")
    if not choices:
        raise WireError(f"the reply ({type(response).__name__}) has no choices: is it a chat completion?")
    return choices[0]


def _text(message: Any) -> str | None:
    content = field(message, "content")
    if content is not None and not isinstance(content, (str, list, tuple)):
        raise WireError(f"message.content of the reply is {type(content).__name__}, not text or a list of parts")
    if content is not None and not isinstance(content, str):
        content = "".join(text_parts(content)) + "".join(_refusals(content))
    return content or _first_string(message, "refusal") or content


def _refusals(parts: Any) -> list[str]:
    return [text for part in parts if isinstance(text := field(part, "refusal"), str)]


def _thoughts(message: Any) -> str | None:
    """What Mistral keeps in `thinking` parts of the content, a text or a list of text parts."""
    content = field(message, "content")
    if not isinstance(content, (list, tuple)):
        return None
    said = ["".join(text_parts(field(part, "thinking"))) for part in content if field(part, "type") == "thinking"]
    return "\n\n".join(said) if said else None


def _first_string(source: Any, *names: str) -> str | None:
    return next((value for name in names if isinstance(value := field(source, name), str)), None)


def _call(call: Any, names: dict[str, str], taken: set[str]) -> ToolCall:
    # A custom tool's input is free text; as arguments it is read, or reported, like any.
    function = field(call, "function") or field(call, "custom")
    extra = json_or_none(field(call, "extra_content"))
    return ToolCall(
        id=reported_id(field(call, "id"), taken),
        name=reported_name(field(function, "name"), names),
        arguments=reported_arguments(field(function, "arguments", field(function, "input"))),
        extra_content=extra if isinstance(extra, dict) else None,
    )
