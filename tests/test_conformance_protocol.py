"""The page on the protocol shows the drivers that the tests run, and the methods that there are."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import get_args

import tooldialect.conformance
from tooldialect.conformance.target import Capability

PAGE = files(tooldialect.conformance).joinpath("protocol.md").read_text(encoding="utf-8")
DRIVERS = Path(__file__).parent / "drivers"


def test_the_page_shows_the_drivers_as_they_are_tested():
    shown = dict(re.findall(r"```(python|js)\n(.*?)```", PAGE, re.DOTALL))
    assert shown["python"] == (DRIVERS / "minimal.py").read_text(encoding="utf-8")
    assert shown["js"] == (DRIVERS / "minimal.mjs").read_text(encoding="utf-8")


def test_the_page_lists_every_method():
    listed = re.findall(r"^\| `(\w+)`", PAGE, re.MULTILINE)
    assert listed == ["describe", "format_results", *get_args(Capability)]
