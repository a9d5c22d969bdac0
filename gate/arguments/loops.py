"""Schemas that refer to themselves about the same value."""

from __future__ import annotations

from collections.abc import Iterator

from .keywords import IN_PLACE_LISTS, IN_PLACE_SINGLE
from .node import Node


def cut_loops(nodes: list[Node]) -> None:
    """A schema that refers to itself about the same value says nothing, and an engine may never end."""
    done: set[int] = set()
    path: set[int] = set()
    stack: list[tuple[Node, Iterator[tuple[str, Node]]]] = []

    def enter(node: Node) -> None:
        path.add(node.number)
        stack.append((node, iter(list(_in_place_edges(node)))))

    for start in nodes:
        if start.number not in done:
            enter(start)
        while stack:
            node, edges = stack[-1]
            word, child = next(edges, (None, None))
            if child is None or word is None:
                stack.pop()
                path.discard(node.number)
                done.add(node.number)
            elif child.number in path:
                _remove_edge(node, word, child)
            elif child.number not in done:
                enter(child)


def _in_place_edges(node: Node) -> Iterator[tuple[str, Node]]:
    for word in IN_PLACE_LISTS:
        for child in node.many.get(word, ()):
            yield word, child
    for word in IN_PLACE_SINGLE:
        if word in node.one:
            yield word, node.one[word]
    for child in node.named.get("dependentSchemas", {}).values():
        yield "dependentSchemas", child


def _remove_edge(node: Node, word: str, child: Node) -> None:
    node.dropped = True
    if word in ("$ref", "allOf"):
        node.many[word] = [kept for kept in node.many[word] if kept is not child]
        if not node.many[word]:
            del node.many[word]
    elif word in ("anyOf", "oneOf"):
        node.many.pop(word, None)
    elif word == "dependentSchemas":
        node.named.pop(word, None)
    else:
        node.one.pop(word, None)
