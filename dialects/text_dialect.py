"""What all dialects without a structured channel share: results and history as text.

Subclasses spell calls; the envelope of results, the verbatim split and replay are here, so
that no text dialect can get them wrong alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from .attachment import Attachment
from .call_arguments import read_arguments
from .dialect import ToolDialect
from .envelope import NEXT_FAILED, NEXT_OK, escape_body, frame, join_results, nameless_head, result_head
from .errors import RenderError
from .neutralise import check_control_tokens, neutraliser
from .pairing import Place, answered_calls, stands_alone
from .record import record_of_clean, refuse_others
from .splitting import is_verbatim_turn, split_verbatim
from .tags import CONTROL_TOKENS, PROTOCOL_TAGS, RESULT_TAGS
from .transcript import (
    ENTRY_KINDS,
    AssistantTurn,
    ChatMessage,
    ParsedToolCall,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
    TranscriptEntry,
)


class TextDialect(ToolDialect):
    """Results and history as `ChatMessage`s.

    A subclass writes `parse_response`, `render_call`, `prompt_instructions` and `render_raw_call`,
    and sets `name`, `protocol_tags` (beside the envelope's own) and `call_format`.

    `control_tokens`: exact strings beginning with `<` that the model's chat template obeys;
    they are broken in tool results (ValueError for one that does not begin so).
    `well_formed`: bodies are escaped in full, so that a batch is a well-formed XML fragment.
    """

    protocol_tags: ClassVar[tuple[str, ...]] = PROTOCOL_TAGS

    def __init__(
        self,
        tools: Sequence[ToolSpec] = (),
        *,
        control_tokens: Iterable[str] = CONTROL_TOKENS,
        well_formed: bool = False,
    ) -> None:
        self.tools = tuple(tools)
        self.control_tokens = check_control_tokens(control_tokens)
        self.well_formed = well_formed
        # The envelope writes the result tag whatever a subclass declares.
        tags = tuple(dict.fromkeys((*RESULT_TAGS, *self.protocol_tags)))
        self._neutralise = neutraliser(tags, self.control_tokens)
        self._render_body, self._changed = (escape_body, "") if well_formed else (self._neutralise, "<")
        self._break_results = neutraliser(RESULT_TAGS)

    @abstractmethod
    def render_raw_call(self, name: str, raw_arguments: str) -> str:
        """A structured call whose arguments cannot be read or said, shown raw where the call would stand.

        Replay asks for it, so nothing in it may be obeyed as a call that was not made; it never raises.
        """

    def format_results(self, outcomes: Iterable[ToolOutcome]) -> list[TranscriptEntry]:
        """Batches and marked outcomes as `user` messages, the latter flagged; a batch has its outcomes' attachments."""
        outcomes = list(outcomes)
        if type(self)._batch is not TextDialect._batch:  # noqa: SLF001  # its own class
            # A subclass that frames batches its own way frames these too.
            return self._split_results(outcomes)
        parts: list[str] = []
        render_body, changed, next_ok, next_failed = self._render_body, self._changed, NEXT_OK, NEXT_FAILED
        try:
            for outcome in outcomes:
                # A record's attributes go through pydantic, one by one; its fields are read four times as fast.
                fields = outcome.__dict__
                if fields["trusted_verbatim"] or fields["attachments"]:
                    return self._split_results(outcomes)
                body = fields["output"]
                parts.append((next_ok if fields["success"] else next_failed)[fields["name"]])
                parts.append(render_body(body) if changed in body else body)
        except (AttributeError, KeyError):
            refuse_others(outcomes, (ToolOutcome,), "format_results")
            raise
        return [_user_turn(join_results(parts))] if parts else []

    def _split_results(self, outcomes: Iterable[ToolOutcome]) -> list[TranscriptEntry]:
        return [
            _verbatim_turn(run[0].output)
            if alone
            else self._batch([(result_head(o.name, o.success), o.output) for o in run], _attached(run))
            for alone, run in split_verbatim(outcomes, _outcome_stands_alone)
        ]

    def replay(self, history: Iterable[TranscriptEntry]) -> list[TranscriptEntry]:
        """History as `ChatMessage`s alone; results as `format_results` wrote them, calls behind the text."""
        entries = list(history)
        called = _names_called(entries)
        lowered: list[TranscriptEntry] = []
        for index, entry in enumerate(entries):
            if isinstance(entry, ChatMessage):
                lowered.append(self._replay_message(entry))
            elif isinstance(entry, AssistantTurn):
                lowered += self._replay_turn(entry)
            elif isinstance(entry, ToolResultBatch):
                names = [called.get((index, position)) for position in range(len(entry.results))]
                lowered += self._replay_results(zip(entry.results, names, strict=True))
            else:
                refuse_others(entries, ENTRY_KINDS, "replay")
        return lowered

    def _replay_message(self, message: ChatMessage) -> ChatMessage:
        content, marked = message.content, message.trusted_verbatim
        if message.role == "tool":
            # A tool's words without a frame: still a tool's words.
            verbatim = is_verbatim_turn(content, marked)
            changed = {
                "role": "user",
                "content": content if verbatim else self._neutralise(content),
                "trusted_verbatim": verbatim,
            }
            return message.model_copy(update=changed)
        if message.role == "assistant" and not marked:
            broken = self._break_results(content)
            return message if broken == content else message.model_copy(update={"content": broken})
        return message

    def _replay_turn(self, turn: AssistantTurn) -> Iterator[ChatMessage]:
        parts = [turn.text] if turn.text else []
        parts += map(self._replay_call, turn.tool_calls)
        # The calls too: a second replay sees one text and could not tell them from it.
        content = self._break_results("\n".join(parts))
        if content and not content.isspace():
            yield ChatMessage(role="assistant", content=content, metadata=turn.metadata)

    def _replay_call(self, call: ToolCall) -> str:
        try:
            arguments = read_arguments(call.arguments)
        except ValueError:
            return self.render_raw_call(call.name, call.arguments)
        try:
            return self.render_call(ParsedToolCall(name=call.name, arguments=arguments, id=call.id))
        except RenderError:
            return self.render_raw_call(call.name, call.arguments)

    def _replay_results(self, results: Iterable[tuple[ToolResult, str | None]]) -> Iterator[ChatMessage]:
        """`results`, each with the tool whose call it answers."""
        for alone, run in split_verbatim(results, lambda item: stands_alone(item[0])):
            if alone:
                yield _verbatim_turn(run[0][0].content)
            else:
                framed = [(_result_head(result, called), result.content) for result, called in run]
                yield self._batch(framed, _attached(result for result, _ in run))

    def _batch(self, results: Iterable[tuple[str, str]], attachments: tuple[Attachment, ...]) -> ChatMessage:
        return _user_turn(frame(results, self._render_body, self._changed), attachments)


def _names_called(entries: Sequence[TranscriptEntry]) -> dict[Place, str]:
    """Where each result of a call stands: the call's tool, for results that do not say their own."""
    if not any(r.name is None for entry in entries if isinstance(entry, ToolResultBatch) for r in entry.results):
        return {}
    return {place: call.name for place, call in answered_calls(entries).items()}


def _result_head(result: ToolResult, called: str | None) -> str:
    name = called if result.name is None else result.name
    return nameless_head(result.tool_call_id, result.success) if name is None else result_head(name, result.success)


def _user_turn(content: str, attachments: tuple[Attachment, ...] = ()) -> ChatMessage:
    return record_of_clean(ChatMessage, role="user", content=content, attachments=attachments)


def _attached(results: Iterable[ToolOutcome | ToolResult]) -> tuple[Attachment, ...]:
    return tuple(attachment for result in results for attachment in result.attachments)


def _verbatim_turn(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text, trusted_verbatim=True)


def _outcome_stands_alone(outcome: ToolOutcome) -> bool:
    return is_verbatim_turn(outcome.output, outcome.trusted_verbatim)
