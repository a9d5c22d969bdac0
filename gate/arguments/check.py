"""`check_arguments`: whether a call's arguments satisfy a contract, and which to execute."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from tooldialect.dialects.call_arguments import read_arguments

from ..contract import Contract
from .checker import ArgumentCheck, Checker
from .checkers import Checkers
from .descent import MAX_VIOLATIONS, Violation, step
from .engine import Unjudged
from .lenience import MAX_LEVELS
from .patterns import is_refusal
from .size import depth

_log = logging.getLogger("tooldialect.gate")
_checkers = Checkers()
# Looked up once: of a short call each step weighs as much as reading an argument.
_at_hand = _checkers.at_hand
_new = tuple.__new__
_NONE: frozenset[str] = frozenset()
_NOT_AN_OBJECT = Violation("", "type")


def check_arguments(args: Any, contract: Contract, injected: Iterable[str] = ()) -> ArgumentCheck:
    """Check the arguments of a call, after the lenience that real models need, at any depth.

    A string that spells an integer, number, boolean, object or array where only that is
    allowed is read; null for an optional name that may not be null counts as absent; a JSON
    string that holds the whole object is read. `injected` names are neither required nor
    unknown, and their values stay as they are. Defaults are not filled in. A tuple counts as
    an array, an enum member as its value.

    Takes any value and raises nothing. `args` is never changed.
    """
    try:
        hidden = frozenset(injected) if injected else _NONE
        found = _at_hand((id(contract), hidden) if hidden else id(contract))
        checker = _checkers.get(contract, hidden) if found is None else found[1]
        if type(args) is not dict or (hidden and not hidden.isdisjoint(args)):
            return _check_any(args, checker, hidden)
        try:
            if checker.vouches(args):
                # What the class itself does to make one costs as much as the verdict.
                return _new(ArgumentCheck, (args, (), checker.complete))
        except BaseException as error:
            if not (isinstance(error, Unjudged) or is_refusal(error)):
                raise
        return checker.check(args)
    except Exception as error:
        _log.error("[contract-gate] arguments could not be checked: %s", type(error).__name__)
        return ArgumentCheck(args, _missing(args, contract, injected), complete=False)


def _check_any(args: Any, checker: Checker, hidden: frozenset[str]) -> ArgumentCheck:
    if isinstance(args, str):
        try:
            read = read_arguments(args)
            if depth(read) > MAX_LEVELS:
                return ArgumentCheck(args, (_NOT_AN_OBJECT,))
            args = read
        except ValueError:
            return ArgumentCheck(args, (_NOT_AN_OBJECT,))
    if not isinstance(args, dict):
        return ArgumentCheck(args, (_NOT_AN_OBJECT,))
    if hidden.isdisjoint(args):
        return checker.check(args)
    check = checker.check({name: value for name, value in args.items() if name not in hidden})
    effective = {
        name: value if name in hidden else check.arguments[name]
        for name, value in args.items()
        if name in hidden or name in check.arguments
    }
    return ArgumentCheck(effective, check.violations, check.complete)


def _missing(args: Any, contract: Contract, injected: Iterable[str]) -> tuple[Violation, ...]:
    """Names that are required and not there: all that is said where the check itself failed."""
    if not issubclass(type(args), dict):
        return (_NOT_AN_OBJECT,)
    listed = contract.input_schema.get("required")
    names = [*(contract.required or ()), *(listed if type(listed) is list else ())]
    try:
        there = {*dict.keys(args), *injected}
        absent = dict.fromkeys(name for name in names if type(name) is str and name not in there)
    except Exception:
        absent = {}
    return tuple(Violation(step("", name), "missing") for name in list(absent)[:MAX_VIOLATIONS])
