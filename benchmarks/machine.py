"""What a run ran on, and whether it had that to itself."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = ("tooldialect", "pydantic", "xxhash", "jsonschema-rs", "orjson", "lxml", "jsonschema")
# Of the time, what a process may spend without the processor before its figures are doubted.
_WAITED = 0.05
# Of the cores, those that may be in use when a run begins.
_LOAD = 0.5


def surroundings(*, quick: bool, processes: int) -> dict[str, Any]:
    """A run without results yet."""
    return {
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "quick": quick,
        "processes": processes,
        "machine": {
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            "system": f"{platform.system()} {platform.machine()}",
            "processor": _processor(),
            "cores": os.cpu_count(),
            "load": load(),
        },
        "versions": {name: _version(name) for name in _PACKAGES},
        "results": {},
    }


def load() -> float | None:
    """How many processes wanted a core in the last minute, where the system tells."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def busy(run: Mapping[str, Any]) -> str:
    """Why the machine was too busy to believe small differences; blank where it was not."""
    machine = run["machine"]
    waited = machine.get("waited") or 0.0
    if waited > _WAITED:
        return f"the cases had to wait for the processor for {waited:.0%} of their time"
    if (machine.get("load") or 0.0) > _LOAD * (machine.get("cores") or 1):
        return f"the load was {machine['load']} on {machine['cores']} cores when the run began"
    return ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n")
    except OSError:
        return platform.processor() or "unknown processor"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "(not installed)"
