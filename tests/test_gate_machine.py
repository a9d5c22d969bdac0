"""The gate under any interleaving of consults, rescans, rewriters, runs and failing sources.

The judge knows nothing of the gate's bookkeeping: it keeps what it was told (every message,
every row) and holds the guarantees against that.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from unittest import mock

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tooldialect.dialects import ParsedToolCall
from tooldialect.gate import (
    Contract,
    ContractGate,
    Found,
    GateRun,
    GateSettings,
    GateTarget,
    MemoryLedger,
    NotFound,
    Reason,
    Surface,
    Unavailable,
)

NAMES = ("alpha", "beta", "gamma")
DELIVERIES = {"CONTRACT_REQUIRED", "MUST_READ", "AFTER_FAILURE", "REDELIVERED"}
GOOD = {"word": "x"}
BAD = {"guess": 1}

reached: set[Reason] = set()


class Shop:
    """A source whose mood can change: it knows contracts, or fails in some way."""

    immediate = True

    def __init__(self) -> None:
        self.revision = dict.fromkeys(NAMES, 0)
        self.mood = "knows"

    def contract(self, name: str) -> Contract:
        return Contract(
            description=f"{name}  revision {self.revision[name]}",
            input_schema={"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
        )

    def lookup(self, target: GateTarget) -> Found | NotFound | Unavailable:
        name = target.parts[1]
        if self.mood == "changes":
            self.revision[name] += 1
        if self.mood == "raises":
            raise RuntimeError("no route")
        if self.mood == "unavailable":
            return Unavailable("closed")
        if self.mood == "lost" or name not in self.revision:
            return NotFound(NAMES)
        return Found(self.contract(name))


class CountingLedger(MemoryLedger):
    """Knows how many contracts were rendered."""

    def __init__(self) -> None:
        super().__init__()
        self.issues = 0

    def issue(self, payload: str, claims: Mapping[str, str], /) -> str:
        self.issues += 1
        return super().issue(payload, claims)


@dataclass(eq=False)
class Transcript:
    """One run with the rows the model would read, and what the judge counted.

    `run` is None once it was collected.
    """

    run: GateRun | None
    turn: str
    rows: list[str] = field(default_factory=list)
    scanned: tuple[str, ...] = ()
    rescanned: bool = False
    deliveries: dict[str, int] = field(default_factory=dict)
    delivered_since_rescan: set[str] = field(default_factory=set)
    delivered_version: dict[str, str] = field(default_factory=dict)
    uncredited: dict[str, int] = field(default_factory=dict)
    notices: dict[str, int] = field(default_factory=dict)
    executed: set[str] = field(default_factory=set)
    ended: bool = False
    last_reason: Reason | None = None


def call(name: str, arguments: object) -> ParsedToolCall:
    return ParsedToolCall(
        name="mcp_registry_tool_call", arguments={"server_id": "shop", "tool_name": name, "arguments": arguments}
    )


class GateMachine(RuleBasedStateMachine):
    runs = Bundle("runs")

    @initialize(target=runs)
    def open_gate(self) -> Transcript:
        self.shop = Shop()
        self.issued: dict[str, set[str]] = {name: set() for name in NAMES}
        self.version_of: dict[tuple[str, str], str] = {}
        self.shown_in_turn: dict[str, set[str]] = {}
        self.all: list[Transcript] = []
        self.failed_to: dict[tuple[str, str], int] = {}
        self.ledger = CountingLedger()
        self.gate = ContractGate(
            surfaces=[Surface.mcp(self.shop)],
            ledger=self.ledger,
            settings=GateSettings(must_read=lambda target, contract: target.parts[1] == "gamma"),
        )
        return self._open(self.gate.run())

    def _open(self, run: GateRun) -> Transcript:
        transcript = Transcript(run, run.turn_id)
        self.all.append(transcript)
        return transcript

    @rule(target=runs)
    def a_user_asks(self) -> Transcript:
        return self._open(self.gate.run())

    @rule(target=runs)
    def a_turn_is_joined_by_its_id(self) -> Transcript:
        return self._open(self.gate.run(turn_id="shared"))

    @rule(target=runs, parent=runs, carrying=st.booleans())
    def a_sub_agent_starts(self, parent: Transcript, carrying: bool) -> Transcript:
        if parent.run is None:
            return self._open(self.gate.run())
        child = self._open(self.gate.run(parent=parent.run))
        assert child.turn == parent.turn
        if carrying:
            self._carry(parent.run, child)
        return child

    def _carry(self, parent: GateRun, child: Transcript) -> None:
        before = self.ledger.issues
        messages = parent.carry()
        assert self.ledger.issues - before == len(messages) == len(self.shown_in_turn.get(child.turn, ()))
        for message, name in zip(messages, sorted(self.shown_in_turn.get(child.turn, ())), strict=True):
            assert message.trusted_verbatim
            assert "NOT" not in message.content
            self._record_shown(name, message.content)
            child.rows.append(message.content)

    def _record_shown(self, name: str, row: str) -> None:
        self.issued[name].add(row)
        self.version_of[row, name] = row.partition(f"mcp:shop:{name}@")[2][:16]

    @rule(transcript=runs, names=st.sets(st.sampled_from(NAMES)))
    def a_discovery_tool_lists(self, transcript: Transcript, names: set[str]) -> None:
        if transcript.ended or transcript.run is None:
            return
        before = self.ledger.issues
        shown = {GateTarget.mcp("shop", name): self.shop.contract(name) for name in sorted(names)}
        outcome = transcript.run.listing(shown, "find_tools")
        assert outcome.success
        assert outcome.trusted_verbatim == bool(names)
        assert self.ledger.issues - before == bool(names)
        for name in names:
            self._record_shown(name, outcome.output)
        transcript.rows.append(outcome.output)

    @rule(transcript=runs)
    def the_run_is_collected(self, transcript: Transcript) -> None:
        if transcript.run is None:
            return
        run = weakref.ref(transcript.run)
        transcript.run = None
        assert run() is None
        self._count_failures(transcript)

    @rule(transcript=runs)
    def the_run_ends(self, transcript: Transcript) -> None:
        self._end(transcript)

    def _end(self, transcript: Transcript) -> None:
        if transcript.ended or transcript.run is None:
            return
        with transcript.run:
            pass
        self._count_failures(transcript)

    def _count_failures(self, transcript: Transcript) -> None:
        if transcript.ended:
            return
        transcript.ended = True
        for name in transcript.deliveries.keys() - transcript.executed:
            self.failed_to[transcript.turn, name] = self.failed_to.get((transcript.turn, name), 0) + 1

    @rule(transcript=runs, name=st.sampled_from(NAMES), good=st.booleans(), fails=st.booleans())
    def the_model_calls(self, transcript: Transcript, name: str, good: bool, fails: bool) -> None:
        if not transcript.ended:
            self._consult(transcript, name, GOOD if good else BAD, fails=fails)

    @rule(transcript=runs, name=st.sampled_from(NAMES), good=st.booleans(), fails=st.booleans())
    def the_model_takes_a_step(self, transcript: Transcript, name: str, good: bool, fails: bool) -> None:
        if not transcript.ended:
            self._rescan(transcript)
            self._consult(transcript, name, GOOD if good else BAD, fails=fails)

    @rule(transcript=runs, name=st.sampled_from(NAMES))
    def a_good_call_fails_and_is_tried_again(self, transcript: Transcript, name: str) -> None:
        if not transcript.ended:
            for _ in range(3):
                self._rescan(transcript)
                self._consult(transcript, name, GOOD, fails=True)

    @rule(transcript=runs, name=st.sampled_from(NAMES), times=st.integers(2, 5))
    def the_model_calls_in_parallel(self, transcript: Transcript, name: str, times: int) -> None:
        if transcript.ended:
            return
        before = transcript.deliveries.get(name, 0)
        for _ in range(times):
            self._consult(transcript, name, BAD)
        assert transcript.deliveries.get(name, 0) - before <= 1

    @rule(transcript=runs)
    def the_model_calls_something_else(self, transcript: Transcript) -> None:
        if transcript.ended or transcript.run is None:
            return
        ordinary = ParsedToolCall(name="clock", arguments={"a": 1})
        decision = transcript.run.consult(ordinary)
        assert decision.proceed
        assert decision.arguments == {"a": 1}
        reached.add(decision.reason)
        nameless = transcript.run.consult(
            ParsedToolCall(name="mcp_registry_tool_call", arguments={"server_id": "shop", "tool_name": " "})
        )
        assert not nameless.proceed
        assert nameless.message is not None
        reached.add(nameless.reason)

    @rule(transcript=runs, name=st.sampled_from(NAMES), switch=st.sampled_from(["0", "FALSE", "off", "no"]))
    def the_gate_is_switched_off_for_a_call(self, transcript: Transcript, name: str, switch: str) -> None:
        if transcript.ended or transcript.run is None:
            return
        with mock.patch.dict(os.environ, {"TOOLDIALECT_CONTRACT_GATE": switch}):
            decision = transcript.run.consult(call(name, BAD))
        transcript.executed.add(name)
        assert decision.proceed
        assert decision.message is None
        reached.add(decision.reason)

    @rule(transcript=runs)
    def the_host_rescans(self, transcript: Transcript) -> None:
        if not transcript.ended:
            self._rescan(transcript)

    @rule(transcript=runs)
    def the_transcript_is_compacted(self, transcript: Transcript) -> None:
        transcript.rows = ["summary: " + " ".join(transcript.rows)[:200]]

    @rule(transcript=runs)
    def a_rewriter_collapses_white_space(self, transcript: Transcript) -> None:
        transcript.rows = [" ".join(row.split()) for row in transcript.rows]

    @rule(transcript=runs)
    def an_exempt_rewriter_passes(self, transcript: Transcript) -> None:
        rewrite = self.gate.exempt(lambda text: " ".join(text.split()))
        genuine = {row for row, _ in self.version_of}
        kept = [row for row in transcript.rows if row in genuine]
        transcript.rows = [rewrite(row) for row in transcript.rows]
        assert [row for row in transcript.rows if row in genuine] == kept

    @rule(name=st.sampled_from(NAMES))
    def a_contract_changes(self, name: str) -> None:
        self.shop.revision[name] += 1

    @rule(mood=st.sampled_from(["knows", "knows", "changes", "raises", "unavailable", "lost"]))
    def the_source_changes_its_mood(self, mood: str) -> None:
        self.shop.mood = mood

    @rule(transcript=runs, name=st.sampled_from(NAMES), intact=st.booleans(), good=st.booleans())
    def the_model_repeats_a_call_until_it_runs(
        self, transcript: Transcript, name: str, intact: bool, good: bool
    ) -> None:
        """Within 3 consults, one more per loss and one more per unknown target."""
        if transcript.ended:
            return
        allowed = 3
        lookups_change = self.shop.mood == "changes"
        consults, executed = 0, False
        while not executed:
            consults += 1
            self._rescan(transcript)
            executed = self._consult(transcript, name, GOOD if good else BAD)
            if transcript.last_reason is Reason.UNKNOWN_TARGET or lookups_change:
                # An unknown target, or a contract whose wanted version has changed: a loss.
                allowed += 1
            if not intact:
                transcript.rows = [" ".join(row.split()) for row in transcript.rows]
            assert consults <= 7
        assert consults <= allowed

    @rule(transcript=runs, name=st.sampled_from(NAMES))
    def sub_agents_keep_failing(self, transcript: Transcript, name: str) -> None:
        """Whatever came before, the fourth run after three that failed to executes at once."""
        if self.shop.mood not in ("knows", "changes") or transcript.run is None:
            return
        failed = 0
        while self.failed_to.get((transcript.turn, name), 0) < 3:
            child = self._open(self.gate.run(parent=transcript.run))
            self._rescan(child)
            assert not self._consult(child, name, BAD)
            self._end(child)
            failed += 1
            assert failed <= 3
        last = self._open(self.gate.run(parent=transcript.run))
        assert self._consult(last, name, BAD)
        self._end(last)

    @invariant()
    def deliveries_stay_bounded(self) -> None:
        for transcript in getattr(self, "all", ()):
            assert all(count <= 6 for count in transcript.deliveries.values())

    def _rescan(self, transcript: Transcript) -> None:
        transcript.scanned = tuple(transcript.rows)
        transcript.rescanned = True
        transcript.delivered_since_rescan.clear()
        transcript.notices.clear()
        assert transcript.run is not None
        present = transcript.run.refresh(transcript.rows)
        assert present <= {f"mcp:shop:{name}" for name in NAMES if self.issued[name] & set(transcript.rows)}
        for name, version in transcript.delivered_version.items():
            if any(self.version_of.get((row, name)) == version for row in transcript.rows):
                transcript.uncredited[name] = 0

    def _consult(self, transcript: Transcript, name: str, arguments: dict[str, object], *, fails: bool = False) -> bool:
        target = GateTarget.mcp("shop", name)
        intact = {row for row in transcript.scanned if row in self.issued[name]}
        failed_before = self.failed_to.get((transcript.turn, name), 0)
        rendered = self.ledger.issues
        assert transcript.run is not None
        decision = transcript.run.consult(call(name, arguments))
        reached.add(decision.reason)
        transcript.last_reason = decision.reason
        assert self.ledger.issues - rendered == (decision.reason.value in DELIVERIES)
        if decision.reason is Reason.AUTO_PROCEED:
            assert failed_before >= 3
        if name not in transcript.deliveries and failed_before >= 3:
            assert decision.proceed
        if decision.reason is Reason.UNSEEN:
            lost = transcript.uncredited.get(name, 0) >= 2 or transcript.deliveries.get(name, 0) >= 6
            ignored = not transcript.rescanned and transcript.notices.get(name, 0) == 3
            assert transcript.deliveries.get(name)
            assert ignored or (lost and name not in transcript.delivered_since_rescan)
        if decision.reason is Reason.SAME_BATCH:
            transcript.notices[name] = transcript.notices.get(name, 0) + 1
            assert name in transcript.delivered_since_rescan
            assert transcript.rescanned or transcript.notices[name] <= 3
        assert decision.proceed == (decision.message is None)
        assert decision.arguments == arguments
        if decision.reason is Reason.PRESENT:
            assert intact
        current = self.shop.contract(name).version
        if any(self.version_of[row, name] == current for row in intact) and self.shop.mood == "knows":
            assert decision.reason is Reason.PRESENT
        if decision.proceed:
            guess_beside_delivery = arguments is BAD and name in transcript.delivered_since_rescan
            assert not (guess_beside_delivery and transcript.rescanned)
            transcript.executed.add(name)
            transcript.run.report(target, not fails)
            return True
        outcome = decision.outcome("mcp_registry_tool_call")
        marked = outcome.output.startswith("[contract-gate:")
        assert outcome.trusted_verbatim == marked == (decision.reason.value in DELIVERIES)
        assert not outcome.success
        if marked:
            assert name not in transcript.delivered_since_rescan
            assert "NOT" in outcome.output
            assert outcome.output == outcome.output.strip()
            transcript.deliveries[name] = transcript.deliveries.get(name, 0) + 1
            transcript.delivered_since_rescan.add(name)
            transcript.uncredited[name] = transcript.uncredited.get(name, 0) + 1
            transcript.notices[name] = 0
            self.shown_in_turn.setdefault(transcript.turn, set()).add(name)
            self._record_shown(name, outcome.output)
            assert self.version_of[outcome.output, name] == current
            transcript.delivered_version[name] = current
        transcript.rows.append(outcome.output)
        return False


def test_the_guarantees_hold_in_every_history_and_every_reason_is_reached() -> None:
    reached.clear()
    run_state_machine_as_test(
        GateMachine,
        settings=settings(
            max_examples=300,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert reached == set(Reason)
