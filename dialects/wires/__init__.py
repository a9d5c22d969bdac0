"""One provider's request shape a file."""

from .base import Wire

__all__ = ["Wire"]
