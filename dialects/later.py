"""Packages whose names are imported when they are first asked for (PEP 562).

A harness imports a package for a few of its names and pays for those: one dialect, the wire
of its one provider. Pydantic does the same.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any


def exports_later(package: str, exports: Mapping[str, Sequence[str]]) -> None:
    """Give the package these names, `{module of the package: its names}`, each with its first use.

    Type checkers read the same from imports under `TYPE_CHECKING`, and complain of other names:
    for them no `__getattr__` is in sight. No export may have the name of one of the package's modules,
    which would take its place.
    """
    modules = {name: module for module, names in exports.items() for name in names}
    itself = sys.modules[package]

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=itself)
        try:
            value = getattr(import_module(f"{package}.{modules[name]}"), name)
        except AttributeError as error:
            # `from package import name` would take it for a name that is not there, and hide it.
            raise ImportError(f"cannot import {name!r} from {package!r}: {error}", name=package) from error
        setattr(itself, name, value)
        return value

    vars(itself).update(
        __getattr__=find, __dir__=lambda: sorted({*modules, *(name for name in vars(itself) if name.startswith("__"))})
    )
