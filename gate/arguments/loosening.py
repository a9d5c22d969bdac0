"""What a schema must give up, so that what was left out of it makes nothing refused."""

from __future__ import annotations

from .node import Node, reachable

_WHOLE_OBJECT = frozenset({"minProperties", "maxProperties", "const", "enum"})


def release(root: Node, injected: frozenset[str]) -> None:
    """Names the host fills in are asked of nobody, and are there where names are counted.

    The arguments are checked without them. A node that speaks of one is marked: it may accept
    what its author refuses, so that `not` and its like must not rely on it (see `settle`).
    """
    for node in reachable(root, Node.in_place):
        asserts = node.asserts
        names = {*asserts.get("required", ()), *asserts.get("dependentRequired", ())}
        names.update(*asserts.get("dependentRequired", {}).values())
        names.update(node.named.get("properties", ()), node.named.get("dependentSchemas", ()))
        node.released = not injected.isdisjoint(names) or not _WHOLE_OBJECT.isdisjoint(asserts)
        if "required" in asserts:
            asserts["required"] = [name for name in asserts["required"] if name not in injected]
        if "dependentRequired" in asserts:
            asserts["dependentRequired"] = {
                name: [needed for needed in names if needed not in injected]
                for name, names in asserts["dependentRequired"].items()
            }
        if "minProperties" in asserts:
            asserts["minProperties"] = max(0, asserts["minProperties"] - len(injected))
        for word in ("const", "enum"):
            asserts.pop(word, None)


def settle(nodes: list[Node]) -> None:
    """Where a lost part would make a keyword refuse more, the keyword goes as well."""
    parents: dict[int, list[Node]] = {}
    for node in nodes:
        for child in node.children():
            parents.setdefault(child.number, []).append(node)
    pending = [node for node in nodes if node.dropped or node.released]
    lost = any(node.dropped for node in nodes)
    tainted = {node.number for node in pending}
    for node in pending:
        for parent in parents.get(node.number, ()):
            if parent.number not in tainted:
                tainted.add(parent.number)
                pending.append(parent)
    for node in nodes:
        if lost:
            node.one.pop("unevaluatedItems", None)
            node.one.pop("unevaluatedProperties", None)
        if node.number in tainted:
            _loosen(node, tainted)
        node.required = frozenset(node.asserts.get("required", ()))


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
