"""`McpSource` over the real SDK and real servers: good ones, and bad ones of every kind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp import Client, ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

from demo_tap import TAP, stdio_tap
from tooldialect.gate.sources import Found, Lookup, McpSource, NotFound, Unavailable
from tooldialect.gate.target import GateTarget

SERVERS = Path(__file__).parent / "servers"
SCRIPTED = str(SERVERS / "scripted.py")
GARBAGE = str(SERVERS / "garbage.py")
MISSHAPEN = str(SERVERS / "misshapen.py")
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
T = TypeVar("T")


def run(scenario: Callable[[], Awaitable[T]]) -> T:
    """Nothing here may hang: a minute is the gate's patience many times over."""

    async def bounded() -> T:
        async with asyncio.timeout(60):
            return await scenario()

    return asyncio.run(bounded())


def tool(name: str, server: str = "s") -> GateTarget:
    return GateTarget.mcp(server, name)


def python(*arguments: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=list(arguments))


class Observed(McpSource):
    """Tells a test when a listing was forgotten, so that it need not wait by the clock."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.invalidated = asyncio.Event()

    def invalidate(self, server_id: str | None = None) -> None:
        super().invalidate(server_id)
        self.invalidated.set()


@asynccontextmanager
async def serving(
    *command: str, mode: str = "auto", wired: bool = True, **keywords: Any
) -> AsyncIterator[tuple[Observed, Client]]:
    """A source over one server, `s`, started as a process of its own; `wired` to its notifications."""
    sessions: dict[str, Client] = {}
    source = Observed(sessions, **keywords)
    client = Client(python(*command), mode=mode, message_handler=source.message_handler("s") if wired else None)
    async with client:
        sessions["s"] = client
        yield source, client


async def answers(source: McpSource, *names: str) -> list[Lookup]:
    return [await source.lookup(tool(name)) for name in names]


def names_of(lookup: Lookup) -> list[str]:
    assert isinstance(lookup, NotFound)
    return list(lookup.alternatives)


# Servers that others wrote.


def test_the_time_server_lists_its_tools() -> None:
    async def scenario() -> None:
        async with serving("-m", "mcp_server_time") as (source, client):
            (found,) = await answers(source, "convert_time")
            assert isinstance(found, Found)
            (published,) = [tool for tool in (await client.list_tools()).tools if tool.name == "convert_time"]
            assert found.contract.input_schema == published.input_schema
            assert found.contract.description == published.description
            assert set(found.contract.input_schema["required"]) == {"source_timezone", "time", "target_timezone"}
            assert source.peek(tool("convert_time")) == found.contract
            assert set(names_of(await source.lookup(tool("Convert_Time")))) == {"get_current_time", "convert_time"}

    run(scenario)


def test_the_git_server_lists_its_tools_once_through_a_tap(tmp_path: Path) -> None:
    log = str(tmp_path / "frames")
    command = [str(TAP), log, "--", sys.executable, "-m", "mcp_server_git"]

    async def scenario() -> None:
        async with serving(*command) as (source, _client):
            found = await answers(source, "git_log", "git_commit", "git_log")
            assert all(isinstance(answer, Found) for answer in found)
            assert "git_status" in names_of(await source.lookup(tool("git-status")))

    run(scenario)
    assert stdio_tap.count_methods(log)["tools/list"] == 1


# Pages and limits.


def test_every_page_is_read_and_names_are_exact() -> None:
    async def scenario() -> None:
        async with serving(SCRIPTED, "pages") as (source, _client):
            lower, upper, first, missing = await answers(source, "gamma.δ", "Gamma.Δ", "alpha", "GAMMA.Δ")
            assert isinstance(lower, Found)
            assert isinstance(upper, Found)
            assert isinstance(first, Found)
            assert (lower.contract.description, upper.contract.description) == ("gamma.δ", "Gamma.Δ")
            assert missing == NotFound(("alpha", "grow", "beta", "Gamma.Δ", "gamma.δ"))

    run(scenario)


def test_a_listing_that_never_ends_is_cut_and_its_tools_are_known() -> None:
    async def scenario() -> None:
        async with serving(SCRIPTED, "endless", max_pages=7) as (source, _client):
            last, beyond = await answers(source, "tool-6", "tool-7")
            assert isinstance(last, Found)
            assert isinstance(beyond, Unavailable)
            assert "7 pages" in beyond.why

    run(scenario)


def test_a_repeated_cursor_ends_the_listing() -> None:
    async def scenario() -> None:
        async with serving(SCRIPTED, "repeated") as (source, _client):
            known, other = await answers(source, "tool-again", "tool-other")
            assert isinstance(known, Found)
            assert isinstance(other, Unavailable)
            assert "cursor" in other.why

    run(scenario)


@pytest.mark.parametrize(("keywords", "reason"), [({"max_bytes": 50_000}, "bytes"), ({"max_tools": 1}, "tools")])
def test_past_a_limit_the_tools_before_it_are_known(keywords: dict[str, Any], reason: str) -> None:
    async def scenario() -> None:
        async with serving(SCRIPTED, "oversize", **keywords) as (source, _client):
            before, large, after = await answers(source, "alpha", "large", "after")
            assert isinstance(before, Found)
            assert isinstance(large, Unavailable)
            assert isinstance(after, Unavailable)
            assert reason in after.why

    run(scenario)


# Changes.


def test_a_list_changed_notification_invalidates() -> None:
    async def scenario() -> None:
        async with serving(SCRIPTED, "legacy", mode="legacy") as (source, client):
            assert names_of(await source.lookup(tool("grown"))) == ["alpha", "grow"]
            await client.call_tool("grow", {})
            await source.invalidated.wait()
            assert isinstance(await source.lookup(tool("grown")), Found)

    run(scenario)


def test_a_watched_server_of_the_newer_protocol_invalidates() -> None:
    async def scenario() -> None:
        async with serving(SCRIPTED, "modern", wired=False) as (source, client):
            watching = asyncio.create_task(source.watch("s"))
            await source.invalidated.wait()  # once the server has agreed to report
            source.invalidated.clear()
            assert isinstance(await source.lookup(tool("grown")), NotFound)
            await client.call_tool("grow", {})
            await source.invalidated.wait()
            assert isinstance(await source.lookup(tool("grown")), Found)
            watching.cancel()
            await asyncio.wait([watching])
            assert source.peek(tool("grown")) is None  # from here on nobody would tell

    run(scenario)


def test_watching_a_server_of_the_older_protocol_returns() -> None:
    async def scenario() -> None:
        async with serving(MISSHAPEN, '{"tools": []}', mode="legacy") as (source, client):
            await source.watch("s")
            await McpSource({"s": client.session}).watch("s")

    run(scenario)


def test_every_message_goes_on_to_the_hosts_own_handler() -> None:
    async def scenario() -> list[object]:
        source, seen = McpSource({}), list[object]()

        async def own(message: object) -> None:
            seen.append(message)

        handler = source.message_handler("s", own)
        for message in (changed, fault):
            await handler(message)
        return seen

    changed, fault = types.ToolListChangedNotification(), ValueError("broken frame")
    assert run(scenario) == [changed, fault]


# Servers that fail.


def test_a_server_that_dies_while_asked_is_unavailable() -> None:
    async def scenario() -> None:
        async with serving(SCRIPTED, "dying") as (source, _client):
            for answer in await answers(source, "alpha", "alpha"):
                assert isinstance(answer, Unavailable)

    run(scenario)


def test_a_server_that_hangs_is_given_up_by_the_gates_time_limit() -> None:
    async def scenario() -> None:
        async with serving(SCRIPTED, "hanging") as (source, _client):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await source.lookup(tool("alpha"))

    run(scenario)


def test_a_stopped_server_is_unavailable_and_serves_again_when_continued() -> None:
    async def scenario() -> None:
        async with serving(SCRIPTED, "plain", listing_timeout=0.3) as (source, client):
            pid = int((await client.list_tools()).tools[0].description or "")
            os.kill(pid, signal.SIGSTOP)
            try:
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.1):
                        await source.lookup(tool("alpha"))
                stopped = await source.lookup(tool("alpha"))
            finally:
                os.kill(pid, signal.SIGCONT)
            assert isinstance(stopped, Unavailable)
            assert "0.3 seconds" in stopped.why
            patient = McpSource({"s": client})
            assert isinstance(await patient.lookup(tool("alpha")), Found)

    run(scenario)


def test_garbage_on_stdout_is_unavailable() -> None:
    async def scenario() -> None:
        async with serving(GARBAGE, mode="legacy", listing_timeout=0.3) as (source, _client):
            (answer,) = await answers(source, "alpha")
            assert isinstance(answer, Unavailable)

    run(scenario)


@pytest.mark.parametrize(
    "result",
    [
        '{"tools": "all of them"}',
        "{}",
        '{"tools": [{"name": "good", "inputSchema": {"type": "object"}}, {"name": "bad", "inputSchema": {}}]}',
        '{"tools": [{"name": "good", "inputSchema": {"type": "object"}}], "nextCursor": 7}',
    ],
)
def test_a_listing_the_sdk_refuses_is_unavailable(result: str) -> None:
    async def scenario() -> None:
        async with serving(MISSHAPEN, result, mode="legacy") as (source, _client):
            (answer,) = await answers(source, "good")
            assert isinstance(answer, Unavailable)
            assert len(answer.why) <= 200
            assert "\n" not in answer.why

    run(scenario)


# What a contract holds.


def test_schemas_are_as_the_server_wrote_them_and_one_bad_tool_spares_the_others() -> None:
    listing = """{"tools": [
        {"name": "odd", "inputSchema": {"type": "object", "x-own": {"a": [1, 1.5, null]}, "required": ["t"],
            "properties": {"s": {"$ref": "#/$defs/Gone"}, "t": {"type": "strnig", "default": 1.0}}}},
        {"name": "nan", "inputSchema": {"type": "object", "properties": {"n": {"minimum": NaN}}}},
        {"name": " ", "inputSchema": {"type": "object"}},
        {"name": "odd", "description": "a second one", "inputSchema": {"type": "object"}},
        {"name": "last", "inputSchema": {"type": "object"}}
    ]}"""

    async def scenario() -> None:
        async with serving(MISSHAPEN, listing, mode="legacy") as (source, _client):
            odd, nan, last, missing = await answers(source, "odd", "nan", "last", "missing")
            assert isinstance(odd, Found)
            assert odd.contract.description == ""
            assert odd.contract.input_schema == {
                "type": "object",
                "x-own": {"a": [1, 1.5, None]},
                "required": ["t"],
                "properties": {"s": {"$ref": "#/$defs/Gone"}, "t": {"type": "strnig", "default": 1.0}},
            }
            assert isinstance(nan, Unavailable)
            assert "nan" in nan.why
            assert isinstance(last, Found)
            assert missing == NotFound(("odd", "last", "nan"))

    run(scenario)


def test_the_effect_is_what_the_server_says() -> None:
    effects = {
        "null": None,
        '{"title": "T", "openWorldHint": true}': None,
        '{"readOnlyHint": true}': "read",
        '{"readOnlyHint": true, "destructiveHint": true}': "read",
        '{"readOnlyHint": false}': "write",
        '{"destructiveHint": false}': "write",
        '{"destructiveHint": true}': "destructive",
    }
    tools = ", ".join(
        f'{{"name": {json.dumps(hints)}, "annotations": {hints}, "inputSchema": {{"type": "object"}}}}'
        for hints in effects
    )

    async def scenario() -> None:
        async with serving(MISSHAPEN, f'{{"tools": [{tools}]}}', mode="legacy") as (source, _client):
            for hints, effect in effects.items():
                found = await source.lookup(tool(hints))
                assert isinstance(found, Found)
                assert (hints, found.contract.effect) == (hints, effect)

    run(scenario)


# What a host may hold.


def test_a_client_session_serves_as_well() -> None:
    async def scenario() -> None:
        async with stdio_client(python(SCRIPTED, "pages")) as streams, ClientSession(*streams) as session:
            await session.initialize()
            source = McpSource({"s": session})
            found, missing = await answers(source, "beta", "nope")
            assert isinstance(found, Found)
            assert names_of(missing) == ["alpha", "grow", "beta", "Gamma.Δ", "gamma.δ"]

    run(scenario)


def test_a_client_that_was_not_entered_is_unavailable() -> None:
    async def scenario() -> Lookup:
        return await McpSource({"s": Client(python(SCRIPTED, "plain"))}).lookup(tool("alpha"))

    assert isinstance(run(scenario), Unavailable)


def test_importing_the_sources_imports_no_mcp() -> None:
    program = "import sys; from tooldialect.gate import McpSource; sys.exit(any(name.split('.')[0] == 'mcp' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 0
