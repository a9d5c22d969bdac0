"""User and assistant in turn: what Anthropic and Bedrock have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Block: TypeAlias = dict[str, Any]


class Turns:
    """Messages under construction: neighbours of one role become one, the first is a user's
    (`opening` where the history has none), and in each the results come first."""

    def __init__(self, opening: Block, is_result: Callable[[Block], bool]) -> None:
        self._opening = opening
        self._is_result = is_result
        self._messages: list[dict[str, Any]] = []

    def add(self, role: str, blocks: list[Block]) -> None:
        if not blocks:
            return
        if not self._messages and role == "assistant":
            self.add("user", [self._opening])
        if self._messages and self._messages[-1]["role"] == role:
            self._messages[-1]["content"].extend(blocks)
        else:
            self._messages.append({"role": role, "content": list(blocks)})

    def finish(self) -> list[dict[str, Any]]:
        for message in self._messages:
            if message["role"] == "user":
                message["content"].sort(key=lambda block: not self._is_result(block))
        return self._messages
