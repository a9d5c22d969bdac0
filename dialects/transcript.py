"""The transcript vocabulary: frozen records at the boundary between host and library.

Keyword arguments only, unknown fields refused, tuples for lists, booleans strict, text
cleaned (`clean_text`), JSON round-trip exact. The flag `trusted_verbatim` says that *host
code* asked for these bytes to reach the model unchanged; nothing that a tool, a server or
a model writes can set it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, StrictBool, ValidationInfo

from .attachment import Attachment
from .errors import VerbatimError
from .record import JsonObject, Record, Text
from .text import RepairedText


def _intact_if_marked(marked: bool, info: ValidationInfo) -> bool:
    if marked:
        for field in ("output", "content"):
            if isinstance(info.data.get(field), RepairedText):
                raise VerbatimError(
                    f"{field} held a lone surrogate, which no request can carry and which became U+FFFD: "
                    "these bytes cannot reach the model unchanged. Mark the text only if it is valid Unicode."
                )
    return marked


# Validated after the text it speaks of (field order), and only where given: an unmarked record pays nothing.
VerbatimFlag: TypeAlias = Annotated[StrictBool, AfterValidator(_intact_if_marked)]
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
ProblemKind: TypeAlias = Literal["malformed", "incomplete", "unknown_tool", "ambiguous"]


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
