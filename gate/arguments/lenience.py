"""What models write where they mean something else, read as what they mean.

A string that spells an integer, number, boolean, object or array is read as that where a
string is not allowed and that is; null for an optional name that may not be null is taken
away. A value that is allowed as it stands is never changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tooldialect.dialects.text import read_json

from .keywords import ANY_TYPE, ARRAY, BOOLEAN, FRACTION, INTEGER, NULL, OBJECT, STRING, JsonType, json_type
from .schema import Node, reachable

# Places looked at in one pass, about half a million a second.
_MAX_STEPS = 150_000
_MAX_PASSES = 8
# Unions inside unions that are told apart; deeper ones allow anything.
_MAX_NESTING = 6
_SPELLABLE = BOOLEAN | INTEGER | FRACTION | ARRAY | OBJECT
_FIRST = {**dict.fromkeys("-0123456789", INTEGER | FRACTION), "t": BOOLEAN, "f": BOOLEAN, "[": ARRAY, "{": OBJECT}


class _Exhausted(Exception):
    pass


class Place:
    """Everything a schema says of one value: all of `nodes`, and of each of `choices` one place."""

    __slots__ = ("choices", "key", "nesting", "nodes")

    def __init__(self, nodes: Iterable[Node], choices: Iterable[tuple[Place, ...]] = ()) -> None:
        every = {node.number: node for start in nodes for node in reachable(start, _conjuncts)}
        self.nodes = tuple(every[number] for number in sorted(every))
        self.choices: tuple[tuple[Place, ...], ...] = ()
        self.nesting = 0
        for choice in choices:
            self._narrow(choice)
        self.key: Any = (tuple(n.number for n in self.nodes), tuple(tuple(p.key for p in c) for c in self.choices))

    def _narrow(self, choice: tuple[Place, ...]) -> None:
        distinct = tuple({place.key: place for place in choice}.values())
        if not distinct or any(not place.nodes and not place.choices for place in distinct):
            return
        if len(distinct) == 1:
            every = {node.number: node for node in (*self.nodes, *distinct[0].nodes)}
            self.nodes = tuple(every[number] for number in sorted(every))
            self.choices += distinct[0].choices
            self.nesting = max(self.nesting, distinct[0].nesting)
            return
        nesting = 1 + max(place.nesting for place in distinct)
        if nesting <= _MAX_NESTING:
            self.choices += (distinct,)
            self.nesting = max(self.nesting, nesting)

    @property
    def unsaid(self) -> bool:
        """Whether the schema says nothing of this value."""
        return not self.nodes and not self.choices

    def types(self) -> JsonType:
        """The types that may be allowed here."""
        allowed = ANY_TYPE
        for node in self.nodes:
            allowed &= node.types
        for choice in self.choices:
            any_of = 0
            for place in choice:
                any_of |= place.types()
            allowed &= any_of
        return allowed

    def requires(self, name: str, value: dict[str, Any]) -> bool:
        """Whether an object here must have `name`, whichever branch is meant."""
        if any(name in node.required or _depends(node, name, value) for node in self.nodes):
            return True
        return any(all(place.requires(name, value) for place in choice) for choice in self.unions(value))

    def unions(self, value: Any) -> list[tuple[Place, ...]]:
        """The choices here, without the branches that `value` plainly is not meant for."""
        unions = list(self.choices)
        for node in self.nodes:
            for word in ("anyOf", "oneOf"):
                if word in node.many:
                    unions.append(tuple(Place([branch]) for branch in node.many[word]))
        return [tuple(place for place in union if place.may_hold(value)) or union for union in unions]

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

    def member(self, name: str, value: dict[str, Any]) -> Place:
        """The place of the property `name` of an object here."""
        nodes: list[Node] = []
        for node in self._live(value):
            properties = node.named.get("properties", {})
            if name in properties:
                nodes.append(properties[name])
            elif "patternProperties" not in node.named and "additionalProperties" in node.one:
                nodes.append(node.one["additionalProperties"])
        return Place(nodes, [tuple(p.member(name, value) for p in union) for union in self.unions(value)])

    def item(self, index: int, value: list[Any]) -> Place:
        """The place of an item of an array here."""
        nodes: list[Node] = []
        for node in self.nodes:
            prefix = node.many.get("prefixItems", ())
            if index < len(prefix):
                nodes.append(prefix[index])
            elif "items" in node.one:
                nodes.append(node.one["items"])
        return Place(nodes, [tuple(p.item(index, value) for p in union) for union in self.unions(value)])

    def prefix(self) -> int:
        """From which index on all items are one place."""
        own = max((len(node.many.get("prefixItems", ())) for node in self.nodes), default=0)
        branches = [b for n in self.nodes for word in ("anyOf", "oneOf") for b in n.many.get(word, ())]
        inner = [place for choice in self.choices for place in choice] + [Place([branch]) for branch in branches]
        return max([own, *(place.prefix() for place in inner)])

    def _live(self, value: dict[str, Any]) -> list[Node]:
        nodes = list(self.nodes)
        for node in nodes:
            for name, child in node.named.get("dependentSchemas", {}).items():
                if name in value and child not in nodes:
                    nodes += [each for each in reachable(child, _conjuncts) if each not in nodes]
        return nodes


def _conjuncts(node: Node) -> list[Node]:
    return [*node.many.get("$ref", ()), *node.many.get("allOf", ())]


def _depends(node: Node, name: str, value: dict[str, Any]) -> bool:
    return any(name in needed and trigger in value for trigger, needed in node.asserts.get("dependentRequired", {}).items())


def _may_be(node: Node, value: Any) -> bool:
    if type(value) in (dict, list):
        return True
    options = [node.asserts["const"]] if "const" in node.asserts else node.asserts.get("enum")
    if options is None or type(options) is not list:
        return True
    return any(option == value and (type(option) is bool) == (type(value) is bool) for option in options)


def adjusted(root: Node, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments as meant, in a copy; equal to them where nothing is to be changed.

    Adjusting what this returns changes nothing. What is too large to look at stays as it is.
    """
    changed = copied(arguments)
    try:
        for _ in range(_MAX_PASSES):
            if not _pass(Place([root]), changed):
                return changed
    except _Exhausted:
        pass
    return arguments


def _pass(root: Place, arguments: dict[str, Any]) -> bool:
    changed = False
    steps = 0
    pending: list[tuple[Place, Any]] = [(root, arguments)]
    while pending:
        place, value = pending.pop()
        if type(value) is dict:
            members: Iterable[tuple[Any, Place]] = [(name, place.member(name, value)) for name in value]
        else:
            members = _item_places(place, value)
        for name, inner in members:
            steps += 1
            if steps > _MAX_STEPS:
                raise _Exhausted
            if inner.unsaid:
                continue
            item = value[name]
            if item is None:
                if type(value) is dict and not inner.types() & NULL and not place.requires(name, value):
                    del value[name]
                    changed = True
                continue
            if type(item) is str:
                item, spelled = _decoded(item, inner.types())
                if spelled:
                    value[name] = item
                    changed = True
            if type(item) in (dict, list):
                pending.append((inner, item))
    return changed


def _item_places(place: Place, value: list[Any]) -> Iterable[tuple[int, Place]]:
    prefix = place.prefix()
    for index in range(min(prefix, len(value))):
        yield index, place.item(index, value)
    if len(value) > prefix:
        rest = place.item(prefix, value)
        if not rest.unsaid:
            for index in range(prefix, len(value)):
                yield index, rest


def _decoded(text: str, allowed: JsonType) -> tuple[Any, bool]:
    """What a string spells, and whether it does: JSON of a type that is allowed where no string is."""
    if allowed & STRING or not allowed & _FIRST.get(text.lstrip(" \t\r\n")[:1], 0):
        return text, False
    try:
        value = read_json(text)
    except ValueError:
        return text, False
    fits = bool(json_type(value) & allowed & _SPELLABLE)
    return (value, True) if fits else (text, False)


def copied(value: Any) -> Any:
    """A copy of a JSON value whose containers are all new."""
    holder = [value]
    pending: list[tuple[Any, Any]] = [(holder, 0)]
    for container, key in pending:
        item = container[key]
        if type(item) is dict:
            container[key] = new = dict(item)
            pending += [(new, name) for name, inner in new.items() if type(inner) in (dict, list)]
        elif type(item) is list:
            container[key] = fresh = list(item)
            pending += [(fresh, index) for index, inner in enumerate(fresh) if type(inner) in (dict, list)]
    return holder[0]
