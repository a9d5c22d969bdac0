"""One schema object, and the ways through a graph of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .keywords import ANY_TYPE, IN_PLACE_LISTS, IN_PLACE_SINGLE, JsonType

# The engine refuses documents nested deeper than about 250; deeper nodes are written apart.
_HOIST_EVERY = 40
# Pairs on one path down; the engine recurses once for each, on a thread's stack.
MAX_HEIGHT = 1000


class Node:
    """One schema object. `many`, `one` and `named` hold its subschemas by keyword."""

    __slots__ = (
        "asserts",
        "compares",
        "depth",
        "dropped",
        "height",
        "hoisted",
        "loose",
        "many",
        "named",
        "never",
        "number",
        "one",
        "own_cost",
        "parts",
        "released",
        "required",
        "types",
        "validators",
        "weight",
    )

    def __init__(self, number: int, depth: int = 0) -> None:
        self.number = number
        self.depth = depth
        self.hoisted = depth % _HOIST_EVERY == _HOIST_EVERY - 1
        self.never = False
        self.dropped = False
        self.loose = False
        self.released = False
        self.asserts: dict[str, Any] = {}
        self.many: dict[str, list[Node]] = {}
        self.one: dict[str, Node] = {}
        self.named: dict[str, dict[str, Node]] = {}
        self.required: frozenset[str] = frozenset()
        self.types: JsonType = ANY_TYPE
        self.weight = 1.0
        self.own_cost = 1
        self.height = 1
        # Whether items are compared with one another here or below.
        self.compares = False
        self.validators: dict[str, Any] = {}
        self.parts: dict[str, Node] = {}

    def in_place(self) -> Iterator[Node]:
        """Subschemas that speak of the same value as this one."""
        for word in IN_PLACE_LISTS:
            yield from self.many.get(word, ())
        for word in IN_PLACE_SINGLE:
            if word in self.one:
                yield self.one[word]
        yield from self.named.get("dependentSchemas", {}).values()

    def children(self) -> Iterator[Node]:
        """All subschemas."""
        for nodes in self.many.values():
            yield from nodes
        yield from self.one.values()
        for by_name in self.named.values():
            yield from by_name.values()


def reachable(start: Node, edges: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """All nodes that `edges` lead to from `start`, itself first, each once."""
    found = {start.number: start}
    pending = [start]
    for node in pending:
        for child in edges(node):
            if child.number not in found:
                found[child.number] = child
                pending.append(child)
    return pending


def in_place_order(nodes: list[Node]) -> list[Node]:
    """The nodes so that those which speak of the same value come before who refers to them."""
    ordered: list[Node] = []
    seen: set[int] = set()
    stack: list[tuple[Node, Iterator[Node]]] = []
    for start in nodes:
        if start.number in seen:
            continue
        seen.add(start.number)
        stack.append((start, start.in_place()))
        while stack:
            node, children = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                ordered.append(node)
            elif child.number not in seen:
                seen.add(child.number)
                stack.append((child, child.in_place()))
    return ordered
