"""The tools of a request, and what a wire says of those that cannot be sent as they are."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from ..transcript import ToolSpec

_LOG = logging.getLogger("tooldialect.dialects")


@dataclass(frozen=True, slots=True)
class ToolIssue:
    """What is wrong with one tool's schema. `sent`: the tool is offered all the same, with
    what could be kept; else it was left out of the request."""

    name: str
    detail: str
    sent: bool


class PreparedTool(NamedTuple):
    """A tool that a provider accepts: its own name, its description, a root-object schema."""

    name: str
    description: str
    parameters: dict[str, Any]


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
