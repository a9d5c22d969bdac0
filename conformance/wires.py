"""The wires on which a text has to arrive: every one that is installed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from tooldialect.dialects import PlainChatWire, Wire, wires


@cache
def _wires() -> tuple[tuple[str, Wire], ...]:
    found: list[tuple[str, Wire]] = []
    for name in wires.__all__:
        made = getattr(wires, name)
        if isinstance(made, type) and issubclass(made, Wire) and made is not Wire:
            try:
                found.append((made.name, made()))
            except ImportError:  # its extra is not installed
                continue
    found.append(("plain-chat, strict", PlainChatWire(strict_alternation=True)))
    return tuple(found)


def every_wire() -> Iterator[tuple[str, Wire]]:
    """Label and wire, in a fixed order."""
    return iter(_wires())
