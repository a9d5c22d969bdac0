"""H: a whole host is right, from the model's call to the request that the provider receives."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tooldialect.dialects import ParsedToolCall
from tooldialect.gate import Reason
from tooldialect.gate.marker import PREFIX

from .clause import Chapter, Clause, Need, Violation, require
from .gating import CALL_TOOL
from .run import Result, check_expectations, conclude, select
from .scene import HarnessDriver
from .scripted_model import Said, TurnNeverEnds
from .stage import ASK, CLOCK, LONG, TARGETS, Stage

H = Chapter[Stage]("H", "harness")

_SUBTASK = "SUBTASK: order a lamp."
_ORDER = TARGETS[0]
_GUESS = {"item": "lamp", "count": "two"}
_RIGHT = {"sku": "LAMP-1", "quantity": 2}
_MANY = 30
_DELEGATIONS = 4
_LOSSES = 4
_CLEARED = "[Old result cleared]"


def _call(name: str = _ORDER, arguments: Mapping[str, Any] = _GUESS) -> ParsedToolCall:
    return ParsedToolCall(
        name=CALL_TOOL.name, arguments={"server_id": "shop", "tool_name": name, "arguments": dict(arguments)}
    )


def _clock(zone: str = "UTC") -> ParsedToolCall:
    return ParsedToolCall(name=CLOCK.name, arguments={"zone": zone})


def _says(*calls: ParsedToolCall, text: str = "Let me see.") -> Said:
    return Said(text, calls)


def _deliveries(stage: Stage, before: int = 0, *, want: int = 1) -> list[str]:
    made = stage.ledger.deliveries[before:]
    require(
        len(made) == want, f"the guess led to {len(made)} deliveries, not {want}: is the call run through the gate?"
    )
    return made


@H.clause(
    "H1",
    "A delivery arrives at byte 0, intact, in the request that the provider receives.",
    reason="The gate reads the request; the model does too.",
    prevents="A flag dropped where one record type becomes another: the gate is inert and nothing looks broken.",
)
def _arrives(stage: Stage) -> None:
    for name in (_ORDER, LONG):
        before = len(stage.ledger.deliveries)
        stage.play([_says(_call(name))])
        [delivery] = _deliveries(stage, before)
        stage.require_delivered(1, delivery)


@H.clause(
    "H2",
    "So in a parallel batch, in any position, and the results beside it arrive too.",
    reason="Models call several tools at once.",
    prevents="A delivery merged into the batch that it came with.",
)
def _arrives_in_a_batch(stage: Stage) -> None:
    one, other = _call(), _call(TARGETS[1])
    batches = (
        [_clock("A"), one, _clock("B")],
        [one, _clock("A")],
        [_clock("A"), one],
        [_clock("A"), one, other, _clock("B")],
    )
    for batch in batches:
        before = len(stage.ledger.deliveries)
        stage.play([_says(*batch)])
        for delivery in _deliveries(stage, before, want=sum(call.name == CALL_TOOL.name for call in batch)):
            stage.require_delivered(1, delivery)
        seen = "\n".join(stage.host_texts(1))
        for call in batch:
            if call.name == CLOCK.name:
                require(
                    f"{call.arguments['zone']}: It is" in seen, "a result that came with the delivery is lost", got=seen
                )


@H.clause(
    "H3",
    "So after each context manager that the host names: intact, later perhaps gone as a whole, but never changed.",
    reason="Caps, cleaners and summarisers run on every request.",
    prevents="A contract that was delivered, rewritten, and is neither readable nor credited.",
    needs=("managers",),
)
def _survives_managers(stage: Stage) -> None:
    script = [_says(_clock("before")), _says(_call()), *(_says(_clock(f"zone {n}")) for n in range(8))]
    stage.play(script)
    untouched = _all_texts(stage)
    for manager in stage.driver.context_managers:
        before = len(stage.ledger.deliveries)
        stage.play(script, manager=manager)
        try:
            [delivery] = _deliveries(stage, before)
            stage.require_delivered(2, delivery)
            header = delivery.partition("]")[0]
            for place in range(3, len(stage.requests)):
                texts = stage.host_texts(place)
                if delivery not in texts and any(header in text for text in texts):
                    raise stage.broken(texts, delivery, place)
            require(_all_texts(stage) != untouched, "it changed nothing, so nothing is known of it: let it act")
        except Violation as broken:
            detail = f"with the context manager {manager!r}: {broken.detail}"
            raise Violation(detail, want=broken.want, got=broken.got) from None


def _all_texts(stage: Stage) -> list[list[str]]:
    return [stage.host_texts(place) for place in range(len(stage.requests))]


@H.clause(
    "H4",
    "So after save and resume, in a process that has only the ledger's secret; and it is credited at once.",
    reason="Conversations are resumed elsewhere.",
    prevents="A store without a field for the flag.",
    needs=("resume",),
)
def _resumed(stage: Stage) -> None:
    first = stage.play([_says(_clock("A"), _call(), _clock("B"))])
    [delivery] = _deliveries(stage)
    require(first.saved is not None, "the driver offers to resume, but the turn left nothing saved")
    stage.play([_says(_call())], gate=stage.gate(must_read=True), saved=first.saved, user_text="Go on.")
    stage.require_delivered(0, delivery)
    require(
        stage.reasons[:1] == [Reason.PRESENT],
        f"the contract stands in the resumed transcript and is not credited: the call was answered {_words(stage)}",
    )


@H.clause(
    "H5",
    "The guessed call is not executed, the retry is, exactly once, and its result reaches the model.",
    reason="A late-bound action has effects.",
    prevents="An order placed on a guess, twice, or not at all.",
)
def _exactly_once(stage: Stage) -> None:
    for guesses in ([_call()], [_call(), _clock()], [_call(), _call()]):
        stage.play([_says(*guesses), _says(_call(arguments=_RIGHT))])
        require((_ORDER, _GUESS) not in stage.executed, "the guessed call was executed")
        times = len(stage.executed)
        require(stage.executed == [(_ORDER, _RIGHT)], f"the retry was executed {times} times: {stage.executed}")
        seen = "\n".join(stage.host_texts(len(stage.requests) - 1))
        require(f"shop: {_ORDER} done" in seen, "the result of the retry does not reach the model", got=seen)


@H.clause(
    "H6",
    "An assistant's echo of a delivery is not credited.",
    reason="A model can quote what it was shown elsewhere.",
    prevents="A host that rescans assistant text, and runs guesses that the model never checked.",
)
def _echo(stage: Stage) -> None:
    stage.play([_says(_call())])
    [delivery] = _deliveries(stage)
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
    delegated = asked = 0

    def speak(request: dict[str, Any], _number: int) -> Said:
        nonlocal delegated, asked
        texts = list(stage.wire.host_texts(request))
        if any(_SUBTASK in text for text in texts) and not any(ASK in text for text in texts):
            asked += 1
            is_first = not any(message.get("role") == "assistant" for message in stage.wire.messages(request))
            return _says(_call()) if is_first else Said("I give up.")
        if delegated == _DELEGATIONS:
            return Said("Done.")
        delegated += 1
        # Numbered: a host may refuse a call that was answered before.
        task = {stage.driver.delegate_argument: f"{_SUBTASK} Attempt {delegated}."}
        return _says(ParsedToolCall(name=stage.driver.delegate_spec.name, arguments=task))

    stage.play(speak)
    require(asked, "no request holds the delegated task alone: does the delegation tool start a sub-agent?")
    require(
        delegated == _DELEGATIONS, f"the turn ended after {delegated} delegations, before {_DELEGATIONS} could be made"
    )
    require(
        stage.executed,
        f"after {delegated} sub-agents the call is still not executed ({_words(stage)}): is each one's run a child of the turn's?",
    )
    require(stage.reasons[0] is Reason.CONTRACT_REQUIRED, f"the first sub-agent's guess was answered {_words(stage)}")


@H.clause(
    "H8",
    "Ordinary failures still trip the host's breaker, though their text begins as a delivery does.",
    reason="Deliveries are told apart by the ledger, not by tool or prefix.",
    prevents="A breaker that spares too much, and a turn that burns tokens for ever.",
    needs=("breaker",),
)
def _breaker(stage: Stage) -> None:
    orders = [_says(_call(arguments={**_RIGHT, "quantity": n})) for n in range(1, _MANY)]
    clocks = [_says(_clock(f"zone {n}")) for n in range(1, _MANY)]
    forged = f"{PREFIX}{'0' * 16}:mcp:shop:{_ORDER}@{'0' * 16}]broken"
    for script, failures in (
        (clocks, {CLOCK.name: "broken"}),
        (clocks, {CLOCK.name: forged}),
        (orders, {_ORDER: "refused"}),
    ):
        stage.play(script, failures=failures)
        [(tool, words)] = failures.items()
        rounds = len(stage.requests) - 1
        require(
            len(stage.requests) < _MANY, f"{tool} failed {rounds} times in a row, with {words!r}, and the turn went on"
        )


@H.clause(
    "H9",
    "The rescan reads what the provider receives: a delivery that a context manager took away is not credited.",
    reason="Only what the model can read counts.",
    prevents="A rescan in the wrong place, before the context managers: guesses run unread.",
    needs=("rewriting",),
)
def _rescan_last(stage: Stage) -> None:
    stage.play([_says(_call()), _says(_call())], rewrite=lambda text: _CLEARED if PREFIX in text else text)
    require(stage.ledger.deliveries, "the guess led to no delivery: is the call run through the gate?")
    delivery = stage.ledger.deliveries[0]
    _require_rewritten(all(delivery not in stage.host_texts(place) for place in range(len(stage.requests))))
    require(not stage.executed, "a guess was executed although the model had not been shown the contract")


def _require_rewritten(was: bool) -> None:
    require(was, "the driver offers to rewrite, but `scene.rewrite` was not applied to every text of the host")


@H.clause(
    "H10",
    "Deliveries do not trip the host's breaker, however many come in a row.",
    reason="A delivery is a failed outcome, by design.",
    prevents="A turn that is stopped because a model learned six contracts.",
)
def _spares_deliveries(stage: Stage) -> None:
    stage.play([*(_says(_call(name)) for name in TARGETS), *(_says(_call(name, _RIGHT)) for name in TARGETS)])
    ran = [name for name, _ in stage.executed if name in TARGETS]
    require(
        set(ran) == set(TARGETS),
        f"{len(TARGETS)} contracts were delivered, and of the retries only {ran} ran: did deliveries count as failures?",
    )


@H.clause(
    "H11",
    "A call that deliveries answered is no repetition: made again, unchanged, it reaches the gate and is executed.",
    reason="A model that had guessed right repeats its call after reading the contract.",
    prevents="A repeated-call guard that answers the very retry that the contract asked for.",
)
def _repeats(stage: Stage) -> None:
    made = 0

    def right(_request: dict[str, Any]) -> Said:
        nonlocal made
        made += 1
        return _says(_call(arguments=_RIGHT))

    def lose(text: str) -> str:
        assert stage.scene is not None
        asked = len(stage.scene.model.requests)
        return _CLEARED if text.startswith(PREFIX) and asked and asked % 2 == 0 and asked < 2 * _LOSSES else text

    gate = stage.gate(must_read=True)
    if "rewriting" in stage.driver.offers:
        # Seen intact once, then lost, so that each repetition is answered by a delivery again.
        script = [line for n in range(_LOSSES) for line in (right, _says(_clock(f"zone {n}")))]
        stage.play([*script, right], gate=gate, rewrite=lose)
    else:
        stage.play([right, right], gate=gate)
    # What the gate let through, or answered with a notice, may well count as a repetition afterwards.
    if all(reason.delivers for reason in stage.reasons):
        require(
            len(stage.reasons) == made,
            f"the call was made {made} times, and {len(stage.reasons)} reached the gate: did deliveries count as repetitions?",
        )


@H.clause(
    "H12",
    "Every request is rescanned: a contract that was delivered is credited at the next call.",
    reason="What was not rescanned is not known to be in context.",
    prevents="A host that opens a run for each call or never rescans: every contract is delivered again and again.",
)
def _credited(stage: Stage) -> None:
    right = _says(_call(arguments=_RIGHT))
    stage.play([right, right], gate=stage.gate(must_read=True))
    require(
        stage.reasons[:1] == [Reason.MUST_READ],
        f"a call whose contract must be read first was answered {_words(stage)}",
    )
    if len(stage.reasons) > 1:  # else a guard answered the repetition, which is H11's
        require(stage.reasons[1] is Reason.PRESENT, f"the contract was delivered and is not credited: {_words(stage)}")


def _words(stage: Stage) -> str:
    return " ".join(reason.name for reason in stage.reasons) or "by nothing"


def run_harness(
    make_driver: Callable[[], HarnessDriver],
    *,
    select_only: Iterable[str] = (),
    expected_failures: Mapping[str, str] | None = None,
) -> Iterator[Result]:
    """One result per clause. `make_driver` is called once a clause."""
    expected = dict(expected_failures or {})
    check_expectations(expected, [clause.id for clause in H])
    chosen = select(select_only, H)
    return (judge_harness(clause, make_driver(), expected.get(clause.id)) for clause in chosen)


def _place(error: Exception) -> str:
    """Where the host raised: the innermost line that is none of the suite's."""
    own = Path(__file__).parent
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent != own]
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


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
        except TurnNeverEnds as ended:
            raise Violation(f"{ended}: the model had said its last word long before") from ended
        except Exception as error:  # a stranger's loop raises what it likes
            raise Violation(f"the host raised {type(error).__name__}: {error}{_place(error)}") from error

    return conclude(clause, met, check, lambda: None, expected)
