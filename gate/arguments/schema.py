"""A contract's schema as a graph of nodes that the engine is sure to take.

References are edges, every keyword is well formed, and what could not be read is left out on
the permissive side: a node that lost something accepts more than its author meant, never less.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from .keywords import (
    ANY_TYPE,
    ASSERTIONS,
    IN_PLACE_LISTS,
    IN_PLACE_SINGLE,
    LISTS,
    MAPS,
    SINGLE,
    TYPES,
    JsonType,
    Malformed,
    draft_of,
    in_words_of_2020,
    json_type,
    pattern_compiles,
)
from .references import References, Unresolved

MAX_NODES = 20_000
# Compiling one may take a millisecond.
_MAX_PATTERNS = 500
# The engine refuses documents nested deeper than about 250; deeper nodes are written apart.
_HOIST_EVERY = 40
# Pairs on one path down; the engine recurses once for each, on a thread's stack.
MAX_HEIGHT = 1000
_REFERENCE_WORDS = ("$ref", "$dynamicRef", "$recursiveRef")


class Node:
    """One schema object. `many`, `one` and `named` hold its subschemas by keyword."""

    __slots__ = (
        "asserts",
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
        self.asserts: dict[str, Any] = {}
        self.many: dict[str, list[Node]] = {}
        self.one: dict[str, Node] = {}
        self.named: dict[str, dict[str, Node]] = {}
        self.required: frozenset[str] = frozenset()
        self.types: JsonType = ANY_TYPE
        self.weight = 1.0
        self.own_cost = 1
        self.height = 1
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


class Schema:
    """The graph of one input schema. `complete` says that nothing in it had to be left out."""

    def __init__(self, document: Any, required: Iterable[str] = (), injected: frozenset[str] = frozenset()) -> None:
        self.draft = draft_of(document)
        self.nodes: list[Node] = []
        self._by_source: dict[int, Node] = {}
        self._pending: list[tuple[Node, Any]] = []
        self._references = References(document, self.draft)
        self._patterns: set[str] = set()
        self._beyond: Node | None = None
        self.root = self._node(document, 0)
        for node, source in self._pending:
            self._read(node, source)
        self._add_required(list(required))
        self._cut_loops()
        if injected:
            self._release(injected)
        self._settle()
        self._weigh()
        self.complete = not any(node.dropped for node in self.nodes)

    def _new(self, depth: int) -> Node:
        node = Node(len(self.nodes), depth)
        self.nodes.append(node)
        return node

    def _node(self, source: Any, depth: int, referenced: bool = False) -> Node:
        if isinstance(source, dict) and id(source) in self._by_source:
            node = self._by_source[id(source)]
            node.hoisted = True
            return node
        if len(self.nodes) >= MAX_NODES:
            return self._unreadable()
        node = self._new(depth)
        node.hoisted |= referenced
        if isinstance(source, bool):
            node.never = not source
        elif not isinstance(source, dict):
            node.dropped = True
            node.loose = True
        else:
            self._by_source[id(source)] = node
            self._pending.append((node, source))
        return node

    def _unreadable(self) -> Node:
        """The one node that stands for all that lies beyond the limit."""
        if self._beyond is None:
            self._beyond = self._new(0)
            self._beyond.dropped = self._beyond.loose = self._beyond.hoisted = True
        return self._beyond

    def _read(self, node: Node, source: dict[str, Any]) -> None:
        words = in_words_of_2020(source, self.draft)
        for word, wanted in ASSERTIONS.items():
            if word in words:
                try:
                    if word == "pattern" and not self._compiles(words[word]):
                        raise Malformed
                    node.asserts[word] = wanted(words[word])
                except Malformed:
                    node.dropped = True
        for word in _REFERENCE_WORDS:
            if word in words:
                self._refer(node, word, words[word], source)
        for word in LISTS:
            if word in words:
                self._read_list(node, word, words[word])
        for word in SINGLE:
            if word in words:
                node.one[word] = self._node(words[word], node.depth + 1)
        for word in MAPS:
            if word in words:
                self._read_map(node, word, words[word])
        for bound in ("minContains", "maxContains"):
            if bound in words and bound not in node.asserts:
                node.one.pop("contains", None)
        if "contains" not in node.one:
            node.asserts.pop("minContains", None)
            node.asserts.pop("maxContains", None)
        if "if" not in node.one:
            node.one.pop("then", None)
            node.one.pop("else", None)

    def _compiles(self, pattern: Any) -> bool:
        if not isinstance(pattern, str) or (pattern not in self._patterns and len(self._patterns) >= _MAX_PATTERNS):
            return False
        self._patterns.add(pattern)
        return pattern_compiles(pattern)

    def _refer(self, node: Node, word: str, reference: Any, source: dict[str, Any]) -> None:
        try:
            target = self._references.resolve(word, reference, source)
        except Unresolved:
            node.dropped = True
            # What it names is unknown, and so is what it would have allowed.
            node.loose = True
            return
        node.many.setdefault("$ref", []).append(self._node(target, 0, referenced=True))

    def _read_list(self, node: Node, word: str, value: Any) -> None:
        if isinstance(value, list) and value:
            node.many[word] = [self._node(item, node.depth + 1) for item in value]
            return
        node.dropped = node.dropped or not isinstance(value, list) or word != "prefixItems"
        if not isinstance(value, list) and word == "prefixItems":
            node.one.pop("items", None)
            node.loose = True

    def _read_map(self, node: Node, word: str, value: Any) -> None:
        if not isinstance(value, dict):
            node.dropped = True
            node.loose = True
            return
        read = {}
        for name, item in value.items():
            if word == "patternProperties" and not self._compiles(name):
                node.dropped = True
                node.loose = True
            else:
                read[name] = self._node(item, node.depth + 1)
        if read:
            node.named[word] = read

    def _add_required(self, names: list[str]) -> None:
        if not names:
            return
        root = self._new(0)
        root.many["allOf"] = [self.root]
        root.asserts["required"] = names
        self.root.hoisted = True
        self.root = root

    def _cut_loops(self) -> None:
        """A schema that refers to itself about the same value says nothing, and an engine may never end."""
        done: set[int] = set()
        path: set[int] = set()
        stack: list[tuple[Node, Iterator[tuple[str, Node]]]] = []

        def enter(node: Node) -> None:
            path.add(node.number)
            stack.append((node, iter([(word, child) for word, child in _in_place_edges(node)])))

        for start in self.nodes:
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

    def _release(self, injected: frozenset[str]) -> None:
        """Names the host fills in are asked of nobody, wherever the top level asks for them."""
        for node in reachable(self.root, Node.in_place):
            if "required" in node.asserts:
                node.asserts["required"] = [name for name in node.asserts["required"] if name not in injected]
            if "dependentRequired" in node.asserts:
                node.asserts["dependentRequired"] = {
                    name: [needed for needed in names if needed not in injected]
                    for name, names in node.asserts["dependentRequired"].items()
                }

    def _settle(self) -> None:
        """Where a lost part would make a keyword refuse more, the keyword goes as well."""
        parents: dict[int, list[Node]] = {}
        for node in self.nodes:
            for child in node.children():
                parents.setdefault(child.number, []).append(node)
        tainted = {node.number for node in self.nodes if node.dropped}
        pending = [node for node in self.nodes if node.dropped]
        for node in pending:
            for parent in parents.get(node.number, ()):
                if parent.number not in tainted:
                    tainted.add(parent.number)
                    pending.append(parent)
        for node in self.nodes:
            if tainted:
                node.one.pop("unevaluatedItems", None)
                node.one.pop("unevaluatedProperties", None)
            if node.number in tainted:
                _loosen(node, tainted)
            node.required = frozenset(node.asserts.get("required", ()))

    def _weigh(self) -> None:
        """Fill in what each node costs for one value, its height, and the types it may allow."""
        for node in self.nodes:
            node.own_cost = _own_cost(node)
            node.types = _own_types(node)
        finished: set[int] = set()
        on_path: set[int] = set()
        stack: list[tuple[Node, Iterator[Node]]] = []
        for start in (self.root, *self.nodes):
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
        for node in in_place_order(self.nodes):
            node.types &= _combined_types(node)

    def part(self, node: Node, words: tuple[str, ...]) -> Node:
        """A node that says only what these keywords of `node` say."""
        part = node.parts.get(words[0])
        if part is None:
            part = self._new(0)
            part.asserts = {word: node.asserts[word] for word in words if word in node.asserts}
            part.many = {word: node.many[word] for word in words if word in node.many}
            part.one = {word: node.one[word] for word in words if word in node.one}
            part.hoisted = False
            part.own_cost = _own_cost(part)
            _sum_up(part, recursive=node.weight == math.inf and any(c.weight == math.inf for c in part.children()))
            node.parts[words[0]] = part
        return part


def reachable(start: Node, edges: Any) -> list[Node]:
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


def _loosen(node: Node, tainted: set[int]) -> None:
    def lost(word: str) -> bool:
        return word in node.one and node.one[word].number in tainted

    if node.loose:
        node.one.pop("additionalProperties", None)
    if lost("not"):
        del node.one["not"]
    if lost("if"):
        for word in ("if", "then", "else"):
            node.one.pop(word, None)
    if lost("contains") and "maxContains" in node.asserts:
        for word in ("minContains", "maxContains"):
            node.asserts.pop(word, None)
        del node.one["contains"]
    if any(branch.number in tainted for branch in node.many.get("oneOf", ())):
        # One branch that accepts too much would make two of one; that at least one fits still holds.
        branches = node.many.pop("oneOf")
        if "anyOf" not in node.many:
            node.many["anyOf"] = branches


def _own_cost(node: Node) -> int:
    cost = 1 + len(node.asserts) + len(node.asserts.get("required", ()))
    cost += sum(1 for option in node.asserts.get("enum", ()) if type(option) is not str)
    cost += sum(len(names) for names in node.asserts.get("dependentRequired", {}).values())
    return cost + 4 * len(node.named.get("patternProperties", ()))


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
    for child in node.children():
        weight += child.weight + 1
        height = max(height, child.height)
    # To know what is unevaluated the engine asks the neighbours again.
    again = 4 if "unevaluatedProperties" in node.one or "unevaluatedItems" in node.one else 1
    node.weight = math.inf if recursive else node.own_cost + weight * again
    node.height = height + 1
