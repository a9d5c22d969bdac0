"""H: a delivery reaches the provider whole, and is credited for that."""

from __future__ import annotations

from tooldialect.gate import Reason
from tooldialect.gate.marker import PREFIX

from .clause import Chapter, Violation, require
from .gating import CALL_TOOL
from .orders import CLEARED, ORDER, RIGHT, clock, deliveries_made, ordered, reasons_in_words, says
from .scripted_model import Said
from .stage import CLOCK, LONG, TARGETS, Stage

ARRIVAL = Chapter[Stage]("H", "arrival")


@ARRIVAL.clause(
    "H1",
    "A delivery arrives at byte 0, intact, in the request that the provider receives.",
    reason="The gate reads the request; the model does too.",
    prevents="A flag dropped where one record type becomes another: the gate is inert and nothing looks broken.",
)
def _arrives(stage: Stage) -> None:
    for name in (ORDER, LONG):
        before = len(stage.ledger.deliveries)
        stage.play([says(ordered(name))])
        [delivery] = deliveries_made(stage, before)
        stage.require_delivered(1, delivery)


@ARRIVAL.clause(
    "H2",
    "So in a parallel batch, in any position, and the results beside it arrive too.",
    reason="Models call several tools at once.",
    prevents="A delivery merged into the batch that it came with.",
)
def _arrives_in_a_batch(stage: Stage) -> None:
    one, other = ordered(), ordered(TARGETS[1])
    batches = (
        [clock("A"), one, clock("B")],
        [one, clock("A")],
        [clock("A"), one],
        [clock("A"), one, other, clock("B")],
    )
    for batch in batches:
        before = len(stage.ledger.deliveries)
        stage.play([says(*batch)])
        for delivery in deliveries_made(stage, before, want=sum(call.name == CALL_TOOL.name for call in batch)):
            stage.require_delivered(1, delivery)
        seen = "\n".join(stage.host_texts(1))
        for call in batch:
            if call.name == CLOCK.name:
                require(
                    f"{call.arguments['zone']}: It is" in seen, "a result that came with the delivery is lost", got=seen
                )


@ARRIVAL.clause(
    "H3",
    "So after each context manager that the host names: intact, later perhaps gone as a whole, but never changed.",
    reason="Caps, cleaners and summarisers run on every request.",
    prevents="A contract that was delivered, rewritten, and is neither readable nor credited.",
    needs=("managers",),
)
def _survives_managers(stage: Stage) -> None:
    script = [says(clock("before")), says(ordered()), *(says(clock(f"zone {n}")) for n in range(8))]
    stage.play(script)
    untouched = _all_texts(stage)
    for manager in stage.driver.context_managers:
        before = len(stage.ledger.deliveries)
        stage.play(script, manager=manager)
        try:
            [delivery] = deliveries_made(stage, before)
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


@ARRIVAL.clause(
    "H4",
    "So after save and resume, in a process that has only the ledger's secret; and it is credited at once.",
    reason="Conversations are resumed elsewhere.",
    prevents="A store without a field for the flag.",
    needs=("resume",),
)
def _resumed(stage: Stage) -> None:
    first = stage.play([says(clock("A"), ordered(), clock("B"))])
    [delivery] = deliveries_made(stage)
    require(first.saved is not None, "the driver offers to resume, but the turn left nothing saved")
    stage.play([says(ordered())], gate=stage.gate(must_read=True), saved=first.saved, user_text="Go on.")
    stage.require_delivered(0, delivery)
    require(
        stage.reasons[:1] == [Reason.PRESENT],
        f"the contract stands in the resumed transcript and is not credited: the call was answered {reasons_in_words(stage)}",
    )


@ARRIVAL.clause(
    "H9",
    "The rescan reads what the provider receives: a delivery that a context manager took away is not credited.",
    reason="Only what the model can read counts.",
    prevents="A rescan in the wrong place, before the context managers: guesses run unread.",
    needs=("rewriting",),
)
def _rescan_last(stage: Stage) -> None:
    stage.play([says(ordered()), says(ordered())], rewrite=lambda text: CLEARED if PREFIX in text else text)
    require(stage.ledger.deliveries, "the guess led to no delivery: is the call run through the gate?")
    delivery = stage.ledger.deliveries[0]
    _require_rewritten(all(delivery not in stage.host_texts(place) for place in range(len(stage.requests))))
    require(not stage.executed, "a guess was executed although the model had not been shown the contract")


def _require_rewritten(was: bool) -> None:
    require(was, "the driver offers to rewrite, but `scene.rewrite` was not applied to every text of the host")


@ARRIVAL.clause(
    "H12",
    "Every request is rescanned: a contract that was delivered is credited at the next call.",
    reason="What was not rescanned is not known to be in context.",
    prevents="A host that opens a run for each call or never rescans: every contract is delivered again and again.",
)
def _credited(stage: Stage) -> None:
    right = says(ordered(arguments=RIGHT))
    stage.play([right, right], gate=stage.gate(must_read=True))
    require(
        stage.reasons[:1] == [Reason.MUST_READ],
        f"a call whose contract must be read first was answered {reasons_in_words(stage)}",
    )
    if len(stage.reasons) > 1:  # else a guard answered the repetition, which is H11's
        require(
            stage.reasons[1] is Reason.PRESENT,
            f"the contract was delivered and is not credited: {reasons_in_words(stage)}",
        )


@ARRIVAL.clause(
    "H6",
    "An assistant's echo of a delivery is not credited.",
    reason="A model can quote what it was shown elsewhere.",
    prevents="A host that rescans assistant text, and runs guesses that the model never checked.",
)
def _echo(stage: Stage) -> None:
    stage.play([says(ordered())])
    [delivery] = deliveries_made(stage)
    stage.play([says(clock(), text=delivery), says(ordered())])
    require(not stage.executed, "a guess was executed because the assistant had quoted a contract")
    if "resume" in stage.driver.offers:
        # In a text dialect a reply that calls is never the bare quotation; one that ends a turn is.
        quoted = stage.play([Said(delivery)])
        stage.play([says(ordered())], saved=quoted.saved, user_text="Go on.")
        require(
            not stage.executed, "a guess was executed because the assistant had quoted a contract in an earlier turn"
        )
