"""Which names a schema knows at its top level, and whether it takes others."""

from __future__ import annotations

from typing import NamedTuple

from .node import Node, reachable


class KnownNames(NamedTuple):
    """`closed`: a name beyond `names` is one the schema does not know."""

    names: frozenset[str]
    closed: bool


def known_names(root: Node) -> KnownNames:
    """Names through everything that speaks of the same object: references, unions, conditions.

    A schema that lists no property, that allows others itself (`additionalProperties`,
    `patternProperties`), or of which a part could not be read, takes any: a bare `required` says
    which names must be there, not which may.
    """
    names: set[str] = set()
    listed = False
    is_open = False
    for node in reachable(root, Node.in_place):
        listed |= bool(node.named.get("properties"))
        names.update(node.named.get("properties", ()), node.asserts.get("required", ()))
        for name, needed in node.asserts.get("dependentRequired", {}).items():
            names.update((name, *needed))
        names.update(node.named.get("dependentSchemas", ()))
        others = [node.one[word] for word in ("additionalProperties", "unevaluatedProperties") if word in node.one]
        is_open |= node.loose or "patternProperties" in node.named or any(not other.never for other in others)
    return KnownNames(frozenset(names), listed and not is_open)
