"""Breaking what a model or a chat template would obey, and nothing else.

A tool result is data. If a tag in it still reads as a tag, a fetched page can close its own
envelope and forge a second result. Escaping whole bodies would be safe and wrong: source
code turns into entities, and the model writes the entities back into files. So only the `<`
that opens a protocol tag or a control token becomes `&lt;`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache, partial

from .openers import LEAD_CHARACTERS, holds_opener, opener, sieves, whole_opener
from .text import clean_text

# A long text is broken in pieces of about so many characters: what is made of one fits the
# caches, and one that holds nothing to be broken costs no search.
_PIECE = 24 * 1024

# A spelling is replaced everywhere while that adds one character in so many, and not oftener than that.
_DENSE = 32
_ROUNDS = 8
# Texts with more `<` than one in so many are searched as floods of them.
_FLOOD = 6

# What the escape itself writes: a token made of it could come into being by breaking another.
_ESCAPE_OVERLAP = re.compile(r"&(?:l(?:t(?:;|\Z)|\Z)|\Z)")


def check_control_tokens(tokens: Iterable[str]) -> tuple[str, ...]:
    """The tokens as a tuple without repetitions.

    Raises TypeError for what is no collection of strings, ValueError for a token that does not
    begin with `<`, that the escape `&lt;` could bring about, or that holds a lone surrogate.
    """
    if isinstance(tokens, str):
        raise TypeError(f"control_tokens is a collection of strings, not one string: ({tokens!r},) is meant?")
    checked = tuple(dict.fromkeys(tokens))
    for token in checked:
        if not isinstance(token, str):
            raise TypeError(f"control_tokens: {token!r} is not a string")
        if not token.startswith("<"):
            raise ValueError(f"control_tokens: {token!r} does not begin with '<'; only the '<' of a token is broken")
        if clean_text(token) != token:
            raise ValueError(f"control_tokens: {token!r} holds a surrogate, which no text has that can be sent")
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
    if not tags and not tokens:
        return lambda text: text
    inner = _inner(tokens)
    replacement = broken.replace("\\", "\\\\")
    apart = _apart(tags, tokens)
    # Compiled when a text first needs them: most never do, and it takes milliseconds.
    may_hold, whole = cache(partial(sieves, tags, tokens)), cache(partial(whole_opener, tags, tokens))
    predicate, pattern = cache(partial(holds_opener, tags, tokens)), cache(partial(opener, tags, tokens))

    def break_openers(text: str, *, at_end: bool) -> str:
        holds = predicate(at_end=at_end)
        if not holds(_searchable(text)):
            return text
        openers = pattern(at_end=at_end, flooded=text.count("<") * _FLOOD > len(text))
        # Floods repeat a few spellings, and replacing one everywhere is many times faster than substitution.
        for _ in range(_ROUNDS if apart else 0):
            first = openers.search(text)
            if first is None:
                return text
            spelled = whole().match(text, first.start())
            if spelled is None:  # a name that the text's end ends
                break
            length = len(text)
            # `replace` looks for each place twice.
            text = (broken + spelled[0][1:]).join(text.split(spelled[0]))
            if not holds(_searchable(text)):
                return text
            if (len(text) - length) * _DENSE < length:
                break
        return openers.sub(replacement, text)

    def neutralise(text: str) -> str:
        if "<" not in text:
            return text
        searchable = _searchable(text)
        for may in may_hold():
            if may(searchable):
                break
        else:
            return text
        if len(text) <= _PIECE or not apart:
            return break_openers(text, at_end=True)
        broken_up: list[str] = []
        unchanged = True
        # One after the other: holding all pieces beside what becomes of them would double the memory.
        for piece, last in _pieces(text, inner):
            broken_up.append(break_openers(piece, at_end=last))
            unchanged = unchanged and broken_up[-1] is piece
        return text if unchanged else "".join(broken_up)

    return neutralise


def _searchable(text: str) -> str | bytes:
    """The text as the predicates take it. A lone surrogate is in no tag and no token, and nor is what it becomes."""
    return text if text.isascii() else text.encode(errors="replace")


def _pieces(text: str, inner: list[tuple[str, int]]) -> Iterator[tuple[str, bool]]:
    """The text in pieces, and whether each is the last. Cut before a `<`, of which a tag has one, at its beginning;
    but not before the `inner` ones of a token."""
    start, cut = 0, text.find("<", _PIECE)
    while cut >= 0:
        if any(text.startswith(token, cut - at) for token, at in inner):
            cut = text.find("<", cut + 1)
            continue
        yield text[start:cut], False
        start, cut = cut, text.find("<", cut + _PIECE)
    yield text[start:], True


def _inner(tokens: tuple[str, ...]) -> list[tuple[str, int]]:
    """Each `<` of a token but the first: the token, and where in it."""
    return [(token, at) for token in tokens for at in range(1, len(token)) if token[at] == "<"]


def _apart(tags: tuple[str, ...], tokens: tuple[str, ...]) -> bool:
    """Whether nothing to be broken begins inside a token, so that they can be broken in any order."""
    letters = {tag[:1].lower() for tag in tags}
    for token, at in _inner(tokens):
        inside = token[at:]
        name = inside[1:].lstrip(LEAD_CHARACTERS)
        if not name or name[0].lower() in letters:
            return False
        if any(inside.startswith(other) or other.startswith(inside) for other in tokens):
            return False
    return True
