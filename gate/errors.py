"""What the gate refuses from its host; tools, sources and models never cause these."""

from __future__ import annotations

from tooldialect.dialects import ToolDialectError


class GateError(ToolDialectError):
    """The gate was set up or called in a way that cannot work; the message says what to do."""
