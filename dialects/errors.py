"""Every error this project raises, under one root.

`ToolDialectError` itself is never raised: a caller that catches it catches whatever we
refuse. What a model wrote is never an error (see `Problem`); these are about what the
host, or a host's plug-in, handed us.
"""

from __future__ import annotations

from typing import Any, Self


class ToolDialectError(Exception):
    """Root of the errors of `tooldialect`; raise one of its children."""

    def __new__(cls, *args: Any, **_kwargs: Any) -> Self:
        if cls is ToolDialectError:
            raise TypeError("ToolDialectError is the root: raise one of its children")
        return super().__new__(cls, *args)


class VerbatimError(ToolDialectError):
    """A text marked `trusted_verbatim` cannot reach the model byte for byte.

    Not a `ValueError`: pydantic would fold that into a `ValidationError`, and a caller
    could no longer tell a broken guarantee from a mistyped field.
    """


class TranscriptError(ToolDialectError, ValueError):
    """A saved transcript cannot be read or a history cannot be put on a wire.

    `line` is the 1-based line of the saved text, where there is one.
    """

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class RenderError(ToolDialectError, ValueError):
    """A call or a result has no spelling in this dialect; `name` is the tool's."""

    def __init__(self, message: str, *, name: str | None = None) -> None:
        super().__init__(message)
        self.name = name


class UnknownDialectError(ToolDialectError, LookupError):
    """No dialect of that name is installed; the message lists those that are."""


class UnknownWireError(ToolDialectError, LookupError):
    """No wire has that name; the message lists those there are."""


class PluginError(ToolDialectError):
    """A dialect somebody else registered could not be loaded; `__cause__` says why."""


class MissingExtraError(ToolDialectError, ImportError):
    """An optional dependency is not installed; the message holds the `pip install` line."""


class WireError(ToolDialectError, ValueError):
    """A provider's reply does not have that provider's shape, so nothing can be read from it.

    What the model wrote in a well-formed reply is never this error.
    """
