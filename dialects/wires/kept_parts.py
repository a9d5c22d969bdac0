"""The parts of an assistant turn that must come back exactly as they came.

Thinking is signed: sent back changed, in another order or on another part, it is refused. A
turn's text and calls alone cannot say where it stood, so the reply's parts are kept in the
turn's metadata, but for the arguments, which are in its calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..transcript import AssistantTurn
from .reply import copied, json_or_none

Part: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PartSpelling:
    """How a provider spells the parts of a turn. Each function takes any dict.

    `is_told`: text and calls say all there is in the part. `said`: its text, None for what is
    no text of the answer. `called`: id (None where the provider gave none) and wire name of
    the call in it. `without_arguments`: the same call. `is_part`: whether it could be one.
    `respell`: the wire name of a tool's name.
    """

    namespace: str
    is_told: Callable[[Part], bool]
    said: Callable[[Part], str | None]
    called: Callable[[Part], tuple[str | None, str] | None]
    without_arguments: Callable[[Part], Part]
    is_part: Callable[[Part], bool]
    respell: Callable[[str], str]

    def kept(self, parts: Iterable[Part]) -> dict[str, Any] | None:
        """The metadata for a reply of these parts; None where text and calls say it all."""
        parts = [{key: value for key, value in part.items() if value is not None} for part in parts]
        are_calls = [self.called(part) is not None for part in parts]
        texts = sum(self.said(part) is not None for part in parts)
        if all(map(self.is_told, parts)) and are_calls == sorted(are_calls) and texts <= 1:
            return None
        shown = [self.without_arguments(p) if is_call else p for p, is_call in zip(parts, are_calls, strict=True)]
        kept = [part for part in map(json_or_none, shown) if part]
        return {self.namespace: {"content": kept}} if kept else None

    def kept_of(self, turn: AssistantTurn) -> list[Part]:
        """A copy of what the metadata of a turn holds. A transcript that others can write may hold anything."""
        mine = (turn.metadata or {}).get(self.namespace)
        content = mine.get("content") if isinstance(mine, dict) else None
        if not isinstance(content, list):
            return []
        return [copied(part) for part in content if isinstance(part, dict) and self.is_part(part)]

    def agrees(self, kept: list[Part], turn: AssistantTurn, names: list[str]) -> bool:
        """Whether nobody edited the turn since (`names`: its calls' wire names): a text that was
        redacted must not come back through the metadata."""
        if not kept:
            return False
        text = "".join(self.said(part) or "" for part in kept)
        made = [called for part in kept if (called := self.called(part)) is not None]
        calls = list(zip((call.id for call in turn.tool_calls), names, strict=True))
        return (
            text == (turn.text or "")
            and len(made) == len(calls)
            and all(
                # A name that no tool has may be one that the provider would refuse.
                its in (name, self.respell(name)) and id_ in (None, own)
                for (id_, name), (own, its) in zip(made, calls, strict=True)
            )
        )
