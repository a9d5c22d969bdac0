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
def neutraliser(tags: tuple[str, ...], tokens: tuple[str, ...] = ()) -> Callable[[str], str]:
    """A function that breaks every protocol tag of these names and every one of these tokens.

    A tag: `<`, any run of `|`, `/` and ASCII white space, a name (ASCII case ignored), then
    ASCII white space, `>`, `/`, `|` or the end of the text. Linear in the text.
    """
    openers = []
    if tags:
        openers.append(_LEAD + "(?:" + "|".join(map(re.escape, tags)) + ")" + _NAME_END)
    if tokens:
        openers.append("(?-i:" + "|".join(re.escape(token[1:]) for token in tokens) + ")")
    substitute = re.compile("<(?=" + "|".join(openers) + ")", re.ASCII | re.IGNORECASE).sub

    def neutralise(text: str) -> str:
        return substitute("&lt;", text) if "<" in text else text

    return neutralise
