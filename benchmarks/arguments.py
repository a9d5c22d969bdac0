"""What it costs to check a call's arguments, validator cached.

    python benchmarks/arguments.py [--json]

For calls that fit their contract: the time of `check_arguments` as a ratio to `json.loads` of
the same arguments in the same run (target: at most 0.5), rounds of both interleaved, the best
of each taken. For calls that need lenience or are refused: milliseconds for one megabyte.
"""

from __future__ import annotations

import argparse
import json
import timeit
from typing import Any

from tooldialect.gate.arguments import check_arguments
from tooldialect.gate.contract import Contract

_ROUNDS = 15
_ROUND_SECONDS = 0.02
MAIL = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "subject": {"type": "string"},
        "limit": {"type": "integer"},
        "urgent": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
    },
    "required": ["to"],
}
ROW = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}, "required": ["id"]}
ROWS = {"type": "object", "properties": {"rows": {"type": "array", "items": ROW}}}
FITTING: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "one short text": (MAIL, {"to": "a@b.c"}),
    "four values": (MAIL, {"to": "someone@example.test", "subject": "A subject", "limit": 5, "urgent": True}),
    "text of 4 KiB": (MAIL, {"to": "x" * 4096}),
    "200 rows": (ROWS, {"rows": [{"id": n, "name": f"name {n}"} for n in range(200)]}),
    "5,000 rows": (ROWS, {"rows": [{"id": n, "name": f"name {n}"} for n in range(5000)]}),
}
LARGE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "spelled rows": (ROWS, {"rows": [{"id": "1", "name": None} for _ in range(40_000)]}),
    "spelled integers": ({"properties": {"x": {"items": {"type": "integer"}}}}, {"x": ["7"] * 250_000}),
    "unique items": ({"properties": {"x": {"uniqueItems": True}}}, {"x": [[n] for n in range(120_000)]}),
    "one bad row": (ROWS, {"rows": [*({"id": n, "name": "x"} for n in range(45_000)), {"id": "x"}]}),
}


def measure() -> dict[str, float]:
    """Ratios for what fits, milliseconds for what is large."""
    figures: dict[str, float] = {}
    for name, (schema, arguments) in FITTING.items():
        contract, text = Contract(input_schema=schema), json.dumps(arguments)
        read = json.loads(text)
        loads = timeit.Timer(lambda text=text: json.loads(text))
        check = timeit.Timer(lambda read=read, contract=contract: check_arguments(read, contract))
        assert not check_arguments(read, contract).violations
        number = max(1, int(_ROUND_SECONDS / max(min(loads.repeat(5, 1)), 1e-7)))
        rounds = [(check.timeit(number), loads.timeit(number)) for _ in range(_ROUNDS)]
        figures[name] = min(one for one, _ in rounds) / min(other for _, other in rounds)
    for name, (schema, arguments) in LARGE.items():
        contract = Contract(input_schema=schema)
        check_arguments({}, contract)
        once = timeit.Timer(lambda contract=contract, arguments=arguments: check_arguments(arguments, contract))
        figures[name] = min(once.repeat(3, 1)) * 1000
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="figures as one JSON object")
    figures = measure()
    if parser.parse_args().json:
        print(json.dumps(figures))
        return
    for name, figure in figures.items():
        print(f"{name:20}{figure:8.2f} {'ms' if name in LARGE else 'times json.loads'}")


if __name__ == "__main__":
    main()
