"""Sources of every temper: what they do must not take the call down with it."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate_world import GOOD, GUESS, MAIL, call, target, world
from tooldialect.gate import ContractGate, Found, GateError, GateSettings, NotFound, Reason, Surface, Unavailable
from tooldialect.gate.lookup import Asker

SHORT = GateSettings(lookup_timeout=0.05)


class Source:
    """`answer()` is what `lookup` returns, or raises."""

    def __init__(self, answer):
        self._answer = answer

    def lookup(self, aim):
        return self._answer()


class AsyncSource(Source):
    async def lookup(self, aim):
        answer = self._answer()
        return await answer if asyncio.iscoroutine(answer) else answer


class ImmediateSource(Source):
    immediate = True


def raising(error):
    def answer():
        raise error

    return answer


def both_ways(source, settings=None, arguments=GUESS):
    """The decision of `consult` and that of `aconsult`, each of a gate of its own."""
    decisions = []
    for asynchronous in (False, True):
        gate = ContractGate([Surface.mcp(source)], settings=settings)
        run = gate.run()
        subject = call("send", arguments)
        decisions.append(asyncio.run(run.aconsult(subject)) if asynchronous else run.consult(subject))
    return decisions


KINDS = pytest.mark.parametrize("kind", [Source, AsyncSource, ImmediateSource])


@KINDS
def test_what_a_source_finds_decides(kind):
    for decision in both_ways(kind(lambda: Found(MAIL))):
        assert decision.reason is Reason.CONTRACT_REQUIRED
    for decision in both_ways(kind(lambda: Found(MAIL)), arguments=GOOD):
        assert decision.reason is Reason.ARGUMENTS_SATISFY
    for decision in both_ways(kind(lambda: NotFound(("sent",)))):
        assert decision.reason is Reason.UNKNOWN_TARGET
        assert '"sent"' in decision.message
    for decision in both_ways(kind(NotFound)):
        assert decision.reason is Reason.UNKNOWN_TARGET
    for decision in both_ways(kind(lambda: Unavailable("closed"))):
        assert decision.reason is Reason.NO_CONTRACT


@KINDS
@pytest.mark.parametrize(
    "error", [RuntimeError("no route"), TimeoutError(), KeyError("x"), asyncio.CancelledError(), StopIteration()]
)
def test_a_source_that_raises_is_unavailable(kind, error, caplog):
    for decision in both_ways(kind(raising(error))):
        assert decision.reason is Reason.NO_CONTRACT
        assert decision.arguments == GUESS
    # At once, that is: not for having waited in vain.
    assert isinstance(error, TimeoutError) or "no answer within" not in caplog.text


def test_a_source_that_exits_does_not_end_the_program():
    for decision in both_ways(Source(raising(SystemExit(3)))):
        assert decision.reason is Reason.NO_CONTRACT


@KINDS
@pytest.mark.parametrize(
    "nonsense",
    [None, "found", MAIL, {"contract": MAIL}, Found(None), Found("x"), NotFound(None), NotFound("abc"), NotFound((1,))],
)
def test_a_source_that_returns_nonsense_is_unavailable(kind, nonsense):
    for decision in both_ways(kind(lambda: nonsense)):
        assert decision.reason is Reason.NO_CONTRACT


def test_a_source_that_hangs_is_given_up():
    release = threading.Event()
    try:
        for decision in both_ways(Source(lambda: release.wait(60)), SHORT):
            assert decision.reason is Reason.NO_CONTRACT
    finally:
        release.set()


def test_a_coroutine_that_hangs_is_given_up_and_cancelled():
    cancelled = []

    async def hang():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def main():
        gate = ContractGate([Surface.mcp(AsyncSource(hang))], settings=SHORT)
        decision = await gate.run().aconsult(call("send", GUESS))
        await asyncio.sleep(0)
        assert cancelled == [True]  # while the loop runs on, not when it is torn down
        return decision

    assert asyncio.run(main()).reason is Reason.NO_CONTRACT
    for decision in both_ways(AsyncSource(hang), SHORT):
        assert decision.reason is Reason.NO_CONTRACT


def test_a_coroutine_that_swallows_its_cancellation_does_not_hold_the_call_up():
    release = threading.Event()

    async def stubborn():
        while not release.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue
        return Found(MAIL)

    async def main():
        gate = ContractGate([Surface.mcp(AsyncSource(stubborn))], settings=SHORT)
        decision = await gate.run().aconsult(call("send", GUESS))
        release.set()
        return decision

    try:
        assert asyncio.run(main()).reason is Reason.NO_CONTRACT
        release.clear()
        gate = ContractGate([Surface.mcp(AsyncSource(stubborn))], settings=SHORT)
        assert gate.run().consult(call("send", GUESS)).reason is Reason.NO_CONTRACT
    finally:
        release.set()


def test_the_callers_own_cancellation_passes_through():
    async def main():
        started = asyncio.Event()

        async def hang():
            started.set()
            await asyncio.Event().wait()

        run = ContractGate([Surface.mcp(AsyncSource(hang))]).run()
        task = asyncio.create_task(run.aconsult(call("send", GUESS)))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return run.consult(call("clock"))

    with pytest.raises(GateError, match="aconsult"):
        asyncio.run(main())


def test_a_synchronous_source_does_not_block_the_loop():
    async def main():
        go = threading.Event()

        def answer():
            go.wait(10)
            return Found(MAIL)

        run = ContractGate([Surface.mcp(Source(answer))]).run()
        task = asyncio.create_task(run.aconsult(call("send", GUESS)))
        await asyncio.sleep(0)
        go.set()  # reached only because the loop runs on
        return (await task).reason

    assert asyncio.run(main()) is Reason.CONTRACT_REQUIRED


def test_a_coroutine_is_looked_up_from_plain_code_and_not_from_inside_a_running_loop():
    async def main():
        ContractGate([Surface.mcp(AsyncSource(lambda: Found(MAIL)))]).run().consult(call("send", GUESS))

    with pytest.raises(GateError, match="use aconsult or aguard"):
        asyncio.run(main())


def test_an_awaitable_from_a_plain_function_is_awaited_in_every_way():
    async def found():
        return Found(MAIL)

    for decision in both_ways(Source(found)):
        assert decision.reason is Reason.CONTRACT_REQUIRED

    async def inside_a_loop():
        return ContractGate([Surface.mcp(Source(found))]).run().consult(call("send", GUESS))

    assert asyncio.run(inside_a_loop()).reason is Reason.CONTRACT_REQUIRED


def test_a_source_is_asked_in_the_callers_context():
    tenant = contextvars.ContextVar("tenant", default="nobody")
    seen = []

    def answer():
        seen.append(tenant.get())
        return Found(MAIL)

    tenant.set("acme")
    both_ways(Source(answer))
    assert seen == ["acme", "acme"]


class Peeking(Source):
    def __init__(self, peek):
        super().__init__(lambda: Unavailable("closed"))
        self.peek = lambda aim: peek()


def test_what_peek_knows_gives_the_effective_arguments():
    for decision in both_ways(Peeking(lambda: MAIL), arguments='{"to": "x"}'):
        assert decision.reason is Reason.NO_CONTRACT
        assert decision.arguments == {"to": "x"}


@pytest.mark.parametrize("peek", [raising(OSError("gone")), lambda: "nonsense", lambda: None])
def test_a_peek_that_fails_knows_nothing(peek):
    for decision in both_ways(Peeking(peek), arguments='{"to": "x"}'):
        assert decision.reason is Reason.NO_CONTRACT
        assert decision.arguments == '{"to": "x"}'


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def messages(caplog):
    return [record.getMessage() for record in caplog.records]


def test_a_failure_is_logged_at_most_once_a_minute_and_target(caplog):
    clock = Clock()
    asker = Asker(1.0, clock)
    source = ImmediateSource(raising(OSError("no route")))
    with caplog.at_level(logging.WARNING, "tooldialect.gate"):
        for seconds in (0, 30, 29.5):
            clock.now += seconds
            asker.ask(source, target("send"))
        assert len(messages(caplog)) == 1
        asker.ask(source, target("other"))
        assert len(messages(caplog)) == 2
        clock.now += 1
        asker.ask(source, target("send"))
        assert len(messages(caplog)) == 3
        asker.ask(source, target("other"))
        assert len(messages(caplog)) == 3
    assert all(message.startswith("[contract-gate]") for message in messages(caplog))
    assert "mcp:srv:send" in messages(caplog)[0]
    assert "no route" in messages(caplog)[0]


def test_a_flood_of_failing_targets_is_logged_within_bounds(caplog):
    clock = Clock()
    asker = Asker(1.0, clock)
    source = ImmediateSource(raising(OSError("no route")))
    with caplog.at_level(logging.WARNING, "tooldialect.gate"):
        for _ in range(2):
            for number in range(1500):
                asker.ask(source, target(f"t{number}"))
    lines = messages(caplog)
    assert len(lines) == len(set(lines)) == 1024
    assert len(asker._logged) == 1024
    clock.now += 60
    asker.ask(source, target("send"))
    assert list(asker._logged) == ["mcp:srv:send"]


@pytest.mark.parametrize("why", ["a\nb\r\nforged [contract-gate] line\x0b\x85\u2028", "x" * 100_000])
def test_what_a_server_says_is_one_line_of_bounded_length_in_the_log(why, caplog):
    asker = Asker(1.0, Clock())
    with caplog.at_level(logging.WARNING, "tooldialect.gate"):
        asker.ask(ImmediateSource(lambda: Unavailable(why)), target("one"))
        asker.ask(ImmediateSource(raising(OSError(why))), target("two"))
    for message in messages(caplog):
        assert len(message.splitlines()) == 1
        assert len(message) < 500


@given(st.text(alphabet="abcdefgh", min_size=8, max_size=12), st.booleans())
def test_no_log_line_ever_holds_an_argument_value(secret, ok):
    secret = f"SECRET{secret}"
    lines = []

    class Keep(logging.Handler):
        def emit(self, record):
            lines.append((record.getMessage(), self.format(record)))

    def on_event(aim, decision):
        raise ValueError(f"cannot count {decision.arguments}")

    logger, handler = logging.getLogger("tooldialect.gate"), Keep()
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        gate, source = world(on_event=on_event)
        run = gate.run()
        arguments = {"to" if ok else "x": secret, "subject": {"deep": [secret]}}
        for _ in range(6):
            run.consult(call("send", arguments))
        run.refresh([secret])
        for _ in range(3):
            run.consult(call("send", arguments))
            run.refresh([])
        run.consult(call(" ", arguments))
        del source[target("send")]
        run.consult(call("send", arguments))
        failing = ContractGate([Surface.mcp(ImmediateSource(raising(OSError("gone"))))], on_event=on_event)
        failing.run().consult(call("send", arguments))
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate
    assert lines
    for message, formatted in lines:
        assert message.startswith("[contract-gate]")
        assert secret not in formatted


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e300])
def test_a_time_limit_that_cannot_work_is_refused(seconds):
    with pytest.raises(GateError, match="lookup_timeout"):
        GateSettings(lookup_timeout=seconds)


def test_a_length_that_cannot_work_is_refused():
    with pytest.raises(GateError, match="max_contract_chars"):
        replace(GateSettings(), max_contract_chars=0)
