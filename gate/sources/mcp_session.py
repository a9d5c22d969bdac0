"""What we ask of an MCP client: a page of tools, and news that they changed.

A host may hold the SDK's `Client` or its `ClientSession`. They are told apart by what their
`list_tools` takes, so that the SDK is imported only where it is certainly installed.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from tooldialect.dialects.errors import MissingExtraError

from .mcp_listing import PageFetcher

_INSTALL = "MCP sessions need the mcp SDK, 2.3 or later: pip install 'tooldialect[mcp]'"


class MessageHandler(Protocol):
    """The SDK's `message_handler`: gets each notification, and faults of the transport."""

    async def __call__(self, message: Any) -> None: ...


def page_fetcher(session: Any) -> PageFetcher:
    """`tools/list` over an entered `Client` or an initialized `ClientSession`."""
    accepted = inspect.signature(session.list_tools).parameters
    if "cache_mode" in accepted:
        # The client's own cache must not answer for a listing that was just invalidated.
        return lambda cursor: session.list_tools(cursor=cursor, cache_mode="refresh")
    if "params" in accepted:
        return _over_client_session(session)
    return lambda cursor: session.list_tools(cursor=cursor)


def tools_changes(session: Any) -> AbstractAsyncContextManager[AsyncIterator[object]]:
    """The stream of changes of protocol 2026-07-28; entering it raises where there is none."""
    if hasattr(session, "listen"):
        client_stream: AbstractAsyncContextManager[AsyncIterator[object]] = session.listen(tools_list_changed=True)
        return client_stream
    try:
        from mcp.client.subscriptions import listen
    except ImportError as error:
        raise MissingExtraError(_INSTALL) from error
    return listen(session, tools_list_changed=True)


def _over_client_session(session: Any) -> PageFetcher:
    try:
        from mcp.types import PaginatedRequestParams
    except ImportError as error:
        raise MissingExtraError(_INSTALL) from error
    return lambda cursor: session.list_tools(params=None if cursor is None else PaginatedRequestParams(cursor=cursor))


def is_tools_changed(message: object) -> bool:
    """Whether a message given to a message handler is `notifications/tools/list_changed`."""
    return getattr(message, "method", None) == "notifications/tools/list_changed"
