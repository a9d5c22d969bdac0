"""Tool names on the wire: refused ones are respelled, so that no two tools ever share one.

Replacing refused characters alone would merge `docs.search` and `docs_search`, and the
wrong tool would run. So a respelled name ends in a digest of the original, and a name that
already looks respelled is respelled too: the two kinds never meet. The name alone decides,
so neither the other tools nor their order change it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")
_DIGEST_BYTES = 15
_RESPELLED = re.compile(r"_x[a-z2-7]{24}\Z")
_SUFFIX_LENGTH = 26
# What OpenAI, Anthropic, Bedrock and Mistral take.
PORTABLE = re.compile(r"[a-zA-Z0-9_-]+")


def wire_name(name: str, longest: int = 64, taken: re.Pattern[str] = PORTABLE) -> str:
    """The name itself where it is at most `longest` signs and the whole of it is what the
    provider takes, else its respelling, of `[a-zA-Z0-9_-]` and beginning as `taken` does.

    Injective up to collisions of 120 bits of BLAKE2b.
    """
    if len(name) <= longest and taken.fullmatch(name) and not _RESPELLED.search(name):
        return str(name)
    digest = blake2b(name.encode(), digest_size=_DIGEST_BYTES).digest()
    readable = _REFUSED.sub("_", name)
    if not taken.match(readable):
        readable = f"_{readable}" if readable else "tool"
    return f"{readable[: longest - _SUFFIX_LENGTH]}_x{base64.b32encode(digest).decode().lower()}"


def original_names(names: Iterable[str], longest: int = 64, taken: re.Pattern[str] = PORTABLE) -> dict[str, str]:
    """From wire name to name, for those of `names` that were respelled."""
    return {spelled: name for name in names if (spelled := wire_name(name, longest, taken)) != name}


def reported_name(name: Any, names: dict[str, str]) -> str:
    """The tool a reply calls, by the mapping of `original_names`; empty where the reply names none."""
    return names.get(name, name) if isinstance(name, str) else ""
