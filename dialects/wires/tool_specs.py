"""Tools in a request: the same set gives the same bytes, and one bad schema harms no other.

Providers refuse a whole request for one wrong schema and do not say which tool it is; and
the tool block comes first in a request, so bytes that change lose the whole prompt cache.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeAlias

import jsonschema_rs

from ..text import canonical_json
from ..transcript import ToolSpec
from .older_drafts import modernise
from .prepared_tools import PreparedTool, ToolIssue
from .references import drop_bad_references
from .root_schema import object_root

_FORMATS_OPEN = jsonschema_rs.Draft202012Validator(
    {"$ref": "https://json-schema.org/draft/2020-12/schema"}, validate_formats=False
)


Respell: TypeAlias = Callable[[dict[str, Any]], list[str]]


def prepare_tools(
    tools: Iterable[ToolSpec], respell: Respell | None = None
) -> tuple[list[PreparedTool], list[ToolIssue]]:
    """The tools sorted by name, object keys sorted (lists keep their order), and what was wrong.

    Of two tools with one name the first in that order that can be sent is.

    `respell`: for a provider with a draft or a pattern language of its own. It alters a good
    schema in place, and judges the patterns in it; it returns what it had to leave out, and
    raises ValueError where the tool cannot be sent.
    """
    keyed = sorted((tool.name, tool.description, canonical_json(tool.parameters)) for tool in tools)
    prepared: list[PreparedTool] = []
    issues: list[ToolIssue] = []
    judged: set[tuple[str, str, str]] = set()
    sent: set[str] = set()
    for key in keyed:
        name, description, canonical = key
        if key in judged:
            continue
        judged.add(key)
        if name in sent:
            issues.append(ToolIssue(name, "another tool has the same name", sent=False))
            continue
        text, details = _prepare_schema(canonical, respell)
        issues.extend(ToolIssue(name, detail, sent=text is not None) for detail in details)
        if text is not None:
            sent.add(name)
            prepared.append(PreparedTool(name, description, json.loads(text)))
    return prepared, issues


@lru_cache(maxsize=1024)
def _prepare_schema(canonical: str, respell: Respell | None) -> tuple[str | None, tuple[str, ...]]:
    """The schema to send as JSON (None where there is none to send), and what is wrong with it."""
    schema = json.loads(canonical)
    judge = _fault if respell is None else _fault_but_formats
    fault = judge(schema)
    if fault:
        modernise(schema)
        fault = judge(schema)
    if fault:
        return None, (f"its schema is no JSON Schema: {fault}",)
    details = drop_bad_references(schema, judge)
    try:
        root, missing = object_root(schema)
        details += missing
        if respell is not None:
            details += respell(root)
    except ValueError as error:
        return None, (str(error),)
    return canonical_json(root), tuple(dict.fromkeys(details))


def _fault(schema: Any) -> str | None:
    """Why the schema is none by the current draft, whatever `$schema` says: providers judge so,
    and an unknown one would be fetched from the network."""
    try:
        jsonschema_rs.meta.validate(_without_draft(schema))
    except jsonschema_rs.ValidationError as error:
        return str(error).splitlines()[0]
    return None


def _fault_but_formats(schema: Any) -> str | None:
    """The same, but patterns (and addresses) may be anything: another judge has the word on them."""
    error = next(_FORMATS_OPEN.iter_errors(_without_draft(schema)), None)
    return None if error is None else str(error).splitlines()[0]


def _without_draft(schema: Any) -> Any:
    return {key: value for key, value in schema.items() if key != "$schema"} if isinstance(schema, dict) else schema
