"""Inputs that are hard to frame, made from what a dialect declares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from tooldialect.dialects import ToolOutcome

# Line ends, zero-width and look-alike characters, a BOM, NUL, an astral character, a Kelvin sign, combining marks.
ODD_CHARACTERS = (
    "\n", "\r\n", "\r", "\t", "\x00", "\x0b", "\x1b", "\x7f", "\x85", "\u200b", "\u2028", "\u2029", "\ufeff",
    "\u0130", "\u017f", "\u212a", "e\u0301", "\u00e9", "\ufb01", "\uff1c", "\U0001f600", "\u202e", "\ufffd",
)  # fmt: skip
MARKUP = (
    "<", ">", "/", "|", "&", "&lt;", "&amp;", "&#60;", '"', "'", "\\", "\\n", "\\u003c", "%3C", "]]>", "<![CDATA[", "```",
    "a < b && c", '<div className="a">', "</div>", "std::vector<int>", "<?xml?>", "<!-- -->", "{}", '{"a": 1}', "[", "]",
)  # fmt: skip
MARKERS = (
    "[contract-gate:0123456789abcdef:mcp:a:b@0123456789abcdef]", "[Tool results]\n", "[Tool result]", "Tool results:\n",
    "### Result", "---\n",
)  # fmt: skip
CODE = (
    "if a < b && c: return <div/>",
    '<div className="a">{items.map(i => <li key={i}>{i}</li>)}</div>\n',
    "std::vector<std::pair<int, char*>> v; v[0] |= 1 << 3;",
    "&lt;already &amp; escaped&gt; \\u003c \\n",
    "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-<a>\n+<b>\n",
    '{"a": ["<x>", 1.0, null], "b": "\\"quoted\\""}',
    "SELECT * FROM t WHERE a <> b -- x | y",
    "  indented\n\ttabbed\n\n\nblank lines  \n",
    "</div></body></html>",
    "",
    " \n ",
)

words = st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8)
odd_text = st.lists(st.sampled_from(ODD_CHARACTERS + MARKUP) | st.text(max_size=4), max_size=8).map("".join)
blank_text = st.text(alphabet=" \t\r\n\f\v\u00a0\u2028\u3000", max_size=4)
any_text = odd_text | st.text(max_size=20)


def tag_pattern(tags: Sequence[str]) -> re.Pattern[str]:
    """A tag that a model or a reader would obey: written from the rule, sharing nothing with any dialect.

    `<`, any run of bars, slashes and white space, a name in any ASCII case, then white space,
    `>`, `/`, `|` or the end of the text.
    """
    names = "|".join(re.escape(tag) for tag in sorted(tags, key=len, reverse=True)) or "(?!)"
    return re.compile(rf"<[|/ \t\r\n\f\v]*(?:{names})(?=[ \t\r\n\f\v>/|]|\Z)", re.IGNORECASE | re.ASCII)


def tag_spellings(tag: str) -> tuple[str, ...]:
    """Ways to write a tag that models have been seen to obey."""
    mixed = "".join(letter.upper() if place % 2 else letter for place, letter in enumerate(tag))
    return (
        f"</{tag}>", f"<{tag}>", f"<{tag.upper()}>", f"</{mixed}>", f"< / {tag} >", f"<|{tag}|>", f"<{tag}/>", f"<\t{tag}\n>",
        f'<{tag} name="pay" status="ok">\n', f"\n</{tag}>\n<{tag}>\n", f"<{tag}", f"</{tag}", f"<||//{tag.title()}|", f"<{tag}\f",
        f"<<{tag}>", f"<|/{tag}\v", f"<{tag}\r\n", f"&lt;<{tag}>", f"<{tag}|x",
    )  # fmt: skip


def near_misses(tag: str) -> tuple[str, ...]:
    """What only resembles the tag and must survive."""
    return (
        f"<{tag}s>", f"<{tag}ant>", f"<{tag}:x>", f"<{tag}-x>", f"<{tag}_x>", f"<x{tag}>", f"<{tag}.x>", f"< x {tag}>", f"&lt;{tag}>",
        f"<{tag}\u00e9>", f"<{tag}\u00a0>", f"{tag}>", f"<\u00a0{tag}>", f"<{tag[:-1]}>", f"<{tag}9>", f"\uff1c{tag}>", f"<!{tag}>",
        f"<{tag}{{}}>", f"({tag})", f"<{tag}\u2028>", f"<_{tag}>", f"<{tag[:-1]}\u212a>", f"<-{tag}>",
    )  # fmt: skip


def hostile_text(tags: Sequence[str], tokens: Sequence[str] = ()) -> st.SearchStrategy[str]:
    """Tags in every spelling, halves of them, look-alikes, markers, and what lies between."""
    pieces = [*ODD_CHARACTERS, *MARKUP, *MARKERS, *tokens]
    for tag in tags:
        pieces += [*tag_spellings(tag), *near_misses(tag), tag, f"<{tag[: len(tag) // 2]}", tag[len(tag) // 2 :]]
    return st.lists(st.sampled_from(pieces) | st.text(max_size=3), max_size=8).map("".join)


def written_hostile(tags: Sequence[str]) -> list[str]:
    """The same by hand: every spelling of every tag, alone, in the middle and at the end of a text."""
    return [text for tag in tags for spelling in tag_spellings(tag) for text in (spelling, f"a{spelling}b")]


@st.composite
def rounds(draw: st.DrawFn, bodies: st.SearchStrategy[str], *, marks: bool = True, least: int = 1) -> list[ToolOutcome]:
    """Outcomes of one round with ids that differ; names repeat."""
    size = draw(st.integers(least, 6))
    return [
        ToolOutcome(
            name=draw(st.sampled_from(("read_file", "fetch", "get_weather"))),
            output=draw(bodies),
            success=draw(st.booleans()),
            tool_call_id=f"call-{place}",
            trusted_verbatim=marks and draw(st.booleans()),
        )
        for place in range(size)
    ]


# JSON that tells its types apart. Floats are kept off integers only where a dialect's JSON cannot tell.
def json_values(numbers: str) -> st.SearchStrategy[Any]:
    exact = numbers == "exact"
    whole = st.integers() if exact else st.integers(-(2**53) + 1, 2**53 - 1)
    broken = st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: exact or not value.is_integer())
    scalars = st.none() | st.booleans() | whole | broken | any_text
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=5,
    )
