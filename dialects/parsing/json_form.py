r"""The JSON form of a call: `{"name": …, "arguments": {…}}`, as taught, and no other keys' meaning guessed.

A JSON reader decides where the object ends, so a tag inside a string argument ends nothing.
Weak models write control characters and stray backslashes in strings. The former are
taken as they are. The latter are read as backslashes only where that is the one reading:
in `"\d+"`, but not in `"C:\dir\new"`, where `\n` would silently become a line break.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..call_arguments import KINDS_IN_WORDS
from ..text import MAX_FIELD_DEPTH, clean_json, clean_text, refuse_constant
from ..transcript import ParsedToolCall
from .names import KnownNames
from .spelling import BLANK
from .tagged import Broken, Found, Page, Tag

TAUGHT = 'Write {"name": "TOOL", "arguments": {…}} and nothing else between the tags.'

JSON_LESS_THAN = "\\u003c"

_BEGINS = re.compile(
    rf"""(?:\[{BLANK})?\{{{BLANK}(?:["'“{{}}]|[A-Za-z_]\w*+["']?{BLANK}:)|```""",
    re.ASCII,
)
_BRACE = re.compile(rf"\{{{BLANK}(?!\.\.\.|…)")
_CUT_BEGIN = re.compile(rf"(?:\{{{BLANK}\w*+)?\Z", re.ASCII)
# Outside its strings a JSON text holds neither `<` nor `\`. Stopping there keeps the work linear:
# of two openers, one inside the other's string, the quotes between them end one of the readings.
_PLAIN = re.compile(r'(?:[^"{}\[\]<\\]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_ESCAPE = re.compile(r'\\(?:(?P<sure>["/])|(?P<open>[\\bfnrt]|u[0-9a-fA-F]{4}))?')
_NAME = re.compile(rf'\{{{BLANK}"name"{BLANK}:{BLANK}("[^"\\]*+(?:\\.[^"\\]*+)*+")', re.DOTALL)
_HARMLESS_KEYS = frozenset({"name", "arguments", "id", "type"})


class JsonGrammar:
    """Calls of the xml dialect; `names` are the tools given."""

    def __init__(self, names: Iterable[str]) -> None:
        self._known = KnownNames(names)

    def begins(self, page: Page, position: int) -> bool:
        """A JSON object, what a model takes for one, or a known name misspelled as a call."""
        start = page.skip_gap(position)
        return begins_json_call(page, position) or self._known.misspelled_call(page.text, start) is not None

    def read(self, page: Page, opener: Tag) -> Found | Broken:
        """The call behind an opener where `begins` holds."""
        return read_json_call(page, opener, self._known)


def begins_json_call(page: Page, position: int) -> bool:
    """A JSON object, or what a model takes for one, begins behind white space at `position`."""
    start = page.skip_gap(position)
    if _BEGINS.match(page.text, start) or (page.truncated and _CUT_BEGIN.match(page.text, start)):
        return True
    # Whatever is between a brace and the closing tag was meant as a call, but for a drawn gap.
    tag = page.tag_from(start) if _BRACE.match(page.text, start) else None
    return tag is not None and tag.is_call and tag.closes


def read_json_call(page: Page, opener: Tag, known: KnownNames) -> Found | Broken:
    """The call in JSON form behind an opener where `begins_json_call` holds."""
    start = page.skip_gap(opener.end)
    end, ran_out = _object_end(page.text, start) if page.text.startswith("{", start) else (None, False)
    if end is None:
        name = _name_at(page.text, start) or known.misspelled_call(page.text, start)
        return page.broken_off(opener, name, f"this is not JSON. {TAUGHT}", ran_out=ran_out)
    body = page.text[start:end]
    closer = page.closer_at(end)
    if closer is None:
        return _without_closer(page, _name_at(body, 0), end)
    try:
        name, arguments = _call(_loads_object(body))
    except ValueError as error:
        return Broken("malformed", _name_at(body, 0), f"{error}. {TAUGHT}", closer.end)
    if why := known.why_unknown(name):
        return Broken("unknown_tool", name, why, closer.end)
    return Found(ParsedToolCall(name=name, arguments=arguments), closer.end)


def write_json_call(name: str, arguments: Mapping[str, Any] | str, neutralise: Callable[[str], str]) -> str:
    r"""The call as JSON; a string of arguments goes in raw.

    `neutralise` breaks the `<` of what a reader or a chat template would obey. Here that
    `<` becomes `\u003c`, which a JSON reader undoes.
    """
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, allow_nan=False)
    call = f'{{"name": {json.dumps(name, ensure_ascii=False)}, "arguments": {text}}}'
    broken = neutralise(call)
    if broken == call:
        return call
    first, *others = call.split("<")
    written = [first]
    position = len(first)
    for other in others:
        kept = broken[position] == "<"
        written += ("<" if kept else JSON_LESS_THAN, other)
        position += len("<" if kept else "&lt;") + len(other)
    return "".join(written)


def read_loose_json(text: str) -> Any:
    """JSON as models write it (control characters in strings); ValueError for anything else."""
    return clean_json(_loads(text))


def _loads(text: str) -> Any:
    try:
        return json.loads(text, strict=False, parse_constant=refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _without_closer(page: Page, name: str | None, end: int) -> Broken:
    following = page.tag_from(end)
    if following and following.is_call and following.closes:
        detail = f"something stands between the JSON object and the closing tag. {TAUGHT}"
        return Broken("malformed", name, detail, following.end)
    ran_out = page.truncated or page.ends_at(end)
    end = len(page.text) if ran_out and following is None else end
    return Broken("incomplete" if ran_out else "malformed", name, "the closing tag is missing.", end)


def _object_end(text: str, start: int) -> tuple[int | None, bool]:
    """Where the brackets balance; else None, and whether the text ran out before."""
    depth = 0
    position = start
    while True:
        plain = _PLAIN.match(text, position)
        position = plain.end() if plain else position
        char = text[position : position + 1]
        if char in ("", '"'):
            return None, True
        if char in "<\\":
            return None, False
        depth += 1 if char in "{[" else -1
        position += 1
        if depth == 0:
            return position, False


def _loads_object(body: str) -> dict[str, Any]:
    try:
        value = _loads(body)
    except ValueError as error:
        repaired = _STRING.sub(_double_stray_backslashes, body)
        if repaired == body:
            raise ValueError(f"this is not valid JSON: {error}") from None
        try:
            value = _loads(repaired)
        except ValueError:
            raise ValueError(f"this is not valid JSON: {error}") from None
    assert isinstance(value, dict)
    return value


def _double_stray_backslashes(string: re.Match[str]) -> str:
    escapes = list(_ESCAPE.finditer(string[0]))
    stray = any(found.lastgroup is None for found in escapes)
    if not stray or any(found.lastgroup == "open" for found in escapes):
        return string[0]
    return _ESCAPE.sub(lambda found: found[0] if found.lastgroup else "\\\\", string[0])


def _call(value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ValueError('the object has no "name"')
    if "arguments" not in value:
        strays = [key for key in value if key not in _HARMLESS_KEYS]
        if strays:
            raise ValueError(f'the object has no "arguments" but {json.dumps(strays[0][:80], ensure_ascii=False)}')
        return clean_text(name), {}
    arguments = value["arguments"]
    if isinstance(arguments, str):
        if not arguments.strip():
            return clean_text(name), {}
        try:
            arguments = _loads(arguments)
        except ValueError as error:
            raise ValueError(f'"arguments" is a string that is not JSON: {error}') from None
    if not isinstance(arguments, dict):
        raise ValueError(f'"arguments" is {KINDS_IN_WORDS[type(arguments)]}, not an object')
    # Cleaned alone: what a call may hold must not depend on how deep it stands in this text.
    return clean_text(name), clean_json(arguments, "arguments", max_depth=MAX_FIELD_DEPTH)


def _name_at(text: str, start: int) -> str | None:
    found = _NAME.match(text, start)
    if not found:
        return None
    try:
        name = json.loads(found[1], strict=False)
    except ValueError:
        return None
    return name if isinstance(name, str) and name.strip() else None
