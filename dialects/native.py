"""The provider's structured channel: calls and results are records, not text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from .dialect import CallFormat, ToolDialect
from .errors import RenderError
from .pairing import batches, repair_tool_cycles, stands_alone
from .parsing.reported import read_reported_calls
from .record import refuse_others
from .transcript import (
    ModelResponse,
    ParsedResponse,
    ParsedToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
    TranscriptEntry,
    reported_turn,
)


class NativeDialect(ToolDialect):
    """Calls and results travel as the provider's own records; the wire spells them.

    `tools`: what was offered to the model; with none given no name counts as unknown.
    """

    name: ClassVar[str] = "native"
    sends_tool_specs: ClassVar[bool] = True
    embeds_catalogue: ClassVar[bool] = False
    call_format: ClassVar[CallFormat] = "native"

    def __init__(self, tools: Sequence[ToolSpec] = ()) -> None:
        self._known_names = tuple(tool.name for tool in tools)

    def format_results(self, outcomes: Iterable[ToolOutcome]) -> list[TranscriptEntry]:
        """Each run of outcomes a `ToolResultBatch`, each marked one a `ToolResultBatch` of one.

        Raises RenderError, naming the tool, for an outcome without a call id: the provider
        pairs by id, and one result that answers nothing spoils every later request.
        """
        outcomes = list(outcomes)
        try:
            results = [_result(outcome) for outcome in outcomes]
        except AttributeError:
            refuse_others(outcomes, (ToolOutcome,), "format_results")
            raise
        return list(batches(results))

    def parse_response(self, response: ModelResponse) -> ParsedResponse:
        """The reported calls; the ones that cannot be read are problems. Text is only text."""
        calls, problems = read_reported_calls(response.tool_calls, self._known_names, truncated=response.truncated)
        return ParsedResponse(
            text=response.text or "",
            calls=tuple(calls),
            problems=tuple(problems),
            entry=reported_turn(response),
        )

    def render_call(self, call: ParsedToolCall) -> str:
        """Raises RenderError: a native call has no text form."""
        raise RenderError(
            f"the call of {call.name!r} has no text form in the native dialect: it is a record that a wire encodes",
            name=call.name,
        )

    def prompt_instructions(self, tools: Sequence[ToolSpec]) -> str:
        """Nothing: the provider teaches the model its own channel."""
        return ""

    def replay(self, history: Iterable[TranscriptEntry]) -> list[TranscriptEntry]:
        """History with its cycles repaired (`repair_tool_cycles`), each marked result a batch of its own."""
        return [part for entry in repair_tool_cycles(history) for part in _split_again(entry)]


def _result(outcome: ToolOutcome) -> ToolResult:
    if outcome.tool_call_id is None:
        raise RenderError(
            f"the outcome of {outcome.name!r} has no tool_call_id: the native dialect pairs results with "
            "calls by id. Pass the id of the call it answers.",
            name=outcome.name,
        )
    result = ToolResult(
        tool_call_id=outcome.tool_call_id,
        content=outcome.output,
        name=outcome.name,
        success=outcome.success,
        trusted_verbatim=outcome.trusted_verbatim,
        attachments=outcome.attachments,
    )
    return _unmarked_if_blank(result)


def _unmarked_if_blank(result: ToolResult) -> ToolResult:
    if result.trusted_verbatim and not stands_alone(result):
        return result.model_copy(update={"trusted_verbatim": False})
    return result


def _split_again(entry: TranscriptEntry) -> Iterator[TranscriptEntry]:
    """A host may have stored a marked result among others."""
    if isinstance(entry, ToolResultBatch) and any(result.trusted_verbatim for result in entry.results):
        yield from batches([_unmarked_if_blank(result) for result in entry.results])
    else:
        yield entry
