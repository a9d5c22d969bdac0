"""Makes `benchmarks` importable by its path: with the root on `sys.path`, a bare `import gate` would find the folder."""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

if "benchmarks" not in sys.modules:
    _place = ROOT / "benchmarks"
    _spec = importlib.util.spec_from_file_location(
        "benchmarks", _place / "__init__.py", submodule_search_locations=[str(_place)]
    )
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules["benchmarks"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["benchmarks"])


def run_of(results, python="CPython 3.11.7", **others):
    """A run with these results, on a machine that was quiet."""
    machine = {"python": python, "system": "Linux", "processor": "One", "cores": 2, "load": 0.1}
    return {
        "when": "2026-01-01 00:00 UTC",
        "quick": False,
        "processes": 3,
        "machine": machine | others.pop("machine", {}),
        "versions": {"orjson": "1"},
        "results": results,
        **others,
    }
