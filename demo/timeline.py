"""What happens, as lines that a person can follow: who wrote what, what the gate decided and why."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from tooldialect.dialects import ChatMessage, ParsedResponse, ToolOutcome, ToolResultBatch, TranscriptEntry
from tooldialect.gate import Decision, Reason

from .model import MARKER

LONGEST = 320
_COLOURS = {"host": "cyan", "model": "magenta", "server": "green", "gate": "yellow"}
_WHY = {
    Reason.PRESENT: "the contract is in context",
    Reason.ARGUMENTS_SATISFY: "the arguments satisfy the contract already",
    Reason.CONTRACT_REQUIRED: "the arguments do not satisfy the contract, which the model has not read",
    Reason.AFTER_FAILURE: "a call failed whose contract the model has not read",
    Reason.REDELIVERED: "the contract is not in context any more",
    Reason.UNSEEN: "it was delivered twice and is not found intact",
    Reason.AUTO_PROCEED: "three runs of this turn were given the contract and made nothing of it",
}


class GateLog(logging.Handler):
    """The gate's log as lines of the timeline."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__(logging.WARNING)
        self._timeline = timeline

    def emit(self, record: logging.LogRecord) -> None:
        self._timeline.warning(record.getMessage())


class Timeline:
    """Writes to `console` as it happens; texts of more than `longest` characters are shortened."""

    def __init__(self, console: Console, longest: int | None = LONGEST) -> None:
        self._console = console
        self._longest = longest
        self._depth = 0

    def title(self, title: str, way: str, story: str) -> None:
        self._console.print()
        self._console.print(Rule(f"{title}  ({way})", align="left"))
        self._console.print(Text(story, style="italic"))

    @contextlib.contextmanager
    def indented(self) -> Iterator[None]:
        """For the transcript of a sub-agent."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def opening(self, entries: Iterable[TranscriptEntry]) -> None:
        for entry in entries:
            if isinstance(entry, ChatMessage):
                self._line("gate" if entry.trusted_verbatim else "host", entry.role, entry.content)

    def sub_agent(self, task: str) -> None:
        self._line("host", "delegates", f"to a sub-agent: {task}", style="bold green")

    def managed(self, before: Sequence[TranscriptEntry], after: Iterable[TranscriptEntry]) -> None:
        """What the context managers put in place of what was there."""
        for entry in [entry for entry in after if entry not in before]:
            texts = [entry.content] if isinstance(entry, ChatMessage) else []
            if isinstance(entry, ToolResultBatch):
                texts = [result.content for result in entry.results]
            for text in texts:
                self._line("host", "rewrites", text, style="dim")

    def request(self, messages: int, present: Iterable[str]) -> None:
        credited = ", ".join(sorted(present)) or "none"
        self._line("", "", f"→ request of {messages} messages; contracts in context: {credited}", style="dim")

    def model(self, reply: ParsedResponse) -> None:
        self._line("model", "assistant", reply.text)
        for call in reply.calls:
            self._line("", "calls", f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}")
        for problem in reply.problems:
            self._line("", "miscalls", f"{problem.kind}: {problem.detail}")

    def decision(self, key: str, decision: Decision) -> None:
        verdict = "runs" if decision.proceed else "answered instead"
        wrong = ", ".join(f"{violation.path or '/'} {violation.kind}" for violation in decision.violations)
        why = _WHY.get(decision.reason, "")
        detail = f": {why}" + (f" ({wrong})" if wrong else "")
        self._line("gate", "decides", f"{decision.reason}, {key} {verdict}{detail}", style="bold yellow")

    def executes(self, what: str) -> None:
        self._line("host", "executes", what, style="bold green")

    def results(self, entries: Iterable[TranscriptEntry], answers: Sequence[tuple[str, ToolOutcome]]) -> None:
        """The messages that carry the outcomes of one round, `answers` as (author, outcome)."""
        left = list(answers)
        for entry in entries:
            if isinstance(entry, ToolResultBatch):
                for result in entry.results:
                    self._line(left.pop(0)[0], "tool", result.content)
            elif isinstance(entry, ChatMessage):
                held = 1
                if not entry.trusted_verbatim:
                    marks = [outcome.trusted_verbatim for _, outcome in left]
                    held = marks.index(True) if True in marks else len(left)
                authors = dict.fromkeys(author for author, _ in left[:held])
                del left[:held]
                self._line("+".join(authors), entry.role, entry.content)

    def warning(self, message: str) -> None:
        self._line("gate", "warns", message, style="bold red")

    def check(self, sentence: str, seen: str, *, fine: bool) -> None:
        if fine:
            self._line("", "check", f"✓ {sentence}", style="green")
        else:
            self._line("", "check", f"✗ {sentence}: {seen}", style="bold red")

    def _line(self, author: str, role: str, text: str, style: str = "") -> None:
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=6 + 4 * self._depth, no_wrap=True)
        grid.add_column(width=9, no_wrap=True)
        grid.add_column(overflow="fold")
        indent = "    " * self._depth
        shown = Text(self._shown(text, role), style)
        grid.add_row(Text(indent + author, style=_COLOURS.get(author, "")), Text(role, style="dim"), shown)
        self._console.print(grid)

    def _shown(self, text: str, role: str) -> str:
        if self._longest is None:
            return text
        lines = "\n".join(line for line in text.split("\n") if line.strip())
        # The prompt is the same in every scene.
        longest = self._longest if role != "system" else self._longest // 4
        if len(lines) <= longest:
            return lines
        alone = " alone in its message, from byte 0" if text.startswith(MARKER) else ""
        return f"{lines[:longest].rstrip()}… ({len(text):,} characters{alone})"
