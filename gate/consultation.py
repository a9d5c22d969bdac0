"""One consult, step by step, without I/O: what has to be asked is yielded.

The same generator serves `consult` and `aconsult`. Facts are read and the decision is
booked under the run's lock; looking up, checking arguments and composing answers are not.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from typing import Any, NamedTuple, TypeAlias

from .aim import Aim
from .answers import malformed_call, same_batch, unknown_target
from .arguments.check import check_arguments
from .arguments.checker import ArgumentCheck
from .contract import Contract
from .decision import Decision, KeyFacts, Reason, before_lookup, target_not_found, with_contract, without_contract
from .delivery import delivery_payload, example_call
from .known import KnownContracts
from .ledger import Ledger
from .lookup import Asker
from .marker import fits_header, longest_header, marked
from .reasons import reason_of
from .scope import Delivered, RunState, Turn
from .settings import GateSettings, switched_off
from .sources.base import ContractSource, Found, Lookup, NotFound
from .target import GateTarget

_log = logging.getLogger("tooldialect.gate")
_ANY_VERSION = "0" * 16


class LookUp(NamedTuple):
    """Ask the source; the answer is a `Lookup`."""

    source: ContractSource
    target: GateTarget


class CountRuns(NamedTuple):
    """Ask the turn counter; the answer is how many runs ended without executing `key`."""

    key: str


Question: TypeAlias = LookUp | CountRuns


class Desk(NamedTuple):
    """What a gate lends to every consult of its runs."""

    asker: Asker
    known: KnownContracts
    ledger: Ledger
    settings: GateSettings


def consultation(desk: Desk, run: RunState, turn: Turn, aim: Aim) -> Generator[Question, Any, Decision]:
    """Decide one call. Yields questions, returns the decision, already booked."""
    if switched_off():
        return _disabled(run, aim)
    if aim.surface is None:
        return _proceed(Reason.NOT_GATED, aim.arguments)
    if aim.target is None:
        assert aim.call is not None
        return Decision(
            proceed=False,
            reason=Reason.MALFORMED_CALL,
            message=malformed_call(aim.call, getattr(aim.surface, "fields", ())),
            arguments=aim.arguments,
        )
    surface, target, key = aim.surface, aim.target, aim.target.key
    known = desk.asker.peek(surface.source, target) or desk.known.get(key)
    if not fits_header({key: _ANY_VERSION}):
        with run.lock:
            run.note_decision(key, Reason.NO_CONTRACT, None)
        return _proceed(Reason.NO_CONTRACT, *_effective(aim, known))

    ended_runs = (yield CountRuns(key)) if run.may_auto_proceed(key, _version(known)) else 0
    reason = _book_before_lookup(run, key, known, ended_runs)
    if reason is not None:
        if reason is Reason.UNSEEN:
            _warn_unseen(key)
        return _proceed(reason, *_effective(aim, known))

    answer: Lookup = yield LookUp(surface.source, target)
    if isinstance(answer, Found):
        known = answer.contract
        desk.known.remember(key, known)
    check = None if known is None else check_arguments(aim.arguments, known, surface.injected)
    must_read = (
        isinstance(answer, Found)
        and desk.settings.must_read is not None
        and desk.settings.must_read(target, answer.contract)
    )
    ended_runs = (yield CountRuns(key)) if run.may_auto_proceed(key, _version(known)) else 0
    if switched_off():
        return _disabled(run, aim)
    with run.lock:
        facts = run.facts(key, _version(known))
        reason = before_lookup(facts, ended_runs)
        if reason is None:
            reason = _by_answer(answer, facts, check, must_read=must_read)
        before = run.snapshot(key) if reason.delivers else None
        run.note_decision(key, reason, known.version if known is not None and reason.delivers else None)

    arguments, violations = (aim.arguments, ()) if check is None else (check.arguments, check.violations)
    if reason is Reason.UNSEEN:
        _warn_unseen(key)
    if reason.proceeds:
        return _proceed(reason, arguments, violations)
    if reason is Reason.SAME_BATCH:
        message = same_batch(target)
    elif isinstance(answer, NotFound):
        message = unknown_target(target, answer, getattr(surface, "fields", ()))
    else:
        assert known is not None
        assert check is not None
        try:
            message = _deliver(desk, turn, aim, target, known, check, reason)
        except Exception as error:
            # A contract that cannot be shown must not keep the call from running, nor count as shown.
            _log.error("[contract-gate] the contract of %s cannot be delivered: %s", key, reason_of(error))
            with run.lock:
                assert before is not None
                run.restore(key, before)
                run.note_decision(key, Reason.NO_CONTRACT, None)
            return _proceed(Reason.NO_CONTRACT, arguments, violations)
    return Decision(proceed=False, reason=reason, message=message, arguments=arguments, violations=violations)


def _by_answer(answer: Lookup, facts: KeyFacts, check: ArgumentCheck | None, *, must_read: bool) -> Reason:
    if isinstance(answer, Found):
        assert check is not None
        return with_contract(facts, satisfied=not check.violations, must_read=must_read)
    return target_not_found(facts) if isinstance(answer, NotFound) else without_contract(facts)


def _disabled(run: RunState, aim: Aim) -> Decision:
    if aim.surface is not None and aim.target is not None:
        with run.lock:
            run.note_decision(aim.target.key, Reason.DISABLED, None)
    return _proceed(Reason.DISABLED, aim.arguments)


def _book_before_lookup(run: RunState, key: str, known: Contract | None, ended_runs: int) -> Reason | None:
    with run.lock:
        reason = before_lookup(run.facts(key, _version(known)), ended_runs)
        if reason is not None:
            run.note_decision(key, reason, None)
    return reason


def _version(contract: Contract | None) -> str | None:
    return None if contract is None else contract.version


def _effective(aim: Aim, known: Contract | None) -> tuple[Any, tuple[Any, ...]]:
    if known is None or aim.surface is None:
        return aim.arguments, ()
    check = check_arguments(aim.arguments, known, aim.surface.injected)
    return check.arguments, check.violations


def _proceed(reason: Reason, arguments: Any, violations: tuple[Any, ...] = ()) -> Decision:
    return Decision(proceed=True, reason=reason, arguments=arguments, violations=violations)


def _deliver(
    desk: Desk, turn: Turn, aim: Aim, target: GateTarget, contract: Contract, check: ArgumentCheck, reason: Reason
) -> str:
    assert aim.surface is not None
    claims = {target.key: contract.version}
    payload = delivery_payload(
        target,
        contract,
        example_call(aim.surface, target, contract),
        reason=reason,
        violations=check.violations,
        injected=aim.surface.injected,
        max_chars=desk.settings.max_contract_chars - longest_header(claims),
    )
    message = marked(desk.ledger, payload, claims)
    turn.delivered[target.key] = Delivered(target, contract, aim.surface)
    return message


def _warn_unseen(key: str) -> None:
    _log.warning(
        "[contract-gate] %s proceeds UNSEEN: its delivered contract is not found intact in the transcript, or keeps "
        "changing. Is the rescan after all context managers, and are deliveries exempt from rewriting?",
        key,
    )
