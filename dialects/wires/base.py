"""The contract of a wire: what one provider's request and reply look like."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ..transcript import ModelResponse, ToolSpec, TranscriptEntry
from .prepared_tools import ToolIssue


class Wire(ABC):
    """A provider's request shape. A wire never adds words to a result, but for a blank one.

    Attachments go where the provider takes them, else behind the results; those it cannot
    take are named there in a part of its own.
    """

    name: ClassVar[str]

    @abstractmethod
    def encode(self, entries: Iterable[TranscriptEntry], tools: Sequence[ToolSpec] = ()) -> dict[str, Any]:
        """Request fields, JSON-ready, named as the provider names them (`messages`, `system`, `tools`, …)."""

    @abstractmethod
    def decode(self, response: Any, tools: Sequence[ToolSpec] = ()) -> ModelResponse:
        """The provider's reply, SDK object or dict. `tools` as given to `encode`, so that
        names that had to be rewritten are mapped back."""

    @abstractmethod
    def host_texts(self, messages: Any) -> Iterator[str]:
        """Each text the host wrote (tool results, user turns) in a message list or a request,
        as the unit the provider keeps apart. System and assistant text never."""

    def messages(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The conversation field of an encoded request, `messages` unless the provider names it otherwise."""
        conversation: list[dict[str, Any]] = request["messages"]
        return conversation

    def tool_issues(self, tools: Iterable[ToolSpec]) -> list[ToolIssue]:
        """What is wrong with the tools' schemas, by tool; `encode` logs the same once."""
        from .tool_specs import prepare_tools

        return prepare_tools(tools)[1]
