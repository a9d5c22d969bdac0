"""Breaking what a model or a chat template would obey, and nothing else.

A tool result is data. If a tag in it still reads as a tag, a fetched page can close its own
envelope and forge a second result. Escaping whole bodies would be safe and wrong: source
code turns into entities, and the model writes the entities back into files. So only the `<`
that opens a protocol tag or a control token becomes `&lt;`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from pydantic_core import SchemaError, SchemaValidator, core_schema

# What may stand between `<` and the name, and what may follow the name (or the body's end).
# Models take `</ tool_result >`, `<|tool_call|>` and `<tool_call/>` for the tag too.
_LEAD = r"[|/\s]*+"
_NAME_END = r"(?=[\s>/|]|\Z)"
_NAME_ENDED = r"[\s>/|]"
_LEAD_CHARACTERS = "|/ \t\n\r\f\v"

_FLAGS = re.ASCII | re.IGNORECASE

# By how rare they are in code and prose; letters and digits not listed are commoner still.
_RARE_FIRST = "|~^`@#$%\\&?_ZQXJKYWVHUGBFPMDLCOINSRAET!+*[]{}:;()-=,./'\"zqxjkvbywgfpmhducl"

_FRAGMENT = 6
_RARE_SECOND = frozenset("|~^`@#%&")
_FEW = 3
_ROUNDS = 4

# What the escape itself writes: a token made of it could come into being by breaking another.
_ESCAPE_OVERLAP = re.compile(r"&(?:l(?:t(?:;|\Z)|\Z)|\Z)")


def check_control_tokens(tokens: Iterable[str]) -> tuple[str, ...]:
    """The tokens as a tuple without repetitions.

    Raises TypeError for what is no collection of strings, ValueError for a token that does
    not begin with `<` or that the escape `&lt;` could bring about.
    """
    if isinstance(tokens, str):
        raise TypeError(f"control_tokens is a collection of strings, not one string: ({tokens!r},) is meant?")
    checked = tuple(dict.fromkeys(tokens))
    for token in checked:
        if not isinstance(token, str):
            raise TypeError(f"control_tokens: {token!r} is not a string")
        if not token.startswith("<"):
            raise ValueError(f"control_tokens: {token!r} does not begin with '<'; only the '<' of a token is broken")
        if _ESCAPE_OVERLAP.search(token):
            raise ValueError(f"control_tokens: {token!r} overlaps '&lt;', with which tokens are broken")
    return checked


@lru_cache(maxsize=64)
def neutraliser(tags: tuple[str, ...], tokens: tuple[str, ...] = (), broken: str = "&lt;") -> Callable[[str], str]:
    """A function that breaks every protocol tag of these names and every one of these tokens,
    by putting `broken` in place of the `<` that opens it.

    A tag: `<`, any run of `|`, `/` and ASCII white space, a name (ASCII case ignored), then
    ASCII white space, `>`, `/`, `|` or the end of the text. Linear in the text.
    """
    tag_opener = _LEAD + _any_of(tags) if tags else ""
    token_opener = f"(?-i:{_any_of(token[1:] for token in tokens)})" if tokens else ""
    openers = [opener for opener in (tag_opener and tag_opener + _NAME_END, token_opener) if opener]
    if not openers:
        return lambda text: text
    substitute = re.compile(f"<(?={'|'.join(openers)})", _FLAGS).sub
    replacement = broken.replace("\\", "\\\\")
    # The same, but with what ends the name: wherever it occurs, it is to be broken.
    whole = [opener for opener in (tag_opener and tag_opener + _NAME_ENDED, token_opener) if opener]
    find = re.compile(f"<(?:{'|'.join(whole)})", _FLAGS).search
    rounds = _ROUNDS if _apart(tags, tokens) else 0
    sieves = _sieves(tags, tokens)
    holds_any = _rust(_exact(tags, tokens))
    hints = _hints(tags, tokens)

    def neutralise_ascii(text: str) -> str:
        for holds in sieves:
            if holds(text):
                break
        else:
            return text
        # Floods repeat a few spellings, and replacing one everywhere is ten times faster than substitution.
        for _ in range(rounds):
            if not holds_any(text):
                return text
            opener = find(text)
            if opener is None:
                break
            text = text.replace(opener[0], broken + opener[0][1:])
        return substitute(replacement, text) if holds_any(text) else text

    def neutralise(text: str) -> str:
        if "<" not in text:
            return text
        if text.isascii():
            return neutralise_ascii(text)
        for rare, search in hints:
            # memchr first: most texts lack most of these characters.
            at = text.find(rare)
            if at >= 0 and search(text, at):
                return substitute(replacement, text)
        return text

    return neutralise


def _apart(tags: tuple[str, ...], tokens: tuple[str, ...]) -> bool:
    """Whether nothing to be broken begins inside a token, so that they can be broken in any order."""
    letters = {tag[:1].lower() for tag in tags}
    for token in tokens:
        for at in range(1, len(token)):
            if token[at] != "<":
                continue
            inner = token[at:]
            name = inner[1:].lstrip(_LEAD_CHARACTERS)
            if not name or name[0].lower() in letters:
                return False
            if any(inner.startswith(other) or other.startswith(inner) for other in tokens):
                return False
    return True


def _sieves(tags: tuple[str, ...], tokens: tuple[str, ...]) -> list[Callable[[str], bool]]:
    """Predicates of which one holds for every ASCII text with a tag or a token."""
    heads = {tag[:_FRAGMENT] for tag in tags if tag.isascii()}
    fragments = {_fragment(token) for token in tokens if token.isascii()}
    patterns = []
    if heads:
        patterns.append(f"(?i-u:{_rust_any(heads)})")
    if fragments:
        patterns.append(_rust_any(fragments))
    return [_rust(pattern) for pattern in patterns]


def _exact(tags: tuple[str, ...], tokens: tuple[str, ...]) -> str:
    """The pattern that an ASCII text holds iff it holds a tag or a token."""
    names = [tag for tag in tags if tag.isascii()]
    exact = [token for token in tokens if token.isascii()]
    tag = rf"(?i-u:<[|/\s]*(?:{_rust_any(names)})(?:[|/\s>]|\z))" if names else ""
    return "|".join(pattern for pattern in (tag, _rust_any(exact)) if pattern)


def _rust(pattern: str) -> Callable[[str], bool]:
    """Whether a text holds a match; True where that cannot be told.

    pydantic's core searches literals with vector instructions, ten times faster than `re`, and
    its automaton costs 2 ns a byte at worst, where `re` tries each `<` for 50. Only for ASCII
    texts: it would encode others, keep the bytes with the text, and take none that holds a surrogate.
    """
    if not pattern:
        return lambda _: False
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")).isinstance_python
    except SchemaError:  # thousands of tokens: more than its automaton may hold
        return lambda _: True


def _rust_any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(_rust_literal, words)))


def _rust_literal(text: str) -> str:
    return "".join(character if character.isalnum() else f"\\x{ord(character):02x}" for character in text)


def _fragment(token: str) -> str:
    """A part of the token that is rare elsewhere; few and short literals are found fastest."""
    return token[:2] if token[1:2] in _RARE_SECOND else token[-_FRAGMENT:]


def _hints(tags: tuple[str, ...], tokens: tuple[str, ...]) -> list[tuple[str, Callable[[str, int], object]]]:
    """Searches of which one finds something in every text that holds a tag or a token.

    Code is full of `<`, and trying each costs more than the rest of rendering. A character
    inside the names is rarer, and a pattern that begins with one literal is searched fastest.
    """
    searches: list[tuple[str, Callable[[str, int], object]]] = []
    choices: dict[str, list[str]] = {}
    names: dict[str, list[str]] = {}
    for tag in tags:
        before, _, after = tag.rpartition("_")
        names.setdefault(before, []).append(after)
    for before, afters in names.items():
        if before:
            choices.setdefault("_", []).append(f"(?<={re.escape(before)}_){_any_of(afters)}{_NAME_END}")
        else:
            searches += [hint for after in afters for hint in _hints_of_word(after)]
    around: dict[str, list[tuple[str, str]]] = {}
    for token in tokens:
        at = min(range(len(token)), key=lambda index: _rarity(token[index]))
        around.setdefault(token[at], []).append((token[: at + 1], token[at + 1 :]))
    for rare, sides in around.items():
        heads, rests = (tuple(dict.fromkeys(side)) for side in zip(*sides, strict=True))
        exact = "|".join(f"(?<={re.escape(head)})" for head in heads) if len(heads) < len(rests) else _any_of(rests)
        choices.setdefault(rare, []).append(f"(?-i:{exact})")
    # Where case is ignored a letter is no literal; the hints of letters are of tokens alone, which are exact.
    return searches + [
        (rare, re.compile(f"{re.escape(rare)}(?:{'|'.join(rests)})", re.ASCII if rare.isalpha() else _FLAGS).search)
        for rare, rests in choices.items()
    ]


def _hints_of_word(word: str) -> list[tuple[str, Callable[[str, int], object]]]:
    """The same for a tag without `_`: its rarest letter, in either case, which keeps it a literal."""
    if not word:
        return [("<", re.compile("<").search)]
    at = min(range(len(word)), key=lambda index: _rarity(word[index]))
    before, rare, after = word[:at], word[at], word[at + 1 :]
    pattern = f"(?<=(?i:{re.escape(before)}).)(?i:{re.escape(after)}){_NAME_END}"
    return [
        (letter, re.compile(re.escape(letter) + pattern, re.ASCII | re.DOTALL).search)
        for letter in sorted({rare.lower(), rare.upper()} if rare.isascii() else {rare})
    ]


def _rarity(character: str) -> int:
    if not character.isascii():
        return -1
    place = _RARE_FIRST.find(character)
    return len(_RARE_FIRST) if place < 0 else place


def _any_of(words: Iterable[str], shared: int = 2) -> str:
    """An alternation in which words share their first characters, so that most are refused at once."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(word[:1], []).append(word[1:])
    alternatives = "|".join(_group(first, rests, shared) for first, rests in groups.items())
    # A set is one look-up; an alternation tries each of its words.
    guard = f"(?=[{''.join(map(re.escape, groups))}])" if len(groups) > _FEW and "" not in groups else ""
    return f"(?:{guard}{alternatives})"


def _group(first: str, rests: list[str], shared: int) -> str:
    if shared and len(rests) > 1:
        return re.escape(first) + _any_of(rests, shared - 1)
    return "|".join(re.escape(first + rest) for rest in rests)
