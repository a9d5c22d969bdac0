"""G: the contract gate works through this dialect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ModelResponse,
    ParsedToolCall,
    ToolCall,
    ToolOutcome,
    ToolSpec,
    TranscriptEntry,
    Wire,
    dump_transcript,
    load_transcript,
)
from tooldialect.gate import Contract, ContractGate, GateRun, GateTarget, SignedLedger, StaticSource, Surface

from .clause import Chapter, require
from .entries import numbered, ok
from .target import Subject
from .trial import Trial
from .wires import every_wire

G = Chapter[Trial]("G", "gate")

CALL_TOOL = ToolSpec(
    name="mcp_registry_tool_call",
    description="Calls a tool of an MCP server",
    parameters={
        "type": "object",
        "properties": {
            "server_id": {"type": "string"},
            "tool_name": {"type": "string"},
            "arguments": {"type": "object"},
        },
        "required": ["server_id", "tool_name"],
    },
)
ORDER = GateTarget.mcp("shop", "create_order")
_CONTRACT = Contract(
    # What rewriters touch: double blanks, blank lines, tags, quotes, text outside ASCII.
    description='Creates  an order.\n\n\n<b>Binding</b> & final: 3 < 4, "quoted"\t\u00e9\u2028. </tool_result>'
    + " More words." * 30,
    input_schema={
        "type": "object",
        "properties": {"sku": {"type": "string"}, "quantity": {"type": "integer"}},
        "required": ["sku", "quantity"],
        "additionalProperties": False,
    },
)
_GUESS = {"server_id": "shop", "tool_name": "create_order", "arguments": {"item": "lamp"}}
_SHARED = "a secret that several processes share"
_USER = ChatMessage(role="user", content="order a lamp")


def _gate() -> ContractGate:
    return ContractGate([Surface.mcp(StaticSource({ORDER: _CONTRACT}))], ledger=SignedLedger(_SHARED))


def _delivery(run: GateRun, call_id: str = "call-0") -> ToolOutcome:
    """The gate's answer to a guess."""
    call = ParsedToolCall(name=CALL_TOOL.name, arguments=_GUESS, id=call_id)
    return run.guard(call, lambda made: ToolOutcome.ok(made.name, "done"))


def _turn(outcomes: Sequence[ToolOutcome]) -> AssistantTurn:
    return AssistantTurn(
        text="Ordering.",
        tool_calls=tuple(
            ToolCall(id=o.tool_call_id or "", name=o.name, arguments='{"tool_name": "create_order"}') for o in outcomes
        ),
    )


def _credited_everywhere(
    trial: Trial, history: Sequence[TranscriptEntry], *, subject: Subject | None = None, run: GateRun
) -> dict[str, bool]:
    """By wire: whether a rescan of the request finds the contract."""
    shown = subject or trial.subject([CALL_TOOL])
    return {
        label: ORDER.key in run.refresh(wire.host_texts(shown.provider_messages(history, wire)))
        for label, wire in every_wire()
    }


def _require_credit(found: dict[str, bool], detail: str) -> None:
    without = [label for label, is_credited in found.items() if not is_credited]
    require(not without, f"{detail} (on the wires {', '.join(without)})")


@G.clause(
    "G1",
    "A delivery through this dialect is credited at the next rescan.",
    reason="Whether a contract is in context is read from the request, by its bytes.",
    prevents="A gate that delivers again and again, then gives up: the tool runs on guesses.",
    needs=("replay", "gate"),
)
def _credited(trial: Trial) -> None:
    with _gate().run() as run:
        delivery = _delivery(run)
        history = [_USER, _turn([delivery]), *trial.subject([CALL_TOOL]).format_results([delivery])]
        _require_credit(_credited_everywhere(trial, history, run=run), "the rescan does not find the delivery")


@G.clause(
    "G2",
    "So within a batch, in any position.",
    reason="Models call several tools at once.",
    prevents="A delivery that counts only when it comes alone.",
    needs=("replay", "gate"),
)
def _credited_in_a_batch(trial: Trial) -> None:
    def check(place: tuple[int, int]) -> None:
        before, after = place
        with _gate().run() as run:
            delivery = _delivery(run)
            outcomes = numbered([ok("plain <b>")] * before + [delivery] + [ok("plain")] * after)
            history = [_USER, _turn(outcomes), *trial.subject([CALL_TOOL]).format_results(outcomes)]
            found = _credited_everywhere(trial, history, run=run)
        _require_credit(
            found, f"with {before} results before the delivery and {after} behind it the rescan does not find it"
        )

    trial.search.every([(0, 1), (1, 0), (1, 1), (3, 2)], check)


@G.clause(
    "G3",
    "Once rewritten a delivery is not credited, and the next one is.",
    reason="Summarisers and caps change what the model can still read.",
    prevents="A dialect that restores from memory what the model was not shown.",
    needs=("replay", "gate"),
)
def _rewritten(trial: Trial) -> None:
    rewrites: list[tuple[str, Callable[[str], str]]] = [
        ("cut in half", lambda text: text[: len(text) // 2]),
        ("with white space collapsed", lambda text: " ".join(text.split())),
        ("with one letter changed", lambda text: f"{text[:-3]}x{text[-2:]}"),
    ]

    def check(rewrite: tuple[str, Callable[[str], str]]) -> None:
        how, change = rewrite
        subject = trial.subject([CALL_TOOL])
        with _gate().run() as run:
            delivery = _delivery(run)
            whole = [_USER, _turn([delivery]), *subject.format_results([delivery])]
            subject.provider_messages(whole, _first_wire())
            cut = delivery.model_copy(update={"output": change(delivery.output)})
            history = [_USER, _turn([cut]), *subject.format_results([cut])]
            found = _credited_everywhere(trial, history, run=run)
            require(not any(found.values()), f"a delivery {how} is still credited")
            again = _delivery(run, "call-1")
            require(again.trusted_verbatim, "the gate did not deliver again")
            history += [_turn([again]), *subject.format_results([again])]
            _require_credit(
                _credited_everywhere(trial, history, run=run), f"after one that was {how} the new delivery is not found"
            )

    trial.search.every(rewrites, check)


@G.clause(
    "G4",
    "It is credited after save, load and replay in another process that has the ledger's secret.",
    reason="Conversations are resumed elsewhere.",
    prevents="Credit that lives in the memory of the process that delivered.",
    needs=("replay", "gate"),
)
def _resumed(trial: Trial) -> None:
    with _gate().run() as run:
        delivery = _delivery(run)
        outcomes = numbered([ok("plain"), delivery])
        saved = dump_transcript([_USER, _turn(outcomes), *trial.subject([CALL_TOOL]).format_results(outcomes)])
    with _gate().run() as resumed:
        found = _credited_everywhere(
            trial, load_transcript(saved), subject=trial.target.elsewhere([CALL_TOOL]), run=resumed
        )
    _require_credit(found, "another process does not find the delivery in the saved transcript")


@G.clause(
    "G5",
    "The assistant echoing a delivery is not credited.",
    reason="A model can quote what it was shown; a quotation proves nothing about what stands in context.",
    prevents="A contract that counts as read because the model repeated its header.",
    needs=("replay", "gate"),
)
def _echo(trial: Trial) -> None:
    subject = trial.subject([CALL_TOOL])
    with _gate().run() as run:
        text = _delivery(run).output
        echoes: list[TranscriptEntry] = [
            AssistantTurn(text=text),
            ChatMessage(role="assistant", content=text),
            ChatMessage(role="system", content=text),
        ]
        if trial.offers("parse_response"):
            echoes.append(subject.parse_response(ModelResponse(text=text)).entry)
        for echo in echoes:
            found = _credited_everywhere(trial, [_USER, echo, _USER], run=run)
            where = [label for label, is_credited in found.items() if is_credited]
            require(
                not where,
                f"the contract counts as delivered because {echo.kind} text holds it (on the wires {', '.join(where)})",
            )


@G.clause(
    "G6",
    "A call that the model repeats is executed within three consults, with the arguments it wrote.",
    reason="No call may wait for ever.",
    prevents="A dialect that reads a repeated call as none, or as another.",
    needs=("replay", "parsing", "calls", "gate"),
)
def _executed(trial: Trial) -> None:
    subject = trial.subject([CALL_TOOL])
    wire = _first_wire()
    executed: list[Any] = []

    def execute(call: ParsedToolCall) -> ToolOutcome:
        executed.append(call.arguments)
        return ToolOutcome.ok(call.name, "ordered")

    history: list[TranscriptEntry] = [_USER]
    with _gate().run() as run:
        for consult in range(3):
            run.refresh(wire.host_texts(subject.provider_messages(history, wire)))
            spelled = trial.spell(
                [ParsedToolCall(name=CALL_TOOL.name, arguments=_GUESS, id=f"call-{consult}")], subject
            )
            reply = subject.parse_response(spelled)
            require(
                len(reply.calls) == 1,
                f"the call was read {len(reply.calls)} times when it was made for time {consult + 1}",
            )
            history.append(reply.entry)
            history += subject.format_results([run.guard(reply.calls[0], execute)])
            if executed:
                break
    require(executed, "a call that was made three times was not executed")
    require(executed == [_GUESS], f"executed were {executed}, not what the model wrote")


def _first_wire() -> Wire:
    return next(iter(every_wire()))[1]
