"""What a check may cost, counted over (schema, value) pairs before the engine is called.

The engine holds the GIL and remembers nothing: nested references double its work per level
of the schema, recursive ones per level of the arguments. So it is only called where the
count fits.
"""

from __future__ import annotations

import math
from typing import Any

from .node import MAX_HEIGHT, Node
from .size import Size, measure

# Pairs the engine may visit for one check: it visits some 30 million a second.
ENGINE_PAIRS = 8_000_000
# No part may take more of what is left, so that one bomb does not starve its neighbours.
_LARGEST_SHARE = 0.5
# Pairs this module may count for one check, some half a million a second.
COUNTED_PAIRS = 20_000
# Values that may be measured for one check, once for every level that is taken apart; a
# container counts as many.
MEASURED_VALUES = 4_000_000
_CONTAINER = 20


class Budget:
    """What is left of one check's allowance."""

    def __init__(self) -> None:
        self.engine: float = ENGINE_PAIRS
        self.count = COUNTED_PAIRS
        self.measured = MEASURED_VALUES
        self._last: tuple[Any, Size | None] | None = None
        self._known: dict[tuple[int, int], float] = {}

    def affords(self, node: Node, value: Any, size: Size | None = None) -> bool:
        """Whether the engine may judge `value` by `node`; if so, it is paid for."""
        if size is None and type(value) in (dict, list):
            size = self.size(value)
        return self.pay(self._cost(node, value, size))

    def size(self, value: Any) -> Size | None:
        """The size of a value, None where there is nothing left to measure it with."""
        # Many nodes in a row ask about one value.
        if self._last is not None and self._last[0] is value:
            return self._last[1]
        if self.measured < 0:
            return None
        size = measure(value)
        self._last = (value, size)
        self.measured -= MEASURED_VALUES if size is None else size.values + _CONTAINER * size.containers
        return size

    def pay(self, cost: float) -> bool:
        """Whether `cost` pairs are left to one part; if so, they are spent."""
        if cost > self.engine * _LARGEST_SHARE:
            return False
        self.engine -= cost
        return True

    def _cost(self, node: Node, value: Any, size: Size | None) -> float:
        if type(value) is not dict and type(value) is not list and node.weight < math.inf:
            return node.weight * (1 + (len(value) // 16 if type(value) is str else 0))
        if type(value) in (dict, list) and (size is None or size.excessive):
            return math.inf
        compared = size.large_integers**2 if size is not None and node.compares else 0
        if compared > self.engine:
            return math.inf
        if size is not None and node.height <= MAX_HEIGHT:
            cost = node.weight * size.units + compared
            if cost <= self.engine:
                return cost
        # More values than can be counted: parts of it may still be.
        if size is not None and size.values > self.count:
            return math.inf
        return self._counted(node, value) + compared

    def _counted(self, start: Node, value: Any) -> float:
        """The exact number of pairs, or infinity where that is too much to count or too deep."""
        known = self._known
        pending: list[tuple[Node, Any, int, list[tuple[int, int]] | None]] = [(start, value, 0, None)]
        while pending:
            node, item, depth, summed = pending.pop()
            key = (node.number, id(item))
            if summed is not None:
                cost = _own(node, item) + sum(known[child] for child in summed) * _repeats(node)
                known[key] = cost
                continue
            if key in known:
                continue
            self.count -= 1
            if self.count < 0 or depth > MAX_HEIGHT:
                return math.inf
            pairs = _pairs(node, item, self.count)
            if pairs is None:
                return math.inf
            keys = [(child.number, id(part)) for child, part in pairs]
            pending.append((node, item, depth, keys))
            pending += [(child, part, depth + 1, None) for child, part in pairs]
        return known[start.number, id(value)]


def _repeats(node: Node) -> int:
    return 4 if "unevaluatedProperties" in node.one or "unevaluatedItems" in node.one else 1


def _own(node: Node, value: Any) -> float:
    kind = type(value)
    if kind is str:
        return node.own_cost + len(value) // 16
    if kind is dict:
        return node.own_cost + len(value) * (1 + len(node.named.get("patternProperties", ())))
    if kind is list and node.asserts.get("uniqueItems"):
        return node.own_cost + 16 * len(value)
    return node.own_cost


def _pairs(node: Node, value: Any, limit: int) -> list[tuple[Node, Any]] | None:
    """The pairs a node leads to: itself, or the values it holds; None where there are too many."""
    pairs: list[tuple[Node, Any]] = [(child, value) for child in node.in_place()]
    if type(value) is dict:
        for name, child in node.named.get("properties", {}).items():
            if name in value:
                pairs.append((child, value[name]))
        below = list(node.named.get("patternProperties", {}).values())
        below += [node.one[word] for word in ("additionalProperties", "unevaluatedProperties") if word in node.one]
        if (len(below) + 1) * len(value) > limit:
            return None
        pairs += [(child, item) for child in below for item in value.values()]
        if "propertyNames" in node.one:
            pairs += [(node.one["propertyNames"], name) for name in value]
    elif type(value) is list:
        pairs += list(zip(node.many.get("prefixItems", ()), value, strict=False))
        below = [node.one[word] for word in ("items", "contains", "unevaluatedItems") if word in node.one]
        if len(below) * len(value) > limit:
            return None
        pairs += [(child, item) for child in below for item in value]
    return pairs if len(pairs) <= limit else None
