"""Local references of one schema document: pointers, anchors, ids. Nothing is ever opened."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

# What is walked for ids and anchors; a document beyond it has its outer part indexed.
_MAX_INDEXED = 50_000
# The values under these are data, not schemas.
_DATA = frozenset({"enum", "const", "default", "examples", "example"})


class Unresolved(Exception):
    """A reference that this document cannot answer, or that is dynamic in earnest."""


class References:
    """Finds the schema that a `$ref` names, by the rules of the document's draft."""

    def __init__(self, document: Any, draft: int) -> None:
        self._draft = draft
        self._bases: dict[int, str] = {}
        self._resources: dict[str, Any] = {"": document}
        self._anchors: dict[tuple[str, str], Any] = {}
        self._dynamic: dict[str, int] = {}
        self._recursive_anchors = 0
        self._index(document)

    def _index(self, document: Any) -> None:
        pending: list[tuple[Any, str]] = [(document, "")]
        for value, base in pending:
            if len(pending) > _MAX_INDEXED:
                break
            if isinstance(value, dict):
                here = self._name(value, base)
                self._bases[id(value)] = here
                pending += [
                    (item, here) for word, item in value.items() if type(item) in (dict, list) and word not in _DATA
                ]
            else:
                pending += (
                    [(item, base) for item in value if type(item) in (dict, list)] if value.__class__ is list else []
                )

    def _name(self, schema: dict[str, Any], base: str) -> str:
        if self._draft <= 7 and "$ref" in schema:
            return base
        declared = schema.get("id" if self._draft == 4 else "$id")
        if isinstance(declared, str):
            if declared.startswith("#"):
                self._anchors[base, declared[1:]] = schema
            else:
                try:
                    base = urldefrag(urljoin(base, declared)).url
                except ValueError:
                    return base
                self._resources.setdefault(base, schema)
        for word in ("$anchor", "$dynamicAnchor"):
            anchor = schema.get(word)
            if isinstance(anchor, str):
                self._anchors.setdefault((base, anchor), schema)
        if isinstance(schema.get("$dynamicAnchor"), str):
            self._dynamic[schema["$dynamicAnchor"]] = self._dynamic.get(schema["$dynamicAnchor"], 0) + 1
        self._recursive_anchors += schema.get("$recursiveAnchor") is True
        return base

    def resolve(self, word: str, reference: Any, schema: dict[str, Any]) -> Any:
        """The schema (object or boolean) that `reference`, the value of `word` in `schema`, names.

        Raises Unresolved where it is no string, leads out of the document or nowhere, or where
        its target would depend on the path taken there.
        """
        if not isinstance(reference, str):
            raise Unresolved
        try:
            url, fragment = urldefrag(urljoin(self._bases.get(id(schema), ""), reference))
        except ValueError:
            raise Unresolved from None
        fragment = unquote(fragment)
        if word == "$recursiveRef" and self._recursive_anchors > 1:
            raise Unresolved
        if word == "$dynamicRef" and self._dynamic.get(fragment, 0) > 1:
            raise Unresolved
        if url not in self._resources:
            raise Unresolved
        resource = self._resources[url]
        if fragment.startswith("/"):
            target = _follow(resource, fragment)
        else:
            target = self._anchors.get((url, fragment)) if fragment else resource
        if not isinstance(target, (dict, bool)):
            raise Unresolved
        return target


def _follow(value: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif (
            isinstance(value, list) and name.isascii() and name.isdigit() and len(name) < 10 and int(name) < len(value)
        ):
            value = value[int(name)]
        else:
            raise Unresolved
    return value
