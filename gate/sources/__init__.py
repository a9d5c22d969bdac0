"""Where contracts come from."""

from .base import ContractSource, Found, Lookup, NotFound, Unavailable
from .mcp import McpSource
from .static import StaticSource

__all__ = ["ContractSource", "Found", "Lookup", "McpSource", "NotFound", "StaticSource", "Unavailable"]
