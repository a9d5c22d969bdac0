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

# What may stand between `<` and the name, and what may follow the name (or the body's end).
# Models take `</ tool_result >`, `<|tool_call|>` and `<tool_call/>` for the tag too.
_LEAD = r"[|/\s]*+"
_NAME_END = r"(?=[\s>/|]|\Z)"

_FLAGS = re.ASCII | re.IGNORECASE

# By how rare they are in code and prose; letters and digits not listed are commoner still.
_RARE_FIRST = "|~^`@#$%\\&?_ZQXJKYWVHUGBFPMDLCOINSRAET!+*[]{}:;()-=,./'\"zqxjkvbywgfpmhducl"

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
    openers = []
    if tags:
        openers.append(_LEAD + _any_of(tags) + _NAME_END)
    if tokens:
        openers.append("(?-i:" + _any_of(token[1:] for token in tokens) + ")")
    if not openers:
        return lambda text: text
    substitute = re.compile("<(?=" + "|".join(openers) + ")", _FLAGS).sub
    replacement = broken.replace("\\", "\\\\")
    hints = _hints(tags, tokens)

    def neutralise(text: str) -> str:
        if "<" not in text:
            return text
        for rare, search in hints:
            # memchr first: most texts lack most of these characters.
            at = text.find(rare)
            if at >= 0 and search(text, at):
                return substitute(replacement, text)
        return text

    return neutralise


def _hints(tags: tuple[str, ...], tokens: tuple[str, ...]) -> list[tuple[str, Callable[[str, int], object]]]:
    """Searches of which one finds something in every text that holds a tag or a token.

    Code is full of `<`, and trying each costs more than the rest of rendering. A character
    inside the names is rarer, and a pattern that begins with one literal is searched fastest.
    """
    choices: dict[str, list[str]] = {}
    names: dict[str, list[str]] = {}
    for tag in tags:
        before, _, after = tag.rpartition("_")
        names.setdefault(before, []).append(after)
    for before, afters in names.items():
        if before:
            choices.setdefault("_", []).append(f"(?<={re.escape(before)}_){_any_of(afters)}{_NAME_END}")
        else:
            # Letters alone, whose case is ignored: no literal to search for, so try every tag.
            choices["<"] = [""]
    around: dict[str, list[tuple[str, str]]] = {}
    for token in tokens:
        at = min(range(len(token)), key=lambda index: _rarity(token[index]))
        around.setdefault(token[at], []).append((token[: at + 1], token[at + 1 :]))
    for rare, sides in around.items():
        heads, rests = (tuple(dict.fromkeys(side)) for side in zip(*sides, strict=True))
        exact = "|".join(f"(?<={re.escape(head)})" for head in heads) if len(heads) < len(rests) else _any_of(rests)
        choices.setdefault(rare, []).append(f"(?-i:{exact})")
    # Where case is ignored a letter is no literal; the hints of letters are of tokens alone, which are exact.
    return [
        (rare, re.compile(f"{re.escape(rare)}(?:{'|'.join(rests)})", re.ASCII if rare.isalpha() else _FLAGS).search)
        for rare, rests in choices.items()
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
    return f"(?:{alternatives})"


def _group(first: str, rests: list[str], shared: int) -> str:
    if shared and len(rests) > 1:
        return re.escape(first) + _any_of(rests, shared - 1)
    return "|".join(re.escape(first + rest) for rest in rests)
