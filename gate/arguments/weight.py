"""What each node costs the engine for one value, how high it stands, which types it may allow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from .keywords import ANY_TYPE, TYPES, JsonType, json_type
from .node import Node, in_place_order
from .size import measure

# To compare one with a value takes the engine a microsecond.
_FLOAT = 40


def weigh(root: Node, nodes: list[Node]) -> None:
    """Fill in what each node costs for one value, its height, and the types it may allow."""
    for node in nodes:
        node.own_cost = _own_cost(node)
        node.types = _own_types(node)
    finished: set[int] = set()
    on_path: set[int] = set()
    stack: list[tuple[Node, Iterator[Node]]] = []
    for start in (root, *nodes):
        if start.number in finished:
            continue
        stack.append((start, start.children()))
        on_path.add(start.number)
        recursive: set[int] = set()
        while stack:
            node, children = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                on_path.discard(node.number)
                finished.add(node.number)
                _sum_up(node, node.number in recursive)
            elif child.number in on_path:
                recursive.add(node.number)
            elif child.number not in finished:
                on_path.add(child.number)
                stack.append((child, child.children()))
    for node in in_place_order(nodes):
        node.types &= _combined_types(node)


def weigh_part(part: Node, whole: Node) -> None:
    """The same for a node that says a part of what `whole` says."""
    part.own_cost = _own_cost(part)
    recursive = whole.weight == math.inf and any(child.weight == math.inf for child in part.children())
    _sum_up(part, recursive=recursive)


def _own_cost(node: Node) -> int:
    cost = 1 + len(node.asserts) + len(node.asserts.get("required", ()))
    cost += sum(map(_comparing, node.asserts.get("enum", ())))
    if "const" in node.asserts:
        cost += _comparing(node.asserts["const"])
    cost += sum(len(names) for names in node.asserts.get("dependentRequired", {}).values())
    return cost + 4 * len(node.named.get("patternProperties", ()))


def _comparing(option: Any) -> int:
    """The engine finds a string in a list at once, and compares all else one by one."""
    if type(option) is str:
        return 0
    if type(option) is float:
        return _FLOAT
    if type(option) not in (dict, list):
        return 4
    inner = measure(option)
    return 4 * (inner.units if inner is not None else 1)


def _own_types(node: Node) -> JsonType:
    if node.never:
        return 0
    allowed = ANY_TYPE
    if "type" in node.asserts:
        allowed = _union(TYPES[name] for name in node.asserts["type"])
    if "enum" in node.asserts:
        allowed &= _union(json_type(option) for option in node.asserts["enum"])
    if "const" in node.asserts:
        allowed &= json_type(node.asserts["const"])
    return allowed


def _combined_types(node: Node) -> JsonType:
    allowed = ANY_TYPE
    for word in ("$ref", "allOf"):
        for child in node.many.get(word, ()):
            allowed &= child.types
    for word in ("anyOf", "oneOf"):
        if word in node.many:
            allowed &= _union(child.types for child in node.many[word])
    return allowed


def _union(types: Iterable[JsonType]) -> JsonType:
    allowed = 0
    for one in types:
        allowed |= one
    return allowed


def _sum_up(node: Node, recursive: bool) -> None:
    weight = 0.0
    height = 0
    compares = bool(node.asserts.get("uniqueItems"))
    for child in node.children():
        weight += child.weight + 1
        height = max(height, child.height)
        # Where a schema is recursive not all below is known yet.
        compares |= child.compares or recursive
    # To know what is unevaluated the engine asks the neighbours again.
    again = 4 if "unevaluatedProperties" in node.one or "unevaluatedItems" in node.one else 1
    node.weight = math.inf if recursive else node.own_cost + weight * again
    node.height = height + 1
    node.compares = compares
