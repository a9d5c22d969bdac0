"""Where contracts come from."""

from typing import TYPE_CHECKING

from tooldialect.dialects.later import exports_later

if TYPE_CHECKING:
    from .base import (
        ContractSource,
        Found,
        Lookup,
        NotFound,
        Unavailable,
    )
    from .mcp import McpSource
    from .static import StaticSource

exports_later(
    __name__,
    {
        "base": ["ContractSource", "Found", "Lookup", "NotFound", "Unavailable"],
        "mcp": ["McpSource"],
        "static": ["StaticSource"],
    },
)

__all__ = ["ContractSource", "Found", "Lookup", "McpSource", "NotFound", "StaticSource", "Unavailable"]
