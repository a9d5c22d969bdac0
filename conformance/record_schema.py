"""The JSON Schemas of what the protocol carries: `python -m tooldialect.conformance.record_schema` prints them."""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ModelResponse,
    ParsedResponse,
    ParsedToolCall,
    Problem,
    ToolCall,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    ToolSpec,
)

from .description import Description

RECORDS: tuple[type[BaseModel], ...] = (
    Description, ToolSpec, ToolOutcome, ToolCall, ToolResult, ChatMessage, AssistantTurn, ToolResultBatch, ModelResponse,
    ParsedToolCall, Problem, ParsedResponse,
)  # fmt: skip


def records_schema() -> dict[str, Any]:
    """One document, a definition a record; what a program may leave out is not required."""
    _, schema = models_json_schema([(record, "validation") for record in RECORDS], title="Records of tooldialect")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def published(name: str) -> dict[str, Any]:
    """A schema as it is shipped: `records`, `vector` or `report`."""
    text = files(__package__).joinpath("schemas", f"{name}.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def as_text(schema: dict[str, Any]) -> str:
    """As it stands in its file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(as_text(records_schema()))
