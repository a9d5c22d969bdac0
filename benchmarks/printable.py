"""What a terminal may be sent: names of files, and words of a file, can hold anything."""

from __future__ import annotations


def printable(text: str, *, keep: str = "") -> str:
    """Escaped: control characters, lone surrogates and whatever else is not to be seen, but those in `keep`."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in keep else ascii(one)[1:-1] for one in text)


def cell(text: str) -> str:
    """In a Markdown table."""
    return printable(text).replace("|", "\\|")
