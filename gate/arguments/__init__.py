"""Whether a call's arguments satisfy a contract."""

from .check import check_arguments
from .checker import ArgumentCheck
from .descent import Violation

__all__ = ["ArgumentCheck", "Violation", "check_arguments"]
