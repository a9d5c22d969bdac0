"""The tools of a request; those that cannot be sent as they are stand in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import lru_cache

from ..transcript import ToolSpec
from .prepared_tools import PreparedTool, ToolIssue

_LOG = logging.getLogger("tooldialect.dialects")


def tools_to_send(
    tools: Iterable[ToolSpec],
    prepare: Callable[[Iterable[ToolSpec]], tuple[list[PreparedTool], list[ToolIssue]]] | None = None,
) -> list[PreparedTool]:
    """The tools that `prepare` gives, by default `prepare_tools`; each issue is logged once in a
    process, since requests repeat with every turn."""
    tools = tuple(tools)
    if not tools:
        return []
    # Text dialects send no tools, and need not wait for what judges schemas.
    from .tool_specs import prepare_tools

    prepared, issues = (prepare or prepare_tools)(tools)
    for issue in issues:
        _report(issue)
    return prepared


@lru_cache(maxsize=1024)
def _report(issue: ToolIssue) -> None:
    outcome = "it is sent without that part" if issue.sent else "it is left out of the request"
    _LOG.warning("tool %r: %s; %s", issue.name, issue.detail, outcome)
