"""One contract made ready for checking."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from ..contract import Contract
from .budget import Budget
from .descent import MAX_VIOLATIONS, Descent, Violation, step
from .engine import Engine, Unjudged, compiled
from .lenience import adjusted
from .place import Places
from .plain import NotJson, plain_copy
from .schema import Schema
from .size import measure
from .sufficient import sufficient

# More characters are in no arguments that were read from text, but in those that share one long text many times.
_WRITABLE = 16 * 1024 * 1024


class ArgumentCheck(NamedTuple):
    """`arguments` is the effective value to execute, the one given where nothing had to change;
    `violations`, 32 at most, is empty where it satisfies the contract. `complete` is false where
    something in the contract or the arguments could not be checked: that part counts as
    satisfied."""

    arguments: Any
    violations: tuple[Violation, ...] = ()
    complete: bool = True


class Checker:
    """One contract, for one set of injected names.

    `vouches` is the short way: arguments it accepts satisfy the contract as they stand, what it
    refuses or raises for has to be checked in full. It may raise whatever the engine raises.
    """

    def __init__(self, contract: Contract, injected: frozenset[str]) -> None:
        required = [name for name in contract.required or () if name not in injected]
        self.contract = contract
        self.schema = Schema(contract.input_schema, required, injected)
        self.complete = self.schema.complete
        self.engine = Engine(self.schema)
        self.names, self.closed = self.schema.names, self.schema.closed
        self.vouches = self._short_way()

    def _short_way(self) -> Callable[[dict[str, Any]], bool]:
        found = sufficient(self.schema.root, closed=self.closed)
        if found is None:
            return _never
        passes: Callable[[dict[str, Any]], bool] = compiled(found.document)
        root, is_valid, knows = self.schema.root, self.engine.is_valid, self.names.issuperset
        listed_only = found.exclusive or not self.closed
        if found.alone and listed_only:
            return passes
        if found.alone:
            return lambda arguments: knows(arguments) and passes(arguments)
        if listed_only:
            return lambda arguments: passes(arguments) and is_valid(root, arguments)
        return lambda arguments: knows(arguments) and passes(arguments) and is_valid(root, arguments)

    def check(self, arguments: dict[str, Any]) -> ArgumentCheck:
        """The check in full."""
        size = measure(arguments)
        if size is None:
            try:
                arguments = plain_copy(arguments)
            except NotJson as error:
                return ArgumentCheck(arguments, (Violation(_pointer(error.path), "json"),), complete=False)
            size = measure(arguments)
        assert size is not None
        verdict = None
        if not size.excessive and Budget().affords(self.schema.root, arguments, size):
            verdict = self._judge(arguments)
        if verdict:
            return ArgumentCheck(arguments, self._unknown(arguments), self.complete)
        places = Places()
        effective = arguments if size.excessive else adjusted(self.schema.root, arguments, places)
        unread = size.excessive or places.exhausted
        descent = Descent(self.schema, self.engine, Budget(), unread=unread)
        descent.search(effective, refused=verdict is False and effective is arguments)
        violations = descent.violations
        violations += [unknown for unknown in self._unknown(effective) if unknown not in violations]
        complete = descent.complete and self.complete and not places.exhausted
        if not complete and not size.excessive and size.characters <= _WRITABLE and _holds_surrogate(arguments):
            # The engine reads no text that cannot be sent: what would be sent is judged.
            return self.check(plain_copy(arguments))
        return ArgumentCheck(effective, tuple(violations[:MAX_VIOLATIONS]), complete)

    def _judge(self, arguments: dict[str, Any]) -> bool | None:
        """The engine's verdict on the whole; None where it has none."""
        try:
            return self.engine.is_valid(self.schema.root, arguments)
        except Unjudged:
            return None

    def _unknown(self, arguments: dict[str, Any]) -> tuple[Violation, ...]:
        if not self.closed:
            return ()
        unknown = [name for name in arguments if name not in self.names]
        return tuple(Violation(step("", name), "unknown") for name in unknown[:MAX_VIOLATIONS])


def _holds_surrogate(arguments: dict[str, Any]) -> bool:
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _never(_: dict[str, Any]) -> bool:
    return False


def _pointer(path: list[str | int]) -> str:
    pointer = ""
    for token in path:
        pointer = step(pointer, token)
    return pointer
