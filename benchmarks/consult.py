"""What a consult costs, and checking arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import jsonschema

from tooldialect.gate import (
    Contract,
    ContractGate,
    Decision,
    GateTarget,
    Reason,
    StaticSource,
    Surface,
    check_arguments,
)

from .case import Case, Metric, Metrics
from .measure import measure

GROUP = "consult"
_TARGET = GateTarget.mcp("srv", "create_issue")
_CONTRACT = Contract(
    description="Creates an issue in a repository.",
    input_schema={
        "type": "object",
        "properties": {
            "owner": {"type": "string", "minLength": 1},
            "repo": {"type": "string", "minLength": 1},
            "title": {"type": "string", "maxLength": 200},
            "body": {"type": "string"},
            "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 50},
            "assignees": {"type": "array", "items": {"type": "string"}},
            "milestone": {"type": ["integer", "null"]},
            "draft": {"type": "boolean"},
        },
        "required": ["owner", "repo", "title"],
        "additionalProperties": False,
    },
)


def _arguments(body: int) -> dict[str, Any]:
    return {
        "owner": "example",
        "repo": "widgets",
        "title": "The second page lists every order twice",
        "body": "Steps to reproduce:\n1. Open the page.\n" + "It happens on every try. " * (body // 25),
        "labels": ["bug", "orders", "p2"],
        "assignees": ["someone"],
        "milestone": 7,
        "draft": False,
    }


def cases() -> list[Case]:
    return [
        *(Case(GROUP, f"check_arguments {name}", partial(_check, size)) for name, size in _SIZES.items()),
        *(Case(GROUP, name, partial(_consult, make)) for name, make in _CONSULTS.items()),
    ]


_SIZES = {"300 B": 0, "4 KiB": 4096, "64 KiB": 65_536}


def _check(size: int, rounds: int) -> Metrics:
    arguments = _arguments(size)
    raw = json.dumps(arguments)
    validator = jsonschema.Draft202012Validator(_CONTRACT.input_schema)
    assert not check_arguments(arguments, _CONTRACT).violations
    samples = measure(
        {
            "check": lambda: check_arguments(arguments, _CONTRACT),
            "json.loads": lambda: json.loads(raw),
            "jsonschema": lambda: list(validator.iter_errors(arguments)),
        },
        rounds,
    )
    return _against_reading(samples, "check")


def _against_reading(samples: Any, name: str) -> Metrics:
    return {
        "us": Metric(samples.median(name) * 1e6, samples.spread(name)),
        "of json.loads": Metric(samples.ratio(name, "json.loads"), samples.ratio_spread(name, "json.loads")),
        "of jsonschema": Metric(samples.ratio(name, "jsonschema"), samples.ratio_spread(name, "jsonschema")),
    }


def _gate() -> ContractGate:
    return ContractGate([Surface.mcp(StaticSource({_TARGET: _CONTRACT}))])


def _present() -> tuple[Callable[[], Decision], Reason]:
    gate, arguments = _gate(), _arguments(0)
    run = gate.run()
    message = run.consult(_TARGET, {"name": "widgets"}).message
    assert message is not None
    run.refresh([message])
    return lambda: run.consult(_TARGET, arguments), Reason.PRESENT


def _satisfied() -> tuple[Callable[[], Decision], Reason]:
    gate, arguments = _gate(), _arguments(0)
    run = gate.run()
    return lambda: run.consult(_TARGET, arguments), Reason.ARGUMENTS_SATISFY


def _surfaced() -> tuple[Callable[[], Decision], Reason]:
    gate = _gate()
    return lambda: gate.run().consult(_TARGET, {"name": "widgets"}), Reason.CONTRACT_REQUIRED


_CONSULTS = {"present": _present, "satisfied": _satisfied, "surfaced": _surfaced}


def _consult(make: Callable[[], tuple[Callable[[], Decision], Reason]], rounds: int) -> Metrics:
    consult, reason = make()
    assert consult().reason is reason
    arguments = _arguments(0)
    raw = json.dumps(arguments)
    validator = jsonschema.Draft202012Validator(_CONTRACT.input_schema)
    samples = measure(
        {
            "consult": consult,
            "json.loads": lambda: json.loads(raw),
            "jsonschema": lambda: list(validator.iter_errors(arguments)),
        },
        rounds,
    )
    assert consult().reason is reason
    return _against_reading(samples, "consult")
