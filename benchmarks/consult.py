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
from .measure import Samples, measure

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


_MAIL = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "subject": {"type": "string"},
        "limit": {"type": "integer"},
        "urgent": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
    },
    "required": ["to"],
}
_ROW = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}, "required": ["id"]}
_ROWS = {"type": "object", "properties": {"rows": {"type": "array", "items": _ROW}}}
_FITTING: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "one short text": (_MAIL, {"to": "a@b.c"}),
    "four values": (_MAIL, {"to": "someone@example.test", "subject": "A subject", "limit": 5, "urgent": True}),
    "text of 4 KiB": (_MAIL, {"to": "x" * 4096}),
    "an issue": (_CONTRACT.input_schema, _arguments(0)),
    "an issue of 64 KiB": (_CONTRACT.input_schema, _arguments(65_536)),
    "200 rows": (_ROWS, {"rows": [{"id": n, "name": f"name {n}"} for n in range(200)]}),
    "5,000 rows": (_ROWS, {"rows": [{"id": n, "name": f"name {n}"} for n in range(5000)]}),
}
# A megabyte that needs lenience, or is refused.
_LARGE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "spelled rows": (_ROWS, {"rows": [{"id": "1", "name": None} for _ in range(40_000)]}),
    "spelled integers": ({"properties": {"x": {"items": {"type": "integer"}}}}, {"x": ["7"] * 250_000}),
    "unique items": ({"properties": {"x": {"uniqueItems": True}}}, {"x": [[n] for n in range(120_000)]}),
    "one bad row": (_ROWS, {"rows": [*({"id": n, "name": "x"} for n in range(45_000)), {"id": "x"}]}),
}


def cases() -> list[Case]:
    return [
        *(Case(GROUP, f"check_arguments {name}", partial(_check, *given)) for name, given in _FITTING.items()),
        *(Case(GROUP, name, partial(_consult, make)) for name, make in _CONSULTS.items()),
        *(Case(GROUP, f"1 MB, {name}", partial(_large, *given), False, 5) for name, given in _LARGE.items()),
    ]


def _check(schema: dict[str, Any], arguments: dict[str, Any], rounds: int) -> Metrics:
    contract = Contract(input_schema=schema)
    raw = json.dumps(arguments)
    validator = jsonschema.Draft202012Validator(schema)
    assert not check_arguments(arguments, contract).violations
    samples = measure(
        {
            "check": lambda: check_arguments(arguments, contract),
            "json.loads": lambda: json.loads(raw),
            "jsonschema": lambda: list(validator.iter_errors(arguments)),
        },
        rounds,
    )
    return _against_reading(samples, "check")


def _large(schema: dict[str, Any], arguments: dict[str, Any], rounds: int) -> Metrics:
    contract = Contract(input_schema=schema)
    check_arguments({}, contract)
    samples = measure({"check": lambda: check_arguments(arguments, contract)}, rounds)
    return {"ms": Metric(samples.median("check") * 1e3, samples.spread("check"))}


def _against_reading(samples: Samples, name: str) -> Metrics:
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
