"""`check_arguments`: whether a call's arguments satisfy a contract, and which to execute."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, NamedTuple

from tooldialect.dialects.call_arguments import read_arguments
from tooldialect.dialects.text import clean_json

from ..contract import Contract
from .budget import Budget, measure
from .descent import MAX_VIOLATIONS, Descent, Violation, step
from .engine import REFUSALS, Engine, Unjudged, compiled
from .lenience import adjusted
from .names import known_names
from .schema import Schema
from .sufficient import sufficient

_MAX_CACHED = 256


class ArgumentCheck(NamedTuple):
    """`arguments` is the effective value to execute; `violations`, 32 at most, is empty where
    it satisfies the contract. `complete` is false where something in the contract or the
    arguments could not be checked: that part counts as satisfied."""

    arguments: Any
    violations: tuple[Violation, ...] = ()
    complete: bool = True


class _Checker:
    """One contract made ready, for one set of injected names."""

    def __init__(self, contract: Contract, injected: frozenset[str]) -> None:
        required = [name for name in contract.required or () if name not in injected]
        self.contract = contract
        self.schema = Schema(contract.input_schema, required, injected)
        self.engine = Engine(self.schema)
        self.names, self.closed = known_names(self.schema.root)
        self.passes = self._shortcut()

    def _shortcut(self) -> Callable[[dict[str, Any]], bool]:
        """Whether arguments satisfy the contract for sure; false says nothing."""
        found = sufficient(self.schema.root)
        if found is None:
            return lambda arguments: False
        passes, root, is_valid = compiled(found.document), self.schema.root, self.engine.is_valid
        if found.alone:
            return passes
        return lambda arguments: passes(arguments) and is_valid(root, arguments)

    def check(self, arguments: dict[str, Any]) -> ArgumentCheck:
        try:
            if self.passes(arguments) and (not self.closed or self.names.issuperset(arguments)):
                return ArgumentCheck(arguments, (), self.schema.complete)
        except (Unjudged, *REFUSALS):
            pass
        return self._check_in_full(arguments)

    def _check_in_full(self, arguments: dict[str, Any]) -> ArgumentCheck:
        verdict = self._judge(arguments)
        if verdict:
            if not self.closed or self.names.issuperset(arguments):
                return ArgumentCheck({**arguments}, (), self.schema.complete)
            return ArgumentCheck({**arguments}, self._unknown(arguments), self.schema.complete)
        size = measure(arguments)
        if size is None:
            try:
                arguments = clean_json(arguments)
            except (ValueError, RecursionError):
                return ArgumentCheck(arguments, (Violation(_not_json(arguments), "json"),), False)
            verdict = None
        effective = arguments
        if size is None or not size.excessive:
            effective = adjusted(self.schema.root, arguments)
        descent = Descent(self.schema, self.engine, Budget())
        descent.search(effective, refused=verdict is False and effective is arguments)
        violations = descent.violations
        violations += [unknown for unknown in self._unknown(effective) if unknown not in violations]
        complete = descent.complete and self.schema.complete
        return ArgumentCheck({**effective}, tuple(violations[:MAX_VIOLATIONS]), complete)

    def _judge(self, arguments: dict[str, Any]) -> bool | None:
        """The engine's verdict on the whole; None where it cannot be asked."""
        size = measure(arguments)
        if size is None or size.excessive or not Budget().affords(self.schema.root, arguments, size):
            return None
        try:
            return self.engine.is_valid(self.schema.root, arguments)
        except Unjudged:
            return None

    def _unknown(self, arguments: dict[str, Any]) -> tuple[Violation, ...]:
        if not self.closed:
            return ()
        return tuple(Violation(step("", name), "unknown") for name in arguments if name not in self.names)[
            :MAX_VIOLATIONS
        ]


class _Checkers:
    """The checkers made last. Contracts are frozen, so the object itself is the key."""

    def __init__(self) -> None:
        self._made: OrderedDict[tuple[int, frozenset[str]], _Checker] = OrderedDict()
        self._lock = Lock()

    def get(self, contract: Contract, injected: frozenset[str]) -> _Checker:
        key = (id(contract), injected)
        made = self._made.get(key)
        # The checker keeps its contract, so that the id stays its own.
        if made is not None:
            return made
        made = _Checker(contract, injected)
        with self._lock:
            self._made[key] = made
            while len(self._made) > _MAX_CACHED:
                self._made.popitem(last=False)
        return made


_checkers = _Checkers()
_NOT_AN_OBJECT = Violation("", "type")


def check_arguments(args: Any, contract: Contract, injected: Iterable[str] = ()) -> ArgumentCheck:
    """Check the arguments of a call, after the lenience that real models need, at any depth.

    A string that spells an integer, number, boolean, object or array where only that is
    allowed is read; null for an optional name that may not be null counts as absent; a JSON
    string that holds the whole object is read. `injected` names are neither required nor
    unknown, and their values stay as they are. Defaults are not filled in.

    Takes any value and raises nothing. `args` is never changed.
    """
    if isinstance(args, str):
        try:
            args = read_arguments(args)
        except ValueError:
            return ArgumentCheck(args, (_NOT_AN_OBJECT,))
    if not isinstance(args, dict):
        return ArgumentCheck(args, (_NOT_AN_OBJECT,))
    hidden = frozenset(injected)
    checker = _checkers.get(contract, hidden)
    if hidden.isdisjoint(args):
        return checker.check(args)
    check = checker.check({name: value for name, value in args.items() if name not in hidden})
    effective = {
        name: value if name in hidden else check.arguments[name]
        for name, value in args.items()
        if name in hidden or name in check.arguments
    }
    return ArgumentCheck(effective, check.violations, check.complete)


def _not_json(arguments: Any) -> str:
    """The path of something that JSON cannot say."""
    pending: list[tuple[Any, str]] = [(arguments, "")]
    for value, path in pending:
        if len(pending) > 100_000:
            break
        if isinstance(value, dict):
            if not all(isinstance(name, str) for name in value):
                return path
            pending += [(item, step(path, name)) for name, item in value.items()]
        elif isinstance(value, (list, tuple)):
            pending += [(item, step(path, index)) for index, item in enumerate(value)]
        else:
            try:
                clean_json(value)
            except ValueError:
                return path
    return ""
