"""H: a whole host is right, from the model's call to the request that the provider receives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tooldialect.dialects import ParsedToolCall, ToolOutcome, ToolSpec
from tooldialect.gate import Contract, ContractGate, GateTarget, StaticSource, Surface

from .clause import Chapter, Clause, Need, Violation, require
from .gating import CALL_TOOL
from .run import Result, check_expectations, conclude, select
from .scene import HarnessDriver, Scene, SceneTool, Turn, WitnessLedger, first_break
from .scripted_model import Line, Said, ScriptedModel, Speaker

_SHARED = "a secret of the suite"
_ASK = "Please order a lamp."
_SUBTASK = "SUBTASK: order a lamp."
_TARGETS = ("create_order", "refund", "ship", "invoice", "restock", "cancel")
_GUESS = {"item": "lamp", "count": "two"}
_RIGHT = {"sku": "LAMP-1", "quantity": 2}
_CLOCK = ToolSpec(
    name="clock",
    description="Tells the time",
    parameters={"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
)
_LONG = "It is  noon.\n\nThe sun shines, and nothing of note happens. " * 60
_MANY = 30
_DELEGATIONS = 5


def _contract(name: str) -> Contract:
    return Contract(
        # What a cleaner, a cap or a template would touch.
        description=f"{name}:  it is binding.\n\n\n" + "Mind the <b>terms</b>  & conditions. " * 40,
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
    that ran. `deliveries`: as the gate signed them, over all scenes.
    """

    def __init__(self, driver: HarnessDriver) -> None:
        self.driver = driver
        self.wire = driver.provider_wire()
        self.ledger = WitnessLedger(_SHARED)
        self.executed: list[tuple[str, Any]] = []
        self.requests: Sequence[Mapping[str, Any]] = ()
        self.scene: Scene | None = None
        self._fails: frozenset[str] = frozenset()

    def gate(self) -> ContractGate:
        """A gate of a process that knows nothing but the ledger's secret."""
        contracts = {GateTarget.mcp("shop", name): _contract(name) for name in _TARGETS}
        return ContractGate([Surface.mcp(StaticSource(contracts))], ledger=self.ledger)

    def play(
        self,
        script: Iterable[Line] | Speaker,
        *,
        gate: ContractGate | None = None,
        fails: Iterable[str] = (),
        **options: Any,
    ) -> Turn:
        """One user turn. `fails`: ordinary tools that fail."""
        tools = (SceneTool(CALL_TOOL, self._execute), SceneTool(_CLOCK, self._clock))
        self._fails = frozenset(fails)
        self.executed = []
        specs = [tool.spec for tool in tools]
        if "delegation" in self.driver.offers:
            specs.append(self.driver.delegate_spec)
        model = ScriptedModel(self.driver.make_dialect(specs), self.driver.wire, script)
        options.setdefault("user_text", _ASK)
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
        """The delivery is not in the request: where it broke first."""
        assert self.scene is not None
        header = delivery.partition("]")[0]
        arrived = next((text for text in texts if header in text), None)
        got = arrived or ""
        found = first_break(self.scene.hops, delivery)
        if found is not None:
            where, got = f"the first hop where it differs is {found[0]}", found[1]
        elif self.scene.hops:
            where = f"it is whole in every hop up to {self.scene.hops[-1].name} and not in the request"
        else:
            where = "the driver tells no hops"
        state = "is not in it at all" if arrived is None else "arrives changed"
        return Violation(f"request {place + 1}: the delivery {state}; {where}", want=delivery, got=got)

    def _execute(self, call: ParsedToolCall) -> ToolOutcome:
        self.executed.append((str(call.arguments.get("tool_name")), call.arguments.get("arguments")))
        return ToolOutcome.ok(call.name, "ordered", tool_call_id=call.id)

    def _clock(self, call: ParsedToolCall) -> ToolOutcome:
        if _CLOCK.name in self._fails:
            return ToolOutcome.failed(call.name, "the clock is broken", tool_call_id=call.id)
        return ToolOutcome.ok(call.name, f"{call.arguments.get('zone')}: {_LONG}", tool_call_id=call.id)


H = Chapter[Stage]("H", "harness")


def _call(name: str = "create_order", arguments: Mapping[str, Any] = _GUESS) -> ParsedToolCall:
    return ParsedToolCall(
        name=CALL_TOOL.name, arguments={"server_id": "shop", "tool_name": name, "arguments": dict(arguments)}
    )


def _clock(zone: str = "UTC") -> ParsedToolCall:
    return ParsedToolCall(name=_CLOCK.name, arguments={"zone": zone})


def _says(*calls: ParsedToolCall, text: str = "Let me see.") -> Said:
    return Said(text, calls)


def _one_delivery(stage: Stage, before: int = 0) -> str:
    require(
        len(stage.ledger.deliveries) == before + 1,
        f"the guess led to {len(stage.ledger.deliveries) - before} deliveries, not one: is the call run through the gate?",
    )
    return stage.ledger.deliveries[-1]


@H.clause(
    "H1",
    "A delivery arrives at byte 0, intact, in the request that the provider receives.",
    reason="The gate reads the request; the model does too.",
    prevents="A flag dropped where one record type becomes another: the gate is inert and nothing looks broken.",
)
def _arrives(stage: Stage) -> None:
    stage.play([_says(_call())])
    stage.require_delivered(1, _one_delivery(stage))


@H.clause(
    "H2",
    "So in a parallel batch.",
    reason="Models call several tools at once.",
    prevents="A delivery merged into the batch that it came with.",
)
def _arrives_in_a_batch(stage: Stage) -> None:
    stage.play([_says(_clock("A"), _call(), _clock("B"))])
    stage.require_delivered(1, _one_delivery(stage))
    seen = "\n".join(stage.host_texts(1))
    for zone in ("A: It is", "B: It is"):
        require(zone in seen, "a result that came with the delivery is lost", got=seen)


@H.clause(
    "H3",
    "So after each context manager that the host names: intact, or gone as a whole, but never changed.",
    reason="Caps, cleaners and summarisers run on every request.",
    prevents="A contract that was delivered, rewritten, and is neither readable nor credited.",
    needs=("managers",),
)
def _survives_managers(stage: Stage) -> None:
    for manager in stage.driver.context_managers:
        before = len(stage.ledger.deliveries)
        turns = [_says(_clock(f"zone {n}")) for n in range(8)]
        stage.play([_says(_call()), *turns], manager=manager)
        try:
            delivery = _one_delivery(stage, before)
            stage.require_delivered(1, delivery)
            header = delivery.partition("]")[0]
            for place in range(2, len(stage.requests)):
                texts = stage.host_texts(place)
                if delivery not in texts and any(header in text for text in texts):
                    raise stage.broken(texts, delivery, place)
        except Violation as broken:
            raise Violation(
                f"with the context manager {manager!r}: {broken.detail}", want=broken.want, got=broken.got
            ) from None


@H.clause(
    "H4",
    "So after save and resume, in a process that has only the ledger's secret; and it is credited at once.",
    reason="Conversations are resumed elsewhere.",
    prevents="A store without a field for the flag.",
    needs=("resume",),
)
def _resumed(stage: Stage) -> None:
    first = stage.play([_says(_clock("A"), _call(), _clock("B"))])
    delivery = _one_delivery(stage)
    require(first.saved is not None, "the driver offers to resume, but the turn left nothing saved")
    stage.play([_says(_call())], saved=first.saved, user_text="Go on.")
    stage.require_delivered(0, delivery)
    require(
        stage.executed == [("create_order", _GUESS)],
        f"a call whose contract stands in the resumed transcript is not executed at once; executed: {stage.executed}",
    )


@H.clause(
    "H5",
    "The guessed call is not executed, the retry is, exactly once.",
    reason="A late-bound action has effects.",
    prevents="An order placed on a guess, twice, or not at all.",
)
def _exactly_once(stage: Stage) -> None:
    stage.play([_says(_call()), _says(_call(arguments=_RIGHT))])
    require(("create_order", _GUESS) not in stage.executed, "the guessed call was executed")
    require(
        stage.executed == [("create_order", _RIGHT)],
        f"the retry was executed {len(stage.executed)} times: {stage.executed}",
    )


@H.clause(
    "H6",
    "An assistant's echo of a delivery is not credited.",
    reason="A model can quote what it was shown elsewhere.",
    prevents="A host that rescans assistant text, and runs guesses that the model never checked.",
)
def _echo(stage: Stage) -> None:
    stage.play([_says(_call())])
    delivery = _one_delivery(stage)
    stage.play([_says(_clock(), text=delivery), _says(_call())])
    require(not stage.executed, "a guess was executed because the assistant had quoted a contract")
    if "resume" in stage.driver.offers:
        # In a text dialect a reply that calls is never the bare quotation; one that ends a turn is.
        quoted = stage.play([Said(delivery)])
        stage.play([_says(_call())], saved=quoted.saved, user_text="Go on.")
        require(
            not stage.executed, "a guess was executed because the assistant had quoted a contract in an earlier turn"
        )


@H.clause(
    "H7",
    "Sub-agents that are started again and again for one call come to an end: the fourth one's call is executed.",
    reason="A sub-agent that gives up is delegated to again, with an empty transcript.",
    prevents="A turn that pays for the same contract for ever.",
    needs=("delegation",),
)
def _delegated(stage: Stage) -> None:
    delegated = 0

    def speak(request: dict[str, Any], _number: int) -> Said:
        nonlocal delegated
        texts = list(stage.wire.host_texts(request))
        if any(_SUBTASK in text for text in texts) and not any(_ASK in text for text in texts):
            is_first = not any(message.get("role") == "assistant" for message in stage.wire.messages(request))
            return _says(_call()) if is_first else Said("I give up.")
        if delegated == _DELEGATIONS:
            return Said("Done.")
        delegated += 1
        # Numbered: a host may refuse a call that was answered before.
        task = {stage.driver.delegate_argument: f"{_SUBTASK} Attempt {delegated}."}
        return _says(ParsedToolCall(name=stage.driver.delegate_spec.name, arguments=task))

    stage.play(speak)
    require(delegated > 1, "the turn ended before it could delegate twice")
    require(
        stage.executed,
        f"after {delegated} sub-agents the call is still not executed: does each start a turn of its own?",
    )


@H.clause(
    "H8",
    "Ordinary failures still trip the host's breaker; deliveries do not.",
    reason="A delivery is a failed outcome, by design.",
    prevents="A turn that is stopped because a model learned six contracts, or a breaker that never trips.",
    needs=("breaker",),
)
def _breaker(stage: Stage) -> None:
    stage.play([_says(_clock(f"zone {n}")) for n in range(_MANY)], fails=[_CLOCK.name])
    require(len(stage.requests) < _MANY, f"a tool failed {len(stage.requests) - 1} times in a row and the turn went on")
    guesses = [_says(_call(name)) for name in _TARGETS]
    retries = [_says(_call(name, _RIGHT)) for name in _TARGETS]
    stage.play([*guesses, *retries])
    ran = [name for name, _ in stage.executed]
    require(
        ran == list(_TARGETS),
        f"{len(_TARGETS)} contracts were delivered; of the retries ran {ran}: did deliveries count as failures?",
    )


@H.clause(
    "H9",
    "The rescan reads what the provider receives: a delivery that a context manager took away is not credited.",
    reason="Only what the model can read counts.",
    prevents="A rescan in the wrong place, before the context managers: guesses run unread.",
    needs=("rewriting",),
)
def _rescan_last(stage: Stage) -> None:
    def clear(text: str) -> str:
        return "[Old result cleared]" if "[contract-gate:" in text else text

    stage.play([_says(_call()), _says(_call())], rewrite=clear)
    delivery = stage.ledger.deliveries[0] if stage.ledger.deliveries else ""
    require(delivery, "the guess led to no delivery: is the call run through the gate?")
    require(
        all(delivery not in stage.host_texts(place) for place in range(len(stage.requests))),
        "the driver offers to rewrite, but `scene.rewrite` was not applied",
    )
    require(not stage.executed, "a guess was executed although the model had not been shown the contract")


def harness_clauses() -> tuple[Clause[Stage], ...]:
    """Every clause that a host has to keep."""
    return tuple(H)


def run_harness(
    make_driver: Callable[[], HarnessDriver],
    *,
    select_only: Iterable[str] = (),
    expected_failures: Mapping[str, str] | None = None,
) -> Iterator[Result]:
    """One result per clause. `make_driver` is called once a clause."""
    expected = dict(expected_failures or {})
    check_expectations(expected, [clause.id for clause in H])
    for clause in select(select_only, H):
        yield judge_harness(clause, make_driver(), expected.get(clause.id))


def judge_harness(clause: Clause[Stage], driver: HarnessDriver, expected: str | None = None) -> Result:
    """One clause on one host. What the driver raises is the host's failure."""
    met: set[Need] = set(driver.offers)
    if driver.context_managers:
        met.add("managers")

    def check() -> None:
        stage = Stage(driver)
        try:
            clause.check(stage)
        except Violation:
            raise
        except Exception as error:  # a stranger's loop raises what it likes
            raise Violation(f"the host raised {type(error).__name__}: {error}") from error

    return conclude(clause, met, check, lambda: None, expected)
