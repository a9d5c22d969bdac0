"""What can go wrong with what is tested: it refuses, it does not keep to the protocol, it is not there."""

from __future__ import annotations


class Refused(Exception):
    """The dialect raised: `kind` is the error's name, the message its own words."""

    def __init__(self, request: str, kind: str, message: str) -> None:
        super().__init__(f"{request} raised {kind}: {message}")
        self.request, self.kind, self.message = request, kind, message


class Unsayable(Refused):
    """The dialect says that its format has no spelling for this (`RenderError`)."""


class ProgramFault(Exception):
    """What is tested does not answer as the protocol asks; looking further makes no sense."""


class TargetError(Exception):
    """There is nothing to test: it cannot be imported, started or made."""
