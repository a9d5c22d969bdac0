"""Runs where hosts really have them: task groups, thread pools, async generators, inside one another."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import Shop, Tool, host_units
from harness.setups import ALL, DIALECTS, Host
from harness.shop import CONTRACTS, GUESS, RIGHT, clock_call, gated_call, target
from tooldialect.dialects import ParsedToolCall, ToolOutcome, ToolSpec
from tooldialect.gate import ContractGate, GateError, GateSettings, Reason, Surface
from tooldialect.gate.current import _here

GUESSED = [gated_call("create_order", GUESS)]
RETRIED = [gated_call("create_order", RIGHT["create_order"])]
DELEGATE = ParsedToolCall(name="delegate", arguments={})


@pytest.fixture(params=DIALECTS)
def host(request) -> Host:
    return Host(request.param)


class Together:
    """A model for several loops at once: nobody gets a reply before all have asked."""

    def __init__(self, parties: int) -> None:
        self._barrier = asyncio.Barrier(parties)

    def model(self, model):
        async def ask(request):
            async with self._barrier:
                return model(request)

        return ask


def with_tool(host: Host, name: str, execute) -> None:
    host.shop.more_tools = [Tool(ToolSpec(name=name, description="Of this test."), execute)]


def test_the_async_loop_does_what_the_sync_loop_does(host):
    sync_host = Host(host.dialect_name)
    wish = [clock_call("Rome"), "create_order", clock_call("Oslo")]
    ours, theirs = host.reader(wish), sync_host.reader(wish)
    report = asyncio.run(host.harness(ALL).arun_turn(ours, "Order a lamp."))
    sync_report = sync_host.harness(ALL).run_turn(theirs, "Order a lamp.")
    assert report == sync_report
    assert ours.requests == theirs.requests
    assert host.reasons == sync_host.reasons == [Reason.CONTRACT_REQUIRED, Reason.PRESENT]


def test_sub_agents_in_a_task_group_read_each_their_own_contract(host):
    """All ask before any is answered, so that every step of theirs interleaves."""

    async def main():
        together = Together(4)
        async with host.gate.run() as parent:
            models = [host.reader(["create_order"]) for _ in range(4)]
            harnesses = [host.harness(ALL) for _ in models]
            async with asyncio.TaskGroup() as group:
                for harness, model in zip(harnesses, models, strict=True):
                    group.create_task(harness.arun_turn(together.model(model), "Order a lamp."))
            assert parent.present == frozenset()
        return models

    models = asyncio.run(main())
    assert host.reasons == [Reason.CONTRACT_REQUIRED] * 4 + [Reason.PRESENT] * 4
    assert host.shop.book == [("create_order", RIGHT["create_order"])] * 4
    for model in models:
        [unit] = [unit for unit in host_units(model.requests[1]) if unit.startswith("[contract-gate:")]
        assert unit in host.deliveries


def test_parallel_sub_agents_that_fail_count_only_when_they_have_ended(host):
    async def main():
        together = Together(5)
        async with host.gate.run(), asyncio.TaskGroup() as group:
            for _ in range(5):
                harness = host.harness(max_rounds=1)
                group.create_task(harness.arun_turn(together.model(host.script(GUESSED)), "Order a lamp."))
        assert host.reasons == [Reason.CONTRACT_REQUIRED] * 5

    asyncio.run(main())


def test_sub_agents_started_by_parallel_calls_are_children_of_the_turn(host):
    """The context of a task carries the run into the tool, and no run leaks out of it."""
    turns = []

    async def start(call: ParsedToolCall) -> ToolOutcome:
        child = host.harness(max_rounds=1)
        async with host.gate.run() as run:
            turns.append(run.turn_id)
            await child.aplay(run, host.script(GUESSED), "Order a lamp.")
        return ToolOutcome.ok(call.name, "It gave up.")

    async def main():
        async with host.gate.run() as run:
            await host.harness().aplay(run, host.script([DELEGATE] * 3, [DELEGATE]), "Have lamps ordered.")
            return run.turn_id

    with_tool(host, "delegate", start)
    turn = asyncio.run(main())
    assert turns == [turn] * 4
    assert host.reasons == [*[Reason.CONTRACT_REQUIRED] * 3, Reason.AUTO_PROCEED]


def test_a_parallel_batch_of_the_same_guess_gets_one_contract(host):
    async def main():
        model = host.script(GUESSED * 5, RETRIED)
        await host.harness().arun_turn(model, "Order a lamp.")

    asyncio.run(main())
    assert sorted(host.reasons) == sorted([Reason.CONTRACT_REQUIRED, *[Reason.SAME_BATCH] * 4, Reason.PRESENT])
    assert host.shop.book == [("create_order", RIGHT["create_order"])]


def test_a_slow_tool_that_is_cancelled_is_no_failure_of_the_gate(host):
    async def hang(call: ParsedToolCall) -> ToolOutcome:
        started.set()
        await asyncio.Event().wait()
        return ToolOutcome.ok(call.name, "never")

    async def main():
        task = asyncio.create_task(host.harness().arun_turn(host.script([ParsedToolCall(name="hang", arguments={})])))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(GateError):
            host.gate.consult(RETRIED[0])

    started = asyncio.Event()
    with_tool(host, "hang", hang)
    asyncio.run(main())


def test_runs_in_a_thread_pool_take_their_parent_by_hand(host):
    """Threads of a pool inherit no context: without `parent=` each run there is a turn of its own."""
    barrier = threading.Barrier(3)

    def work(parent) -> str:
        model = host.reader(["create_order"])

        def ask(request):
            barrier.wait()
            return model(request)

        harness = host.harness(ALL)
        with host.gate.run(parent=parent) as run:
            harness.play(run, ask, "Order a lamp.")
            return run.turn_id

    with host.gate.run() as run, ThreadPoolExecutor(3) as pool:
        held = list(pool.map(work, [run] * 3))
        loose = list(pool.map(work, [None] * 3))
    assert set(held) == {run.turn_id}
    assert len({*loose, run.turn_id}) == 4
    assert sorted(host.reasons) == sorted([Reason.CONTRACT_REQUIRED, Reason.PRESENT] * 6)
    assert host.shop.book == [("create_order", RIGHT["create_order"])] * 6


def test_a_context_copied_into_a_thread_carries_the_run(host):
    with host.gate.run() as run, ThreadPoolExecutor(1) as pool:
        harness = host.harness(max_rounds=1)
        context = contextvars.copy_context()
        pool.submit(context.run, harness.run_turn, host.script(GUESSED), "Order a lamp.").result()
        assert list(run.turn.delivered) == [target("create_order").key]


def test_one_run_held_by_many_threads_delivers_once(host):
    """A host that runs the calls of a batch in a pool: one delivery, notices beside it, nothing executed."""
    with host.gate.run() as run:
        run.refresh([])
        with ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(lambda call: run.guard(call, host.shop.call), GUESSED * 32))
        assert sum(outcome.trusted_verbatim for outcome in outcomes) == 1
        assert host.shop.book == []
        run.refresh([outcome.output for outcome in outcomes])
        with ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(lambda call: run.guard(call, host.shop.call), RETRIED * 32))
        assert all(outcome.success for outcome in outcomes)


def test_a_decision_and_its_booking_are_one_step_whenever_threads_switch(host):
    """All threads come to the decision together, again and again, and are interrupted at every chance."""
    barrier = threading.Barrier(4)

    def meet(_target, _contract) -> bool:
        barrier.wait()
        return False

    host.open_gate(settings=GateSettings(must_read=meet))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for _ in range(300):
                with host.gate.run() as run:
                    run.refresh([])
                    outcomes = list(pool.map(lambda call, run=run: run.guard(call, host.shop.call), GUESSED * 4))
                    assert sum(outcome.trusted_verbatim for outcome in outcomes) == 1
    finally:
        sys.setswitchinterval(interval)


def test_threads_that_call_different_tools_get_each_its_contract(host):
    with host.gate.run() as run, ThreadPoolExecutor(6) as pool:
        run.refresh([])
        calls = [gated_call(name, GUESS) for name in CONTRACTS] * 8
        outcomes = list(pool.map(lambda call: run.guard(call, host.shop.call), calls))
        assert run.refresh(outcome.output for outcome in outcomes) == {target(name).key for name in CONTRACTS}
    assert len(host.deliveries) == len(CONTRACTS)


def test_a_stream_yields_what_the_transcript_holds(host):
    async def main():
        harness = host.harness()
        start = len(harness.history)
        seen = [entry async for entry in harness.stream(host.reader(["create_order"]), "Order a lamp.")]
        assert seen == harness.history[start:]

    asyncio.run(main())
    assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.PRESENT]


class Gathering:
    """A source that answers when `parties` lookups are waiting for it: their decisions fall together."""

    def __init__(self, parties: int) -> None:
        self.known = Shop().source
        self.barrier = threading.Barrier(parties)

    def lookup(self, target):
        self.barrier.wait()
        return self.known.lookup(target)


class AsyncGathering:
    """The same for one event loop."""

    def __init__(self, parties: int) -> None:
        self.known = Shop().source
        self.barrier = asyncio.Barrier(parties)

    async def lookup(self, target):
        async with self.barrier:
            return self.known.lookup(target)


def behind(host: Host, source) -> ContractGate:
    return ContractGate([Surface.mcp(source)], on_event=host._note)


def test_lookups_that_end_together_give_one_contract_in_tasks(host):
    async def main():
        host.gate = behind(host, AsyncGathering(5))
        await host.harness(max_rounds=1).arun_turn(host.script(GUESSED * 5), "Order a lamp.")

    asyncio.run(main())
    assert sorted(host.reasons) == sorted([Reason.CONTRACT_REQUIRED, *[Reason.SAME_BATCH] * 4])
    assert host.shop.book == []


def test_lookups_that_end_together_give_one_contract_in_threads(host):
    host.gate = behind(host, Gathering(5))
    with host.gate.run() as run, ThreadPoolExecutor(5) as pool:
        run.refresh([])
        outcomes = list(pool.map(lambda call: run.guard(call, host.shop.call), GUESSED * 5))
    assert sum(outcome.trusted_verbatim for outcome in outcomes) == 1
    assert sorted(host.reasons) == sorted([Reason.CONTRACT_REQUIRED, *[Reason.SAME_BATCH] * 4])
    assert host.shop.book == []


def test_runs_whose_lookups_end_together_get_a_contract_each(host):
    async def main():
        host.gate = behind(host, AsyncGathering(3))
        async with host.gate.run(), asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(host.harness(max_rounds=1).arun_turn(host.script(GUESSED), "Order a lamp."))

    asyncio.run(main())
    assert host.reasons == [Reason.CONTRACT_REQUIRED] * 3


def test_an_async_source_serves_the_sync_loop_outside_any_event_loop(host):
    class Slow:
        async def lookup(self, target):
            await asyncio.sleep(0)
            return host.shop.source.lookup(target)

    host.gate = behind(host, Slow())
    host.harness(ALL).run_turn(host.reader(["create_order"]), "Order a lamp.")
    assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.PRESENT]


def until_delivery(entry) -> bool:
    texts = [result.content for result in getattr(entry, "results", ())] or [getattr(entry, "content", "")]
    return any(text.startswith("[contract-gate:") for text in texts)


def test_a_stream_closed_after_the_delivery_counts_as_a_run_that_gave_up(host):
    async def give_up(parent) -> None:
        stream = host.harness().stream(host.reader(["create_order"]), "Order a lamp.", parent=parent)
        async for entry in stream:
            if until_delivery(entry):
                break
        await stream.aclose()

    async def main():
        async with host.gate.run() as parent:
            for _ in range(3):
                await give_up(parent)
            await host.harness().arun_turn(host.script(GUESSED), "Order a lamp.")

    asyncio.run(main())
    assert host.reasons == [*[Reason.CONTRACT_REQUIRED] * 3, Reason.AUTO_PROCEED]


def test_a_stream_closed_in_another_task_ends_its_run_and_no_other(host):
    async def begin(stream) -> None:
        async for entry in stream:
            if until_delivery(entry):
                return

    async def main():
        async with host.gate.run() as outer:
            stream = host.harness().stream(host.reader(["create_order"]), "Order a lamp.", parent=outer)
            await asyncio.create_task(begin(stream))
            await asyncio.create_task(stream.aclose())
            async with host.gate.run() as next_one:
                assert next_one.turn_id == outer.turn_id
            assert not outer.ended
            assert host.gate.consult(gated_call("create_order", GUESS)).reason is Reason.CONTRACT_REQUIRED

    asyncio.run(main())


def test_a_run_that_ended_elsewhere_is_no_parent_although_its_context_still_names_it(host):
    async def main():
        runs = []

        async def stream():
            async with host.gate.run() as run:
                runs.append(run)
                yield await host.harness(max_rounds=1).aplay(run, host.script(GUESSED), "Order a lamp.")

        opened = stream()
        await anext(opened)
        async with host.gate.run() as inside:
            assert inside.turn_id == runs[0].turn_id
        await asyncio.create_task(opened.aclose())
        assert runs[0].ended
        async with host.gate.run() as after:
            assert after.turn_id != runs[0].turn_id
        with pytest.raises(GateError, match="no run"):
            host.gate.consult(GUESSED[0])

    asyncio.run(main())


def test_streams_closed_elsewhere_leave_nothing_behind_in_a_long_lived_task(host):
    async def main():
        for _ in range(50):
            stream = host.harness().stream(host.reader(["create_order"]), "Order a lamp.")
            await anext(stream)
            await asyncio.create_task(stream.aclose())
        place, remembered = _here.get(), 0
        while place is not None:
            place, remembered = place.before, remembered + 1
        assert remembered <= 1

    asyncio.run(main())


def test_runs_of_one_turn_id_count_together_wherever_they_are(host):
    def fail(_number: int) -> None:
        host.harness(max_rounds=1).run_turn(host.script(GUESSED), "Order a lamp.", turn_id="ticket 7")

    with ThreadPoolExecutor(1) as pool:
        list(pool.map(fail, range(2)))
    asyncio.run(host.harness(max_rounds=1).arun_turn(host.script(GUESSED), "Order a lamp.", turn_id="ticket 7"))
    host.harness().run_turn(host.script(GUESSED), "Order a lamp.", turn_id="ticket 8")
    fail(4)
    assert host.reasons == [*[Reason.CONTRACT_REQUIRED] * 4, Reason.AUTO_PROCEED]


def test_a_stream_that_is_dropped_ends_its_run_when_it_is_collected(host):
    async def main():
        async with host.gate.run() as parent:
            for _ in range(3):
                stream = host.harness().stream(host.reader(["create_order"]), "Order a lamp.", parent=parent)
                async for entry in stream:
                    if until_delivery(entry):
                        break
                del stream, entry
                gc.collect()
                # The event loop closes collected async generators in a task of its own.
                for _ in range(5):
                    await asyncio.sleep(0)
            await host.harness().arun_turn(host.script(GUESSED), "Order a lamp.")

    asyncio.run(main())
    assert host.reasons == [*[Reason.CONTRACT_REQUIRED] * 3, Reason.AUTO_PROCEED]


def test_two_streams_read_by_turns_keep_their_transcripts_apart(host):
    async def main():
        async with host.gate.run() as parent:
            models = [host.reader(["create_order"]), host.reader(["refund"])]
            streams = [host.harness().stream(model, "Do it.", parent=parent) for model in models]
            running = list(streams)
            while running:
                for stream in list(running):
                    if await anext(stream, None) is None:
                        running.remove(stream)
            return models

    models = asyncio.run(main())
    keys = ["mcp:shop:create_order", "mcp:shop:refund"]
    for model, key, other in zip(models, keys, reversed(keys), strict=True):
        shown = "".join(host_units(model.requests[-1]))
        assert f":{key}@" in shown
        assert f":{other}@" not in shown
    assert sorted(host.reasons) == sorted([Reason.CONTRACT_REQUIRED, Reason.PRESENT] * 2)


def test_nested_runs_come_back_to_the_outer_one(host):
    with host.gate.run() as outer:
        outer.refresh([])
        with host.gate.run() as inner:
            assert inner.turn_id == outer.turn_id
            delivery = host.gate.consult(GUESSED[0]).message
            inner.refresh([delivery])
            with host.gate.run() as innermost:
                assert host.gate.consult(GUESSED[0]).reason is Reason.CONTRACT_REQUIRED
                assert innermost.present == frozenset()
            assert host.gate.consult(RETRIED[0]).reason is Reason.PRESENT
        assert host.gate.consult(GUESSED[0]).reason is Reason.CONTRACT_REQUIRED
    with pytest.raises(GateError):
        host.gate.consult(GUESSED[0])


def test_a_turn_inside_a_turn_of_another_gate_is_a_turn_of_its_own(host):
    other = Host(host.dialect_name)
    with host.gate.run() as outer, other.gate.run() as foreign:
        assert foreign.turn_id != outer.turn_id
        other.harness().run_turn(other.reader(["create_order"]), "Order a lamp.")
        host.harness().run_turn(host.reader(["create_order"]), "Order a lamp.")
        assert list(outer.turn.delivered) == list(foreign.turn.delivered) == [target("create_order").key]
    assert host.reasons == other.reasons == [Reason.CONTRACT_REQUIRED, Reason.PRESENT]
