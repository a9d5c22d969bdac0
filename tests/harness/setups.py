"""Every dialect on every wire, and a ready-made host around the shop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tooldialect.dialects import (
    AnthropicWire,
    ChatMessage,
    OpenAIChatWire,
    PlainChatWire,
    ToolDialect,
    TranscriptEntry,
    Wire,
    get_dialect,
)
from tooldialect.gate import ContractGate, Decision, GateTarget, Reason

from .loop import Harness
from .models import Line, ReadingModel, ScriptedModel
from .shop import Shop
from .stack import USUAL_ORDER, usual_middlewares

DIALECTS = ("native", "xml", "pformat")
WIRES: dict[str, Wire] = {
    "openai": OpenAIChatWire(),
    "anthropic": AnthropicWire(),
    "plain": PlainChatWire(),
    "strict": PlainChatWire(strict_alternation=True),
}
EVERYWHERE = [(dialect, wire) for dialect in DIALECTS for wire in WIRES]


@dataclass
class Host:
    """A shop, a gate before it, and what the gate decided, in order."""

    dialect_name: str = "native"
    wire_name: str = "openai"
    shop: Shop = field(default_factory=Shop)
    decisions: list[tuple[str, Decision]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.wire = WIRES[self.wire_name]
        self.open_gate()

    def open_gate(self, **options: Any) -> None:
        """A gate of its own making in place of the plain one; `options` are `ContractGate`'s."""
        self.gate = ContractGate([self.shop.surface], on_event=self._note, **options)

    @property
    def dialect(self) -> ToolDialect:
        return get_dialect(self.dialect_name, [tool.spec for tool in self.shop.tools()])

    @property
    def reasons(self) -> list[Reason]:
        """Why each gated call was executed or answered."""
        return [decision.reason for key, decision in self.decisions if key]

    @property
    def deliveries(self) -> list[str]:
        return [
            decision.message
            for _, decision in self.decisions
            if decision.message is not None and decision.message.startswith("[contract-gate:")
        ]

    def harness(self, which: tuple[str, ...] | list[str] = (), **options: Any) -> Harness:
        """A harness of this host with the usual middlewares named in `which`."""
        knobs = {name: options.pop(name) for name in _KNOBS & options.keys()}
        options.setdefault("middlewares", usual_middlewares(self.gate, which, **knobs))
        options.setdefault("history", [self.system()])
        return Harness(self.dialect, self.wire, self.gate, self.shop.tools(), **options)

    def system(self) -> TranscriptEntry:
        specs = [tool.spec for tool in self.shop.tools()]
        instructions = self.dialect.prompt_instructions(specs)
        return ChatMessage(role="system", content=f"You run a shop.\n\n{instructions}".strip())

    def reader(self, *wishes: Any, patience: int = 6) -> ReadingModel:
        return ReadingModel(self.dialect, self.wire, wishes, patience)

    def script(self, *lines: Line) -> ScriptedModel:
        return ScriptedModel(self.dialect, self.wire, lines)

    def _note(self, target: GateTarget | None, decision: Decision) -> None:
        if target is not None or decision.reason is not Reason.NOT_GATED:
            self.decisions.append(("" if target is None else target.key, decision))


_KNOBS = {"guarded", "cap", "budget", "keep", "rows", "failures", "repeats"}
ALL = USUAL_ORDER
