"""Walking `tools/list` to its end, or to a limit.

What a server sends is not trusted: a listing may never end, repeat itself or be larger than
the host's memory. A walk that stops early still knows the tools it read, and that it does
not know the others.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tooldialect.dialects.text import compact_json

from ..contract import Contract
from ..reasons import reason_of
from .mcp_tool import contract_from_tool

_log = logging.getLogger("tooldialect.gate")

PageFetcher = Callable[[str | None], Awaitable[Any]]
"""Cursor (`None` for the first page) to the SDK's `ListToolsResult`."""


@dataclass(frozen=True, slots=True)
class ListingLimits:
    """`pages` and `tools` are counts per listing, `bytes` the UTF-8 size of the names,
    descriptions, schemas (as compact JSON) and cursors that are kept."""

    pages: int
    tools: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools of one server by name, in its order.

    `unusable`: reasons, by name, why a listed tool has no contract. `cut`: why the walk
    stopped before the end, None for a whole listing. `repeatable`: another walk would end
    in the same place, so that the result is worth keeping.
    """

    contracts: Mapping[str, Contract]
    unusable: Mapping[str, str]
    cut: str | None = None
    repeatable: bool = True


async def walk_listing(fetch: PageFetcher, limits: ListingLimits) -> Listing:
    """Every page until there is no cursor; an empty cursor is none.

    What `fetch` raises for the first page passes through; for a later one it cuts the listing.
    """
    collected = _Collected(limits)
    cursors: set[str] = set()
    cursor: str | None = None
    for _ in range(limits.pages):
        try:
            page = await fetch(cursor)
        except Exception as error:  # any failure of a server, client or transport
            if cursor is None:
                raise
            return collected.listing(f"page {len(cursors) + 1} failed: {reason_of(error)}", repeatable=False)
        for tool in page.tools:
            if not collected.add(tool):
                return collected.listing(collected.full)
        cursor = page.next_cursor
        if not cursor:
            return collected.listing(None)
        if cursor in cursors:
            return collected.listing("the server repeats a cursor")
        if not collected.keep(len(cursor.encode(errors="replace"))):
            return collected.listing(collected.full)
        cursors.add(cursor)
    return collected.listing(f"more than {limits.pages:,} pages")


class _Collected:
    def __init__(self, limits: ListingLimits) -> None:
        self._limits = limits
        self._contracts: dict[str, Contract] = {}
        self._unusable: dict[str, str] = {}
        self._bytes = 0
        self.full: str | None = None

    def keep(self, size: int) -> bool:
        self._bytes += size
        if self._bytes > self._limits.bytes:
            self.full = f"more than {self._limits.bytes:,} bytes"
        return self.full is None

    def add(self, tool: Any) -> bool:
        """False when a limit is met; the tool is then not kept."""
        name: str = tool.name
        if not name.strip() or name in self._contracts or name in self._unusable:
            return True  # no call can name it, or only the server knows which of two it would reach
        if len(self._contracts) + len(self._unusable) >= self._limits.tools:
            self.full = f"more than {self._limits.tools:,} tools"
            return False
        try:
            contract = contract_from_tool(tool)
            size = len(compact_json([name, contract.description, contract.input_schema]).encode())
        except ValueError as error:
            self._unusable[name] = reason_of(error)
            _log.warning("[contract-gate] the MCP tool %.100r has no usable contract: %s", name, reason_of(error))
            return self.keep(len(name))
        if not self.keep(size):
            return False
        self._contracts[name] = contract
        return True

    def listing(self, cut: str | None, *, repeatable: bool = True) -> Listing:
        return Listing(self._contracts, self._unusable, cut, repeatable)
