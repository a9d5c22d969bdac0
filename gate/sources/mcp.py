"""Contracts of the tools of MCP servers, over sessions that the host holds."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import CancelledError as FutureCancelled
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from ..contract import Contract
from ..event_loop import mark_retrieved, running_loop
from ..reasons import reason_of
from ..target import GateTarget
from .base import Found, Lookup, NotFound, Unavailable
from .mcp_listing import Listing, ListingLimits, walk_listing
from .mcp_session import MessageHandler, is_tools_changed, page_fetcher, tools_changes

_log = logging.getLogger("tooldialect.gate")


class McpSource:
    """`sessions`: server id, as the model spells it, to the SDK's `Client` or `ClientSession`.

    The mapping is read at each lookup: put a client in when it has connected, replace it when
    it has reconnected; `None` is a server that is not connected now. A server's tools are
    listed once and kept for `max_age` seconds, or until `invalidate`. Wire
    `message_handler(server_id)` into the client, and on protocol 2026-07-28 run
    `watch(server_id)`, and a server's list-changed notification does that.

    `max_pages`, `max_tools`, `max_bytes` bound one listing. Past a bound, or where the server
    repeats a cursor, the tools read so far are `Found` and any other name is `Unavailable`.
    `listing_timeout`: seconds a whole listing may take, whoever waits for it.

    A session lives on one event loop: `loop`, else that which runs when the source is made,
    else that of the first lookup. From another loop or thread `lookup` and `lookup_blocking`
    ask over to it. Nothing is raised for what a server does.
    """

    def __init__(
        self,
        sessions: Mapping[str, Any],
        *,
        max_age: float = 300.0,
        max_pages: int = 100,
        max_tools: int = 10_000,
        max_bytes: int = 16 * 2**20,
        listing_timeout: float = 30.0,
        loop: asyncio.AbstractEventLoop | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sessions = sessions
        self._limits = ListingLimits(max_pages, max_tools, max_bytes)
        self._max_age = max_age
        self._listing_timeout = listing_timeout
        self._clock = clock
        self._loop = loop or running_loop()
        self._servers: dict[str, _Server] = {}
        self._lock = threading.Lock()

    async def lookup(self, target: GateTarget) -> Lookup:
        """The contract of `GateTarget.mcp(server, tool)`, listing the server's tools if need be."""
        settled = self._settled(target)
        if settled is not None:
            return settled
        here = asyncio.get_running_loop()
        if self._loop is None or self._loop.is_closed():
            self._loop = here
        if self._loop is here:
            return await self._lookup_here(target)
        return await self._lookup_over_there(target, self._loop)

    def lookup_blocking(self, target: GateTarget, timeout: float) -> Lookup:
        """`lookup` for code that is no coroutine, in at most `timeout` seconds.

        `Unavailable` on the thread of the sessions' own loop: waiting there would keep the
        answer from arriving.
        """
        settled = self._settled(target)
        if settled is not None:
            return settled
        loop = self._loop
        if loop is None or not loop.is_running():
            return Unavailable("the event loop of the MCP sessions is not running; make the source in it or pass loop=")
        if loop is running_loop():
            return Unavailable("a blocking lookup on the event loop of the MCP sessions; await the async method there")
        future = _submit(self._lookup_here(target), loop)
        if future is None:
            return Unavailable("the event loop of the MCP sessions has closed")
        try:
            return future.result(timeout)
        except TimeoutError:
            future.cancel()
            return Unavailable(f"no answer within {timeout:g} seconds")
        except FutureCancelled:
            return Unavailable("the event loop of the MCP sessions has ended")

    def peek(self, target: GateTarget) -> Contract | None:
        """What the last listing says while it is fresh; no I/O, from any thread."""
        settled = self._settled(target)
        return settled.contract if isinstance(settled, Found) else None

    def invalidate(self, server_id: str | None = None) -> None:
        """Forget the listing of one server, or of all; one in flight will not be kept. From any thread."""
        with self._lock:
            for known, server in self._servers.items():
                if server_id is None or known == server_id:
                    server.generation += 1
                    server.kept = None

    def message_handler(self, server_id: str, then: MessageHandler | None = None) -> MessageHandler:
        """For `Client(message_handler=...)`: a list-changed notification invalidates; every
        message goes on to `then`."""

        async def handle(message: Any) -> None:
            if is_tools_changed(message):
                self.invalidate(server_id)
            if then is not None:
                await then(message)

        return handle

    async def watch(self, server_id: str) -> None:
        """Follow `subscriptions/listen` of a server until the stream ends; run it as a task.

        From protocol 2026-07-28 on a server reports changes only to who listens. Returns, with
        a log line, where the server or its protocol has no such stream, or it broke.
        """
        try:
            async with tools_changes(self._sessions[server_id]) as changes:
                self.invalidate(server_id)  # what changed before the server agreed went unreported
                async for _ in changes:
                    self.invalidate(server_id)
        except Exception as error:  # any failure of a server, client or transport
            _log.info("[contract-gate] not watching the tools of MCP server %.100r: %s", server_id, reason_of(error))
        finally:
            self.invalidate(server_id)

    def _settled(self, target: GateTarget) -> Lookup | None:
        """The answer where it takes no I/O."""
        if target.kind != "mcp" or len(target.parts) != _MCP_PARTS:
            return Unavailable(f"{target.key[:100]} is no MCP target")
        server_id, name = target.parts
        try:
            session = self._sessions[server_id]
        except KeyError:
            return NotFound(tuple(self._sessions), part=0)
        if session is None:
            return Unavailable("the MCP server is not connected")
        server = self._servers.get(server_id)
        kept = server.kept if server is not None else None
        if kept is None or kept.session is not session or self._clock() - kept.begun >= self._max_age:
            return None
        return _answer(kept.listing, name)

    async def _lookup_here(self, target: GateTarget) -> Lookup:
        server_id, name = target.parts
        try:
            listing = await self._listing(server_id)
        except Exception as error:  # any failure of a server, client or transport
            return Unavailable(reason_of(error))
        return _answer(listing, name)

    async def _lookup_over_there(self, target: GateTarget, loop: asyncio.AbstractEventLoop) -> Lookup:
        if not loop.is_running():
            return Unavailable("the event loop of the MCP sessions is not running")
        future = _submit(self._lookup_here(target), loop)
        if future is None:
            return Unavailable("the event loop of the MCP sessions has closed")
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return Unavailable("the event loop of the MCP sessions has ended")

    async def _listing(self, server_id: str) -> Listing:
        """One walk at a time and server, shared by all who wait; it ends with the last of them."""
        session = self._sessions[server_id]
        with self._lock:
            server = self._servers.setdefault(server_id, _Server())
            flight = server.flight
            if flight is None or not flight.serves(session, server.generation):
                task = asyncio.get_running_loop().create_task(self._walk(server, session, server.generation))
                task.add_done_callback(mark_retrieved)
                flight = server.flight = _Flight(task, session, server.generation)
        flight.waiting += 1
        try:
            await asyncio.wait([flight.task])
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                flight.task.cancel()
                # Whoever asks next gets a new walk: this one may be long in dying.
                flight.abandoned = True
        if flight.task.cancelled():
            raise ConnectionAbortedError("the listing was cancelled")
        return flight.task.result()

    async def _walk(self, server: _Server, session: Any, generation: int) -> Listing:
        begun = self._clock()
        try:
            async with asyncio.timeout(self._listing_timeout):
                listing = await walk_listing(page_fetcher(session), self._limits)
        except TimeoutError:
            raise TimeoutError(f"no listing within {self._listing_timeout:g} seconds") from None
        with self._lock:
            if listing.repeatable and server.generation == generation:
                server.kept = _Kept(listing, session, begun)
        return listing


_MCP_PARTS = 2


@dataclass(frozen=True, slots=True)
class _Kept:
    listing: Listing
    session: Any
    begun: float


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[Listing]
    session: Any
    generation: int
    waiting: int = 0
    abandoned: bool = False

    def serves(self, session: Any, generation: int) -> bool:
        """Whether a lookup that starts now may share it: nothing it read can be outdated."""
        return (
            not (self.abandoned or self.task.done())
            and self.session is session
            and self.generation == generation
            and self.task.get_loop() is running_loop()
        )


@dataclass(slots=True)
class _Server:
    generation: int = 0
    kept: _Kept | None = None
    flight: _Flight | None = None


def _answer(listing: Listing, name: str) -> Lookup:
    contract = listing.contracts.get(name)
    if contract is not None:
        return Found(contract)
    if name in listing.unusable:
        return Unavailable(f"the tool has no usable contract: {listing.unusable[name]}")
    if listing.cut is not None:
        return Unavailable(f"the listing of tools is incomplete: {listing.cut}")
    return NotFound((*listing.contracts, *listing.unusable), part=1)


def _submit(coroutine: Coroutine[Any, Any, Lookup], loop: asyncio.AbstractEventLoop) -> Future[Lookup] | None:
    try:
        return asyncio.run_coroutine_threadsafe(coroutine, loop)
    except RuntimeError:  # the loop closed between our look and the call
        coroutine.close()
        return None
