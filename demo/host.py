"""The loop of a harness with the contract gate in it. This is the file to copy from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tooldialect.dialects import ChatMessage, ParsedToolCall, ToolDialect, ToolOutcome, TranscriptEntry, Wire
from tooldialect.gate import ContractGate, Decision, GateRun, GateTarget, Surface

from .repository import Repository
from .servers import Servers
from .timeline import Timeline
from .tools import DELEGATE, MCP_CALL, SAVE_NOTE, TOOLS

History = list[TranscriptEntry]
SYSTEM = "You look after a git repository. Use your tools."


class Model(Protocol):
    """A provider's client: a request in its shape in, a reply in its shape out."""

    def complete(self, request: dict[str, Any]) -> Any: ...


class Host:
    """A harness: its tools, a dialect and a wire, one gate.

    `context`: the context managers, as one function from history to history.
    `sub_agent`: the model for a delegated task. `carries`: whether sub-agents start with the
    contracts that this turn has delivered.
    """

    def __init__(
        self,
        dialect: ToolDialect,
        wire: Wire,
        servers: Servers,
        repository: Repository,
        timeline: Timeline,
    ) -> None:
        self.dialect, self.wire = dialect, wire
        self.servers, self.repository, self.timeline = servers, repository, timeline
        self.gate = ContractGate(
            surfaces=[Surface.mcp(servers.source), Surface.deferred([SAVE_NOTE])],
            on_event=self._decided,
        )
        self.context: Callable[[History], History] = lambda history: history
        self.sub_agent: Callable[[str], Model] | None = None
        self.carries = False
        self.decisions: list[tuple[str, Decision]] = []

    async def user_turn(self, ask: str, model: Model) -> str:
        """One request of the user, to the model's last word."""
        with self.gate.run() as run:
            return await self._work(run, self._opening([], ask), model)

    async def _work(self, run: GateRun, history: History, model: Model) -> str:
        while True:
            before, history = history, self.context(history)
            self.timeline.managed(before, history)
            request = await run.aencode(history, self.dialect, self.wire, TOOLS)
            self.timeline.request(len(self.wire.messages(request)), run.present)
            reply = self.dialect.parse_response(self.wire.decode(model.complete(request), TOOLS))
            history.append(reply.entry)
            self.timeline.model(reply)
            if not reply.calls and not reply.problems:
                return reply.text
            answers = await asyncio.gather(*(self._answer(run, call) for call in reply.calls))
            answers += [("host", problem.outcome()) for problem in reply.problems]
            results = self.dialect.format_results([outcome for _, outcome in answers])
            history += results
            self.timeline.results(results, answers)

    async def _answer(self, run: GateRun, call: ParsedToolCall) -> tuple[str, ToolOutcome]:
        """The outcome of a call, and who wrote it."""
        author = "gate"

        async def execute(call: ParsedToolCall) -> ToolOutcome:
            nonlocal author
            author = "server" if call.name == MCP_CALL.name else "host"
            return await self._execute(run, call)

        outcome = await run.aguard(call, execute)
        return author, outcome

    async def _execute(self, run: GateRun, call: ParsedToolCall) -> ToolOutcome:
        """Only what the gate lets through comes here. It is no authorisation: a real host
        checks its allowlist and asks for approvals here, whatever the gate said."""
        arguments = call.arguments
        if call.name == MCP_CALL.name:
            self.timeline.executes(f"{arguments['server_id']}: tools/call {arguments['tool_name']}")
            return await self.servers.call(
                call.name, arguments["server_id"], arguments["tool_name"], arguments.get("arguments", {})
            )
        if call.name == DELEGATE.name:
            return ToolOutcome.ok(call.name, await self._delegate(run, str(arguments["task"])))
        if call.name == SAVE_NOTE.name:
            file_name = Path(arguments["file_name"]).name  # in the folder, whatever path the model thinks of
            self.timeline.executes(f"host: writes {file_name}")
            (self.repository.path / file_name).write_text(arguments["body"], encoding="utf-8")
            return ToolOutcome.ok(call.name, f"saved {file_name}")
        return ToolOutcome.failed(call.name, f"there is no tool {call.name}")

    async def _delegate(self, parent: GateRun, task: str) -> str:
        """A sub-agent: a transcript of its own, so a run of its own, within the same turn."""
        assert self.sub_agent is not None
        self.timeline.sub_agent(task)
        with self.gate.run(parent=parent) as run, self.timeline.indented():
            carried = run.carry() if self.carries else []
            return await self._work(run, self._opening(carried, task), self.sub_agent(task))

    def _opening(self, carried: list[ChatMessage], ask: str) -> History:
        system = f"{SYSTEM}\n\n{self.dialect.prompt_instructions(TOOLS)}".rstrip()
        opening: History = [
            ChatMessage(role="system", content=system),
            *carried,
            ChatMessage(role="user", content=ask),
        ]
        self.timeline.opening(opening)
        return opening

    def _decided(self, target: GateTarget | None, decision: Decision) -> None:
        if target is not None:
            self.decisions.append((target.key, decision))
            self.timeline.decision(target.key, decision)
