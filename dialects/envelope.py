"""How a batch of results is framed for a model that reads text.

    [Tool results]
    <tool_result name="NAME" status="ok|error">
    BODY
    </tool_result>

with `id="CALL_ID"` in place of `name="NAME"` where no name is known. The rule of escaping
depends on the position: attributes are read back exactly by an XML reader, bodies are left
as they are but for what would be obeyed (`neutralise`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from .tags import RESULT_TAGS

_TAG = RESULT_TAGS[0]
BANNER = "[Tool results]\n"
_TAIL = f"\n</{_TAG}>\n"

# Not a Char of XML 1.0 (section 2.2); surrogates never get here, records replace them.
_FORBIDDEN = "\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff"
# A reader turns literal tab, LF and CR of an attribute into spaces (XML 1.0, 3.3.3).
_IN_ATTRIBUTE = re.compile(f'[&<>"\t\n\r\x7f-\x9f{_FORBIDDEN}]')
# Literal CR would be read as LF (XML 1.0, 2.11).
_IN_BODY = re.compile(f"[&<>\r{_FORBIDDEN}]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_REFERENCES = {"\t", "\n", "\r", *map(chr, range(0x7F, 0xA0))}


def frame(results: Iterable[tuple[str, str]], render_body: Callable[[str], str], changed: str = "") -> str:
    """The message for one batch: banner, then head and body of each result in order.

    `render_body` changes no body that lacks the text `changed`, and is not asked about those.
    """
    parts = [BANNER]
    # One list, one join: adding to a string or formatting a body copies it once more.
    for head, body in results:
        parts += (head, render_body(body) if changed in body else body, _TAIL)
    return "".join(parts)


def join_results(parts: list[str]) -> str:
    """What `frame` gives, of a head from `NEXT_OK` or `NEXT_FAILED` and a rendered body for each result.

    `parts` is used up.
    """
    parts[0] = BANNER + parts[0][len(_TAIL) :]
    parts.append(_TAIL)
    return "".join(parts)


class _NextHeads(dict[str, str]):
    """By tool: the end of the result before and the opening tag of one, in one text, for one status.

    A look-up here costs a third of a call of a cached function, and two parts a result join faster than three.
    """

    def __init__(self, *, success: bool) -> None:
        super().__init__()
        self._success = success

    def __missing__(self, name: str) -> str:
        if len(self) >= _MOST_HEADS:
            self.clear()
        head = self[name] = _TAIL + result_head(name, self._success)
        return head


_MOST_HEADS = 1024
NEXT_OK, NEXT_FAILED = _NextHeads(success=True), _NextHeads(success=False)


def escape_body(body: str) -> str:
    """The body as XML character data: read back exactly, but for what XML 1.0 forbids (U+FFFD)."""
    return _IN_BODY.sub(_as_xml, body)


@lru_cache(maxsize=1024)
def result_head(name: str, success: bool) -> str:
    """The opening tag and its line break, for a result whose tool is known."""
    return _render_head("name", name, success)


def nameless_head(call_id: str, success: bool) -> str:
    """The same for a result of which only the call is known."""
    return _render_head("id", call_id, success)


def _render_head(attribute: str, value: str, success: bool) -> str:
    escaped = _IN_ATTRIBUTE.sub(_as_xml, value)
    return f'<{_TAG} {attribute}="{escaped}" status="{"ok" if success else "error"}">\n'


def _as_xml(match: re.Match[str]) -> str:
    character = match[0]
    if character in _ENTITIES:
        return _ENTITIES[character]
    return f"&#{ord(character)};" if character in _REFERENCES else "\ufffd"
