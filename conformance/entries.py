"""Reading transcript entries without knowing any envelope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    TranscriptEntry,
    dump_transcript,
)

from .clause import require, require_same

USER = ChatMessage(role="user", content="go")


def ok(output: str, name: str = "read_file", call_id: str = "call-0") -> ToolOutcome:
    return ToolOutcome.ok(name, output, tool_call_id=call_id)


def marked(output: str, name: str = "read_contract", call_id: str = "call-0") -> ToolOutcome:
    return ok(output, name, call_id).verbatim()


def numbered(outcomes: Sequence[ToolOutcome]) -> list[ToolOutcome]:
    """The outcomes with ids that differ."""
    return [outcome.model_copy(update={"tool_call_id": f"call-{place}"}) for place, outcome in enumerate(outcomes)]


def stands_alone(outcome: ToolOutcome) -> bool:
    """Whether the outcome must be an entry of its own: marked and not blank."""
    return outcome.trusted_verbatim and outcome.output.strip() != ""


def call_turn(outcomes: Iterable[ToolOutcome], text: str | None = "Let me look.") -> AssistantTurn:
    """The turn whose calls these outcomes answer."""
    calls = tuple(
        ToolCall(id=outcome.tool_call_id or "", name=outcome.name, arguments='{"path": "a"}') for outcome in outcomes
    )
    return AssistantTurn(text=text, tool_calls=calls)


def persisted(outcomes: Iterable[ToolOutcome], *, named: bool = True) -> list[TranscriptEntry]:
    """The outcomes as a host stores them for any dialect: a marked one in a batch of its own."""
    entries: list[TranscriptEntry] = []
    run: list[ToolResult] = []
    for outcome in outcomes:
        result = ToolResult(
            tool_call_id=outcome.tool_call_id or "",
            content=outcome.output,
            name=outcome.name if named else None,
            success=outcome.success,
            trusted_verbatim=stands_alone(outcome),
        )
        if result.trusted_verbatim:
            if run:
                entries.append(ToolResultBatch(results=tuple(run)))
            entries.append(ToolResultBatch(results=(result,)))
            run = []
        else:
            run.append(result)
    return [*entries, ToolResultBatch(results=tuple(run))] if run else entries


def batch_of(outcome: ToolOutcome, content: str | None = None) -> ToolResultBatch:
    """The outcome as a host stores it on its own, with other words if `content` is given."""
    result = ToolResult(tool_call_id=outcome.tool_call_id or "", name=outcome.name, content=content or outcome.output)
    return ToolResultBatch(results=(result,))


def text_of(entry: TranscriptEntry) -> str:
    """All text of an entry that a model reads."""
    if isinstance(entry, ChatMessage):
        return entry.content
    if isinstance(entry, AssistantTurn):
        return entry.text or ""
    return "\n".join(result.content for result in entry.results)


def all_text(entries: Iterable[TranscriptEntry]) -> str:
    return "\n".join(map(text_of, entries))


def is_flagged(entry: TranscriptEntry) -> bool:
    """Whether the entry, or a result in it, is marked."""
    if isinstance(entry, ToolResultBatch):
        return any(result.trusted_verbatim for result in entry.results)
    return isinstance(entry, ChatMessage) and entry.trusted_verbatim


def verbatim_texts(entries: Iterable[TranscriptEntry]) -> list[str]:
    """Texts of the entries that are one marked text and nothing else."""
    return [
        text_of(entry)
        for entry in entries
        if is_flagged(entry) and not (isinstance(entry, ToolResultBatch) and len(entry.results) != 1)
    ]


def require_alone(entry: TranscriptEntry, outcome: ToolOutcome, *, native: bool) -> None:
    """The entry is this marked outcome, byte for byte, and nothing else."""
    if native:
        require(
            isinstance(entry, ToolResultBatch), f"a marked outcome became a {entry.kind!r} entry, not a result batch"
        )
        assert isinstance(entry, ToolResultBatch)
        require(len(entry.results) == 1, f"a marked outcome shares its batch with {len(entry.results) - 1} others")
    else:
        require(
            isinstance(entry, ChatMessage) and entry.role == "user",
            f"a marked outcome became {entry.kind!r}, not a user message",
        )
    require_same(outcome.output, text_of(entry), "a marked outcome did not keep its bytes")
    require(is_flagged(entry), "the entry of a marked outcome does not carry the flag")


def require_same_entries(want: Sequence[TranscriptEntry], got: Sequence[TranscriptEntry], detail: str) -> None:
    """Raises Violation with the texts that differ or, where texts are equal, with the records."""
    if list(want) == list(got):
        return
    require(len(want) == len(got), f"{detail}: {len(got)} entries, not {len(want)}", want=_saved(want), got=_saved(got))
    for place, (wanted, seen) in enumerate(zip(want, got, strict=True)):
        require_same(text_of(wanted), text_of(seen), f"{detail} (entry {place})")
        require(wanted == seen, f"{detail} (entry {place})", want=_saved([wanted]), got=_saved([seen]))


def _saved(entries: Sequence[TranscriptEntry]) -> str:
    return dump_transcript(entries)
