"""Dialects by name: the built-in ones, and those that other packages register.

A package registers under the entry-point group `tooldialect.dialects`:

    [project.entry-points."tooldialect.dialects"]
    acme = "acme_agent.dialect:AcmeDialect"

The object is called with the tools and returns a `ToolDialect`. Entry points are read when
a name is asked for, never at import, and one under a built-in name is ignored, with a
warning: installing a package must not change what `xml` means.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from .dialect import ToolDialect
from .errors import PluginError, UnknownDialectError
from .tags import PROTOCOL_TAGS
from .transcript import ToolSpec

_LOG = logging.getLogger("tooldialect.dialects")

ENTRY_POINT_GROUP = "tooldialect.dialects"

# Each in the file of its name, imported when it is asked for: a harness speaks one.
_BUILT_IN = {"native": "NativeDialect", "xml": "XmlDialect", "pformat": "PFormatDialect"}

_loaded_tags: set[str] = set()


def available_dialects() -> list[str]:
    """The names `get_dialect` takes: built-in ones, then registered ones in code-point order.

    Nothing is imported: a registered dialect that cannot be loaded is listed too.
    """
    return [*_BUILT_IN, *sorted(_registered().keys() - _BUILT_IN.keys())]


def get_dialect(name: str, tools: Sequence[ToolSpec] = ()) -> ToolDialect:
    """The dialect of that name for these tools.

    Raises UnknownDialectError (the message lists the known names), PluginError for a
    registered dialect that cannot be loaded, with the cause.
    """
    if name in _BUILT_IN:
        built_in: Callable[[Sequence[ToolSpec]], ToolDialect] = getattr(
            import_module(f".{name}", __package__), _BUILT_IN[name]
        )
        return built_in(tools)
    candidates = _registered().get(name, [])
    if not candidates:
        raise UnknownDialectError(f"no dialect is named {name!r}; known: {', '.join(available_dialects())}")
    return _load_plugin(name, candidates, tools)


def known_tags() -> frozenset[str]:
    """Tag names of the built-in dialects and of every registered one loaded so far."""
    return frozenset(PROTOCOL_TAGS) | _loaded_tags


def _registered() -> dict[str, list[EntryPoint]]:
    found: dict[str, list[EntryPoint]] = {}
    for entry_point in entry_points(group=ENTRY_POINT_GROUP):
        if entry_point.name in _BUILT_IN:
            _warn_of_hidden(entry_point.name, entry_point.value)
        found.setdefault(entry_point.name, []).append(entry_point)
    return found


@cache
def _warn_of_hidden(name: str, value: str) -> None:
    _LOG.warning("the dialect %r that %s registers is ignored: a built-in one has the name", name, value)


def _load_plugin(name: str, candidates: list[EntryPoint], tools: Sequence[ToolSpec]) -> ToolDialect:
    # One distribution may be seen twice (an editable install beside a wheel): that is no conflict.
    values = sorted({candidate.value for candidate in candidates})
    if len(values) > 1:
        raise PluginError(f"dialect {name!r} is registered more than once: {', '.join(values)}; uninstall all but one")
    try:
        factory: Callable[[Sequence[ToolSpec]], Any] = candidates[0].load()
        dialect = factory(tools)
    except Exception as error:  # what a stranger's module raises at import has no common type
        cause = f"{type(error).__name__}: {error}"
        raise PluginError(f"dialect {name!r} ({values[0]}) could not be loaded: {cause}") from error
    if not isinstance(dialect, ToolDialect):
        raise PluginError(f"dialect {name!r} ({values[0]}) is {type(dialect).__name__}, not a ToolDialect")
    _loaded_tags.update(dialect.protocol_tags)
    return dialect
