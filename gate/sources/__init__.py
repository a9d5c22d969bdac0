"""Where contracts come from."""

from .base import ContractSource, Found, Lookup, NotFound, Unavailable

__all__ = ["ContractSource", "Found", "Lookup", "NotFound", "Unavailable"]
