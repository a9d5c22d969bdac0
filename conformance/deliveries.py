"""Deliveries to issue, and what they can be altered to: by hand, and drawn."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import TypeAlias

from hypothesis import strategies as st

from .strategies import odd_text

Delivery: TypeAlias = tuple[str, Mapping[str, str]]
"""A payload, and what it claims: `{key: version}`."""

V1, V2, V3 = "0123456789abcdef", "fedcba9876543210", "00000000ffffffff"
ORDER: Delivery = ('The tool was NOT executed.\n\n{"tool": "mcp:shop:order"}', {"mcp:shop:order": V1})
TWO_KEYS = {"mcp:shop:order": V1, "mcp:shop:refund": V2}
WRITTEN: tuple[Delivery, ...] = (
    ORDER,
    ("", {"tool:x": V1}),
    ("two keys", TWO_KEYS),
    ("two keys, the other way round", {"mcp:shop:refund": V2, "mcp:shop:order": V1}),
    (" padded \n", {"tool:\u00e9\u4e16\U0001f600": V1}),
    ("caf\u00e9 \u2028 \ufeff \x00 \r\n \U0001f600", {'tool:a"b\\c': V1}),
    ("x" * 20_000, {"composio:GMAIL_SEND": V3}),
    ("many", {f"mcp:shop:tool-{number}": f"{number:016x}" for number in range(256)}),
)

keys = st.text(
    alphabet=st.characters(exclude_categories=["Cs", "Cc", "Zs"], exclude_characters=",@]<>"), min_size=1, max_size=12
)
versions = st.sampled_from((V1, V2, V3))
deliveries = st.tuples(odd_text, st.dictionaries(keys, versions, min_size=1, max_size=3))


def numbered(number: int) -> Delivery:
    return f"The contract of tool {number}.", {f"mcp:shop:tool-{number}": f"{number:016x}"}


def alterations(text: str) -> list[str]:
    changes: tuple[Callable[[str], str], ...] = (
        str.strip, str.lower, str.upper, lambda t: f"{t} ", lambda t: f" {t}", lambda t: f"{t}\n", lambda t: t[:-1], lambda t: t[1:],
        lambda t: " ".join(t.split()), lambda t: t.replace("\r\n", "\n"), lambda t: t.replace("\x00", ""), lambda t: f"\ufeff{t}",
        lambda t: unicodedata.normalize("NFD", t), lambda t: t[:10_000] + "y" + t[10_001:], lambda t: t + t, lambda _: "",
    )  # fmt: skip
    return [change(text) for change in changes]
