"""JSON that is equal with its types."""

from __future__ import annotations

import json
import math
from typing import Any


def same_json(a: Any, b: Any, numbers: str = "exact") -> bool:
    """Equal, types included; `1`, `1.0` and `True` differ where the dialect's JSON can tell."""
    if numbers == "double":
        return json.dumps(_as_doubles(a), sort_keys=True) == json.dumps(_as_doubles(b), sort_keys=True)
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _as_doubles(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_doubles(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_doubles(inner) for inner in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return math.fabs(value) if value == 0 else float(value)


def shown_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
