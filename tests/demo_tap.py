"""The demo's tap. The root is off sys.path in tests, so it is loaded by its path."""

from __future__ import annotations

import importlib.util
from pathlib import Path

TAP = Path(__file__).resolve().parents[1] / "demo" / "stdio_tap.py"

_spec = importlib.util.spec_from_file_location("stdio_tap", TAP)
assert _spec is not None
assert _spec.loader is not None
stdio_tap = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(stdio_tap)
