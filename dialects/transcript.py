"""The transcript vocabulary: frozen records at the boundary between host and library.

Keyword arguments only, unknown fields refused, tuples for lists, booleans strict, text
cleaned (`clean_text`), JSON round-trip exact. The flag `trusted_verbatim` says that *host
code* asked for these bytes to reach the model unchanged; nothing that a tool, a server or
a model writes can set it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StrictBool,
    ValidationInfo,
    model_validator,
)

from .errors import VerbatimError
from .text import MAX_FIELD_DEPTH, RepairedText, clean_json, clean_text


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a string is wanted, not {type(value).__name__}")
    return clean_text(value)


def _json_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"a JSON object is wanted, not {type(value).__name__}")
    cleaned: dict[str, Any] = clean_json(value, max_depth=MAX_FIELD_DEPTH)
    return cleaned


def _intact_if_marked(marked: bool, info: ValidationInfo) -> bool:
    if marked:
        for field in ("output", "content"):
            if isinstance(info.data.get(field), RepairedText):
                raise VerbatimError(
                    f"{field} held a lone surrogate, which no request can carry and which became U+FFFD: "
                    "these bytes cannot reach the model unchanged. Mark the text only if it is valid Unicode."
                )
    return marked


# Compiled by the first attachment. RFC 6838, section 4.2: the characters of a registered name.
_MEDIA_TYPE = r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}"
# RFC 3986, section 3.1, and no character that ends an address in running text.
_URL = r"(?i)[a-z][a-z0-9+.-]*:[^\s\x00-\x20\x7f<>\"]+"


def _media_type(value: str) -> str:
    lowered = value.lower()
    if not re.fullmatch(_MEDIA_TYPE, lowered):
        raise ValueError(f"{value!r} is no media type: write type/subtype, such as image/png, without parameters")
    return lowered


def _base64(value: str) -> str:
    try:
        binascii.a2b_base64(value.encode("ascii"), strict_mode=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise ValueError(f"data is not base64 (standard alphabet, padded, no line breaks): {error}") from None
    if not value:
        raise ValueError("data is empty: an attachment holds at least one byte")
    return value


def _url(value: str) -> str:
    if not re.fullmatch(_URL, value):
        raise ValueError('url is no absolute address (scheme, colon, and neither white space nor < > " in it)')
    if value[:5].lower() == "data:":
        raise ValueError("url is a data: address; put its base64 text into data")
    return value


Text: TypeAlias = Annotated[str, PlainValidator(_text, json_schema_input_type=str)]
JsonObject: TypeAlias = Annotated[dict[str, Any], PlainValidator(_json_object, json_schema_input_type=dict[str, Any])]
# Validated after the text it speaks of (field order), and only where given: an unmarked record pays nothing.
VerbatimFlag: TypeAlias = Annotated[StrictBool, AfterValidator(_intact_if_marked)]
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
ProblemKind: TypeAlias = Literal["malformed", "incomplete", "unknown_tool", "ambiguous"]


class Record(BaseModel):
    """Base of all records: frozen, closed, and validated on `model_copy(update=…)` too."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy; changed fields are validated, so that no copy holds what no constructor takes."""
        if not update:
            return super().model_copy(deep=deep)
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**{**fields, **update})


R = TypeVar("R", bound=Record)


def record_of_clean(kind: type[R], **fields: Any) -> R:
    """A record of values that its constructor would take unchanged, without asking it again:
    texts joined from the texts of records are clean, and checking one copies it.

    Equal to the constructor's in every way. For records whose defaults are plain values.
    """
    record: R = object.__new__(kind)
    values = _blank(kind).copy()
    values.update(fields)
    _set_values(record, values)
    _set_given(record, set(fields))
    _set_extra(record, None)
    _set_private(record, None)
    return record


# A frozen record refuses `setattr`; these are what `object.__setattr__` looks up each time.
_set_values, _set_given, _set_extra, _set_private = (
    BaseModel.__dict__[slot].__set__
    for slot in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


@cache
def _blank(kind: type[Record]) -> dict[str, Any]:
    return {name: field.default for name, field in kind.model_fields.items()}


def refuse_others(items: Iterable[object], kinds: tuple[type[Record], ...], what: str) -> None:
    """Raises TypeError, naming both, for the first item that is none of these records.

    For where one was met already: healthy items are not looked at twice.
    """
    for item in items:
        if not isinstance(item, kinds):
            wanted = ", ".join(kind.__name__ for kind in kinds)
            # A record given in place of a list of them goes through its fields, as pairs.
            single = "; is it one record without a list around it?" if isinstance(item, tuple) else ""
            raise TypeError(f"{what} takes a list of records ({wanted}), and met {type(item).__name__}{single}")


class Attachment(Record):
    """What a text cannot say, such as an image: its media type, and the bytes or where they are.

    `media_type` is `type/subtype` without parameters, kept in lower case. Exactly one of
    `data` (the bytes as base64 of RFC 4648 section 4, padded, without line breaks) and `url`
    (absolute, of any scheme but `data:`). What a wire cannot send it names in words.
    """

    media_type: Annotated[Text, AfterValidator(_media_type)]
    data: Annotated[Text, AfterValidator(_base64)] | None = None
    url: Annotated[Text, AfterValidator(_url)] | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.data is None) == (self.url is None):
            raise ValueError("an attachment has either data (base64 text) or a url, exactly one of them")
        return self

    @classmethod
    def from_bytes(cls, media_type: str, content: bytes) -> Self:
        """The attachment that holds these bytes."""
        return cls(media_type=media_type, data=base64.b64encode(content).decode())


def _none_if_marked(attachments: tuple[Attachment, ...], info: ValidationInfo) -> tuple[Attachment, ...]:
    if attachments and info.data.get("trusted_verbatim"):
        raise VerbatimError(
            "a text marked trusted_verbatim stands alone, so it has no attachments: "
            "put them on an unmarked outcome beside it"
        )
    return attachments


def _none_if_spoken_otherwise(attachments: tuple[Attachment, ...], info: ValidationInfo) -> tuple[Attachment, ...]:
    if attachments and info.data.get("role") in ("system", "assistant"):
        raise ValueError("only a user's or a tool's message has attachments: no provider takes others")
    return attachments


# Validated after the flag it speaks of, as that is after its text.
Attachments: TypeAlias = Annotated[tuple[Attachment, ...], AfterValidator(_none_if_marked)]


class ToolOutcome(Record):
    """What running one tool produced. `attachments` go with the output; a marked one has none."""

    name: Text
    output: Text
    success: StrictBool = True
    tool_call_id: Text | None = None
    trusted_verbatim: VerbatimFlag = False
    attachments: Attachments = ()

    @classmethod
    def ok(cls, name: str, output: str, **fields: Any) -> Self:
        """A successful outcome; `fields` are the remaining ones (`tool_call_id=…`)."""
        return cls(name=name, output=output, success=True, **fields)

    @classmethod
    def failed(cls, name: str, output: str, **fields: Any) -> Self:
        """A failed outcome; its output's own words must say so, some providers have no failure flag."""
        return cls(name=name, output=output, success=False, **fields)

    def verbatim(self) -> Self:
        """A copy whose output reaches the model byte for byte, at byte 0 of a message of its own.

        Raises VerbatimError where the output was repaired, or has attachments.
        """
        return self.model_copy(update={"trusted_verbatim": True})


class ToolCall(Record):
    """A call as the provider reported it. `arguments` is the raw string and its bytes survive;
    `extra_content` (for instance a thought signature) is echoed untouched."""

    id: Text
    name: Text
    arguments: Text
    extra_content: JsonObject | None = None


class ToolResult(Record):
    """One persisted result of a call."""

    tool_call_id: Text
    content: Text
    name: Text | None = None
    success: StrictBool = True
    trusted_verbatim: VerbatimFlag = False
    attachments: Attachments = ()


class ChatMessage(Record):
    """One message of text; a user's or a tool's may have attachments."""

    kind: Literal["chat"] = "chat"
    role: Role
    content: Text
    metadata: JsonObject | None = None
    trusted_verbatim: VerbatimFlag = False
    attachments: Annotated[Attachments, AfterValidator(_none_if_spoken_otherwise)] = ()


class AssistantTurn(Record):
    """What the model said and the calls it made, as they came."""

    kind: Literal["assistant_turn"] = "assistant_turn"
    text: Text | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning_content: Text | None = None
    metadata: JsonObject | None = None


class ToolResultBatch(Record):
    """Results that follow an assistant turn."""

    kind: Literal["tool_results"] = "tool_results"
    results: tuple[ToolResult, ...]


TranscriptEntry: TypeAlias = ChatMessage | AssistantTurn | ToolResultBatch
ENTRY_KINDS = (ChatMessage, AssistantTurn, ToolResultBatch)
DiscriminatedEntry: TypeAlias = Annotated[TranscriptEntry, Field(discriminator="kind")]


class ModelResponse(Record):
    """A model's reply, read by a wire. `truncated`: the provider stopped it at a length limit.
    `metadata` is what the wire must send back unchanged (thinking signatures, reasoning items)."""

    text: Text | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning_content: Text | None = None
    truncated: StrictBool = False
    metadata: JsonObject | None = None


def reported_turn(response: ModelResponse) -> AssistantTurn:
    """The turn to append: all as it came, so that replay shows the model its own call."""
    return AssistantTurn(
        text=response.text,
        tool_calls=response.tool_calls,
        reasoning_content=response.reasoning_content,
        metadata=response.metadata,
    )


class ParsedToolCall(Record):
    """A call ready to run: `arguments` is an object, never a string."""

    name: Text
    arguments: JsonObject
    id: Text | None = None


class Problem(Record):
    """A call that could not be read. A value, never an exception, never an invented `{}`."""

    kind: ProblemKind
    name: Text | None
    detail: Text
    raw: Text
    id: Text | None = None

    def outcome(self) -> ToolOutcome:
        """The failed outcome that tells the model, named `tool_call` where no name was read."""
        return ToolOutcome.failed(
            self.name or "tool_call",
            f"The call was not executed ({self.kind.replace('_', ' ')}): {self.detail}",
            tool_call_id=self.id,
        )


class ParsedResponse(Record):
    """Narrative text, the calls in order, the calls that could not be read, and the entry to append.

    `entry` keeps the raw text, so that replay shows the model its own call."""

    text: Text
    calls: tuple[ParsedToolCall, ...] = ()
    problems: tuple[Problem, ...] = ()
    entry: AssistantTurn


class ToolSpec(Record):
    """A tool as the model is told of it; `parameters` is a JSON Schema."""

    name: Text
    description: Text = ""
    parameters: JsonObject = Field(default_factory=lambda: {"type": "object", "properties": {}})
