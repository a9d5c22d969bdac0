"""What opens a protocol tag or a control token: patterns that say where, predicates that say whether.

`re` has positions, and tries each `<` for 50 ns. pydantic's core has none; it searches literals with
vector instructions, and its automaton costs 2 ns a byte at worst. So the predicates are asked first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from os.path import commonprefix
from typing import TypeAlias

from pydantic_core import SchemaError, SchemaValidator, core_schema

# Texts that are not ASCII are given as UTF-8: of a string the core would keep such a copy with the string.
Holds: TypeAlias = Callable[[str | bytes], bool]

# What may stand between `<` and the name, and what may follow the name (or the text's end).
# Models take `</ tool_result >`, `<|tool_call|>` and `<tool_call/>` for the tag too.
LEAD_CHARACTERS = "|/ \t\n\r\f\v"
_LEAD = r"[|/\s]*+"
_NAME_ENDED = r"[\s>/|]"

# How many places behind the `<` are looked at before all else.
_GUARDED = 5
# How much of a name or a token is searched for at first.
_FRAGMENT = 6
_RARE_SECOND = frozenset("|~^`@#%&")
# How often an alternation may branch: a host's tokens are no reason for a pattern without bottom.
_BRANCHINGS = 8
# More tokens than these are asked for apart from the tags: many words and nothing else are searched at one speed.
_MANY = 256


def opener(tags: tuple[str, ...], tokens: tuple[str, ...], *, at_end: bool, flooded: bool) -> re.Pattern[str]:
    """Matches the `<` of each, and no more than that. `at_end`: a name may also be ended by the text's end.
    `flooded`: for texts that are full of `<`, most of which open nothing; the result is the same."""
    ahead = _exact(tags, tokens, rf"(?:{_NAME_ENDED}|\Z)" if at_end else _NAME_ENDED)
    guard = _guard(tags, tokens) if flooded else []
    if guard:
        # Sets in a row are refused five times as fast as an alternation. So the first places are asked for
        # sets, and the rest is tried from behind them: `<(?=[/t][/to][/tol](?<=(?=/*tool>).{3}))`.
        ahead = f"{''.join(guard)}(?<=(?={ahead}).{{{len(guard)}}})"
    return re.compile(f"<(?={ahead})", re.ASCII | re.DOTALL)


def whole_opener(tags: tuple[str, ...], tokens: tuple[str, ...]) -> re.Pattern[str]:
    """Matches one with all that makes it one: wherever the same text stands, its `<` opens."""
    return re.compile(f"<{_exact(tags, tokens, _NAME_ENDED)}", re.ASCII)


def holds_opener(tags: tuple[str, ...], tokens: tuple[str, ...], *, at_end: bool) -> Holds:
    """Whether a text holds one. `at_end`: a name may also be ended by the text's end."""
    name_end = rf"(?:{_NAME_ENDED}|\z)" if at_end else _NAME_ENDED
    tag = rf"(?i-u:<[|/\s]*(?:{_rust_any(tags)}){name_end})" if tags else ""
    if len(tokens) <= _MANY:
        return _rust("|".join(pattern for pattern in (tag, _rust_any(tokens)) if pattern))
    holds_tag, holds_token = _rust(tag), _rust(_rust_any(tokens))
    return lambda text: holds_tag(text) or holds_token(text)


def sieves(tags: tuple[str, ...], tokens: tuple[str, ...]) -> list[Holds]:
    """Predicates of which one holds for every text that has an opener; few and short literals are found fastest."""
    heads, fragments = {tag[:_FRAGMENT] for tag in tags}, set(map(_fragment, tokens))
    patterns = [f"(?i-u:{_rust_any(heads)})"] if heads else []
    return [_rust(pattern) for pattern in (*patterns, _rust_any(fragments)) if pattern]


def _fragment(token: str) -> str:
    """A part of the token that is rare elsewhere."""
    return token[:2] if token[1:2] in _RARE_SECOND or not token.isascii() else token[-_FRAGMENT:]


def _exact(tags: tuple[str, ...], tokens: tuple[str, ...], name_end: str) -> str:
    alternatives = [f"{_LEAD}(?i:{_any_of(tags)}){name_end}"] if tags else []
    if tokens:
        alternatives.append(_any_of(token[1:] for token in tokens))
    return f"(?:{'|'.join(alternatives)})"


def _guard(tags: tuple[str, ...], tokens: tuple[str, ...]) -> list[str]:
    """For each of the first places behind the `<`, the set of what any opener has there."""
    reach = min(_GUARDED, *(len(tag) for tag in tags), *(len(token) - 1 for token in tokens))
    guard = []
    for place in range(reach):
        characters = {token[place + 1] for token in tokens}
        for tag in tags:
            # Any number of the name's letters may be put off by what leads to it.
            characters.update(
                LEAD_CHARACTERS, *((c.lower(), c.upper()) if c.isascii() else c for c in tag[: place + 1])
            )
        guard.append(f"[{''.join(map(re.escape, sorted(characters)))}]")
    return guard


def _any_of(words: Iterable[str], branchings: int = _BRANCHINGS) -> str:
    """An alternation of the words, what several begin with said once: a text is compared with no more than one of
    them to its end."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(word[:1], []).append(word)
    alternatives: list[str] = []
    for first, group in groups.items():
        if not first or len(group) == 1 or not branchings:
            alternatives += map(re.escape, group)
        else:
            shared = commonprefix(group)  # noqa: RUF071 - by characters is what is wanted
            rests = [word[len(shared) :] for word in group]
            alternatives.append(re.escape(shared) + _any_of(rests, branchings - 1))
    return f"(?:{'|'.join(alternatives)})"


def _rust(pattern: str) -> Holds:
    """Whether a text holds a match; True where that cannot be told."""
    if not pattern:
        return lambda _: False
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")).isinstance_python
    except SchemaError:  # thousands of tokens: more than its automaton may hold
        return lambda _: True


def _rust_any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(_rust_literal, words)))


def _rust_literal(text: str) -> str:
    return "".join(c if c.isalnum() or not c.isascii() else f"\\x{ord(c):02x}" for c in text)
