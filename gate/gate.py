"""The gate itself: only wiring."""

from __future__ import annotations

import functools
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable

from tooldialect.dialects import ParsedToolCall

from .consultation import Desk
from .counter import MemoryTurnCounter, TurnCounter
from .current import current_run
from .decision import Decision
from .errors import GateError
from .explain import Sighting, explain
from .known import KnownContracts
from .ledger import Ledger, MemoryLedger
from .lookup import Asker
from .marker import PREFIX
from .presence import RowReader
from .run import GateRun
from .scope import Turn
from .settings import GateSettings
from .surface import Surface, checked_surface
from .target import GateTarget

_NAMED_TURNS = 256


class ContractGate:
    """Fronts tools whose real schema the model has not seen.

    `surfaces`: the host's tools that reach late-bound targets, the first that matches serves.
    `ledger`: who proves that a delivery is ours, by default this process's memory.
    `counter`: what ended runs of a turn leave behind. `on_event(target, decision)`: called
    after every consult, with None where the call is not gated or names no target. One gate
    serves one tenant: it remembers which version of a contract it looked up last.

    Raises GateError for a surface that cannot serve.

    The gate is an aid to the model, never an authorisation: allowlists and approvals stay
    with the host and apply whatever it says.
    """

    def __init__(
        self,
        surfaces: Iterable[Surface],
        ledger: Ledger | None = None,
        counter: TurnCounter | None = None,
        settings: GateSettings | None = None,
        on_event: Callable[[GateTarget | None, Decision], object] | None = None,
    ) -> None:
        self.surfaces = tuple(map(checked_surface, surfaces))
        self.ledger = MemoryLedger() if ledger is None else ledger
        self.counter = MemoryTurnCounter() if counter is None else counter
        self.settings = GateSettings() if settings is None else settings
        self.on_event = on_event
        self.reader = RowReader(self.ledger)
        self.desk = Desk(Asker(self.settings.lookup_timeout), KnownContracts(), self.ledger, self.settings)
        self._turns: OrderedDict[str, Turn] = OrderedDict()
        self._lock = threading.Lock()

    def run(self, parent: GateRun | None = None, turn_id: str | None = None) -> GateRun:
        """A context manager around one transcript.

        A run without a parent is a user turn; inside another run's block it is that run's
        child, a sub-agent's. `turn_id` starts or joins that turn, in whatever context; with
        `parent` it is an error, and so is a parent of another gate (GateError).
        """
        if turn_id is not None:
            if parent is not None:
                raise GateError("give parent or turn_id, not both: a child works on its parent's turn")
            return GateRun(self, self._named_turn(turn_id))
        if parent is None:
            parent = current_run(self)
        elif parent.gate is not self:
            raise GateError("the parent run belongs to another gate")
        return GateRun(self, Turn(uuid.uuid4().hex) if parent is None else parent.turn)

    def consult(self, subject: ParsedToolCall | GateTarget, args: object = None) -> Decision:
        """`consult` of the context's current run. Raises GateError outside any run."""
        return self._current().consult(subject, args)

    async def aconsult(self, subject: ParsedToolCall | GateTarget, args: object = None) -> Decision:
        """`aconsult` of the context's current run. Raises GateError outside any run."""
        return await self._current().aconsult(subject, args)

    def is_contract_delivery(self, text: str) -> bool:
        """Whether the text is, byte for byte, a delivery of this gate's ledger.

        For failure breakers, repeated-call guards and rewriters, which must skip those.
        """
        if not isinstance(text, str):
            raise TypeError(f"a delivery is recognised by its text, not by {type(text).__name__}: pass the content")
        return text.startswith(PREFIX) and bool(self.reader.claims(text))

    def exempt(self, rewrite: Callable[[str], str]) -> Callable[[str], str]:
        """`rewrite`, but for deliveries, which pass untouched."""

        @functools.wraps(rewrite)
        def spare_deliveries(text: str) -> str:
            return text if self.is_contract_delivery(text) else rewrite(text)

        return spare_deliveries

    def explain(self, texts: Iterable[str]) -> list[Sighting]:
        """For each marked row of `texts` and each of its keys, whether it is credited and, if not, why."""
        return explain(texts, self.ledger, self.wanted_version)

    def wanted_version(self, key: str) -> str | None:
        """The version a target has now: what its source's `peek` knows, else the one last looked
        up, else None, which any version satisfies."""
        target = _target_of(key)
        if target is None:
            return None
        # Every surface of the kind: which of them a call will come through is not known here.
        for surface in self.surfaces:
            if surface.kind == target.kind:
                peeked = self.desk.asker.peek(surface.source, target)
                if peeked is not None:
                    return peeked.version
        known = self.desk.known.get(key)
        return None if known is None else known.version

    def _current(self) -> GateRun:
        run = current_run(self)
        if run is None:
            raise GateError(
                "no run of this gate is open in this context: consult inside `with gate.run() as run:`, or hold the "
                "run and call run.consult (generators and threads do not inherit it)"
            )
        return run

    def _named_turn(self, turn_id: str) -> Turn:
        if not turn_id.strip():
            raise GateError("turn_id is blank: every such run would share one turn")
        with self._lock:
            turn = self._turns.setdefault(turn_id, Turn(turn_id))
            self._turns.move_to_end(turn_id)
            while len(self._turns) > _NAMED_TURNS:
                self._turns.popitem(last=False)
            return turn


@functools.lru_cache(maxsize=4096)
def _target_of(key: str) -> GateTarget | None:
    try:
        return GateTarget.from_key(key)
    except ValueError:
        return None
