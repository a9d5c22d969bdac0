"""Tools in a request: the same set gives the same bytes, and one bad schema harms no other.

Providers refuse a whole request for one wrong schema and do not say which tool it is; and
the tool block comes first in a request, so bytes that change lose the whole prompt cache.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jsonschema_rs

from ..text import canonical_json
from ..transcript import ToolSpec
from .older_drafts import modernise
from .references import drop_bad_references
from .root_schema import object_root

_LOG = logging.getLogger("tooldialect.dialects")


@dataclass(frozen=True, slots=True)
class ToolIssue:
    """What is wrong with one tool's schema. `sent`: the tool is offered all the same, with
    what could be kept; else it was left out of the request."""

    name: str
    detail: str
    sent: bool


@dataclass(frozen=True, slots=True)
class PreparedTool:
    """A tool that a provider accepts: its own name, its description, a root-object schema."""

    name: str
    description: str
    parameters: dict[str, Any]


def prepare_tools(tools: Iterable[ToolSpec]) -> tuple[list[PreparedTool], list[ToolIssue]]:
    """The tools sorted by name, object keys sorted (lists keep their order), and what was wrong.

    Of two tools with one name the first in that order is sent.
    """
    keyed = sorted((tool.name, tool.description, canonical_json(tool.parameters)) for tool in tools)
    prepared: list[PreparedTool] = []
    issues: list[ToolIssue] = []
    seen: dict[str, tuple[str, str, str]] = {}
    for key in keyed:
        name, description, canonical = key
        if name in seen:
            if seen[name] != key:
                issues.append(ToolIssue(name, "another tool has the same name", sent=False))
            continue
        seen[name] = key
        text, details = _prepare_schema(canonical)
        issues.extend(ToolIssue(name, detail, sent=text is not None) for detail in details)
        if text is not None:
            prepared.append(PreparedTool(name, description, json.loads(text)))
    return prepared, issues


def tools_to_send(
    tools: Iterable[ToolSpec],
    prepare: Callable[[Iterable[ToolSpec]], tuple[list[PreparedTool], list[ToolIssue]]] = prepare_tools,
) -> list[PreparedTool]:
    """The tools that `prepare` gives; each issue is logged once in a process, since requests
    repeat with every turn."""
    prepared, issues = prepare(tools)
    for issue in issues:
        _report(issue)
    return prepared


@lru_cache(maxsize=1024)
def _report(issue: ToolIssue) -> None:
    outcome = "it is sent without that part" if issue.sent else "it is left out of the request"
    _LOG.warning("tool %r: %s; %s", issue.name, issue.detail, outcome)


@lru_cache(maxsize=1024)
def _prepare_schema(canonical: str) -> tuple[str | None, tuple[str, ...]]:
    """The schema to send as JSON (None where there is none to send), and what is wrong with it."""
    schema = json.loads(canonical)
    fault = _fault(schema)
    if fault:
        modernise(schema)
        fault = _fault(schema)
    if fault:
        return None, (f"its schema is no JSON Schema: {fault}",)
    details = drop_bad_references(schema, _fault)
    try:
        root = object_root(schema)
    except ValueError as error:
        return None, (str(error),)
    return canonical_json(root), tuple(details)


def _fault(schema: Any) -> str | None:
    """Why the schema is none by the current draft, whatever `$schema` says: providers judge so,
    and an unknown one would be fetched from the network."""
    try:
        if isinstance(schema, dict):
            schema = {key: value for key, value in schema.items() if key != "$schema"}
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as error:
        return str(error).splitlines()[0]
    return None
