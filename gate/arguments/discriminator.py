"""Which branches of a union a value may be meant for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from .keywords import JsonType, json_type
from .node import Node, reachable

_Key = tuple[Any, bool]


class Branch(Protocol):
    """Nodes that all hold, and the types they leave."""

    nodes: tuple[Node, ...]
    types: JsonType


B = TypeVar("B", bound=Branch)


class Discriminator(Generic[B]):
    """A union, its branches found by the property that tells most of them apart.

    A discriminator is a property that a branch gives a `const` or an `enum`.
    """

    def __init__(self, branches: tuple[B, ...], spend: Callable[[int], None]) -> None:
        self.branches = branches
        self._told = [_options(branch, spend) for branch in branches]
        telling: dict[str, int] = {}
        for told in self._told:
            for name in told:
                telling[name] = telling.get(name, 0) + 1
        self._name = max(telling, key=telling.__getitem__, default=None)
        self._by_value: dict[_Key, list[int]] = {}
        self._others: list[int] = []
        for index, told in enumerate(self._told):
            if self._name is None or self._name not in told:
                self._others.append(index)
            else:
                for option in told[self._name]:
                    self._by_value.setdefault(option, []).append(index)

    def fitting(self, value: Any, spend: Callable[[int], None]) -> list[B]:
        """The branches whose type and discriminators leave room for `value`."""
        candidates: Sequence[int] = range(len(self.branches))
        if self._name is not None and type(value) is dict and self._name in value:
            item = value[self._name]
            if type(item) not in (dict, list):
                candidates = [*self._by_value.get(_key(item), ()), *self._others]
        spend(1 + len(candidates))
        kind = json_type(value)
        found = []
        for index in candidates:
            if self.branches[index].types & kind:
                told = self._told[index] if type(value) is dict else {}
                spend(len(told))
                if all(_may_be(value[name], options) for name, options in told.items() if name in value):
                    found.append(index)
        return [self.branches[index] for index in sorted(found)]


def _options(branch: Branch, spend: Callable[[int], None]) -> dict[str, frozenset[_Key]]:
    """Of each discriminating property the scalars that may be there."""
    told: dict[str, frozenset[_Key]] = {}
    for node in branch.nodes:
        properties = node.named.get("properties", {})
        spend(1 + len(properties))
        for name, child in properties.items():
            for options in _listed(child, spend):
                told[name] = told[name] & options if name in told else options
    return told


def _listed(child: Node, spend: Callable[[int], None]) -> Iterator[frozenset[_Key]]:
    if child.many:
        around = reachable(child, lambda node: [*node.many.get("$ref", ()), *node.many.get("allOf", ())])
        spend(len(around))
    else:
        around = [child]
    for node in around:
        options = [node.asserts["const"]] if "const" in node.asserts else node.asserts.get("enum")
        if options is not None:
            spend(len(options) // 4)
            yield frozenset(_key(option) for option in options if type(option) not in (dict, list))


def _may_be(value: Any, options: frozenset[_Key]) -> bool:
    return type(value) in (dict, list) or _key(value) in options


def _key(value: Any) -> _Key:
    # `True` equals 1 in Python, not in JSON.
    return value, type(value) is bool
