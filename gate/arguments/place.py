"""Everything a schema says of one value, gathered from wherever it says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from .discriminator import Discriminator
from .keywords import ANY_TYPE, JsonType
from .node import Node, reachable
from .patterns import pattern_matches

# Enough for a megabyte of spelled numbers; some 800,000 a second.
MAX_STEPS = 300_000
# Unions inside unions that are told apart; deeper ones allow anything.
_MAX_NESTING = 6
_INWARD = frozenset({"items", "additionalProperties"})
_UNIONS = ("anyOf", "oneOf")
_Choice = tuple["Place", ...]


class Exhausted(Exception):
    """More would have to be looked at than is allowed."""


class Place:
    """What a schema says of one value: all of `nodes`, and one place of each of `choices`.

    `nodes` is closed under `$ref` and `allOf`. `types` are those that may be allowed here;
    `closes` where nothing is said of what a value here holds.
    """

    __slots__ = ("choices", "closes", "nesting", "nodes", "number", "plain", "triggers", "types", "unions", "unsaid")

    def __init__(self, number: int, nodes: tuple[Node, ...], choices: tuple[_Choice, ...]) -> None:
        self.number = number
        self.nodes = nodes
        self.choices = choices
        self.nesting: int = max((1 + place.nesting for choice in choices for place in choice), default=0)
        self.types: JsonType = ANY_TYPE
        for node in nodes:
            self.types &= node.types
        for choice in choices:
            any_of = 0
            for place in choice:
                any_of |= place.types
            self.types &= any_of
        self.unsaid = not nodes and not choices
        self.closes = not choices and not any(
            node.named or not node.many.keys() <= {"$ref", "allOf"} or not _INWARD.isdisjoint(node.one)
            for node in nodes
        )
        # Names whose presence brings in more.
        self.triggers = tuple(
            {
                name: None
                for node in nodes
                for names in (node.named.get("dependentSchemas", ()), node.asserts.get("dependentRequired", ()))
                for name in names
            }
        )
        self.unions: list[Discriminator[Place]] | None = None
        # The view of every value, where it depends on none.
        self.plain: View | None = None


class View:
    """A place as one value narrows it: the branches it cannot be meant for are gone."""

    __slots__ = ("_items", "_members", "_named", "_open", "choices", "nodes", "number", "prefix", "required")

    def __init__(
        self, number: int, nodes: tuple[Node, ...], choices: tuple[tuple[View, ...], ...], required: frozenset[str]
    ) -> None:
        self.number = number
        self.nodes = nodes
        self.choices = choices
        # Names an object here must have, whichever branch is meant.
        self.required = required
        own = max((len(node.many.get("prefixItems", ())) for node in nodes), default=0)
        # From this index on all items are one place.
        self.prefix: int = max([own, *(view.prefix for choice in choices for view in choice)])
        self._named: dict[str, list[Node]] | None = None
        self._open: list[Node] = []
        self._members: dict[str, Place] = {}
        self._items: dict[int, Place] = {}

    def member(self, name: str, places: Places) -> Place:
        """The place of the property `name` of an object here."""
        place = self._members.get(name)
        if place is None:
            inner = [tuple(view.member(name, places) for view in choice) for choice in self.choices]
            place = self._members[name] = places.of(self._said(name, places), inner)
        return place

    def _said(self, name: str, places: Places) -> list[Node]:
        named = self._named
        if named is None:
            named = self._named = {}
            for node in self.nodes:
                properties = node.named.get("properties", {})
                places.spend(1 + len(properties))
                for known, child in properties.items():
                    named.setdefault(known, []).append(child)
                if "patternProperties" in node.named or "additionalProperties" in node.one:
                    self._open.append(node)
        said = list(named.get(name, ()))
        places.spend(1 + len(self._open))
        for node in self._open:
            patterns = node.named.get("patternProperties", {})
            places.spend(len(patterns) * (1 + len(name) // 16))
            matched = [child for pattern, child in patterns.items() if pattern_matches(pattern, name)]
            if not matched and "additionalProperties" in node.one and name not in node.named.get("properties", ()):
                matched = [node.one["additionalProperties"]]
            said += matched
        return said

    def item(self, index: int, places: Places) -> Place:
        """The place of an item of an array here."""
        index = min(index, self.prefix)
        place = self._items.get(index)
        if place is None:
            places.spend(len(self.nodes))
            said: list[Node] = []
            for node in self.nodes:
                prefix = node.many.get("prefixItems", ())
                if index < len(prefix):
                    said.append(prefix[index])
                elif "items" in node.one:
                    said.append(node.one["items"])
            inner = [tuple(view.item(index, places) for view in choice) for choice in self.choices]
            place = self._items[index] = places.of(said, inner)
        return place


class Places:
    """The places and views that one reading meets, each made once, and what is left to look at:
    `left` steps of values, nodes and branches."""

    def __init__(self, limit: int = MAX_STEPS) -> None:
        self.left = limit
        # Whether something was met where what a value holds decides what is said of it.
        self.conditional = False
        self._numbers = count()
        self._by_start: dict[Any, Place] = {}
        self._by_content: dict[Any, Place] = {}
        self._views: dict[Any, View] = {}

    @property
    def exhausted(self) -> bool:
        """Whether something was left out for want of steps."""
        return self.left < 0

    def spend(self, steps: int) -> None:
        """Raises Exhausted where they are not left."""
        self.left -= steps
        if self.left < 0:
            raise Exhausted

    def of(self, starts: Iterable[Node], choices: Iterable[_Choice] = ()) -> Place:
        """The place where all of `starts` hold, and one of each of `choices`."""
        first = {node.number: node for node in starts}
        options = [{place.number: place for place in choice} for choice in choices]
        start = (tuple(first), tuple(map(tuple, options)))
        place = self._by_start.get(start)
        if place is None:
            place = self._by_start[start] = self._make(first, options)
        return place

    def _make(self, first: dict[int, Node], options: list[dict[int, Place]]) -> Place:
        every = {node.number: node for each in first.values() for node in reachable(each, _conjuncts)}
        kept: dict[tuple[int, ...], _Choice] = {}
        for choice in options:
            if any(place.unsaid or place.nesting >= _MAX_NESTING for place in choice.values()):
                continue
            if len(choice) == 1:
                (only,) = choice.values()
                every.update((node.number, node) for node in only.nodes)
                kept.update((tuple(place.number for place in inner), inner) for inner in only.choices)
            else:
                kept[tuple(choice)] = tuple(choice.values())
        self.spend(1 + len(every) + sum(map(len, options)))
        content = (tuple(sorted(every)), tuple(sorted(kept)))
        place = self._by_content.get(content)
        if place is None:
            made = Place(next(self._numbers), tuple(every.values()), tuple(kept.values()))
            place = self._by_content[content] = made
        return place

    def view(self, place: Place, value: Any) -> View:
        """What a place says of `value`, an object or an array."""
        return place.plain or self._view(place, value, 0, {})

    def _view(self, place: Place, value: Any, level: int, met: dict[tuple[int, int], View]) -> View:
        """`met` holds what was made for this value: branches may share theirs, level by level."""
        view = place.plain or met.get((place.number, level))
        if view is not None:
            return view
        unions = self._unions(place) if level < _MAX_NESTING else []
        self.spend(1 + len(place.triggers))
        present = [name for name in place.triggers if name in value] if type(value) is dict else []
        self.conditional |= bool(unions or place.triggers)
        branches = [self._fitting(union, value) for union in unions]
        if level < _MAX_NESTING:
            # What a name brings in is a union of one branch.
            branches += [[self.of([child])] for child in _brought(place, present)]
        live = [
            {(view := self._view(branch, value, level + 1, met)).number: view for branch in options}
            for options in branches
        ]
        key = (place.number, tuple(present), tuple(map(tuple, live)))
        view = self._views.get(key)
        if view is None:
            view = self._views[key] = self._narrowed(place, present, live)
        met[place.number, level] = view
        if not unions and not place.triggers and level < _MAX_NESTING:
            place.plain = view
        return view

    def _narrowed(self, place: Place, present: list[str], live: list[dict[int, View]]) -> View:
        nodes = {node.number: node for node in place.nodes}
        required: set[str] = set()
        for node in place.nodes:
            required.update(node.required)
            needed = node.asserts.get("dependentRequired", {})
            if needed:
                required.update(name for trigger in present for name in needed.get(trigger, ()))
        choices: dict[tuple[int, ...], tuple[View, ...]] = {}
        for options in live:
            required.update(frozenset.intersection(*(view.required for view in options.values())))
            if len(options) == 1:
                (only,) = options.values()
                nodes.update((node.number, node) for node in only.nodes)
                choices.update((tuple(view.number for view in choice), choice) for choice in only.choices)
            else:
                choices[tuple(options)] = tuple(options.values())
        self.spend(len(nodes) + len(required) // 8 + sum(map(len, live)))
        return View(next(self._numbers), tuple(nodes.values()), tuple(choices.values()), frozenset(required))

    def _unions(self, place: Place) -> list[Discriminator[Place]]:
        if place.unions is None:
            own = (node.many[word] for node in place.nodes for word in _UNIONS if word in node.many)
            every = [*place.choices, *(tuple(self.of([branch]) for branch in branches) for branches in own)]
            distinct = [tuple({branch.number: branch for branch in choice}.values()) for choice in every]
            place.unions = [Discriminator(choice, self.spend) for choice in distinct]
        return place.unions

    def _fitting(self, union: Discriminator[Place], value: Any) -> Iterable[Place]:
        """The branches that `value` may be meant for; all where it is for none."""
        return union.fitting(value, self.spend) or union.branches


def _brought(place: Place, present: list[str]) -> Iterator[Node]:
    for node in place.nodes if present else ():
        schemas = node.named.get("dependentSchemas", {})
        yield from (schemas[name] for name in present if name in schemas)


def _conjuncts(node: Node) -> list[Node]:
    return [*node.many.get("$ref", ()), *node.many.get("allOf", ())]
