"""Everything a schema says of one value, gathered from wherever it says it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .keywords import ANY_TYPE, JsonType, json_type
from .node import Node, reachable
from .patterns import pattern_matches

# Enough for a megabyte of rows.
MAX_STEPS = 300_000
# Unions inside unions that are told apart; deeper ones allow anything.
_MAX_NESTING = 6
_INWARD = frozenset({"items", "additionalProperties"})


class Exhausted(Exception):
    """More would have to be looked at than is allowed."""


class Work:
    """What is left to look at in one reading: values, nodes and branches, half a million a second."""

    __slots__ = ("conditional", "left")

    def __init__(self, limit: int = MAX_STEPS) -> None:
        self.left = limit
        # Whether what a value holds decides what is said of it.
        self.conditional = False

    @property
    def exhausted(self) -> bool:
        """Whether something was left out for want of steps."""
        return self.left < 0

    def spend(self, steps: int) -> None:
        """Raises Exhausted where they are not left."""
        self.left -= steps
        if self.left < 0:
            raise Exhausted


class Place:
    """Everything a schema says of one value: all of `nodes`, and one place of each of `unions`."""

    nodes: tuple[Node, ...]
    unions: tuple[tuple[Place, ...], ...]
    nesting: int
    key: Any

    __slots__ = ("_below", "_steady", "_types", "_work", "key", "nesting", "nodes", "prefix", "unions")

    def __init__(
        self, nodes: Iterable[Node], choices: Iterable[tuple[Place, ...]], work: Work, nesting: int = 0
    ) -> None:
        every = {node.number: node for start in nodes for node in reachable(start, _conjuncts)}
        work.spend(len(every))
        self._work = work
        unions: dict[Any, tuple[Place, ...]] = {}
        for choice in choices:
            distinct = {place.key: place for place in choice}
            if any(place.unsaid for place in distinct.values()):
                continue
            if len(distinct) == 1:
                (only,) = distinct.values()
                every.update((node.number, node) for node in only.nodes)
                unions.update((_union_key(union), union) for union in only.unions)
            else:
                unions[tuple(distinct)] = tuple(distinct.values())
        self.nodes = tuple(every[number] for number in sorted(every))
        for node in self.nodes if nesting < _MAX_NESTING else ():
            for word in ("anyOf", "oneOf"):
                if word in node.many:
                    union = tuple(Place([branch], (), work, nesting + 1) for branch in node.many[word])
                    unions.setdefault(_union_key(union), union)
        self.unions = tuple(union for union in unions.values() if _height(union) + nesting <= _MAX_NESTING)
        self.nesting = max(map(_height, self.unions), default=0)
        self.key = (tuple(node.number for node in self.nodes), tuple(_union_key(union) for union in self.unions))
        own = max((len(node.many.get("prefixItems", ())) for node in self.nodes), default=0)
        # From this index on all items are one place.
        self.prefix: int = max([own, *(place.prefix for union in self.unions for place in union)])
        # Whether what lies below depends on a value only through `live`.
        self._steady: bool = self.nesting <= 1 and not any(
            "dependentSchemas" in node.named
            for place in (self, *(place for union in self.unions for place in union))
            for node in place.nodes
        )
        work.conditional |= bool(self.unions) or any(
            "dependentSchemas" in node.named or "dependentRequired" in node.asserts for node in self.nodes
        )
        self._below: dict[Any, Place] = {}
        self._types: JsonType | None = None

    @property
    def unsaid(self) -> bool:
        """Whether the schema says nothing of this value."""
        return not self.nodes and not self.unions

    @property
    def closes(self) -> bool:
        """Whether the schema says nothing of what a value here holds."""
        return not self.unions and not any(
            node.named or "prefixItems" in node.many or not _INWARD.isdisjoint(node.one) for node in self.nodes
        )

    def types(self) -> JsonType:
        """The types that may be allowed here."""
        if self._types is None:
            allowed = ANY_TYPE
            for node in self.nodes:
                allowed &= node.types
            for union in self.unions:
                any_of = 0
                for place in union:
                    any_of |= place.types()
                allowed &= any_of
            self._types = allowed
        return self._types

    def live(self, value: Any) -> tuple[tuple[int, ...], ...]:
        """Of each union the branches that `value` may be meant for; all where it is for none."""
        found = []
        for union in self.unions:
            self._work.spend(len(union))
            fitting = tuple(index for index, place in enumerate(union) if place.may_hold(value))
            found.append(fitting or tuple(range(len(union))))
        return tuple(found)

    def may_hold(self, value: Any) -> bool:
        """Whether type and discriminators (properties with a `const` or `enum`) leave room for `value`."""
        if not self.types() & json_type(value):
            return False
        if type(value) is dict:
            for node in self.nodes:
                for name, child in node.named.get("properties", {}).items():
                    if name in value and not _may_be(child, value[name]):
                        return False
        return True

    def requires(self, name: str, value: dict[str, Any]) -> bool:
        """Whether an object here must have `name`, whichever branch is meant."""
        if any(name in node.required or _depends(node, name, value) for node in self.nodes):
            return True
        return any(
            all(union[index].requires(name, value) for index in live)
            for union, live in zip(self.unions, self.live(value), strict=True)
        )

    def member(self, name: str, value: dict[str, Any], live: tuple[tuple[int, ...], ...]) -> Place:
        """The place of the property `name` of an object here."""
        nodes = self._dependent(value)
        self._work.spend(1 + len(nodes) // 8)
        named = any(name in node.named.get("properties", ()) or "patternProperties" in node.named for node in nodes)
        key = (name if named or self.unions else None, live)
        place = self._below.get(key)
        if place is None:
            self._work.spend(len(nodes))
            found: list[Node] = []
            for node in nodes:
                properties = node.named.get("properties", {})
                patterns = node.named.get("patternProperties", {})
                self._work.spend(len(patterns) * (1 + len(name) // 16))
                said = [child for pattern, child in patterns.items() if pattern_matches(pattern, name)]
                if name in properties:
                    said.append(properties[name])
                if not said and "additionalProperties" in node.one:
                    said.append(node.one["additionalProperties"])
                found += said
            inner = (
                tuple(union[index].member(name, value, union[index].live(value)) for index in indices)
                for union, indices in zip(self.unions, live, strict=True)
            )
            place = Place(found, inner, self._work)
            if self._steady:
                self._below[key] = place
        return place

    def item(self, index: int, value: list[Any], live: tuple[tuple[int, ...], ...]) -> Place:
        """The place of an item of an array here."""
        self._work.spend(1)
        key = (index, live)
        place = self._below.get(key)
        if place is None:
            self._work.spend(len(self.nodes))
            found: list[Node] = []
            for node in self.nodes:
                prefix = node.many.get("prefixItems", ())
                if index < len(prefix):
                    found.append(prefix[index])
                elif "items" in node.one:
                    found.append(node.one["items"])
            inner = (
                tuple(union[which].item(index, value, union[which].live(value)) for which in indices)
                for union, indices in zip(self.unions, live, strict=True)
            )
            place = Place(found, inner, self._work)
            if self._steady:
                self._below[key] = place
        return place

    def _dependent(self, value: dict[str, Any]) -> Sequence[Node]:
        """The nodes here, with those that hold because of a name the object has."""
        if not any("dependentSchemas" in node.named for node in self.nodes):
            return self.nodes
        every = {node.number: node for node in self.nodes}
        pending = list(self.nodes)
        for node in pending:
            for name, child in node.named.get("dependentSchemas", {}).items():
                if name in value:
                    fresh = [each for each in reachable(child, _conjuncts) if each.number not in every]
                    every.update((each.number, each) for each in fresh)
                    pending += fresh
        return pending


def _union_key(union: tuple[Place, ...]) -> Any:
    return tuple(place.key for place in union)


def _height(union: tuple[Place, ...]) -> int:
    return 1 + max(place.nesting for place in union)


def _conjuncts(node: Node) -> list[Node]:
    return [*node.many.get("$ref", ()), *node.many.get("allOf", ())]


def _depends(node: Node, name: str, value: dict[str, Any]) -> bool:
    return any(
        name in needed and trigger in value for trigger, needed in node.asserts.get("dependentRequired", {}).items()
    )


def _may_be(node: Node, value: Any) -> bool:
    if type(value) in (dict, list):
        return True
    options = [node.asserts["const"]] if "const" in node.asserts else node.asserts.get("enum")
    if options is None or type(options) is not list:
        return True
    return any(option == value and (type(option) is bool) == (type(value) is bool) for option in options)
