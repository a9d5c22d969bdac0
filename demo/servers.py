"""Two MCP servers that others wrote, each a process behind a tap, and the host's clients to them."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.client import Transport
from mcp.client.stdio import get_default_environment, stdio_client

from tooldialect.dialects import ToolOutcome, outcome_from_mcp
from tooldialect.gate import McpSource

from . import stdio_tap
from .repository import GIT_ENVIRONMENT

# By server id, as the model spells it. Both work offline.
SERVERS = {
    "git": ["mcp_server_git"],
    "time": ["mcp_server_time", "--local-timezone=UTC"],
}
_START_SECONDS = 60.0
_ANSWER_SECONDS = 60.0


class ServerError(Exception):
    """Servers cannot be started; the message is one line that names them."""


class Servers:
    """Connected clients by server id, the contracts of their tools, and the taps' frames."""

    def __init__(self, logs: Path) -> None:
        self.clients: dict[str, Client] = {}
        self.source = McpSource(self.clients)
        self._logs = logs

    async def call(self, name: str, server_id: str, tool: str, arguments: dict[str, Any]) -> ToolOutcome:
        """Run a tool of a server; what comes of it, failed or not, as the outcome."""
        try:
            result = await self.clients[server_id].call_tool(tool, arguments)
        except MCPError as error:  # no such tool, no answer in time, no server any more
            return ToolOutcome.failed(name, f"{server_id}/{tool}: {error}")
        return outcome_from_mcp(result, name)

    def executed(self) -> Counter[str]:
        """The `tools/call` frames that went to the servers so far, by tool."""
        frames = [frame for server_id in SERVERS for frame in stdio_tap.read_frames(self._log(server_id, "frames"))]
        return Counter(frame["name"] for frame in frames if frame["method"] == "tools/call")

    async def keep(self, server_id: str, connected: asyncio.Future[None], closing: asyncio.Event) -> None:
        """Hold one connection until `closing`: a client is left by the task that entered it.

        `connected` gets a ServerError where the server does not come up.
        """
        with self._log(server_id, "stderr").open("w", encoding="utf-8") as stderr:
            transport = stdio_client(self._command(server_id), errlog=stderr)
            try:
                async with self._client(server_id, transport) as client, asyncio.TaskGroup() as tasks:
                    self.clients[server_id] = client
                    watching = tasks.create_task(self.source.watch(server_id))
                    connected.set_result(None)
                    await closing.wait()
                    watching.cancel()
            except Exception as error:  # whatever a process, the transport or the protocol can do
                if connected.done():
                    raise
                connected.set_exception(ServerError(self._last_words(server_id) or _innermost(error)))

    def _client(self, server_id: str, transport: Transport) -> Client:
        # A server's word that its tools have changed makes the source list them anew: by this
        # notification, or for newer protocols by `watch`.
        handler = self.source.message_handler(server_id)
        return Client(transport, message_handler=handler, read_timeout_seconds=_ANSWER_SECONDS)

    def _last_words(self, server_id: str) -> str:
        lines = self._log(server_id, "stderr").read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _command(self, server_id: str) -> StdioServerParameters:
        # -P: what lies in the current folder is not importable, as it is not for installed servers.
        python = [sys.executable, "-P"]
        server = [*python, "-m", *SERVERS[server_id]]
        tap = [*python, stdio_tap.__file__, str(self._log(server_id, "frames")), "--", *server]
        return StdioServerParameters(command=tap[0], args=tap[1:], env=get_default_environment() | GIT_ENVIRONMENT)

    def _log(self, server_id: str, kind: str) -> Path:
        return self._logs / f"{server_id}.{kind}"


@contextlib.asynccontextmanager
async def serving(logs: Path) -> AsyncIterator[Servers]:
    """Both servers, until the block ends. Raises ServerError."""
    servers, closing, loop = Servers(logs), asyncio.Event(), asyncio.get_running_loop()
    connected: dict[str, asyncio.Future[None]] = {server_id: loop.create_future() for server_id in SERVERS}
    keepers = [asyncio.create_task(servers.keep(server_id, connected[server_id], closing)) for server_id in SERVERS]
    try:
        _, late = await asyncio.wait(connected.values(), timeout=_START_SECONDS)
        refusals = [
            f"the MCP server {server_id!r} cannot be started: "
            + (f"no answer within {_START_SECONDS:g} s" if future in late else str(future.exception()))
            for server_id, future in connected.items()
            if future in late or future.exception()
        ]
        if refusals:
            raise ServerError("; ".join(refusals))
        yield servers
    finally:
        closing.set()
        for future, keeper in zip(connected.values(), keepers, strict=True):
            if not future.done():
                keeper.cancel()
        await asyncio.gather(*keepers, return_exceptions=True)


def _innermost(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(str(error).split()) or type(error).__name__
