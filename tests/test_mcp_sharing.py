"""One listing serves everyone: its cache, its waiters, other threads and other loops."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest
from mcp import types

from tooldialect.gate.sources import Found, Lookup, McpSource, NotFound, Unavailable
from tooldialect.gate.target import GateTarget

ALPHA = GateTarget.mcp("s", "alpha")
T = TypeVar("T")


class Held:
    """A session whose answers wait until the test lets them go; `names` as of the request."""

    def __init__(self, *names: str, held: bool = False) -> None:
        self.names = list(names)
        self.requests = 0
        self.cancelled = 0
        self.asked = asyncio.Event()
        self.go = asyncio.Event()
        if not held:
            self.go.set()

    async def list_tools(self, cursor: str | None = None) -> types.ListToolsResult:
        self.requests += 1
        tools = [types.Tool(name=name, input_schema={"type": "object"}) for name in self.names]
        self.asked.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return types.ListToolsResult(tools=tools)


def run(scenario: Callable[[], Awaitable[T]]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(60):
            return await scenario()

    return asyncio.run(bounded())


async def leave(source: McpSource, session: Held) -> None:
    """Ask, and go away while the server is thinking."""
    waiting = asyncio.create_task(source.lookup(ALPHA))
    await session.asked.wait()
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()


@contextmanager
def loop_in_a_thread() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


# The cache.


def test_a_listing_is_kept_for_its_age_and_peek_answers_from_it() -> None:
    now = [0.0]

    async def scenario() -> None:
        session = Held("alpha")
        source = McpSource({"s": session}, max_age=10, clock=lambda: now[0])
        assert source.peek(ALPHA) is None
        found = await source.lookup(ALPHA)
        assert isinstance(found, Found)
        now[0] = 9.9
        assert await source.lookup(ALPHA) == found
        assert source.peek(ALPHA) == found.contract
        assert source.peek(GateTarget.mcp("s", "beta")) is None
        assert session.requests == 1
        now[0] = 10.0
        assert source.peek(ALPHA) is None
        assert await source.lookup(ALPHA) == found
        assert session.requests == 2

    run(scenario)


def test_invalidating_one_server_leaves_the_others() -> None:
    async def scenario() -> None:
        one, two = Held("alpha"), Held("alpha")
        source = McpSource({"1": one, "2": two})
        targets = GateTarget.mcp("1", "alpha"), GateTarget.mcp("2", "alpha")
        for target in targets:
            await source.lookup(target)
        source.invalidate("1")
        assert [source.peek(target) is None for target in targets] == [True, False]
        source.invalidate()
        assert [source.peek(target) is None for target in targets] == [True, True]
        source.invalidate("a server never asked")

    run(scenario)


def test_a_listing_begun_before_an_invalidation_is_not_kept() -> None:
    async def scenario() -> None:
        session = Held("alpha", held=True)
        source = McpSource({"s": session})
        before = asyncio.create_task(source.lookup(ALPHA))
        await session.asked.wait()
        source.invalidate("s")
        session.names = ["beta"]
        session.go.set()
        assert isinstance(await before, Found)
        assert source.peek(ALPHA) is None
        assert await source.lookup(ALPHA) == NotFound(("beta",))

    run(scenario)


@pytest.mark.parametrize("replaced", [True, False])
def test_a_listing_begun_before_a_change_is_not_shared_after_it(replaced: bool) -> None:
    async def scenario() -> None:
        old = Held("alpha", held=True)
        new = Held("beta", held=True) if replaced else old
        sessions = {"s": old}
        source = McpSource(sessions)
        before = asyncio.create_task(source.lookup(ALPHA))
        await old.asked.wait()
        old.asked.clear()
        if replaced:
            sessions["s"] = new
        else:
            old.names = ["beta"]
            source.invalidate("s")
        after = asyncio.create_task(source.lookup(ALPHA))
        await new.asked.wait()
        old.go.set()
        new.go.set()
        assert isinstance(await before, Found)
        assert await after == NotFound(("beta",))
        assert source.peek(GateTarget.mcp("s", "beta")) is not None

    run(scenario)


def test_a_session_that_was_replaced_is_listed_anew() -> None:
    async def scenario() -> None:
        sessions: dict[str, Held | None] = {"s": Held("alpha")}
        source = McpSource(sessions)
        assert isinstance(await source.lookup(ALPHA), Found)
        sessions["s"] = Held("beta")
        assert source.peek(ALPHA) is None
        assert await source.lookup(ALPHA) == NotFound(("beta",))
        sessions["s"] = None
        assert await source.lookup(ALPHA) == Unavailable("the MCP server is not connected")

    run(scenario)


def test_an_unknown_server_is_not_found_and_the_servers_are_named() -> None:
    async def scenario() -> None:
        source = McpSource({"git": Held("log"), "time": Held("now")})
        assert await source.lookup(ALPHA) == NotFound(("git", "time"))
        assert source.peek(ALPHA) is None

    run(scenario)


def test_a_target_that_is_no_mcp_tool_is_unavailable() -> None:
    async def scenario() -> None:
        source = McpSource({"s": Held("alpha")})
        for target in (GateTarget.tool("alpha"), GateTarget("mcp", ("s",)), GateTarget("mcp", ("s", "alpha", "x"))):
            assert isinstance(await source.lookup(target), Unavailable)

    run(scenario)


# Those who wait.


def test_concurrent_lookups_share_one_listing() -> None:
    async def scenario() -> None:
        session = Held("alpha", "beta", held=True)
        source = McpSource({"s": session})
        async with asyncio.TaskGroup() as group:
            waiting = [group.create_task(source.lookup(GateTarget.mcp("s", name))) for name in ("alpha", "beta", "no")]
            await session.asked.wait()
            session.go.set()
        assert [type(task.result()) for task in waiting] == [Found, Found, NotFound]
        assert session.requests == 1

    run(scenario)


def test_a_waiter_that_is_cancelled_does_not_cancel_the_others() -> None:
    async def scenario() -> None:
        session = Held("alpha", held=True)
        source = McpSource({"s": session})
        impatient, patient = (asyncio.create_task(source.lookup(ALPHA)) for _ in range(2))
        await session.asked.wait()
        impatient.cancel()
        await asyncio.wait([impatient])
        assert impatient.cancelled()
        session.go.set()
        assert isinstance(await patient, Found)
        assert (session.requests, session.cancelled) == (1, 0)

    run(scenario)


def test_the_last_waiter_to_go_ends_the_listing_and_the_next_begins_a_new_one() -> None:
    async def scenario() -> None:
        session = Held("alpha", held=True)
        source = McpSource({"s": session})
        for _ in range(2):
            session.asked.clear()
            waiting = asyncio.create_task(source.lookup(ALPHA))
            await session.asked.wait()
            waiting.cancel()
            await asyncio.wait([waiting])
        session.go.set()
        assert isinstance(await source.lookup(ALPHA), Found)
        assert (session.requests, session.cancelled) == (3, 2)

    run(scenario)


def test_a_listing_that_fails_after_everyone_left_is_nobodys_error() -> None:
    class Breaking(Held):
        async def list_tools(self, cursor: str | None = None) -> types.ListToolsResult:
            try:
                return await super().list_tools(cursor)
            except asyncio.CancelledError:
                raise OSError("broken pipe") from None

    async def scenario() -> list[dict[str, object]]:
        complaints: list[dict[str, object]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
        await abandon(Breaking("alpha", held=True))
        gc.collect()  # asyncio complains when the failed task goes
        return complaints

    async def abandon(session: Held) -> None:
        await leave(McpSource({"s": session}), session)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait([*others, asyncio.create_task(asyncio.sleep(0))])

    assert run(scenario) == []


def test_a_session_that_will_not_be_cancelled_keeps_nobody_waiting() -> None:
    class Stubborn(Held):
        async def list_tools(self, cursor: str | None = None) -> types.ListToolsResult:
            try:
                return await super().list_tools(cursor)
            except asyncio.CancelledError:
                return await super().list_tools(cursor)

    async def scenario() -> None:
        session = Stubborn("alpha", held=True)
        source = McpSource({"s": session})
        await leave(source, session)
        session.go.set()
        assert isinstance(await source.lookup(ALPHA), Found)

    run(scenario)


# Other threads and loops.


def test_a_lookup_from_another_loop_runs_on_the_loop_of_the_sessions() -> None:
    with loop_in_a_thread() as owner:
        seen: list[asyncio.AbstractEventLoop] = []

        class Noting(Held):
            async def list_tools(self, cursor: str | None = None) -> types.ListToolsResult:
                seen.append(asyncio.get_running_loop())
                return await super().list_tools(cursor)

        source = McpSource({"s": Noting("alpha")}, loop=owner)
        assert isinstance(run(lambda: source.lookup(ALPHA)), Found)
        source.invalidate()
        assert isinstance(source.lookup_blocking(ALPHA, 60), Found)
        assert isinstance(source.lookup_blocking(ALPHA, 0), Found)  # from the cache
        assert seen == [owner, owner]


def test_a_cancelled_lookup_from_another_loop_cancels_the_listing() -> None:
    with loop_in_a_thread() as owner:
        session = Held("alpha", held=True)
        source = McpSource({"s": session}, loop=owner)

        async def scenario() -> None:
            waiting = asyncio.create_task(source.lookup(ALPHA))
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(session.asked.wait(), owner))
            waiting.cancel()
            await asyncio.wait([waiting])
            assert waiting.cancelled()

        run(scenario)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), owner).result(60)
    assert session.cancelled == 1


def test_a_blocking_lookup_gives_up_in_time() -> None:
    with loop_in_a_thread() as owner:
        session = Held("alpha", held=True)
        source = McpSource({"s": session}, loop=owner)
        answer = source.lookup_blocking(ALPHA, 0.05)
        assert isinstance(answer, Unavailable)
        assert "0.05 seconds" in answer.why
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), owner).result(60)
    assert session.cancelled == 1


def test_a_blocking_lookup_on_the_sessions_own_loop_is_refused_not_stuck() -> None:
    async def scenario() -> None:
        source = McpSource({"s": Held("alpha")})
        refused = source.lookup_blocking(ALPHA, 60)
        assert isinstance(refused, Unavailable)
        assert "await" in refused.why
        found = await source.lookup(ALPHA)
        assert source.lookup_blocking(ALPHA, 60) == found  # the cache needs no loop

    run(scenario)


def test_a_blocking_lookup_without_a_running_loop_says_what_to_do() -> None:
    unknown = McpSource({"s": Held("alpha")}).lookup_blocking(ALPHA, 60)
    assert isinstance(unknown, Unavailable)
    assert "loop=" in unknown.why


def test_a_lookup_toward_a_loop_that_is_not_running_is_unavailable() -> None:
    idle = asyncio.new_event_loop()
    try:
        source = McpSource({"s": Held("alpha")}, loop=idle)
        assert isinstance(run(lambda: source.lookup(ALPHA)), Unavailable)
    finally:
        idle.close()


def test_when_the_loop_of_the_sessions_has_closed_the_next_one_takes_over() -> None:
    sessions: dict[str, Held] = {}
    source = McpSource(sessions)

    async def scenario() -> Lookup:
        sessions["s"] = Held("alpha")
        return await source.lookup(ALPHA)

    assert isinstance(run(scenario), Found)
    assert isinstance(run(scenario), Found)


@pytest.mark.parametrize("blocking", [True, False])
def test_a_loop_that_ends_while_asked_is_unavailable(blocking: bool) -> None:
    ready, answers = threading.Event(), list[Lookup]()
    sources: list[McpSource] = []

    async def owner() -> None:
        session = Held("alpha", held=True)
        sources.append(McpSource({"s": session}))
        ready.set()
        await session.asked.wait()

    thread = threading.Thread(target=asyncio.run, args=(owner(),))
    thread.start()
    ready.wait(60)
    if blocking:
        answers.append(sources[0].lookup_blocking(ALPHA, 60))
    else:
        answers.append(run(lambda: sources[0].lookup(ALPHA)))
    thread.join()
    assert isinstance(answers[0], Unavailable)


def test_threads_may_invalidate_and_peek_while_the_loop_lists() -> None:
    async def scenario() -> None:
        source = McpSource({"s": Held("alpha")})
        stop = threading.Event()

        def disturb() -> None:
            while not stop.is_set():
                source.invalidate("s")
                contract = source.peek(ALPHA)
                assert contract is None or contract.input_schema == {"type": "object"}

        disturber = asyncio.create_task(asyncio.to_thread(disturb))
        for _ in range(200):
            assert isinstance(await source.lookup(ALPHA), Found)
        stop.set()
        await disturber

    run(scenario)


# Without the SDK.


def test_a_missing_sdk_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Session:
        async def list_tools(self, *, params: object = None) -> types.ListToolsResult:
            return types.ListToolsResult(tools=[])

    monkeypatch.setitem(sys.modules, "mcp.types", None)
    monkeypatch.setitem(sys.modules, "mcp.client.subscriptions", None)

    async def scenario() -> None:
        source = McpSource({"s": Session()})
        answer = await source.lookup(ALPHA)
        assert isinstance(answer, Unavailable)
        assert "pip install 'tooldialect[mcp]'" in answer.why
        await source.watch("s")

    run(scenario)
