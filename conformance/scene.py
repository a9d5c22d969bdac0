"""What a host's driver is given and what it gives back: one user turn, played by the host's real loop."""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from tooldialect.dialects import ParsedToolCall, ToolDialect, ToolOutcome, ToolSpec, Wire
from tooldialect.dialects.wires import wire_for
from tooldialect.gate import ContractGate, SignedLedger
from tooldialect.gate.marker import write_marker

from .hops import Hop, seen_at
from .loopback import ModelServer
from .scripted_model import ScriptedModel

Offer: TypeAlias = Literal["resume", "delegation", "breaker", "rewriting"]


@dataclass(frozen=True)
class SceneTool:
    """A tool for the host to offer; `execute` returns a ToolOutcome and never raises."""

    spec: ToolSpec
    execute: Callable[[ParsedToolCall], ToolOutcome]


@dataclass
class Turn:
    """What a turn leaves behind. `saved`: what the host stores of the transcript, to resume from."""

    requests: Sequence[Mapping[str, Any]] = ()
    saved: Any = None


@dataclass
class Scene:
    """One user turn to play.

    `model`: to be called in place of the provider's client; or `model_url()` for a client that
    wants a server. `tools`: to be offered to the model, and run through `gate`. `manager`: the one
    of the driver's `context_managers` to switch on; None for none. `rewrite`: to be applied, where
    context managers act, to every text of user and tool messages. `saved`: resume from this.
    """

    user_text: str
    model: ScriptedModel
    tools: Sequence[SceneTool]
    gate: ContractGate
    manager: str | None = None
    rewrite: Callable[[str], str] | None = None
    saved: Any = None
    hops: list[Hop] = field(default_factory=list)
    _server: ModelServer | None = None

    def model_url(self) -> str:
        """Where the model listens, without `/v1`; the server ends with the scene."""
        if self._server is None:
            self._server = ModelServer(self.model).__enter__()
        return self._server.url

    def hop(self, name: str, *seen: Any) -> None:
        """Tells what passes here: texts, records, requests, or lists and dicts of them. Optional; with
        hops a broken delivery is traced to the first place where its bytes differ."""
        self.hops.append(seen_at(name, seen))

    def close(self) -> None:
        if self._server is not None:
            self._server.__exit__(None, None, None)
            self._server = None


class HarnessDriver(ABC):
    """Drives the host's real loop. `wire`: the shape of its requests. `context_managers`: their names; the
    one that a scene names has to act on texts of a few thousand characters.

    `offers`: `resume` (a turn's `saved` can be gone on with), `delegation` (the host has a sub-agent
    tool, `delegate_spec`, whose argument `delegate_argument` is the task), `breaker` (repeated
    failures end a turn), `rewriting` (`scene.rewrite` is applied).
    """

    wire: str = "openai-chat"
    context_managers: Sequence[str] = ()
    offers: frozenset[Offer] = frozenset()
    delegate_spec: ToolSpec = ToolSpec(
        name="delegate",
        parameters={"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"]},
    )
    delegate_argument: ClassVar[str] = "task"

    @abstractmethod
    def make_dialect(self, tools: Sequence[ToolSpec]) -> ToolDialect:
        """The dialect that the host speaks with its model, for these tools."""

    @abstractmethod
    def run_turn(self, scene: Scene) -> Turn | Sequence[Mapping[str, Any]] | Awaitable[Any]:
        """Plays one user turn to its end; sync or async. Returns the provider requests or a Turn."""

    def provider_wire(self) -> Wire:
        """The wire by its name; a driver with a wire of its own overrides this."""
        return wire_for(self.wire)

    def play(self, scene: Scene) -> Turn:
        """`run_turn`, awaited where it has to be."""
        try:
            played = self.run_turn(scene)
            if inspect.isawaitable(played):
                played = asyncio.run(_settle(played))
        finally:
            scene.close()
        turn = played if isinstance(played, Turn) else Turn(list(played or ()))
        # What the model received is what counts; the host's word serves where it got nothing to see.
        return Turn(scene.model.requests or turn.requests, turn.saved)


class WitnessLedger:
    """A signed ledger that remembers every delivery it signed, as it must arrive."""

    def __init__(self, secret: str) -> None:
        self._ledger = SignedLedger(secret)
        self.deliveries: list[str] = []

    def issue(self, payload: str, claims: Mapping[str, str], /) -> str:
        token = self._ledger.issue(payload, claims)
        self.deliveries.append(write_marker(token, claims) + payload)
        return token

    def verify(self, token: str, payload: str, claims: Mapping[str, str], /) -> bool:
        return self._ledger.verify(token, payload, claims)


async def _settle(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
