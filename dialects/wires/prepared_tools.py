"""A tool as a provider takes it, and what was wrong with it before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


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
