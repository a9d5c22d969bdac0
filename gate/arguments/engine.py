"""The one place that calls jsonschema-rs: whether a value satisfies a node.

Only `is_valid` is asked. The engine's errors hold copies of the value: a thousand missing
names in one megabyte of arguments cost it half a minute. What is wrong is found by asking
about parts (see `descent`).
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from .node import MAX_HEIGHT, Node, reachable
from .patterns import PATTERN_OPTIONS, is_refusal
from .schema import Schema

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Subschemas compiled for one contract, all its parts together.
_MAX_COMPILED = 200_000


class Unjudged(Exception):
    """The engine cannot say: it does not take this schema or this value."""


class Engine:
    """Compiled validators of one schema, each made when first asked for."""

    def __init__(self, schema: Schema) -> None:
        self._written: dict[int, Any] = {}
        # Inner nodes were made after the ones that hold them.
        for node in reversed(schema.nodes):
            self._written[node.number] = _write(node, self._written)
        self._compiled = 0
        self._patterns: dict[str, Any] = {}

    def is_valid(self, node: Node, value: Any, word: str = "") -> bool:
        """Whether `value` satisfies `node`, or its keyword `word` alone.

        Raises Unjudged where the engine refuses the schema or the value.
        """
        ask = node.validators.get(word)
        if ask is None:
            ask = node.validators[word] = self._compile(node, word)
        try:
            return bool(ask(value))
        except BaseException as error:
            if not is_refusal(error):
                raise
            raise Unjudged(str(error)) from None

    def _compile(self, node: Node, word: str) -> Any:
        if self._compiled > _MAX_COMPILED:
            return _refuse
        nodes = [node] if word in node.asserts else reachable(node, Node.children)
        self._compiled += len(nodes)
        if max(each.height for each in nodes) > MAX_HEIGHT:
            return _refuse
        if word:
            document = {word: node.asserts[word]}
        else:
            if node.number not in self._written:
                self._written[node.number] = _write(node, self._written)
            document = {"allOf": [_write_here(node, self._written)]}
            definitions = {str(each.number): self._written[each.number] for each in nodes if each.hoisted}
            if definitions:
                document["$defs"] = definitions
        return compiled(document)

    def matches(self, pattern: str, name: str) -> bool:
        """Whether a key of `patternProperties` speaks of `name`."""
        ask = self._patterns.get(pattern)
        if ask is None:
            ask = self._patterns[pattern] = compiled({"pattern": pattern})
        try:
            return bool(ask(name))
        except BaseException as error:
            if not is_refusal(error):
                raise
            raise Unjudged(str(error)) from None


def compiled(document: dict[str, Any]) -> Any:
    """The question whether a value satisfies a schema document; one that raises ValueError where
    the engine does not take the schema."""
    try:
        return jsonschema_rs.validator_for(
            {"$schema": _DIALECT, **document},
            pattern_options=PATTERN_OPTIONS,
            validate_formats=False,
            offline=True,
        ).is_valid
    except BaseException as error:
        if not is_refusal(error):
            raise
        return _refuse


def _refuse(_: Any) -> bool:
    raise ValueError("the engine does not take this schema")


def _write_here(node: Node, written: dict[int, Any]) -> Any:
    return {"$ref": f"#/$defs/{node.number}"} if node.hoisted else written[node.number]


def _write(node: Node, written: dict[int, Any]) -> Any:
    """The schema object of a node, inner nodes in it or referred to where they are shared."""
    if node.never:
        return False
    document: dict[str, Any] = dict(node.asserts)
    for word, nodes in node.many.items():
        members = [_write_here(child, written) for child in nodes]
        if word == "$ref":
            document["allOf"] = document.get("allOf", []) + members
        elif word == "allOf":
            document["allOf"] = members + document.get("allOf", [])
        else:
            document[word] = members
    for word, child in node.one.items():
        document[word] = _write_here(child, written)
    for word, by_name in node.named.items():
        document[word] = {name: _write_here(child, written) for name, child in by_name.items()}
    return document
