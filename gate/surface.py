"""A surface: a tool of the host through which late-bound targets are reached.

A host's own surface is any object with these members; `Surface` is the base that has the
usual ones ready made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from tooldialect.dialects import ParsedToolCall, ToolSpec

from .contract import Contract
from .errors import GateError
from .sources.base import ContractSource
from .sources.static import StaticSource
from .target import GateTarget


class Surface(ABC):
    """How target and inner arguments stand in a call, and who knows the contracts.

    `kind`: the kind of every target that `read` returns. `source`: answers for their
    contracts. `injected`: a tuple of keys that the host adds to the inner arguments itself;
    they are neither required nor unknown. `fields`: what the model calls the parts of a
    target, in their order, for answers that name one; empty where it has no words for them.
    """

    kind: str
    source: ContractSource
    injected: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    @abstractmethod
    def matches(self, name: str) -> bool:
        """Whether calls of this name go through this surface."""

    @abstractmethod
    def read(self, call: ParsedToolCall) -> tuple[GateTarget, Any] | None:
        """Target and inner arguments, as they came; None where the call names no target.

        It reads what a model wrote: anything may be missing or of the wrong type.
        """

    @abstractmethod
    def write(self, call: ParsedToolCall, arguments: Any) -> ParsedToolCall:
        """The same call with other inner arguments; the rest of its envelope stays."""

    @abstractmethod
    def reissue(self, target: GateTarget, arguments: Any) -> ParsedToolCall:
        """The call that reaches `target` with these inner arguments."""

    @staticmethod
    def mcp(
        source: ContractSource,
        tool: str = "mcp_registry_tool_call",
        server: str = "server_id",
        name: str = "tool_name",
        arguments: str = "arguments",
    ) -> Surface:
        """`tool(server, name, arguments)` calls a tool of an MCP server."""
        return _Envelope("mcp", source, tool, (server, name), arguments, lambda parts: GateTarget.mcp(*parts))

    @staticmethod
    def composio(
        source: ContractSource, tool: str = "composio_execute", slug: str = "tool", arguments: str = "arguments"
    ) -> Surface:
        """`tool(slug, arguments)` executes a Composio action; the host injects `connection_id`."""
        return _Envelope(
            "composio", source, tool, (slug,), arguments, lambda parts: GateTarget.composio(*parts), _COMPOSIO_INJECTED
        )

    @staticmethod
    def composio_actions(source: ContractSource, is_action: Callable[[str], bool]) -> Surface:
        """Tools whose own name is the slug of a Composio action."""
        return _OwnName("composio", source, is_action, GateTarget.composio, _COMPOSIO_INJECTED)

    @staticmethod
    def workflow(
        source: ContractSource, tool: str = "run_workflow", workflow: str = "workflow_id", arguments: str = "inputs"
    ) -> Surface:
        """`tool(workflow, arguments)` starts a workflow of the host."""
        return _Envelope("workflow", source, tool, (workflow,), arguments, lambda parts: GateTarget.workflow(*parts))

    @staticmethod
    def deferred(specs: Iterable[ToolSpec]) -> Surface:
        """Tools of the host that are listed to the model without their schemas."""
        contracts = {
            GateTarget.tool(spec.name): Contract(description=spec.description, input_schema=spec.parameters)
            for spec in specs
        }
        names = frozenset(target.parts[0] for target in contracts)
        return _OwnName("tool", StaticSource(contracts), names.__contains__, GateTarget.tool)


_COMPOSIO_INJECTED = ("connection_id",)


class _Envelope(Surface):
    """One tool that takes the target's parts and the inner arguments as its own arguments."""

    def __init__(
        self,
        kind: str,
        source: ContractSource,
        tool: str,
        fields: tuple[str, ...],
        arguments: str,
        aim: Callable[[tuple[str, ...]], GateTarget],
        injected: tuple[str, ...] = (),
    ) -> None:
        self.kind, self.source, self.injected, self.fields = kind, source, injected, fields
        self._tool, self._arguments, self._aim = tool, arguments, aim

    def matches(self, name: str) -> bool:
        return name == self._tool

    def read(self, call: ParsedToolCall) -> tuple[GateTarget, Any] | None:
        parts = tuple(call.arguments.get(name) for name in self.fields)
        if not all(isinstance(part, str) and part.strip() for part in parts):
            return None
        inner = call.arguments.get(self._arguments)
        return self._aim(parts), {} if _is_missing(inner) else inner  # type: ignore[arg-type]

    def write(self, call: ParsedToolCall, arguments: Any) -> ParsedToolCall:
        return call.model_copy(update={"arguments": {**call.arguments, self._arguments: arguments}})

    def reissue(self, target: GateTarget, arguments: Any) -> ParsedToolCall:
        named = dict(zip(self.fields, target.parts, strict=True))
        return ParsedToolCall(name=self._tool, arguments={**named, self._arguments: arguments})


def _is_missing(inner: Any) -> bool:
    return inner is None or (isinstance(inner, str) and not inner.strip())


class _OwnName(Surface):
    """Tools whose own name is the target and whose arguments are the inner ones."""

    def __init__(
        self,
        kind: str,
        source: ContractSource,
        matches: Callable[[str], bool],
        aim: Callable[[str], GateTarget],
        injected: tuple[str, ...] = (),
    ) -> None:
        self.kind, self.source, self.injected = kind, source, injected
        self._matches, self._aim = matches, aim

    def matches(self, name: str) -> bool:
        return bool(name.strip()) and self._matches(name)

    def read(self, call: ParsedToolCall) -> tuple[GateTarget, Any] | None:
        return self._aim(call.name), call.arguments

    def write(self, call: ParsedToolCall, arguments: Any) -> ParsedToolCall:
        return call.model_copy(update={"arguments": arguments})

    def reissue(self, target: GateTarget, arguments: Any) -> ParsedToolCall:
        return ParsedToolCall(name=target.parts[0], arguments=arguments)


def checked_surface(surface: Surface) -> Surface:
    """The surface itself. Raises GateError for one that has no kind or source, or whose
    `injected` is not a tuple of keys: each would only show at a call, or never."""
    kind = getattr(surface, "kind", None)
    if not isinstance(kind, str) or not kind.strip():
        raise GateError(f"{surface!r} has no kind: name the kind of its targets, such as 'mcp'")
    if not callable(getattr(getattr(surface, "source", None), "lookup", None)):
        raise GateError(f"the surface of kind {kind!r} has no source with a lookup method")
    injected = getattr(surface, "injected", None)
    if not isinstance(injected, tuple | list) or not all(isinstance(key, str) for key in injected):
        raise GateError(f"the surface of kind {kind!r} injects {injected!r}: give a tuple of keys")
    return surface
