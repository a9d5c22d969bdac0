"""What is tested: a dialect as the suite sees it, and the one that is a Python object.

The suite knows no envelope. It works from what a dialect declares and from what it answers.
"""

from __future__ import annotations

import importlib
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

from tooldialect.dialects import (
    ModelResponse,
    ParsedResponse,
    ParsedToolCall,
    Record,
    RenderError,
    ToolDialect,
    ToolOutcome,
    ToolSpec,
    TranscriptEntry,
    Wire,
)

from .description import Capability, Description, ReadResult
from .faults import ProgramFault, Refused, TargetError, Unsayable
from .python_answers import describe, entries, messages, one, read_results_of

__all__ = [
    "Capability",
    "Description",
    "ProgramFault",
    "PythonTarget",
    "ReadResult",
    "Refused",
    "Subject",
    "Target",
    "TargetError",
    "Unsayable",
    "load_target",
]

_T = TypeVar("_T")


class Subject(ABC):
    """One dialect, made for some tools. Every method raises Refused where the dialect raises.

    `changed_inputs`: requests of which the dialect changed the list or the records it was given.
    """

    def __init__(self) -> None:
        self.changed_inputs: list[str] = []

    @abstractmethod
    def format_results(self, outcomes: Sequence[ToolOutcome]) -> list[TranscriptEntry]: ...

    @abstractmethod
    def parse_response(self, response: ModelResponse) -> ParsedResponse: ...

    @abstractmethod
    def render_call(self, call: ParsedToolCall) -> str: ...

    @abstractmethod
    def prompt_instructions(self, tools: Sequence[ToolSpec]) -> str: ...

    @abstractmethod
    def replay(self, history: Sequence[TranscriptEntry]) -> list[TranscriptEntry]: ...

    @abstractmethod
    def provider_messages(self, history: Sequence[TranscriptEntry], wire: Wire) -> list[dict[str, Any]]: ...

    @abstractmethod
    def read_results(self, entries: Sequence[TranscriptEntry]) -> list[ReadResult]: ...


class Target(ABC):
    """Makes subjects. `name` stands in reports."""

    name: str

    @abstractmethod
    def describe(self) -> Description: ...

    @abstractmethod
    def make(self, tools: Sequence[ToolSpec] = ()) -> Subject: ...

    def elsewhere(self, tools: Sequence[ToolSpec] = ()) -> Subject:
        """The same dialect with nothing remembered; another process where there can be one."""
        return self.make(tools)

    def cpu_seconds(self) -> float:
        """Processor time that answering has cost so far; only differences count."""
        return time.process_time()

    def close(self) -> None:  # noqa: B027 - most have nothing to end
        """Ends what was started."""


Factory: TypeAlias = Callable[[Sequence[ToolSpec]], ToolDialect]
Reader: TypeAlias = Callable[[Sequence[TranscriptEntry]], Iterable[ReadResult]]


class PythonTarget(Target):
    """`factory(tools)` makes the dialect. `read_results`, if given, reads its envelope (else its own
    method of that name, if it has one). `spec`: `module:factory`, to make it in another process. `without`: methods it does without."""

    def __init__(
        self,
        factory: Factory,
        *,
        name: str | None = None,
        read_results: Reader | None = None,
        spec: str | None = None,
        without: Collection[Capability] = (),
    ) -> None:
        self._factory, self._reader, self._spec = factory, read_results, spec
        self._other: Target | None = None
        dialect = self._dialect(())
        self.name = name or f"{type(dialect).__module__}.{type(dialect).__qualname__}"
        self._description = describe(dialect, has_reader=read_results is not None, without=without)

    def describe(self) -> Description:
        return self._description

    def make(self, tools: Sequence[ToolSpec] = ()) -> Subject:
        try:
            return PythonSubject(self._dialect(tuple(tools)), self._reader)
        except (KeyboardInterrupt, TargetError):
            raise
        except BaseException as error:
            raise Refused("making the dialect", type(error).__name__, str(error)) from error

    def elsewhere(self, tools: Sequence[ToolSpec] = ()) -> Subject:
        if self._spec is None:
            return self.make(tools)
        if self._other is None:
            from .process import ProcessTarget

            self._other = ProcessTarget([sys.executable, "-m", "tooldialect.conformance.serve", self._spec])
        return self._other.make(tools)

    def close(self) -> None:
        if self._other is not None:
            self._other.close()
            self._other = None

    def _dialect(self, tools: Sequence[ToolSpec]) -> ToolDialect:
        dialect = self._factory(tools)
        if not isinstance(dialect, ToolDialect):
            raise TargetError(f"{self._factory!r} made a {type(dialect).__name__}, not a ToolDialect")
        return dialect


class PythonSubject(Subject):
    """A dialect in this process. What it raises, of whatever type, is the dialect's answer.

    Raises ProgramFault where it returns what the method does not return.
    """

    def __init__(self, dialect: ToolDialect, reader: Reader | None) -> None:
        super().__init__()
        self.dialect, self._reader = dialect, reader

    def format_results(self, outcomes: Sequence[ToolOutcome]) -> list[TranscriptEntry]:
        return self._ask("format_results", outcomes, self.dialect.format_results, entries)

    def parse_response(self, response: ModelResponse) -> ParsedResponse:
        return self._ask(
            "parse_response", [response], lambda given: self.dialect.parse_response(given[0]), one(ParsedResponse)
        )

    def render_call(self, call: ParsedToolCall) -> str:
        return self._ask("render_call", [call], lambda given: self.dialect.render_call(given[0]), one(str))

    def prompt_instructions(self, tools: Sequence[ToolSpec]) -> str:
        return self._ask("prompt_instructions", tools, self.dialect.prompt_instructions, one(str))

    def replay(self, history: Sequence[TranscriptEntry]) -> list[TranscriptEntry]:
        return self._ask("replay", history, self.dialect.replay, entries)

    def provider_messages(self, history: Sequence[TranscriptEntry], wire: Wire) -> list[dict[str, Any]]:
        return self._ask(
            "to_provider_messages", history, lambda given: self.dialect.to_provider_messages(given, wire), messages
        )

    def read_results(self, entries: Sequence[TranscriptEntry]) -> list[ReadResult]:
        reader: Any = self._reader or self.dialect.read_results  # type: ignore[attr-defined]  # optional, described
        return self._ask("read_results", entries, reader, read_results_of)

    def _ask(
        self,
        request: str,
        records: Sequence[Record],
        call: Callable[[list[Any]], object],
        read: Callable[[str, Any], _T],
    ) -> _T:
        # Copies, so that a dialect that changes what it is given spoils nothing but this answer.
        given = [record if isinstance(record, ToolOutcome) else record.model_copy(deep=True) for record in records]
        before = [record.model_dump_json() for record in given]
        try:
            return read(request, call(given))
        except (KeyboardInterrupt, ProgramFault):
            raise
        except RenderError as error:
            raise Unsayable(request, type(error).__name__, str(error)) from error
        except BaseException as error:  # SystemExit too, which would end the run without a word
            raise Refused(request, type(error).__name__, str(error)) from error
        finally:
            if [record.model_dump_json() for record in given] != before:
                self.changed_inputs.append(request)


def load_target(spec: str) -> PythonTarget:
    """The dialect at `package.module:name`: a ToolDialect class, an instance, or a factory called
    with the tools. Raises TargetError, saying what could not be done."""
    module_name, separator, attribute = spec.partition(":")
    if not (module_name and separator and attribute):
        raise TargetError(f"{spec!r} names no dialect: write package.module:factory")
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a stranger's module raises what it likes
        raise TargetError(f"{spec!r} cannot be imported: {type(error).__name__}: {error}") from error
    if isinstance(found, Target):
        raise TargetError(f"{spec!r} is a conformance target: name the dialect's own class or factory")
    if not callable(found) and not isinstance(found, ToolDialect):
        raise TargetError(f"{spec!r} is a {type(found).__name__}, neither a dialect nor a factory")
    factory: Factory = found if callable(found) else lambda _tools: found
    try:
        return PythonTarget(factory, name=spec, spec=spec)
    except (KeyboardInterrupt, TargetError):
        raise
    except BaseException as error:
        raise TargetError(f"{spec!r} makes no dialect: {type(error).__name__}: {error}") from error
