"""The contract of one tool as an MCP server lists it."""

from __future__ import annotations

from typing import Any

from ..contract import Contract


def contract_from_tool(tool: Any) -> Contract:
    """From the SDK's `Tool`; `input_schema` is what the server wrote, unknown keywords too.

    `effect` is what the server says in its annotations: `read` (`readOnlyHint`), else
    `destructive` or `write` (`destructiveHint` true or false; `readOnlyHint: false` alone is
    `write`). A hint that is absent is not assumed: the protocol's default for it is
    "destructive", which would say so of nearly every tool.

    Raises ValueError for what is no contract, such as a schema with NaN in it.
    """
    return Contract(
        description=tool.description or "",
        input_schema=tool.input_schema,
        effect=_effect(getattr(tool, "annotations", None)),
    )


def _effect(annotations: Any) -> str | None:
    read_only = getattr(annotations, "read_only_hint", None)
    destructive = getattr(annotations, "destructive_hint", None)
    if read_only:
        return "read"
    if destructive:
        return "destructive"
    return None if read_only is None and destructive is None else "write"
