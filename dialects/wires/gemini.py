"""Google Gemini, `generateContent`.

Sources: types of `google-genai` 3.6; "Thought Signatures"; one response for each call in one
content, no empty text, last content not the model's (reports in public issue threads).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ..attachment import Attachment
from ..errors import WireError
from ..host_words import HostTexts
from ..transcript import ChatMessage, ModelResponse, ToolCall, ToolResult, ToolSpec, TranscriptEntry
from .arguments import reported_arguments
from .attached import left_out
from .base import Wire
from .candidates import candidates
from .fixed_texts import OPENING_USER, is_blank, shown_result
from .gemini_turn import LONGEST_NAME, NAME, NAMESPACE, SPELLING, Part, as_part, model_parts, said
from .ids import WireIds, given_ids, reported_id
from .layout import Cycle, Stray, lay_out
from .reply import field, items, message_list, parts_of, refuse_error, text_or_empty, text_parts
from .sent_tools import tools_to_send
from .tool_names import original_names, wire_name

_HOST_ROLES = ("user", "function", "tool")
# "Image understanding", "Document understanding", "Audio understanding", "Video understanding".
_SHOWN_TYPES = frozenset(
    {"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf", "text/plain"}
)
# "Function calling", multimodal function responses.
_INSIDE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"})
_SHOWN_KINDS = ("audio/", "video/")
_FETCHED = ("https:", "http:", "gs:")


class GeminiWire(Wire):
    """System text goes to `systemInstruction`, tools to `functionDeclarations`.

    Gemini takes a result as an object: its text is the whole value of `output`, or of `error`
    where it failed, and so a unit of its own, byte for byte; what the model reads around it
    is Gemini's. A text is never read as JSON, so no `$ref` in it is taken for a reference.

    Results stand alone in their content, since the API takes what shares it for the model's
    words; texts and attachments follow in a user content. Each text of neighbours is a part
    of its own. A call's signature travels in its `extra_content`, as on Google's
    OpenAI-shaped endpoint, other signatures in the turn's metadata.

    `multimodal_results`: for Gemini 3 and later, which take the images and documents of a
    result inside it; they go there from bytes alone.

    `generate_content` of the SDK takes `contents` beside the model, the other fields as its `config`.
    """

    name: ClassVar[str] = NAMESPACE

    def __init__(self, *, multimodal_results: bool = False) -> None:
        self._inside = _INSIDE_TYPES if multimodal_results else frozenset()

    def encode(self, entries: Iterable[TranscriptEntry], tools: Sequence[ToolSpec] = ()) -> dict[str, Any]:
        """`contents`, with `systemInstruction` and `tools` where there are some. Response and call
        share id and name. A history that ends with the model gets a fixed user text behind it."""
        system: list[Part] = []
        contents = _Contents(self._inside)
        for item in lay_out(entries, WireIds(lambda id_: bool(id_.strip()), request_wide=True)):
            if isinstance(item, Cycle):
                contents.add("model", model_parts(item))
                names = dict(zip(item.ids, (call.name for call in item.turn.tool_calls), strict=True))
                contents.add_results([(wire_id, names[wire_id], result) for wire_id, result in item.answers])
            elif isinstance(item, Stray):
                contents.add_results([(item.id, item.result.name or "", item.result)])
            elif item.role == "system":
                system += _texts(item)
            else:
                contents.add("user", [*_texts(item), *_attached(item.attachments)])
        request: dict[str, Any] = {"contents": contents.finish()}
        if system:
            request["systemInstruction"] = {"parts": system}
        if prepared := tools_to_send(tools):
            declarations = [
                {
                    "name": self.tool_name(tool.name),
                    **({"description": tool.description} if tool.description.strip() else {}),
                    "parametersJsonSchema": tool.parameters,
                }
                for tool in prepared
            ]
            request["tools"] = [{"functionDeclarations": declarations}]
        return request

    def decode(self, response: Any, tools: Sequence[ToolSpec] = ()) -> ModelResponse:
        """The first candidate. Raises WireError for what is no reply, or where the prompt was blocked."""
        candidate = _first_candidate(response)
        reported = items(_either(field(candidate, "content"), "parts"), "content.parts")
        parts = [as_part(part) for part in reported]
        names = original_names((tool.name for tool in tools), LONGEST_NAME, NAME)
        taken = given_ids(field(_either(source, "function_call"), "id") for source in reported)
        calls = tuple(
            _call(source, part, names, taken)
            for source, part in zip(reported, parts, strict=True)
            if "functionCall" in part
        )
        texts = [text for part in parts if (text := said(part)) is not None]
        thoughts = [part["text"] for part in parts if part.get("thought") is True and isinstance(part.get("text"), str)]
        reason = _either(candidate, "finish_reason")
        if not parts and isinstance(message := _either(candidate, "finish_message"), str):
            # What a model wrote for a call and the API could not read stands here alone.
            texts = [message]
        return ModelResponse(
            text="".join(texts) if texts else None,
            tool_calls=calls,
            reasoning_content="\n\n".join(thoughts) if thoughts else None,
            truncated=field(reason, "value", reason) == "MAX_TOKENS",
            metadata=SPELLING.kept(parts),
        )

    def messages(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        conversation: list[dict[str, Any]] = request["contents"]
        return conversation

    def host_texts(self, messages: Any) -> HostTexts:
        given = field(messages, "contents", messages)
        contents = [given] if isinstance(given, str) else message_list(given, "contents")
        return HostTexts(contents, _host_texts_of, candidates(_may_begin))

    def tool_name(self, name: str) -> str:
        """The tool's name in a request, for fields such as `allowedFunctionNames`."""
        return wire_name(name, LONGEST_NAME, NAME)


def _host_texts_of(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    # The service takes a content without a role for the user's.
    elif (field(content, "role") or "user") in _HOST_ROLES:
        for part in parts_of(field(content, "parts")):
            if response := _either(part, "function_response"):
                answer = field(response, "response")
                yield from (text for key in ("output", "error") for text in _whole(field(answer, key)))
            else:
                yield from text_parts([part])


def _may_begin(content: Any, prefix: str) -> bool:
    if type(content) is not dict:
        return True
    if (content.get("role") or "user") not in _HOST_ROLES:
        return False
    parts = content["parts"]
    if type(parts) is not list:
        return True
    for part in parts:
        if type(part) is not dict:
            return True
        response = part.get("function_response")
        if response is None:
            response = part.get("functionResponse")
        answer = response["response"] if response else {"output": part.get("text")}
        if type(answer) is not dict:
            return True
        for text in (answer.get("output"), answer.get("error")):
            if text is not None and text.removeprefix(prefix) is not text:
                return True
    return False


class _Contents:
    """Contents under construction: neighbours of one role become one, but results keep theirs."""

    def __init__(self, inside: frozenset[str]) -> None:
        self._inside = inside
        self._contents: list[dict[str, Any]] = []
        self._holds_results = False
        self._waiting: list[Attachment] = []

    def add(self, role: str, parts: list[Part]) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self.add("user", _attached(waiting))
        if not parts:
            return
        if not self._contents and role == "model":
            self.add("user", [{"text": OPENING_USER}])
        if self._contents and self._contents[-1]["role"] == role and not self._holds_results:
            self._contents[-1]["parts"].extend(parts)
        else:
            self._contents.append({"role": role, "parts": list(parts)})
        self._holds_results = False

    def add_results(self, answers: list[tuple[str, str, ToolResult]]) -> None:
        parts: list[Part] = []
        for wire_id, name, result in answers:
            inside = [a for a in result.attachments if a.data is not None and a.media_type in self._inside]
            self._waiting += [a for a in result.attachments if a.data is None or a.media_type not in self._inside]
            parts.append({"functionResponse": _response(wire_id, name, result, inside)})
        if self._holds_results:
            self._contents[-1]["parts"].extend(parts)
        elif parts:
            self._contents.append({"role": "user", "parts": parts})
            self._holds_results = True

    def finish(self) -> list[dict[str, Any]]:
        self.add("user", [])
        last = self._contents[-1] if self._contents else None
        if last and last["role"] == "model" and not any("functionCall" in part for part in last["parts"]):
            self.add("user", [{"text": OPENING_USER}])
        return self._contents


def _texts(message: ChatMessage) -> list[Part]:
    return [] if is_blank(message.content) else [{"text": str(message.content)}]


def _response(wire_id: str, name: str, result: ToolResult, inside: Sequence[Attachment]) -> dict[str, Any]:
    key = "output" if result.success else "error"
    response: dict[str, Any] = {
        "id": wire_id,
        "name": wire_name(name, LONGEST_NAME, NAME),
        "response": {key: shown_result(result.content)},
    }
    return {**response, "parts": _attached(inside)} if inside else response


def _attached(attachments: Iterable[Attachment]) -> list[Part]:
    parts: list[Part] = []
    others = []
    for attachment in attachments:
        kind, url = attachment.media_type, attachment.url
        if not (kind in _SHOWN_TYPES or kind.startswith(_SHOWN_KINDS)):
            others.append(attachment)
        elif url is None:
            parts.append({"inlineData": {"mimeType": kind, "data": str(attachment.data)}})
        elif url.lower().startswith(_FETCHED):
            parts.append({"fileData": {"mimeType": kind, "fileUri": url}})
        else:
            others.append(attachment)
    return [*parts, {"text": left_out(others)}] if others else parts


def _either(source: Any, name: str) -> Any:
    """A field in the SDK's spelling or in the API's."""
    head, *tail = name.split("_")
    found = field(source, name)
    return field(source, head + "".join(map(str.title, tail))) if found is None else found


def _first_candidate(response: Any) -> Any:
    refuse_error(response)
    candidates = items(field(response, "candidates"), "candidates")
    if candidates:
        return candidates[0]
    blocked = _either(_either(response, "prompt_feedback"), "block_reason")
    if blocked is not None:
        raise WireError(f"the prompt was blocked: {field(blocked, 'value', blocked)}")
    raise WireError(f"the reply ({type(response).__name__}) has no candidates: is it of generateContent?")


def _call(source: Any, part: Part, names: dict[str, str], taken: set[str]) -> ToolCall:
    # Arguments from the reply itself: a dump would spell NaN as null.
    call = _either(source, "function_call")
    name = text_or_empty(field(call, "name"))
    signature = part.get("thoughtSignature")
    return ToolCall(
        id=reported_id(field(call, "id"), taken),
        name=names.get(name, name),
        arguments=reported_arguments(field(call, "args")),
        extra_content={"google": {"thought_signature": signature}} if isinstance(signature, str) else None,
    )


def _whole(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
