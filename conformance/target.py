"""What is tested: a dialect as the suite sees it, and the one that is a Python object.

The suite knows no envelope. It works from what a dialect declares and from what it answers.
"""

from __future__ import annotations

import importlib
import re
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, StrictBool, ValidationError, field_validator

from tooldialect.dialects import (
    AssistantTurn,
    CallFormat,
    ChatMessage,
    ModelResponse,
    ParsedResponse,
    ParsedToolCall,
    Record,
    RenderError,
    ToolDialect,
    ToolOutcome,
    ToolResultBatch,
    ToolSpec,
    TranscriptEntry,
    Wire,
)
from tooldialect.dialects.transcript import Text

from .clause import Need

Capability: TypeAlias = Literal[
    "parse_response", "render_call", "prompt_instructions", "replay", "to_provider_messages", "read_results"
]
ReadResult: TypeAlias = tuple[str, bool, str]
"""Name, success and body of one result, as a model that knows the envelope reads it."""

_T = TypeVar("_T")
_ENTRY = (ChatMessage, AssistantTurn, ToolResultBatch)
_TAG_NAME = re.compile(r"[^\W\d][\w.:-]*")
_NEEDS: dict[Capability, Need] = {
    "parse_response": "parsing",
    "render_call": "calls",
    "prompt_instructions": "catalogue",
    "replay": "replay",
}


class Description(Record):
    """What a dialect declares. `results`: `text` for user messages, `native` for result batches.

    `protocol_tags`: every tag name its envelope writes or its parser reads. `control_tokens`:
    exact strings it breaks in bodies. `capabilities`: what it answers beside `format_results`.
    `numbers`: `double` where its JSON cannot tell 1 from 1.0. `call_format`, `embeds_catalogue` and
    `sends_tool_specs`: as `ToolDialect` has them.
    """

    name: Text
    results: Literal["text", "native"]
    protocol_tags: tuple[Text, ...] = ()
    control_tokens: tuple[Text, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    numbers: Literal["exact", "double"] = "exact"
    call_format: CallFormat | None = None
    embeds_catalogue: StrictBool = True
    sends_tool_specs: StrictBool = False

    @field_validator("protocol_tags", mode="before")
    @classmethod
    def _names_of_tags(cls, tags: Any) -> Any:
        """Tags that nothing could match would let the clauses about broken tags hold by themselves."""
        if isinstance(tags, str):
            raise ValueError(f"a list of names without brackets is wanted, not the string {tags!r}")
        tags = tuple(tags) if isinstance(tags, Iterable) else tags
        for tag in tags if isinstance(tags, tuple) else ():
            if isinstance(tag, str) and not _TAG_NAME.fullmatch(tag):
                raise ValueError(
                    f"{tag!r} cannot be the name of a tag: names without brackets are wanted, such as 'tool_call'"
                )
        return tags

    def meets(self) -> frozenset[Need]:
        """The needs of clauses that this dialect meets."""
        met: set[Need] = {self.results, "gate"}
        met.update(_NEEDS[capability] for capability in self.capabilities if capability in _NEEDS)
        if self.results == "native":
            met.add("calls")
        if self.control_tokens:
            met.add("control_tokens")
        return frozenset(met)


class Refused(Exception):
    """The dialect raised: `kind` is the error's name, the message its own words."""

    def __init__(self, request: str, kind: str, message: str) -> None:
        super().__init__(f"{request} raised {kind}: {message}")
        self.request, self.kind, self.message = request, kind, message


class Unsayable(Refused):
    """The dialect says that its format has no spelling for this (`RenderError`)."""


class ProgramFault(Exception):
    """What is tested does not answer as the protocol asks; looking further makes no sense."""


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


class TargetError(Exception):
    """There is nothing to test: it cannot be imported, started or made."""


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
        self._description = _describe(dialect, read_results, without)

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
        return self._ask("format_results", outcomes, self.dialect.format_results, _entries)

    def parse_response(self, response: ModelResponse) -> ParsedResponse:
        return self._ask(
            "parse_response", [response], lambda given: self.dialect.parse_response(given[0]), _one(ParsedResponse)
        )

    def render_call(self, call: ParsedToolCall) -> str:
        return self._ask("render_call", [call], lambda given: self.dialect.render_call(given[0]), _one(str))

    def prompt_instructions(self, tools: Sequence[ToolSpec]) -> str:
        return self._ask("prompt_instructions", tools, self.dialect.prompt_instructions, _one(str))

    def replay(self, history: Sequence[TranscriptEntry]) -> list[TranscriptEntry]:
        return self._ask("replay", history, self.dialect.replay, _entries)

    def provider_messages(self, history: Sequence[TranscriptEntry], wire: Wire) -> list[dict[str, Any]]:
        return self._ask(
            "to_provider_messages", history, lambda given: self.dialect.to_provider_messages(given, wire), _messages
        )

    def read_results(self, entries: Sequence[TranscriptEntry]) -> list[ReadResult]:
        reader: Any = self._reader or self.dialect.read_results  # type: ignore[attr-defined]  # optional, described
        return self._ask("read_results", entries, reader, _read)

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


def _one(type_: type[_T]) -> Callable[[str, Any], _T]:
    def read(request: str, returned: Any) -> _T:
        if not isinstance(returned, type_):
            raise ProgramFault(f"{request} returned {type(returned).__name__}, not {type_.__name__}")
        return returned

    return read


def _items(request: str, returned: Any, wanted: str) -> list[Any]:
    """What was returned as a list. A record and a string can be gone through, but are no lists."""
    if not isinstance(returned, Iterable) or isinstance(returned, BaseModel | str | bytes | dict):
        raise ProgramFault(f"{request} returned {type(returned).__name__}, not a list of {wanted}")
    return list(returned)


def _entries(request: str, returned: Any) -> list[TranscriptEntry]:
    found = _items(request, returned, "entries")
    for item in found:
        if not isinstance(item, _ENTRY):
            raise ProgramFault(f"{request} returned a list with {type(item).__name__} in it, not a list of entries")
    return found


def _messages(request: str, returned: Any) -> list[dict[str, Any]]:
    found = _items(request, returned, "messages")
    for item in found:
        if not isinstance(item, dict):
            raise ProgramFault(f"{request} returned a list with {type(item).__name__} in it, not a list of dict")
    return found


def _read(request: str, returned: Any) -> list[ReadResult]:
    found = _items(request, returned, "(name, success, body)")
    for item in found:
        shape = [type(part) for part in item] if isinstance(item, list | tuple) else None
        if shape != [str, bool, str]:
            raise ProgramFault(
                f"{request} returned a list with {item!r:.80} in it, not a list of (name, success, body)"
            )
    return [(name, success, body) for name, success, body in found]


def _describe(dialect: ToolDialect, reader: Reader | None, without: Collection[Capability]) -> Description:
    native = dialect.call_format == "native"
    probes: dict[Capability, Callable[[], object]] = {
        "parse_response": lambda: dialect.parse_response(ModelResponse(text="")),
        "render_call": lambda: dialect.render_call(ParsedToolCall(name="probe", arguments={})),
        "prompt_instructions": lambda: dialect.prompt_instructions(()),
        "replay": lambda: dialect.replay([]),
    }
    offered: list[Capability] = [
        name for name, probe in probes.items() if not (native and name in _OF_TEXT) and _offers(probe)
    ]
    if "replay" in offered:
        offered.append("to_provider_messages")
    if reader is not None or hasattr(dialect, "read_results"):
        offered.append("read_results")
    declared = {
        "name": dialect.name,
        "results": "native" if native else "text",
        "protocol_tags": dialect.protocol_tags,
        "control_tokens": tuple(getattr(dialect, "control_tokens", ())),
        "capabilities": tuple(name for name in offered if name not in without),
        "call_format": dialect.call_format,
        "embeds_catalogue": dialect.embeds_catalogue,
        "sends_tool_specs": dialect.sends_tool_specs,
    }
    try:
        return Description.model_validate(declared)
    except ValidationError as invalid:
        first = invalid.errors()[0]
        raise TargetError(
            f"{type(dialect).__name__}.{first['loc'][0]} is {declared[str(first['loc'][0])]!r}: "
            f"{first['msg'].removeprefix('Value error, ')}"
        ) from None


_OF_TEXT = ("render_call",)


def _offers(probe: Callable[[], object]) -> bool:
    """Whether a method is there: one that a dialect does without raises NotImplementedError."""
    try:
        probe()
    except NotImplementedError:
        return False
    except KeyboardInterrupt:
        raise
    except BaseException:  # whatever else it raises, the clauses will see
        return True
    return True


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
