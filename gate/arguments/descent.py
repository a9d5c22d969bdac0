"""What is wrong with a value, part by part: the engine judges each part that fits the budget.

A schema is a conjunction: its keywords, what it refers to, what it says of each property and
item. A part that is refused, or costs too much to be asked whole, is taken apart; one that
cannot be taken apart and costs too much stays unchecked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from .budget import Budget
from .engine import Engine, Unjudged
from .keywords import json_type
from .lenience import may_be_meant_otherwise
from .names import known_names
from .node import Node
from .schema import Schema
from .size import MAX_DEPTH, are_unique

MAX_VIOLATIONS = 32
# Parts looked at in one check, some 100,000 a second.
_MAX_PARTS = 15_000
_SLICE = 64
_WHOLE = ("enum", "const")
_COUNTED = ("contains", "minContains", "maxContains")
# Keywords that speak of no type that lenience would change a value from, or to.
_INCURABLE = frozenset({"minLength", "maxLength", "pattern", "minItems", "maxItems"})
_INDIVISIBLE = (("anyOf",), ("oneOf",), ("not",), ("if", "then", "else"), ("propertyNames",), _COUNTED)


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing wrong with the arguments. `path` is a JSON Pointer to the place; `kind` is the
    keyword that refuses it, `missing` or `unknown` for a name, `json` for what JSON cannot say,
    `schema` where the whole is refused and no part could be named. Never a value."""

    path: str
    kind: str


class _Part(NamedTuple):
    node: Node
    value: Any
    path: str
    # What is wrong where nothing at all is allowed.
    forbidden: str


class _Frame:
    """The pieces of one part, as far as they were looked at; `refused` where one did not pass."""

    pieces: Iterator[_Part]
    refused = False


def step(path: str, token: str | int) -> str:
    """The JSON Pointer one step below `path`."""
    return f"{path}/{token}" if isinstance(token, int) else f"{path}/{token.replace('~', '~0').replace('/', '~1')}"


class Descent:
    """One search for violations. `complete` turns false where something stayed unchecked.

    `unread` says that lenience had to leave a part of the arguments as it came: then nothing is
    a violation that it could have cured.
    """

    def __init__(self, schema: Schema, engine: Engine, budget: Budget, *, unread: bool = False) -> None:
        self.schema = schema
        self.engine = engine
        self.budget = budget
        self.unread = unread
        self.complete = True
        self.violations: list[Violation] = []
        self._seen: set[tuple[int, int, str]] = set()
        self._parts = 0

    def search(self, value: Any, *, refused: bool) -> None:
        """Collect the first violations of `value`, those about a place before those inside it.

        `refused` says that the engine has refused the whole already.
        """
        whole = _Part(self.schema.root, value, "", "not")
        if not refused:
            verdict = self._ask(whole.node, value)
            if verdict:
                return
            refused = verdict is False
        stack: list[_Part | _Frame] = [whole]
        while stack and len(self.violations) < MAX_VIOLATIONS and self._parts <= _MAX_PARTS:
            top = stack.pop()
            if isinstance(top, _Part):
                frame = _Frame()
                frame.pieces = self._pieces(top, frame)
                stack.append(frame)
                continue
            refusals = self._refusals(top)
            if len(refusals) == MAX_VIOLATIONS:
                stack.append(top)
            stack += reversed(refusals)
        if self._parts > _MAX_PARTS:
            self.complete = False
        if refused and not self.violations:
            self._refuse("", "schema", value)

    def _refusals(self, frame: _Frame) -> list[_Part]:
        """The next pieces that are to be taken apart. All neighbours are asked before any is
        entered: what lies deep must not use up what is left for what lies beside it."""
        refusals: list[_Part] = []
        for piece in frame.pieces:
            # Equal small values are one object in many places; a container is in one.
            place = "" if type(piece.value) in (dict, list) else piece.path
            key = (piece.node.number, id(piece.value), place)
            if key in self._seen:
                continue
            self._seen.add(key)
            self._parts += 1
            if self._parts > _MAX_PARTS:
                break
            if self._ask(piece.node, piece.value):
                continue
            frame.refused = True
            if piece.path.count("/") > MAX_DEPTH:
                self.complete = False
                continue
            refusals.append(piece)
            if len(refusals) == MAX_VIOLATIONS:
                break
        return refusals

    def _ask(self, node: Node, value: Any) -> bool | None:
        """The engine's verdict; None where it costs too much or the engine has none."""
        if not self.budget.affords(node, value):
            return None
        try:
            return self.engine.is_valid(node, value)
        except Unjudged:
            return None

    def _add(self, path: str, kind: str) -> None:
        violation = Violation(path, kind)
        if violation not in self.violations:
            self.violations.append(violation)

    def _refuse(self, path: str, kind: str, value: Any) -> None:
        if self.unread and kind not in _INCURABLE and may_be_meant_otherwise(value):
            self.complete = False
        else:
            self._add(path, kind)

    def _pieces(self, part: _Part, frame: _Frame) -> Iterator[_Part]:
        node, value, path, forbidden = part
        if node.never:
            self._add(path, forbidden)
            return
        found = len(self.violations)
        self._assertions(node, value, path)
        for word in ("$ref", "allOf"):
            for child in node.many.get(word, ()):
                yield _Part(child, value, path, forbidden)
        if type(value) is dict:
            yield from self._members(node, value, path)
        elif type(value) is list:
            yield from self._items(node, value, path)
        for words in _INDIVISIBLE:
            yield from self._indivisible(node, words, value, path)
        for word in ("unevaluatedProperties", "unevaluatedItems"):
            if word in node.one and not frame.refused and len(self.violations) == found:
                self._unevaluated(node, word, value, path)

    def _assertions(self, node: Node, value: Any, path: str) -> None:
        for word in node.asserts:
            if word == "required":
                self._missing(node.asserts[word], value, path)
            elif word not in _COUNTED and self._holds(node, word, value) is False:
                self._refuse(path, word, value)

    def _missing(self, names: list[str], value: Any, path: str) -> None:
        if type(value) is dict:
            for name in names:
                if name not in value and len(self.violations) < MAX_VIOLATIONS:
                    self._add(step(path, name), "missing")

    def _holds(self, node: Node, word: str, value: Any) -> bool | None:
        """The engine's verdict on one assertion, None (and not complete) where there is none."""
        length = len(value) if type(value) in (dict, list) else len(value) // 16 if type(value) is str else 1
        affordable = self.budget.pay(node.own_cost + length)
        if affordable and word == "uniqueItems" and type(value) is list:
            size = self.budget.size(value)
            if size is not None and not size.excessive:
                return not node.asserts[word] or are_unique(value)
            affordable = False
        if affordable:
            try:
                return self.engine.is_valid(node, value if word in _WHOLE else _hollow(value), word)
            except Unjudged:
                pass
        self.complete = False
        return None

    def _members(self, node: Node, value: dict[str, Any], path: str) -> Iterator[_Part]:
        properties = node.named.get("properties", {})
        patterns = node.named.get("patternProperties", {})
        others = node.one.get("additionalProperties")
        for name, child in properties.items():
            if name in value:
                yield _Part(child, value[name], step(path, name), "unknown")
        if patterns or others is not None:
            for name, item in value.items():
                matched = self._matching(patterns, name)
                if matched is None:
                    continue
                for child in matched:
                    yield _Part(child, item, step(path, name), "unknown")
                if others is not None and not matched and name not in properties:
                    yield _Part(others, item, step(path, name), "unknown")
        for name, child in node.named.get("dependentSchemas", {}).items():
            if name in value:
                yield _Part(child, value, path, "dependentSchemas")

    def _matching(self, patterns: dict[str, Node], name: str) -> list[Node] | None:
        if not self.budget.pay(len(patterns) * (1 + len(name))):
            self.complete = False
            return None
        try:
            return [child for pattern, child in patterns.items() if self.engine.matches(pattern, name)]
        except Unjudged:
            self.complete = False
            return None

    def _items(self, node: Node, value: list[Any], path: str) -> Iterator[_Part]:
        prefix = node.many.get("prefixItems", [])
        for index, (child, item) in enumerate(zip(prefix, value, strict=False)):
            yield _Part(child, item, step(path, index), "prefixItems")
        if "items" in node.one:
            every = self.schema.part(node, ("items",))
            for start in range(len(prefix), len(value), _SLICE):
                items = value[start : start + _SLICE]
                # Most of a long list is in order: it is not worth a question for each item.
                if len(items) < _SLICE or not self._ask(every, items):
                    for index, item in enumerate(items, start):
                        yield _Part(node.one["items"], item, step(path, index), "items")

    def _indivisible(self, node: Node, words: tuple[str, ...], value: Any, path: str) -> Iterator[_Part]:
        word = words[0]
        if word not in node.many and word not in node.one:
            return
        verdict = self._ask(self.schema.part(node, words), value)
        if verdict is None:
            self.complete = False
        elif not verdict:
            branches = node.many.get(word, [])
            likely = [branch for branch in branches if branch.types & json_type(value)]
            if len(likely) == 1:
                # `T | null`, the usual union: what is wrong with the T tells more.
                yield _Part(likely[0], value, path, word)
            else:
                self._refuse(path, word, value)

    def _unevaluated(self, node: Node, word: str, value: Any, path: str) -> None:
        if type(value) is not (dict if word == "unevaluatedProperties" else list):
            return
        verdict = self._ask(node, value)
        if verdict is None:
            self.complete = False
        elif not verdict:
            known = known_names(node).names
            unknown = [name for name in value if name not in known] if type(value) is dict else []
            for name in unknown[:MAX_VIOLATIONS]:
                self._add(step(path, name), "unknown")
            if not unknown:
                self._refuse(path, word, value)


def _hollow(value: Any) -> Any:
    """What assertions about a container itself look at: its names or its length."""
    if type(value) is dict:
        return dict.fromkeys(value)
    if type(value) is list:
        return [None] * len(value)
    return value
