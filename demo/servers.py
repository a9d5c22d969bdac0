"""Two MCP servers that others wrote, each a process behind a tap, and the host's clients to them."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
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


class ServerError(Exception):
    """A server cannot be started; the message is one line."""


class Servers:
    """Connected clients by server id, the contracts of their tools, and the taps' frames."""

    def __init__(self, logs: Path) -> None:
        self.clients: dict[str, Client] = {}
        self.source = McpSource(self.clients)
        self._logs = logs

    async def call(self, server_id: str, tool: str, arguments: dict[str, Any]) -> ToolOutcome:
        """Run a tool of a server; its result, failed or not, as the outcome."""
        result = await self.clients[server_id].call_tool(tool, arguments)
        return outcome_from_mcp(result, name=tool)

    def executed(self) -> Counter[str]:
        """The `tools/call` frames that went to the servers so far, by tool."""
        frames = [frame for server_id in SERVERS for frame in stdio_tap.read_frames(self._log(server_id, "frames"))]
        return Counter(frame["name"] for frame in frames if frame["method"] == "tools/call")

    async def start(self, server_id: str, stack: contextlib.AsyncExitStack) -> None:
        """Raises ServerError where the server does not come up."""
        stderr = stack.enter_context(self._log(server_id, "stderr").open("w", encoding="utf-8"))
        transport = stdio_client(self._command(server_id), errlog=stderr)
        client = Client(transport, message_handler=self.source.message_handler(server_id))
        try:
            async with asyncio.timeout(_START_SECONDS):
                self.clients[server_id] = await stack.enter_async_context(client)
        except Exception as error:  # whatever a process, the transport or the protocol can do
            said = self._log(server_id, "stderr").read_text(encoding="utf-8", errors="replace").split("\n")
            last_words = next((line.strip() for line in reversed(said) if line.strip()), str(error))
            raise ServerError(f"the MCP server {server_id!r} cannot be started: {last_words}") from error

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
    async with contextlib.AsyncExitStack() as stack:
        servers = Servers(logs)
        for server_id in SERVERS:
            await servers.start(server_id, stack)
        yield servers
