"""Where a host plays: tools, contracts and a scripted model, and what happened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tooldialect.dialects import ParsedToolCall, ToolOutcome, ToolSpec
from tooldialect.gate import Contract, ContractGate, Decision, GateSettings, GateTarget, Reason, StaticSource, Surface

from .clause import Violation, require
from .gating import CALL_TOOL
from .hops import first_break, how, nearest
from .scene import HarnessDriver, Scene, SceneTool, Turn, WitnessLedger
from .scripted_model import Line, ScriptedModel, Speaker

ASK = "Please order a lamp."
TARGETS = ("create_order", "refund", "ship", "invoice", "restock", "cancel")
LONG = "archive"
"""A target whose contract is as long as contracts get."""
CLOCK = ToolSpec(
    name="clock",
    description="Tells the time",
    parameters={"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
)
_SHARED = "words of the suite"
_LONG_ANSWER = "It is  noon.\n\nThe sun shines, and nothing of note happens. " * 60


def contract(name: str) -> Contract:
    return Contract(
        # What a cleaner, a cap or a template would touch.
        description=f"{name}:  it is binding, \u00e9\u2028.\n\n\n"
        + "Mind the <b>terms</b>  & conditions. " * (500 if name == LONG else 40),
        input_schema={
            "type": "object",
            "properties": {"sku": {"type": "string"}, "quantity": {"type": "integer"}},
            "required": ["sku", "quantity"],
            "additionalProperties": False,
        },
    )


class Stage:
    """Plays scenes on a host and keeps what happened in the last one.

    `requests`: as the model received them. `executed`: `(tool, arguments)` of each late-bound call
    that ran; `reasons`: what the gate decided, call by call. `ledger.deliveries`: as the gate signed
    them, over all scenes.
    """

    def __init__(self, driver: HarnessDriver) -> None:
        self.driver = driver
        self.wire = driver.provider_wire()
        self.ledger = WitnessLedger(_SHARED)
        self.executed: list[tuple[str, Any]] = []
        self.requests: Sequence[Mapping[str, Any]] = ()
        self.reasons: list[Reason] = []
        self.scene: Scene | None = None
        self._failures: Mapping[str, str] = {}

    def gate(self, *, must_read: bool = False) -> ContractGate:
        """A gate of a process that knows nothing but the ledger's secret. `must_read`: no call passes unread."""
        contracts = {GateTarget.mcp("shop", name): contract(name) for name in (*TARGETS, LONG)}
        settings = GateSettings(must_read=lambda *_: must_read)
        return ContractGate([Surface.mcp(StaticSource(contracts))], self.ledger, settings=settings, on_event=self._note)

    def _note(self, target: GateTarget | None, decision: Decision) -> None:
        if target is not None:
            self.reasons.append(decision.reason)

    def play(
        self,
        script: Iterable[Line] | Speaker,
        *,
        gate: ContractGate | None = None,
        failures: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Turn:
        """One user turn. `failures`: tools that fail, and with which words."""
        tools = (SceneTool(CALL_TOOL, self._execute), SceneTool(CLOCK, self._clock))
        self._failures = failures or {}
        self.executed, self.reasons = [], []
        specs = [tool.spec for tool in tools]
        if "delegation" in self.driver.offers:
            specs.append(self.driver.delegate_spec)
        model = ScriptedModel(self.driver.make_dialect(specs), self.driver.wire, script)
        options.setdefault("user_text", ASK)
        self.scene = Scene(model=model, tools=tools, gate=gate or self.gate(), **options)
        turn = self.driver.play(self.scene)
        self.requests = turn.requests
        return turn

    def host_texts(self, place: int) -> list[str]:
        return list(self.wire.host_texts(self.requests[place]))

    def require_delivered(self, place: int, delivery: str) -> None:
        """Request `place` holds the delivery, whole and alone."""
        require(
            len(self.requests) > place,
            f"the turn ended after {len(self.requests)} requests, before the model could read the delivery",
        )
        texts = self.host_texts(place)
        if delivery not in texts:
            raise self.broken(texts, delivery, place)

    def broken(self, texts: Sequence[str], delivery: str, place: int) -> Violation:
        """The delivery is not in the request: where it broke first, and how."""
        assert self.scene is not None
        arrived = nearest(texts, delivery)
        found = first_break(self.scene.hops, delivery)
        if found is not None:
            where, got = f"the first hop where it differs is {found.where}", found.got
        elif self.scene.hops:
            where, got = f"it is whole in every hop up to {self.scene.hops[-1].name}", arrived or ""
        else:
            where, got = "the driver tells no hops", arrived or ""
        state = "is not in it at all" if arrived is None else f"arrives changed: {how(delivery, arrived)}"
        return Violation(f"request {place + 1}: the delivery {state}; {where}", want=delivery, got=got)

    def _execute(self, call: ParsedToolCall) -> ToolOutcome:
        name = str(call.arguments.get("tool_name"))
        self.executed.append((name, call.arguments.get("arguments")))
        return self._outcome(call, name, f"shop: {name} done")

    def _clock(self, call: ParsedToolCall) -> ToolOutcome:
        return self._outcome(call, CLOCK.name, f"{call.arguments.get('zone')}: {_LONG_ANSWER}")

    def _outcome(self, call: ParsedToolCall, name: str, output: str) -> ToolOutcome:
        failure = self._failures.get(name)
        if failure is not None:
            return ToolOutcome.failed(call.name, failure, tool_call_id=call.id)
        return ToolOutcome.ok(call.name, output, tool_call_id=call.id)
