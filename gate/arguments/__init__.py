"""Whether a call's arguments satisfy a contract."""

from typing import TYPE_CHECKING

from tooldialect.dialects.later import exports_later

if TYPE_CHECKING:
    from .check import check_arguments
    from .checker import ArgumentCheck
    from .descent import Violation

exports_later(
    __name__,
    {
        "check": ["check_arguments"],
        "checker": ["ArgumentCheck"],
        "descent": ["Violation"],
    },
)

__all__ = ["ArgumentCheck", "Violation", "check_arguments"]
