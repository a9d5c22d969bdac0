"""Call ids on the wire: a provider's own are kept, refused and missing ones are replaced.

The replacement depends on the call's turn and position and on earlier turns alone, so a
growing history keeps its bytes and the provider's prompt cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any


def numbered(turn: int, position: int, attempt: int) -> str:
    """A readable id in every provider's alphabet but Mistral's nine characters."""
    return f"call_{turn}_{position}" + (f"_{attempt}" if attempt else "")


class WireIds:
    """The ids of one request, turn by turn in order.

    `accepts`: whether the provider takes the id as it is. `request_wide`: ids may not repeat
    in the whole request, else only not within a turn. `mint(turn, position, attempt)`: the
    replacement; attempts differ, and the first that no earlier call uses is taken.
    """

    def __init__(
        self,
        accepts: Callable[[str], bool],
        *,
        request_wide: bool,
        mint: Callable[[int, int, int], str] = numbered,
    ) -> None:
        self._accepts = accepts
        self._request_wide = request_wide
        self._mint = mint
        self._turns = 0
        self._used: set[str] = set()
        self._minted: set[str] = set()

    def turn(self, ids: Sequence[str]) -> list[str]:
        """The wire ids of the next turn's calls, pairwise different, in order."""
        turn, self._turns = self._turns, self._turns + 1
        taken = self._used if self._request_wide else self._minted
        kept: dict[str, int] = {}
        for position, id_ in enumerate(ids):
            if id_ not in kept and id_ not in taken and self._accepts(id_):
                kept[str(id_)] = position
        self._used.update(kept)
        return [
            str(id_) if kept.get(id_) == position else self._fresh(turn, position) for position, id_ in enumerate(ids)
        ]

    def stray(self, id_: str) -> str:
        """The wire id of a result whose call is not in the request."""
        if self._accepts(id_):
            self._used.add(id_)
            return id_
        return self.turn([id_])[0]

    def _fresh(self, turn: int, position: int) -> str:
        attempt = 0
        while (id_ := self._mint(turn, position, attempt)) in self._used:
            attempt += 1
        self._used.add(id_)
        self._minted.add(id_)
        return id_


def given_ids(reported: Iterable[Any]) -> set[str]:
    """The ids that the calls of a reply have, so that none is invented that a later call has."""
    return {id_ for id_ in reported if isinstance(id_, str) and id_}


def reported_id(reported: Any, taken: set[str]) -> str:
    """The id as reported; where a server gave none, one that no call of this reply (`taken`) has."""
    if isinstance(reported, str) and reported:
        return reported
    number = len(taken)
    while (made := f"call_{number}") in taken:
        number += 1
    taken.add(made)
    return made
