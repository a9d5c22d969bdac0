"""What becomes of a call: pure functions from facts to a reason.

All of the gate's policy is here, in the order it is decided; no clock, lock, log or I/O.
`before_lookup` may be asked again after the lookup, when the facts have moved on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from tooldialect.dialects import ToolOutcome

from .arguments.descent import Violation
from .errors import GateError
from .marker import PREFIX

ENDED_RUNS_BEFORE_AUTO_PROCEED = 3
DELIVERIES_BEFORE_UNSEEN = 2
DELIVERIES_PER_RUN = 6
NOTICES_WITHOUT_RESCAN = 3


class Reason(StrEnum):
    """Why a call proceeds, or is answered instead of being executed.

    Proceeds: `DISABLED` by the kill switch; `NOT_GATED`, no surface; `PRESENT`, the contract is
    in context; `UNSEEN`, it was delivered and is not found intact, or keeps changing;
    `AUTO_PROCEED`, earlier runs of the turn could not get past it; `NO_CONTRACT`, none can be
    had; `ARGUMENTS_SATISFY`, unread and right.

    Answered: `MALFORMED_CALL`, it names no target; `UNKNOWN_TARGET`, there is none of that
    name; `SAME_BATCH`, the contract stands beside it; and with the contract `CONTRACT_REQUIRED`,
    a guess; `MUST_READ`, by the host's rule; `AFTER_FAILURE`, right but unread, and it failed;
    `REDELIVERED`, delivered before in this run.
    """

    DISABLED = "DISABLED"
    NOT_GATED = "NOT_GATED"
    PRESENT = "PRESENT"
    UNSEEN = "UNSEEN"
    AUTO_PROCEED = "AUTO_PROCEED"
    NO_CONTRACT = "NO_CONTRACT"
    ARGUMENTS_SATISFY = "ARGUMENTS_SATISFY"
    MALFORMED_CALL = "MALFORMED_CALL"
    UNKNOWN_TARGET = "UNKNOWN_TARGET"
    SAME_BATCH = "SAME_BATCH"
    CONTRACT_REQUIRED = "CONTRACT_REQUIRED"
    MUST_READ = "MUST_READ"
    AFTER_FAILURE = "AFTER_FAILURE"
    REDELIVERED = "REDELIVERED"

    @property
    def proceeds(self) -> bool:
        """Whether a call so decided is executed."""
        return self in _PROCEED

    @property
    def delivers(self) -> bool:
        """Whether the answer of a call so decided is a delivery of the contract."""
        return self in _DELIVER


_PROCEED = frozenset(
    {
        Reason.DISABLED,
        Reason.NOT_GATED,
        Reason.PRESENT,
        Reason.UNSEEN,
        Reason.AUTO_PROCEED,
        Reason.NO_CONTRACT,
        Reason.ARGUMENTS_SATISFY,
    }
)
_DELIVER = frozenset({Reason.CONTRACT_REQUIRED, Reason.MUST_READ, Reason.AFTER_FAILURE, Reason.REDELIVERED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Execute the call with `arguments`, or answer it with `message`.

    `arguments` are the effective inner arguments, never the envelope; `violations` what was
    wrong with them, paths and kinds only.
    """

    proceed: bool
    reason: Reason
    message: str | None = None
    arguments: Any = None
    violations: tuple[Violation, ...] = ()

    def outcome(self, name: str, tool_call_id: str | None = None) -> ToolOutcome:
        """The failed outcome that answers the call, marked `trusted_verbatim` exactly when the
        message leads with a marker.

        Raises GateError for a call that proceeds: the tool's own outcome answers that one.
        """
        if self.message is None:
            raise GateError(f"this call proceeds ({self.reason}): execute it, its own outcome is the answer")
        return ToolOutcome.failed(
            name, self.message, tool_call_id=tool_call_id, trusted_verbatim=self.message.startswith(PREFIX)
        )


class KeyFacts(NamedTuple):
    """What a run knows of one key when a call to it is decided.

    `wanted`: the version a target has now, None where any will do. `deliveries`: made in this
    run; `uncredited`: those since a rescan last credited the delivered version. `notices`:
    answers given in place of a delivery. `failed_unread`: a call went through without its
    contract in context and failed. `held`: the reasons it was delivered for.
    """

    credited: frozenset[str] = frozenset()
    wanted: str | None = None
    run_rescanned: bool = False
    rescanned_since_delivery: bool = False
    deliveries: int = 0
    uncredited: int = 0
    notices: int = 0
    listed_and_rescanned: bool = False
    failed_unread: bool = False
    held: frozenset[Reason] = frozenset()


def before_lookup(facts: KeyFacts, ended_runs: int) -> Reason | None:
    """The reasons that need no contract; None where the source must be asked.

    `ended_runs`: runs of this turn that delivered the key and ended without executing it.
    """
    if facts.credited and (facts.wanted is None or facts.wanted in facts.credited):
        return Reason.PRESENT
    if facts.rescanned_since_delivery and (
        facts.uncredited >= DELIVERIES_BEFORE_UNSEEN or facts.deliveries >= DELIVERIES_PER_RUN
    ):
        return Reason.UNSEEN
    if not facts.deliveries and ended_runs >= ENDED_RUNS_BEFORE_AUTO_PROCEED:
        return Reason.AUTO_PROCEED
    return None


def without_contract(facts: KeyFacts) -> Reason:
    """The source could not answer. Beside a delivery of the same batch a guess stays unexecuted."""
    return _beside_delivery(facts) or Reason.NO_CONTRACT


def target_not_found(facts: KeyFacts) -> Reason:
    """The source knows no such target. What it knows may be stale, so it blocks until the
    model has read the answer, and not again."""
    if not facts.listed_and_rescanned:
        return Reason.UNKNOWN_TARGET
    return _beside_delivery(facts) or Reason.NO_CONTRACT


def with_contract(facts: KeyFacts, *, satisfied: bool, must_read: bool) -> Reason:
    """The contract is known and not in context."""
    if satisfied and not must_read and not facts.failed_unread:
        return Reason.ARGUMENTS_SATISFY
    beside = _beside_delivery(facts)
    if beside is not None:
        return beside
    if satisfied and must_read and Reason.MUST_READ not in facts.held:
        return Reason.MUST_READ
    if satisfied and facts.failed_unread and Reason.AFTER_FAILURE not in facts.held:
        return Reason.AFTER_FAILURE
    return Reason.REDELIVERED if facts.deliveries else Reason.CONTRACT_REQUIRED


def _beside_delivery(facts: KeyFacts) -> Reason | None:
    if not facts.deliveries or facts.rescanned_since_delivery:
        return None
    if not facts.run_rescanned and facts.notices >= NOTICES_WITHOUT_RESCAN:
        return Reason.UNSEEN
    return Reason.SAME_BATCH
