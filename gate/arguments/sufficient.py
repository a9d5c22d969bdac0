"""A stricter schema, made once for a contract, that lets most valid calls pass in one question.

What it accepts satisfies the contract as it stands, is JSON, and was judged in bounded work:
every place in it is closed (beside what the contract describes only scalars and flat
containers pass) and every container has a largest size, so that neither depth nor shared
parts can multiply. So nothing has to be measured before the engine is asked. What it refuses
says nothing: the call is then looked at in full.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .budget import ENGINE_PAIRS
from .keywords import ARRAY, INTEGER, OBJECT
from .node import Node

# Containers that are met once, and those inside a list or a map: the first that fits is taken.
_SIZES = ((100_000, 64), (20_000, 32), (2_000, 16), (200, 8))
# Nodes written, references in full; an ordinary contract has twenty.
_MAX_WRITTEN = 500
_MAX_LEVELS = 24
# A longer text is not read by a pattern here, nor compared with one.
_MAX_TEXT = 1_000
# Alone `number` refuses an integer of more digits than a JSON reader takes back; `integer` and
# a list of types let it pass.
_NUMBER = {"type": "number"}
_SCALAR = {"anyOf": [{"type": ["string", "boolean", "null"]}, _NUMBER]}
_ANYTHING = {"anyOf": [{"type": ["string", "boolean", "null", "object", "array"]}, _NUMBER]}
_UNSUITED_PARTS = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_SUITED_PARTS = frozenset({"items", "additionalProperties"})


class Sufficient(NamedTuple):
    """`alone`: what `document` accepts is valid; otherwise the contract's own schema has to be
    asked as well, and may be. `exclusive`: it accepts no name that the contract does not list."""

    document: dict[str, Any]
    alone: bool
    exclusive: bool


class _Unsuited(Exception):
    """No schema of this kind can be written."""


def sufficient(root: Node, *, closed: bool) -> Sufficient | None:
    """`closed`: names that the contract does not list are violations. None for a schema that is recursive, large, or has keywords whose work cannot be told."""
    for outer, inner in _SIZES:
        writer = _Writer(outer, inner)
        try:
            document, pairs = writer.write(root, outer, 0, exclusive=closed)
        except _Unsuited:
            return None
        if not writer.alone:
            pairs *= root.weight
        if pairs <= ENGINE_PAIRS:
            return Sufficient({"allOf": [document]}, writer.alone, writer.exclusive)
    return None


class _Writer:
    """Writes nodes, each with the most pairs the engine may visit for one value there."""

    def __init__(self, outer: int, inner: int) -> None:
        self.alone = True
        self.exclusive = True
        self._outer = outer
        self._inner = inner
        self._written = 0

    def write(
        self, node: Node, size: int, level: int, *, closed: bool = True, exclusive: bool = False
    ) -> tuple[Any, float]:
        self._written += 1
        if self._written > _MAX_WRITTEN or level > _MAX_LEVELS or not _suits(node):
            raise _Unsuited
        if node.never:
            return False, 1
        if not (_SUITED_PARTS.issuperset(node.one) and _without_conditions(node)):
            self.alone = False
        document: dict[str, Any] = dict(node.asserts)
        for word in ("minContains", "maxContains"):
            document.pop(word, None)
        structured = _has_structure(node)
        conjuncts = [*node.many.get("$ref", ()), *node.many.get("allOf", ())]
        unions = [node.many[word] for word in ("anyOf", "oneOf") if word in node.many]
        delegated = closed and not structured and bool(conjuncts or unions)
        if delegated and exclusive and len(conjuncts) + len(unions) > 1:
            self.exclusive = exclusive = False
        every: list[Any] = []
        total: float = node.own_cost
        for branches in (*([child] for child in conjuncts), *unions):
            written = []
            for child in branches:
                inner, pairs = self.write(
                    child,
                    size,
                    level + 1,
                    closed=delegated or _has_structure(child),
                    exclusive=delegated and exclusive,
                )
                total += pairs
                written.append(inner)
            every.append({"anyOf": written} if len(written) > 1 else written[0])
        if every:
            document["allOf"] = every
        if closed and not delegated:
            total += self._close(node, document, size, level, exclusive=exclusive)
        if "pattern" in document:
            total += _MAX_TEXT // 16
            document = {"if": {"maxLength": _MAX_TEXT}, "then": document, "else": False}
        return document, total

    def _close(self, node: Node, document: dict[str, Any], size: int, level: int, *, exclusive: bool) -> float:
        """Leave no value here, or in a container here, without a type and a bound."""
        total = 0.0
        if node.types & INTEGER and not {"enum", "const"} & document.keys():
            checked = _NUMBER if document.get("type") in (["integer"], ["number"]) else _ANYTHING
            document["allOf"] = [*document.get("allOf", ()), checked]
        elif not {"type", "enum", "const"} & document.keys():
            document.update(_ANYTHING)
        guard: dict[str, Any] = {}
        if node.types & OBJECT:
            named = {}
            for name, child in node.named.get("properties", {}).items():
                named[name], pairs = self.write(child, size, level + 1)
                total += pairs
            if named:
                document["properties"] = named
            if exclusive and "additionalProperties" not in node.one:
                document["additionalProperties"] = False
            else:
                document["additionalProperties"], pairs = self._rest(node, "additionalProperties", level)
                total += pairs * size
                guard["maxProperties"] = size
        if node.types & ARRAY:
            first = [self.write(child, size, level + 1) for child in node.many.get("prefixItems", ())]
            if first:
                document["prefixItems"] = [item for item, _ in first]
                total += sum(pairs for _, pairs in first)
            document["items"], pairs = self._rest(node, "items", level)
            total += pairs * size
            guard["maxItems"] = size
        if guard:
            inner = dict(document)
            document.clear()
            # The one order of keywords that an engine cannot change.
            document.update({"if": guard, "then": inner, "else": False})
        return total

    def _rest(self, node: Node, word: str, level: int) -> tuple[Any, float]:
        child = node.one.get(word)
        if child is None or _says_nothing(child):
            return _SCALAR, 1
        return self.write(child, self._inner, level + 1)


def _suits(node: Node) -> bool:
    if "patternProperties" in node.named or node.asserts.get("uniqueItems") or not _UNSUITED_PARTS.isdisjoint(node.one):
        return False
    options = [*node.asserts.get("enum", ()), *([node.asserts["const"]] if "const" in node.asserts else ())]
    return not any(
        type(option) in (dict, list) or (type(option) is str and len(option) > _MAX_TEXT) for option in options
    )


def _without_conditions(node: Node) -> bool:
    return "oneOf" not in node.many and "dependentSchemas" not in node.named


def _has_structure(node: Node) -> bool:
    return bool("properties" in node.named or "prefixItems" in node.many or not _SUITED_PARTS.isdisjoint(node.one))


def _says_nothing(node: Node) -> bool:
    return not (node.never or node.asserts or node.many or node.one or node.named)
