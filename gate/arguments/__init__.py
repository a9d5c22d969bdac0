"""Whether a call's arguments satisfy a contract."""

from .check import ArgumentCheck, check_arguments
from .descent import Violation

__all__ = ["ArgumentCheck", "Violation", "check_arguments"]
