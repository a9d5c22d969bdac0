"""Where contracts come from."""

from typing import TYPE_CHECKING

from tooldialect.dialects.later import exports_later

from .base import ContractSource, Found, Lookup, NotFound, Unavailable
from .static import StaticSource

if TYPE_CHECKING:
    from .mcp import McpSource

__getattr__ = exports_later(__name__, {"McpSource": "mcp"})

__all__ = ["ContractSource", "Found", "Lookup", "McpSource", "NotFound", "StaticSource", "Unavailable"]
