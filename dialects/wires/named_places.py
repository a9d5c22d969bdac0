"""Where the references of a schema lead, also those by `$anchor` and by `$id`.

Source: JSON Schema 2020-12, sections 8.2 and 9.2. Nothing outside the schema is ever opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urldefrag, urljoin

from ..schema_refs import resolve, subschemas
from .references import judged_places

ANCHORS = ("$anchor", "$dynamicAnchor")
REFERENCES = ("$ref", "$dynamicRef")


class Places:
    """The places of one schema. `missing`: the references met so far that lead to none.

    A dynamic reference is taken for the one place its name has here: what a caller around the
    schema would make of it does not concern a tool, which is the whole of its document.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._base = _text(schema, "$id") or _text(schema, "id")
        self._judged = set(judged_places(schema))
        self._anchors: dict[str, Any] = {}
        self._documents: dict[str, Any] = {urldefrag(self._base).url: schema}
        for part in subschemas(schema):
            for anchor in {name for key in ANCHORS if (name := _text(part, key))}:
                # A name that stands twice means either, so none.
                self._anchors[anchor] = None if anchor in self._anchors else part
            own = _text(part, "$id")
            if part is not schema and own:
                self._documents.setdefault(urldefrag(_joined(self._base, own)).url, part)
        self.missing: set[str] = set()

    def referred(self, part: dict[str, Any]) -> Iterator[Any]:
        """The schemas that the references of a part lead to."""
        for key in REFERENCES:
            if reference := _text(part, key):
                target = resolve(self._schema, reference)
                if target is None and (found := self._named(reference)) is not None and id(found) in self._judged:
                    target = found
                if target is None:
                    self.missing.add(reference)
                else:
                    yield target

    def _named(self, reference: str) -> Any:
        place, fragment = urldefrag(_joined(self._base, reference))
        document = self._documents.get(place)
        if document is None or not fragment:
            return document
        return resolve(document, f"#{fragment}") if fragment.startswith("/") else self._anchors.get(fragment)


def _text(part: dict[str, Any], key: str) -> str:
    value = part.get(key)
    return value if isinstance(value, str) else ""


def _joined(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:
        # Such as an unclosed bracket in the host.
        return reference
