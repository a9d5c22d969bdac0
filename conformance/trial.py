"""What a clause's check is given: the subject, and a search for inputs that break it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from tooldialect.dialects import ModelResponse, ParsedToolCall, ToolCall, ToolSpec

from .clause import Violation
from .description import Description
from .faults import ProgramFault, Refused
from .target import Subject, Target

_T = TypeVar("_T")


@dataclass(frozen=True)
class Profile:
    """How hard to look: `examples` drawn per search, beside the written ones; 0 draws none. `megabyte`: how large
    E6 goes. `shrink`: whether a drawn counter-example is made small."""

    name: str
    examples: int
    megabyte: int = 1 << 20
    shrink: bool = True


PROFILES = {
    "quick": Profile("quick", 25),
    "thorough": Profile("thorough", 200),
}


class Search:
    """Looks for an input on which a check fails. `example`: the one it failed on, if any."""

    def __init__(self, seed: int, profile: Profile) -> None:
        self._seed, self._profile = seed, profile
        self.example: Any = None

    def every(self, inputs: Iterable[_T], check: Callable[[_T], object]) -> None:
        """Checks the written inputs, simplest first."""
        for example in inputs:
            self.example = example
            check(example)
        self.example = None

    def any(self, strategy: st.SearchStrategy[_T], check: Callable[[_T], object], written: Iterable[_T] = ()) -> None:
        """Checks the written inputs, then drawn ones; a drawn one that fails is shrunk.

        The same seed draws the same inputs; nothing is read from or written to disk.
        """
        self.every(written, check)
        if not self._profile.examples:
            return
        found: list[tuple[_T, Exception]] = []

        def attempt(example: _T) -> None:
            if found and isinstance(found[-1][1], ProgramFault):
                return
            try:
                check(example)
            except Exception as error:
                found.append((example, error))
                raise

        try:
            seed(self._seed)(self._settings(given(strategy)(attempt)))()
        except Exception:
            # The shrunk one is replayed last. A dialect that answers differently each time
            # makes hypothesis complain instead; what was seen first still counts.
            if not found:
                raise
            self.example, error = found[-1]
            raise error from None

    @property
    def _settings(self) -> settings:
        phases = [Phase.generate, Phase.shrink] if self._profile.shrink else [Phase.generate]
        return settings(
            max_examples=self._profile.examples,
            database=None,
            deadline=None,
            derandomize=False,
            phases=phases,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=Verbosity.quiet,
        )


class Trial:
    """One clause on one dialect."""

    def __init__(self, target: Target, clause_id: str, *, seed: int, profile: Profile) -> None:
        self.target, self.profile = target, profile
        self.search = Search(seed ^ zlib.crc32(clause_id.encode()), profile)
        self._subjects: dict[tuple[str, ...], Subject] = {}

    @cached_property
    def about(self) -> Description:
        return self.target.describe()

    @property
    def is_native(self) -> bool:
        return self.about.results == "native"

    def offers(self, capability: str) -> bool:
        return capability in self.about.capabilities

    def subject(self, tools: Sequence[ToolSpec] = ()) -> Subject:
        """The dialect for these tools, made once."""
        key = tuple(tool.model_dump_json() for tool in tools)
        if key not in self._subjects:
            self._subjects[key] = self.target.make(tools)
        return self._subjects[key]

    def spell(self, calls: Sequence[ParsedToolCall], subject: Subject, between: str = "\n") -> ModelResponse:
        """What a model of this dialect replies to make these calls. Raises Unsayable."""
        if self.is_native:
            return ModelResponse(
                text=between,
                tool_calls=tuple(
                    ToolCall(id=call.id or f"call-{place}", name=call.name, arguments=_json(call.arguments))
                    for place, call in enumerate(calls)
                ),
            )
        return ModelResponse(text=between.join(map(subject.render_call, calls)))


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def violation(error: Exception) -> Violation | None:
    """The error as a broken promise: a violation itself, or what the dialect raised unasked."""
    if isinstance(error, Violation):
        return error
    if isinstance(error, Refused | ProgramFault):
        return Violation(str(error))
    return None
