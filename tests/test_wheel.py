"""What a user gets: the wheel, and nothing of the tree around it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import zipfile
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath

import pytest

import tooldialect

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("conformance", "dialects", "gate")

pytestmark = pytest.mark.skipif("TOOLDIALECT_WHEEL" not in os.environ, reason="only `make test` builds the wheel")


@pytest.fixture(scope="module")
def wheel():
    with zipfile.ZipFile(os.environ["TOOLDIALECT_WHEEL"]) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel) -> Message:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return HeaderParser().parsestr(wheel.read(name).decode())


def requirements(metadata, extra=None):
    """Names of the distributions required, of the core or of one extra."""
    found = set()
    for line in metadata.get_all("Requires-Dist"):
        [name] = re.findall(r"^[\w.-]+", line)
        marker = re.search(r"""extra == ['"]([\w-]+)['"]""", line)
        if (marker[1] if marker else None) == extra:
            found.add(name)
    return found


def test_it_holds_every_file_of_the_three_folders_and_nothing_else(wheel):
    wanted = {
        f"tooldialect/{path.relative_to(ROOT).as_posix()}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == wanted


def test_every_module_is_the_one_of_the_tree(wheel):
    for name in wheel.namelist():
        if name.endswith(".py"):
            assert wheel.read(name) == (ROOT / name.removeprefix("tooldialect/")).read_bytes(), name


def test_only_the_namespace_is_top_level(wheel):
    tops = {PurePosixPath(name).parts[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"tooldialect"}
    assert len(tops) == 2
    assert "tooldialect/__init__.py" not in wheel.namelist()


def test_each_package_is_typed(wheel):
    assert {f"tooldialect/{package}/py.typed" for package in PACKAGES} <= set(wheel.namelist())


def test_the_core_needs_four_distributions(metadata):
    assert requirements(metadata) == {"pydantic", "xxhash", "jsonschema-rs", "regex"}


def test_extras_name_what_they_bring(metadata):
    assert set(metadata.get_all("Provides-Extra")) == {"bench", "mcp", "demo", "conformance", "test", "lint"}
    assert requirements(metadata, "mcp") == {"mcp"}
    assert requirements(metadata, "demo") == {"tooldialect", "mcp-server-git", "mcp-server-time", "rich"}
    assert requirements(metadata, "conformance") == {"hypothesis", "lxml", "pytest", "rich", "typer"}


def test_it_says_which_python_and_licence(metadata):
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert metadata["License-File"] == "LICENSE"


def test_the_tests_see_the_installed_wheel_and_not_the_tree():
    for package in PACKAGES:
        module = importlib.import_module(f"tooldialect.{package}")
        assert "site-packages" in Path(module.__spec__.origin).parts
    assert [importlib.util.find_spec(package) for package in PACKAGES] == [None, None, None]


def test_the_namespace_is_open_to_others():
    assert tooldialect.__file__ is None
