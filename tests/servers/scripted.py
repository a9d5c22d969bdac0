"""A real MCP server over stdio whose tool list misbehaves as told: `scripted.py MODE`.

Tools of every mode: `alpha`, whose description is the pid of the server, and `grow`, which
adds the tool `grown` and tells the client that the list changed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
BASE = [
    types.Tool(name="alpha", description=str(os.getpid()), input_schema=TEXT),
    types.Tool(name="grow", description="Add a tool.", input_schema={"type": "object"}),
]
bus = InMemorySubscriptionBus()


def named(*names: str) -> list[types.Tool]:
    return [types.Tool(name=name, description=name, input_schema=TEXT) for name in names]


async def answer(mode: str, cursor: str | None) -> types.ListToolsResult:
    if mode == "pages":
        last = named("Gamma.Δ", "gamma.δ")
        page = {None: (BASE, "p2"), "p2": (named("beta"), "p3"), "p3": (last, "")}[cursor]
        return types.ListToolsResult(tools=page[0], next_cursor=page[1])
    if mode == "endless":
        number = int(cursor or 0)
        return types.ListToolsResult(tools=named(f"tool-{number}"), next_cursor=str(number + 1))
    if mode == "repeated":
        return types.ListToolsResult(tools=named(f"tool-{cursor or 'first'}"), next_cursor="again")
    if mode == "oversize":
        large = types.Tool(name="large", description="x" * 100_000, input_schema=TEXT)
        return types.ListToolsResult(tools=[BASE[0], large, *named("after")])
    if mode == "dying":
        os._exit(3)
    if mode == "hanging":
        await asyncio.Event().wait()
    return types.ListToolsResult(tools=BASE)


def server(mode: str) -> Server[Any]:
    async def list_tools(
        ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return await answer(mode, params.cursor if params else None)

    async def call_tool(ctx: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name == "grow":
            BASE.extend(named("grown"))
            await bus.publish(ToolsListChanged())
            if mode == "legacy":
                await ctx.session.send_tool_list_changed()
        return types.CallToolResult(content=[types.TextContent(type="text", text="done")])

    return Server(
        "scripted",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=ListenHandler(bus),
    )


async def main(mode: str) -> None:
    scripted = server(mode)
    options = scripted.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (reading, writing):
        await scripted.run(reading, writing, options)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
