"""The way of a delivery through a host: what was seen at each hop, and the first where its bytes differ."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

from pydantic import BaseModel

from tooldialect.gate.marker import PREFIX

_PROBE = 48
_PROBES = 8


@dataclass(frozen=True)
class Hop:
    """One place on the way: all texts seen there and, of those that records hold, which are flagged."""

    name: str
    texts: tuple[str, ...]
    flagged: Mapping[str, bool]


class Break(NamedTuple):
    """Where a delivery broke first: in words, and the text that stands in its place."""

    where: str
    got: str


def seen_at(name: str, values: Sequence[Any]) -> Hop:
    """Every text in the values: strings, records, SDK models, and lists and dicts of them."""
    texts: list[str] = []
    flagged: dict[str, bool] = {}
    for text, flag in _texts(values):
        texts.append(text)
        if flag is not None:
            flagged[text] = flagged.get(text, False) or flag
    return Hop(name, tuple(texts), flagged)


def first_break(hops: Sequence[Hop], delivery: str) -> Break | None:
    """The first hop where the delivery is not what it was. None where every hop that shows it shows it whole.

    A flag that was there and is gone counts: what follows will frame the text.
    """
    was_flagged, last = False, None
    for hop in hops:
        if delivery in hop.texts:
            is_flagged = hop.flagged.get(delivery)
            if was_flagged and is_flagged is False:
                return Break(f"{hop.name} (the bytes are the same, the flag trusted_verbatim is gone)", delivery)
            was_flagged = was_flagged or bool(is_flagged)
            last = hop
        elif (altered := nearest(hop.texts, delivery)) is not None:
            return Break(f"{hop.name} ({how(delivery, altered)})", altered)
    if last is not None and last is not hops[-1]:
        return Break(f"the one behind {last.name}, where it was seen last, whole", "")
    return None


def nearest(texts: Sequence[str], delivery: str) -> str | None:
    """The text that has most of the delivery in it, whatever happened to its white space; None where none has any."""
    plain = _squeezed(delivery)
    step = max(1, (len(plain) - _PROBE) // _PROBES)
    probes = {plain[start : start + _PROBE] for start in range(0, max(1, len(plain) - _PROBE + 1), step)}
    header = delivery.partition("]")[0]
    # What leads with a marker of its own is another delivery, and contracts resemble each other.
    others = [text for text in texts if not text.startswith(PREFIX) or text.startswith(header) or delivery in text]
    scored = [(sum(probe in _squeezed(text) for probe in probes), text) for text in others]
    score, text = max(scored, key=lambda pair: pair[0], default=(0, ""))
    return text if score else None


def how(delivery: str, got: str) -> str:
    """What was done to a delivery, in words."""
    place = got.find(delivery)
    if place >= 0:
        return f"{place} characters stand before it, {len(got) - place - len(delivery)} behind"
    if delivery.startswith(got.rstrip()):
        return f"cut after {len(got.rstrip())} of {len(delivery)} characters"
    if _squeezed(delivery) == _squeezed(got):
        return "its white space was changed"
    return f"{len(got)} characters in place of {len(delivery)}"


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _texts(value: Any) -> Iterator[tuple[str, bool | None]]:
    """Every string in a structure, and the flag of the record that holds it, if it has one."""
    pending: deque[tuple[Any, bool | None]] = deque([(value, None)])
    while pending:
        item, flag = pending.popleft()
        if isinstance(item, str):
            yield item, flag
        elif isinstance(item, Mapping):
            flag = item.get("trusted_verbatim", flag)
            pending.extend((inner, flag) for inner in item.values())
        elif isinstance(item, list | tuple | set | frozenset):
            pending.extend((inner, flag) for inner in item)
        elif isinstance(item, BaseModel):
            flag = getattr(item, "trusted_verbatim", flag)
            pending.extend((inner, flag) for inner in dict(item).values())
        elif is_dataclass(item) and not isinstance(item, type):
            flag = getattr(item, "trusted_verbatim", flag)
            pending.extend((getattr(item, part.name), flag) for part in fields(item))
