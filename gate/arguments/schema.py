"""A contract's schema as a graph of nodes that the engine is sure to take.

References are edges, every keyword is well formed, and what could not be read is left out on
the permissive side: a node that lost something accepts more than its author meant, never less.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .keywords import ASSERTIONS, LISTS, MAPS, SINGLE, Malformed, draft_of, in_words_of_2020
from .loops import cut_loops
from .loosening import release, settle
from .names import known_names
from .node import Node
from .patterns import pattern_compiles
from .references import References, Unresolved
from .weight import weigh, weigh_part

MAX_NODES = 8_000
# Compiling one may take a millisecond.
_MAX_PATTERNS = 500
# Options and required names; what an engine compiles in a fraction of a second.
_MAX_LISTED = 50_000
_REFERENCE_WORDS = ("$ref", "$dynamicRef", "$recursiveRef")


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
        cut_loops(self.nodes)
        if injected:
            release(self.root, injected)
        # A name that only a part lists which has to go is known all the same.
        self.names, self.closed = known_names(self.root)
        settle(self.nodes)
        weigh(self.root, self.nodes)
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
                    said = wanted(words[word])
                    if type(said) is list and len(said) > _MAX_LISTED:
                        node.dropped = True
                        if word != "required":
                            continue
                        said = said[:_MAX_LISTED]
                    node.asserts[word] = said
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
        _drop_companions(node, words)

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
            if len(self.nodes) >= MAX_NODES:
                node.dropped = True
                node.loose = True
                break
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

    def part(self, node: Node, words: tuple[str, ...]) -> Node:
        """A node that says only what these keywords of `node` say."""
        part = node.parts.get(words[0])
        if part is None:
            part = self._new(0)
            part.asserts = {word: node.asserts[word] for word in words if word in node.asserts}
            part.many = {word: node.many[word] for word in words if word in node.many}
            part.one = {word: node.one[word] for word in words if word in node.one}
            part.hoisted = False
            weigh_part(part, node)
            node.parts[words[0]] = part
        return part


def _drop_companions(node: Node, words: dict[str, Any]) -> None:
    """Keywords that mean nothing, or more, without one that could not be read."""
    for bound in ("minContains", "maxContains"):
        if bound in words and bound not in node.asserts:
            node.one.pop("contains", None)
    if "contains" not in node.one:
        node.asserts.pop("minContains", None)
        node.asserts.pop("maxContains", None)
    if "if" not in node.one:
        node.one.pop("then", None)
        node.one.pop("else", None)
