"""What waiting for a source needs of asyncio, beside asyncio's own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs in this thread, if any."""
    if "asyncio" not in sys.modules:
        return None
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def mark_retrieved(work: asyncio.Future[Any]) -> None:
    """A callback for work whose last waiter has gone: its error is nobody's news, and asyncio would log it."""
    if not work.cancelled():
        work.exception()
