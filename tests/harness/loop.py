"""The agent loop, one core for sync and async: a generator that asks for what is I/O."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tooldialect.dialects import (
    ChatMessage,
    ParsedToolCall,
    ToolDialect,
    ToolOutcome,
    ToolSpec,
    TranscriptEntry,
    Wire,
)
from tooldialect.gate import ContractGate, GateRun

from .middleware import Middleware, acts_on_requests

Model: TypeAlias = Callable[[dict[str, Any]], Any]
"""Takes the provider's request, returns the provider's reply (or, for the async loops, an awaitable of it)."""


@dataclass(frozen=True)
class Tool:
    """`execute` returns a ToolOutcome or, in the async loops, an awaitable of one."""

    spec: ToolSpec
    execute: Callable[[ParsedToolCall], Any]


@dataclass
class TurnReport:
    """`stopped`: why the turn ended before the model had said its last word, else None."""

    text: str = ""
    stopped: str | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[ToolOutcome] = field(default_factory=list)


@dataclass(frozen=True)
class _Ask:
    request: dict[str, Any]


@dataclass(frozen=True)
class _Answer:
    calls: tuple[ParsedToolCall, ...]


@dataclass(frozen=True)
class _Appended:
    entries: list[TranscriptEntry]


_Step: TypeAlias = _Ask | _Answer | _Appended


class Harness:
    """One transcript and what acts on it.

    `gate=None`: without the gate. `rescan_after=False` is the fault of a host that rescans
    its own history and only then lets the middlewares at it.
    """

    def __init__(
        self,
        dialect: ToolDialect,
        wire: Wire,
        gate: ContractGate | None,
        tools: Sequence[Tool],
        middlewares: Iterable[Middleware] = (),
        *,
        rescan_after: bool = True,
        history: Iterable[TranscriptEntry] = (),
        max_rounds: int = 20,
    ) -> None:
        self.dialect, self.wire, self.gate = dialect, wire, gate
        self.specs = tuple(tool.spec for tool in tools)
        self.middlewares = list(middlewares)
        self.history = list(history)
        self.rescan_after, self.max_rounds = rescan_after, max_rounds
        self._tools = {tool.spec.name: tool for tool in tools}

    # Turns

    def run_turn(
        self, model: Model, user_text: str | None = None, *, parent: GateRun | None = None, turn_id: str | None = None
    ) -> TurnReport:
        """One user turn, or a sub-agent's part of one; None goes on with the transcript as it is."""
        if self.gate is None:
            return self.play(None, model, user_text)
        with self.gate.run(parent, turn_id) as run:
            return self.play(run, model, user_text)

    async def arun_turn(
        self, model: Model, user_text: str | None = None, *, parent: GateRun | None = None, turn_id: str | None = None
    ) -> TurnReport:
        """`run_turn` for coroutines; the calls of a round run in parallel."""
        if self.gate is None:
            return await self.aplay(None, model, user_text)
        async with self.gate.run(parent, turn_id) as run:
            return await self.aplay(run, model, user_text)

    async def stream(
        self, model: Model, user_text: str | None = None, *, parent: GateRun | None = None
    ) -> AsyncGenerator[TranscriptEntry, None]:
        """The turn's entries as they are appended; closing the stream ends the run."""
        assert self.gate is not None
        async with (
            self.gate.run(parent) as run,
            aclosing(self._events(run, model, user_text, TurnReport())) as events,
        ):
            async for entry in events:
                yield entry

    def play(self, run: GateRun | None, model: Model, user_text: str | None = None) -> TurnReport:
        """A turn in a run that the caller holds."""
        report = TurnReport()
        steps = self._steps(run, user_text, report)
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration:
                return report
            if isinstance(step, _Ask):
                answer = model(step.request)
            elif isinstance(step, _Answer):
                answer = [self._answer(run, call) for call in step.calls]
            else:
                answer = None

    async def aplay(self, run: GateRun | None, model: Model, user_text: str | None = None) -> TurnReport:
        """`play` for coroutines."""
        report = TurnReport()
        async for _entry in self._events(run, model, user_text, report):
            pass
        return report

    async def _events(
        self, run: GateRun | None, model: Model, user_text: str | None, report: TurnReport
    ) -> AsyncGenerator[TranscriptEntry, None]:
        steps = self._steps(run, user_text, report)
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration:
                return
            answer = None
            if isinstance(step, _Ask):
                answer = await _settled(model(step.request))
            elif isinstance(step, _Answer):
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(self._aanswer(run, call)) for call in step.calls]
                answer = [task.result() for task in tasks]
            else:
                for entry in step.entries:
                    yield entry

    # The core

    def _steps(self, run: GateRun | None, user_text: str | None, report: TurnReport) -> Generator[_Step, Any, None]:
        for middleware in self.middlewares:
            middleware.on_turn()
        if user_text is not None:
            yield self._append([ChatMessage(role="user", content=user_text)])
        for _ in range(self.max_rounds):
            request = self.request(run)
            report.requests.append(request)
            parsed = self.dialect.parse_response(self.wire.decode((yield _Ask(request)), self._sent_specs))
            yield self._append([parsed.entry])
            if not parsed.calls and not parsed.problems:
                report.text = parsed.text
                return
            answers = yield _Answer(parsed.calls)
            outcomes = [*answers, *(problem.outcome() for problem in parsed.problems)]
            report.outcomes += outcomes
            yield self._append(self.dialect.format_results(outcomes))
            answered = list(zip(parsed.calls, answers, strict=True))
            stops = [middleware.after_round(answered) for middleware in self.middlewares]
            report.stopped = next((stop for stop in stops if stop is not None), None)
            if report.stopped is not None:
                return
        report.stopped = "too many rounds"

    def request(self, run: GateRun | None) -> dict[str, Any]:
        """What is sent for the transcript as it is now, rescanned."""
        if run is not None and not self.rescan_after:
            run.refresh(self.wire.host_texts(self._render(self.history)))
        view = list(self.history)
        for middleware in self.middlewares:
            view = middleware.on_history(view)
        late = [middleware for middleware in self.middlewares if acts_on_requests(middleware)]
        if run is not None and self.rescan_after and not late:
            return run.encode(view, self.dialect, self.wire, self.specs)
        request = self._render(view)
        for middleware in late:
            request = middleware.on_request(request, self.wire)
        if run is not None and self.rescan_after:
            run.refresh(self.wire.host_texts(request))
        return request

    def _render(self, entries: list[TranscriptEntry]) -> dict[str, Any]:
        return self.wire.encode(self.dialect.replay(entries), self._sent_specs)

    @property
    def _sent_specs(self) -> tuple[ToolSpec, ...]:
        return self.specs if self.dialect.sends_tool_specs else ()

    def _append(self, entries: list[TranscriptEntry]) -> _Appended:
        self.history += entries
        return _Appended(entries)

    # Calls

    def _answer(self, run: GateRun | None, call: ParsedToolCall) -> ToolOutcome:
        blocked = self._blocked(call)
        if blocked is not None:
            return blocked
        try:
            return _answering(call, self._execute(call)) if run is None else run.guard(call, self._execute)
        except Exception as error:
            return _raised(call, error)

    async def _aanswer(self, run: GateRun | None, call: ParsedToolCall) -> ToolOutcome:
        blocked = self._blocked(call)
        if blocked is not None:
            return blocked
        try:
            if run is None:
                return _answering(call, await _settled(self._execute(call)))
            return await run.aguard(call, self._execute)
        except Exception as error:
            return _raised(call, error)

    def _blocked(self, call: ParsedToolCall) -> ToolOutcome | None:
        answers = (middleware.before_call(call) for middleware in self.middlewares)
        return next((answer for answer in answers if answer is not None), None)

    def _execute(self, call: ParsedToolCall) -> Any:
        return self._tools[call.name].execute(call)


async def _settled(value: Any | Awaitable[Any]) -> Any:
    return await value if inspect.isawaitable(value) else value


def _answering(call: ParsedToolCall, outcome: ToolOutcome) -> ToolOutcome:
    return outcome.model_copy(update={"tool_call_id": call.id})


def _raised(call: ParsedToolCall, error: Exception) -> ToolOutcome:
    return ToolOutcome.failed(call.name, f"{call.name} raised {type(error).__name__}: {error}", tool_call_id=call.id)
