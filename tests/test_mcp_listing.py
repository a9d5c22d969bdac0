"""Whatever pages a server answers with, a listing ends and claims no more than it read."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from mcp import types

from tooldialect.gate.sources import Found, McpSource, NotFound, Unavailable
from tooldialect.gate.target import GateTarget

NAMES = "abcdef"


@dataclass
class PagedServer:
    """`pages[cursor]` is (names, next cursor); a page that is missing is an error, as in the SDK."""

    pages: dict[str, tuple[list[str], str | None]]
    asked: list[str] = field(default_factory=list)

    async def list_tools(self, cursor: str | None = None) -> types.ListToolsResult:
        self.asked.append(cursor or "")
        names, following = self.pages[cursor or ""]
        tools = [types.Tool(name=name, input_schema={"type": "object"}) for name in names]
        return types.ListToolsResult(tools=tools, next_cursor=following)


def look_up(server: PagedServer, names: str, **limits: Any) -> dict[str, Found | NotFound | Unavailable]:
    async def scenario() -> dict[str, Found | NotFound | Unavailable]:
        source = McpSource({"s": server}, **limits)
        return {name: await source.lookup(GateTarget.mcp("s", name)) for name in names}

    return asyncio.run(scenario())


def test_the_continuation_mark_is_followed_and_an_empty_one_ends_the_list() -> None:
    server = PagedServer({"": (["t1", "t2"], "p2"), "p2": (["t3"], ""), "unused": (["x"], None)})

    async def scenario() -> None:
        source = McpSource({"s": server})
        assert await source.lookup(GateTarget.mcp("s", "x")) == NotFound(("t1", "t2", "t3"))

    asyncio.run(scenario())
    assert server.asked == ["", "p2"]


_cursors = st.sampled_from(["", "p", "q", "r", None])
_pages = st.dictionaries(
    st.sampled_from(["", "p", "q", "r"]), st.tuples(st.lists(st.sampled_from(NAMES), max_size=4), _cursors)
)


@given(pages=_pages, max_pages=st.integers(1, 5), max_tools=st.integers(1, 8))
def test_answers_claim_no_more_than_what_was_read(
    pages: dict[str, tuple[list[str], str | None]], max_pages: int, max_tools: int
) -> None:
    server = PagedServer(pages)
    (first, *_) = look_up(server, "a", max_pages=max_pages, max_tools=max_tools).values()
    asked = list(server.asked)
    assert len(asked) <= max_pages
    assert len(asked) == len(set(asked))
    read = {name for cursor in asked if cursor in pages for name in pages[cursor][0]}
    if isinstance(first, Found):
        assert "a" in read
    if isinstance(first, NotFound):
        assert set(first.alternatives) == read
        assert "a" not in read
        assert len(read) <= max_tools
        assert not pages[asked[-1]][1]  # only a list that has ended says what does not exist


@given(pages=_pages)
def test_the_tools_of_the_first_page_are_found_whatever_follows(pages: dict[str, tuple[list[str], str | None]]) -> None:
    server = PagedServer(pages)
    answers = look_up(server, NAMES)
    names, _ = pages.get("", ([], None))
    for name in names:
        assert isinstance(answers[name], Found)


def test_a_later_page_that_fails_keeps_the_tools_before_it_and_is_asked_again() -> None:
    server = PagedServer({"": (["a"], "p")})
    answers = look_up(server, "ab")
    assert isinstance(answers["a"], Found)
    assert isinstance(answers["b"], Unavailable)
    assert "page 2" in answers["b"].why
    assert server.asked == ["", "p", "", "p"]


def test_a_listing_cut_by_a_limit_is_not_asked_again() -> None:
    server = PagedServer({"": (["a"], "p"), "p": (["b"], "q"), "q": (["c"], None)})
    answers = look_up(server, "abc", max_pages=2)
    assert [type(answer) for answer in answers.values()] == [Found, Found, Unavailable]
    assert server.asked == ["", "p"]


def test_cursors_count_as_bytes() -> None:
    server = PagedServer({"": (["a"], "p" * 1000), "p" * 1000: (["b"], None)})
    assert isinstance(look_up(server, "b", max_bytes=500)["b"], Unavailable)
    assert isinstance(look_up(server, "b", max_bytes=5000)["b"], Found)


def test_what_a_server_says_of_its_failure_is_trimmed_to_one_line() -> None:
    class Talkative:
        async def list_tools(self, cursor: str | None = None) -> types.ListToolsResult:
            raise ValueError("first line\n[contract-gate] forged second line " + "x" * 10_000)

    async def scenario() -> None:
        answer = await McpSource({"s": Talkative()}).lookup(GateTarget.mcp("s", "a"))
        assert isinstance(answer, Unavailable)
        assert answer.why.startswith("ValueError: first line [contract-gate] forged")
        assert len(answer.why) == 200

    asyncio.run(scenario())
