"""A run: everything the gate does for one transcript.

The shell around `consultation`: it answers that generator's questions, synchronously or
not, renders and rescans, executes, reports, and tells the turn when the run has ended.
"""

from __future__ import annotations

import inspect
import logging
import weakref
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tooldialect.dialects import ChatMessage, ParsedToolCall, ToolDialect, ToolOutcome, ToolSpec, TranscriptEntry, Wire

from .aim import Aim, take_aim
from .consultation import CountRuns, LookUp, Question, consultation
from .contract import Contract
from .counter import TurnCounter
from .current import Entry, enter, leave
from .decision import Decision, Reason
from .errors import GateError
from .listing import carry, listing
from .reasons import where_raised
from .rescan import Rescan
from .scope import RunState, Turn
from .settings import switched_off
from .target import GateTarget

if TYPE_CHECKING:
    from .gate import ContractGate

_log = logging.getLogger("tooldialect.gate")


class GateRun:
    """One transcript's dealings with the gate; made by `ContractGate.run`, entered once.

    It ends when the `with` block does or, where it is only held, when it is collected.
    Consult from any thread or task; in generators and threads the context does not carry
    the run, so hold it or pass it as `parent=`.
    """

    def __init__(self, gate: ContractGate, turn: Turn) -> None:
        self.gate = gate
        self.turn = turn
        self._state = RunState()
        self._rescan = Rescan()
        self._entry: Entry | None = None
        self._entered = False
        self._finalizer = weakref.finalize(self, _end, self._state, turn.turn_id, gate.counter)
        self._finalizer.atexit = False

    @property
    def turn_id(self) -> str:
        """The turn this run works on; pass it to another process to join the turn there."""
        return self.turn.turn_id

    @property
    def ended(self) -> bool:
        """Whether the run's block has been left."""
        return self._state.ended

    def __enter__(self) -> Self:
        if self._entered:
            raise GateError("a run is entered once: open another with gate.run()")
        self._entered = True
        self._entry = enter(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        entry, self._entry = self._entry, None
        if entry is not None:
            leave(entry)
        self._finalizer()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)

    # What is in context

    @property
    def present(self) -> frozenset[str]:
        """Keys whose contract the last rescan credited, but for versions known to be out of date."""
        wanted_version = self.gate.wanted_version
        return frozenset(
            [
                key
                for key, versions in self._state.credited.items()
                if (wanted := wanted_version(key)) is None or wanted in versions
            ]
        )

    def refresh(self, texts: Iterable[str]) -> frozenset[str]:
        """Rescan what the host wrote, as the model will read it: before every model call, after
        all context managers. Returns `present`.

        Raises TypeError for a single string in place of many.
        """
        self._reread(texts)
        return self.present

    async def arefresh(self, texts: Iterable[str]) -> frozenset[str]:
        """`refresh` for coroutines."""
        return self.refresh(texts)

    def encode(
        self, history: Iterable[TranscriptEntry], dialect: ToolDialect, wire: Wire, tools: Sequence[ToolSpec] = ()
    ) -> dict[str, Any]:
        """The request for `history`, rescanned as it stands in it: rendering and rescanning in
        one step cannot be put in the wrong order."""
        request = wire.encode(dialect.replay(history), tools if dialect.sends_tool_specs else ())
        self._reread(wire.host_texts(request))
        return request

    async def aencode(
        self, history: Iterable[TranscriptEntry], dialect: ToolDialect, wire: Wire, tools: Sequence[ToolSpec] = ()
    ) -> dict[str, Any]:
        """`encode` for coroutines."""
        return self.encode(history, dialect, wire, tools)

    def _reread(self, texts: Iterable[str]) -> None:
        found = self.gate.reader.credited(self._rescan.marked(texts))
        with self._state.lock:
            self._state.note_rescan(found)

    # Calls

    def consult(self, subject: ParsedToolCall | GateTarget, args: Any = None) -> Decision:
        """Whether this call is executed or answered; `args` are those of a bare target.

        Raises GateError in a run that has ended, and where the source answers
        asynchronously inside a running event loop (use `aconsult`).
        """
        return self._consult(take_aim(self.gate.surfaces, subject, args))

    async def aconsult(self, subject: ParsedToolCall | GateTarget, args: Any = None) -> Decision:
        """`consult` for coroutines."""
        return await self._aconsult(take_aim(self.gate.surfaces, subject, args))

    def guard(self, call: ParsedToolCall, execute: Callable[[ParsedToolCall], ToolOutcome]) -> ToolOutcome:
        """Consult, then execute the call with its effective arguments or answer it.

        What `execute` raises is reported as a failure and raised on. Raises TypeError where it
        returns no ToolOutcome.
        """
        aim = take_aim(self.gate.surfaces, call, None)
        decision = self._consult(aim)
        if not decision.proceed:
            return decision.outcome(call.name, call.id)
        try:
            outcome = _checked(execute(_effective_call(aim, decision)), call)
        except Exception:
            self._report_execution(aim, decision, success=False)
            raise
        self._report_execution(aim, decision, success=outcome.success)
        return outcome

    async def aguard(
        self, call: ParsedToolCall, execute: Callable[[ParsedToolCall], ToolOutcome | Awaitable[ToolOutcome]]
    ) -> ToolOutcome:
        """`guard` for coroutines; `execute` may be one or not."""
        aim = take_aim(self.gate.surfaces, call, None)
        decision = await self._aconsult(aim)
        if not decision.proceed:
            return decision.outcome(call.name, call.id)
        try:
            executed = execute(_effective_call(aim, decision))
            outcome = _checked(await executed if inspect.isawaitable(executed) else executed, call)
        except Exception:
            self._report_execution(aim, decision, success=False)
            raise
        self._report_execution(aim, decision, success=outcome.success)
        return outcome

    def report(self, target: GateTarget, success: bool) -> None:
        """How an executed call went, for hosts that execute without `guard`."""
        with self._state.lock:
            self._state.note_report(target.key, success, None)

    # Contracts given ahead of calls

    def carry(self) -> list[ChatMessage]:
        """The contracts this turn has delivered, to start a child's transcript with: one fresh
        marked message per key, the latest version of each."""
        if switched_off():
            return []
        # A copy: other runs of the turn may deliver meanwhile.
        return carry(list(self.turn.delivered.values()), self.gate.ledger, self.gate.settings.max_contract_chars)

    def listing(
        self, contracts: Mapping[GateTarget, Contract], name: str, tool_call_id: str | None = None
    ) -> ToolOutcome:
        """The outcome of a discovery tool that shows full contracts, and so pre-credits exactly
        those it shows. `max_contract_chars` shortens the list, never a contract; with the gate
        switched off it is an ordinary outcome."""
        text, is_marked = listing(
            contracts, self.gate.ledger, self.gate.settings.max_contract_chars, may_mark=not switched_off()
        )
        return ToolOutcome.ok(name, text, tool_call_id=tool_call_id, trusted_verbatim=is_marked)

    # The shell

    def _open(self, aim: Aim) -> Generator[Question, Any, Decision]:
        if self._state.ended:
            raise GateError("this run has ended: consult inside its `with` block, or open another with gate.run()")
        return consultation(self.gate.desk, self._state, self.turn, aim)

    def _consult(self, aim: Aim) -> Decision:
        steps = self._open(aim)
        step = _advance(steps, None)
        while not isinstance(step, Decision):
            step = _advance(steps, self._answer(step))
        return self._announce(aim, step)

    async def _aconsult(self, aim: Aim) -> Decision:
        steps = self._open(aim)
        step = _advance(steps, None)
        while not isinstance(step, Decision):
            if isinstance(step, LookUp):
                answer: Any = await self.gate.desk.asker.aask(step.source, step.target)
            else:
                answer = self._answer(step)
            step = _advance(steps, answer)
        return self._announce(aim, step)

    def _answer(self, question: Question) -> Any:
        if isinstance(question, CountRuns):
            return _ended_runs(self.gate.counter, self.turn.turn_id, question.key)
        return self.gate.desk.asker.ask(question.source, question.target)

    def _announce(self, aim: Aim, decision: Decision) -> Decision:
        _log.debug("[contract-gate] %s: %s", decision.reason, aim.target.key if aim.target else "no target")
        if self.gate.on_event is not None:
            try:
                self.gate.on_event(aim.target, decision)
            except Exception as error:
                # Neither message nor traceback: both may hold the arguments it was given.
                _log.error("[contract-gate] on_event raised %s; the call is not affected", where_raised(error))
        return decision

    def _report_execution(self, aim: Aim, decision: Decision, *, success: bool) -> None:
        if aim.surface is None or aim.target is None:
            return
        unread = None if decision.reason is Reason.DISABLED else decision.reason is not Reason.PRESENT
        with self._state.lock:
            self._state.note_report(aim.target.key, success, unread)


def _advance(steps: Generator[Question, Any, Decision], answer: Any) -> Question | Decision:
    try:
        return steps.send(answer)
    except StopIteration as stop:
        decision: Decision = stop.value
        return decision


def _effective_call(aim: Aim, decision: Decision) -> ParsedToolCall:
    assert aim.call is not None
    if aim.surface is None or aim.target is None or decision.reason is Reason.DISABLED:
        return aim.call
    return aim.surface.write(aim.call, decision.arguments)


def _checked(outcome: Any, call: ParsedToolCall) -> ToolOutcome:
    if not isinstance(outcome, ToolOutcome):
        hint = "; use aguard for coroutines" if inspect.isawaitable(outcome) else ""
        raise TypeError(f"execute returned {type(outcome).__name__} for {call.name!r}, not a ToolOutcome{hint}")
    if outcome.tool_call_id is None and call.id is not None:
        return outcome.model_copy(update={"tool_call_id": call.id})
    return outcome


def _ended_runs(counter: TurnCounter, turn_id: str, key: str) -> int:
    try:
        return int(counter.count(turn_id, key))
    except Exception:
        _log.exception("[contract-gate] the turn counter could not be read for %s", key)
        return 0


def _end(state: RunState, turn_id: str, counter: TurnCounter) -> None:
    with state.lock:
        state.ended = True
        keys = state.delivered_unexecuted()
    for key in keys:
        try:
            counter.add(turn_id, key)
        except Exception:
            _log.exception("[contract-gate] the turn counter could not be written for %s", key)
