"""The contract of a dialect: catalogue, calls, results and history are one whole.

Pieces that can be chosen apart can disagree, and a model that is taught one spelling and
shown another fails without any error. So one object answers for all four.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from .transcript import ModelResponse, ParsedResponse, ParsedToolCall, ToolOutcome, ToolSpec, TranscriptEntry
from .wires.base import Wire

CallFormat: TypeAlias = Literal["native", "json", "slots"]
"""How a call is spelled, and so what `render_catalogue` and the gate show of a tool.

`native`: in the request's and the reply's own fields, no text. `json`: an object of name and
arguments in text; the catalogue holds whole schemas. `slots`: `name[0|a|1|b]` in text; the
catalogue numbers the slots.
"""


class ToolDialect(ABC):
    """How tool calls and results are spelled for a model.

    `name`: what `get_dialect` knows it by. `protocol_tags`: every tag name its envelope
    writes or its parser reads. `sends_tool_specs`: tools go into the request's own field.
    `embeds_catalogue`: `prompt_instructions` lists the tools. `call_format`: how a call is
    spelled.
    """

    name: ClassVar[str]
    protocol_tags: ClassVar[tuple[str, ...]] = ()
    sends_tool_specs: ClassVar[bool] = False
    embeds_catalogue: ClassVar[bool] = True
    call_format: ClassVar[CallFormat] = "json"

    def __init_subclass__(cls, **options: Any) -> None:
        """Raises TypeError for a class that could be instantiated and has no `name`."""
        super().__init_subclass__(**options)
        # ABCMeta fills in `__abstractmethods__` only after this.
        names = {name for base in cls.__mro__ for name in (*getattr(base, "__abstractmethods__", ()), *vars(base))}
        is_abstract = any(getattr(getattr(cls, name, None), "__isabstractmethod__", False) for name in names)
        if not is_abstract and not hasattr(cls, "name"):
            raise TypeError(f"{cls.__name__} has no name: set the class attribute `name`, by which it is known")

    @abstractmethod
    def format_results(self, outcomes: Iterable[ToolOutcome]) -> list[TranscriptEntry]:
        """The outcomes of one round, in order, as the records that follow the assistant turn.

        An outcome marked `trusted_verbatim` becomes an entry of its own with exactly its text.
        """

    @abstractmethod
    def parse_response(self, response: ModelResponse) -> ParsedResponse:
        """The narrative text and the calls in it. No model output raises."""

    @abstractmethod
    def render_call(self, call: ParsedToolCall) -> str:
        """The call as a model of this dialect writes it; `parse_response` reads it back equal.

        Raises RenderError for what the format cannot say.
        """

    @abstractmethod
    def prompt_instructions(self, tools: Sequence[ToolSpec]) -> str:
        """The protocol block for the system prompt; the host puts it there."""

    @abstractmethod
    def replay(self, history: Iterable[TranscriptEntry]) -> list[TranscriptEntry]:
        """History lowered to what this dialect puts on the wire; the input is not changed."""

    def to_provider_messages(
        self, history: Iterable[TranscriptEntry], wire: Wire | None = None
    ) -> list[dict[str, Any]]:
        """The conversation field of a request, by default OpenAI Chat's.

        What travels in fields of its own (such as `system`) is not in it: `wire.encode` has it.
        """
        if wire is None:
            from .wires.openai_chat import OpenAIChatWire

            wire = OpenAIChatWire()
        return wire.messages(wire.encode(self.replay(history)))
