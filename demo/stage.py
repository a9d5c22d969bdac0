"""What a scene plays on, and how it says what must have come of it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tooldialect.gate import Reason

from .host import Host
from .model import Call, Received, Script, ScriptedModel
from .repository import Repository
from .servers import Servers
from .timeline import Timeline
from .tools import MCP_CALL
from .ways import Way


@dataclass(frozen=True)
class Check:
    sentence: str
    told: Any
    seen: Any

    @property
    def fine(self) -> bool:
        return bool(self.told == self.seen)


@dataclass
class Stage:
    """A repository, a host with a fresh gate and models for it; everything that was checked."""

    way: Way
    servers: Servers
    timeline: Timeline
    repository: Repository
    checks: list[Check] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._executed_before = self.servers.executed()
        self.host = self.new_host()

    def new_host(self) -> Host:
        return Host(self.way.dialect, self.way.wire, self.servers, self.repository, self.timeline)

    def model(self, script: Script) -> ScriptedModel:
        return ScriptedModel(script, self.way.spell)

    def mcp(self, server: str, tool: str, arguments: dict[str, Any]) -> Call:
        return Call(MCP_CALL.name, {"server_id": server, "tool_name": tool, "arguments": arguments})

    def check(self, sentence: str, told: Any, seen: Any) -> None:
        """`sentence` holds iff `seen` is what was `told`."""
        check = Check(sentence, told, seen)
        self.checks.append(check)
        self.timeline.check(sentence, f"told {told!r}, seen {seen!r}", fine=check.fine)

    def check_decisions(self, *told: Reason, key: str | None = None) -> None:
        """What the gate decided in order, about `key` alone or about every target."""
        seen = [str(decision.reason) for about, decision in self.host.decisions if key in (None, about)]
        subject = "" if key is None else f" about {key}"
        self.check(f"the gate decided{subject}: {', '.join(told)}", list(map(str, told)), seen)

    def check_executed(self, **told: int) -> None:
        """Frames that the taps saw, by tool, since the scene began."""
        seen = self.servers.executed() - self._executed_before
        sentence = ", ".join(f"{tool} ×{count}" for tool, count in told.items()) or "nothing"
        self.check(f"the taps saw tools/call frames: {sentence}", Counter(told), seen)

    def check_commits(self, *told: str) -> None:
        sentence = "git's log holds " + (", ".join(map(repr, told)) or "nothing new")
        self.check(sentence, ["Begin", *told], self.repository.subjects())

    def check_delivered(self, received: Received) -> None:
        """Each delivery in the request is, byte for byte, one that the gate wrote, and is a row of its own."""
        written = [decision.message for _, decision in self.host.decisions if decision.reason.delivers]
        self.check("the contract reached the model byte for byte, in a row of its own", written, received.deliveries)


@dataclass(frozen=True)
class Scene:
    name: str
    title: str
    story: str
    perform: Callable[[Stage], Awaitable[None]]


_numbers = itertools.count(1)


async def play(scene: Scene, way: Way, servers: Servers, timeline: Timeline, folder: Path) -> list[Check]:
    """Perform one scene in one way; what it checked."""
    timeline.title(scene.title, way.name, scene.story)
    stage = Stage(way, servers, timeline, Repository(folder / f"repository-{next(_numbers)}"))
    try:
        await scene.perform(stage)
    except Exception as error:  # a scene that breaks off is a failed check, whatever broke it
        stage.check("the scene came to its end", "its end", f"{type(error).__name__}: {error}")
    return stage.checks
