"""The README's blocks and every doctest are run as they stand, on the installed package.

```python blocks of one section (what lies below one heading of the second level) share a namespace and an empty
folder and run in order; a ```text block behind one is what it prints. ```console blocks are run by bash in that folder
and their output compared. ```sh blocks are for people. Nothing runs that the README does not show: what an example
stands on but does not explain lies in a `<details>` of the README.
"""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import tooldialect.conformance
import tooldialect.dialects
import tooldialect.gate

README = Path(__file__).resolve().parents[1] / "README.md"
FENCE = re.compile(r"```(\w*)\s*")


@dataclass
class Section:
    title: str
    blocks: list[tuple[str, int, str]] = field(default_factory=list)


def sections(text: str) -> list[Section]:
    """Headings and fenced blocks; a block is its language, the 1-based line of its first line, its text."""
    found = [Section("top")]
    lines = iter(enumerate(text.split("\n"), start=1))
    for number, line in lines:
        if line.startswith("## "):
            found.append(Section(line.removeprefix("## ").strip()))
        elif opened := FENCE.fullmatch(line):
            body = []
            for _, inner in lines:
                if inner == "```":
                    break
                body.append(inner)
            else:
                pytest.fail(f"README.md:{number}: the block is never closed")
            found[-1].blocks.append((opened[1], number + 1, "\n".join(body) + "\n"))
    return found


SECTIONS = [section for section in sections(README.read_text(encoding="utf-8")) if section.blocks]
# Package by package: the namespace itself cannot be walked where the install is editable.
MODULES = [
    name
    for package in (tooldialect.conformance, tooldialect.dialects, tooldialect.gate)
    for name in [package.__name__, *(m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))]
    if not name.endswith(".__main__")
]


def run_console(text: str) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for session in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, wanted = session.partition("\n")
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=environment)
        assert (done.stdout + done.stderr).rstrip() == wanted.rstrip(), command


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
def test_the_readme_is_true(section, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "readme"}
    printed = ""
    for language, line, text in section.blocks:
        if language == "text":
            assert printed.rstrip() == text.rstrip(), f"README.md:{line}"
        else:
            assert not printed, f"README.md:{line}: what the block before it prints is not shown"
        printed = ""
        if language == "python":
            # Padded, so that a traceback shows the README's own line numbers.
            exec(compile("\n" * (line - 1) + text, str(README), "exec"), namespace)
            printed = capfd.readouterr().out
        elif language == "console":
            run_console(text)
        elif language == "toml":
            assert tomllib.loads(text)
    assert not printed, "what the last block prints is not shown"


def test_the_readme_starts_with_its_commands():
    commands = [text for section in SECTIONS for language, _, text in section.blocks if language == "sh"]
    assert "make demo" in commands[0]
    assert "make test" in commands[0]


def test_every_block_of_the_readme_names_its_language():
    known = {"python", "console", "sh", "text", "toml"}
    assert [line for section in SECTIONS for language, line, _ in section.blocks if language not in known] == []


@pytest.mark.parametrize("name", MODULES)
def test_doctests_of(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_modules_of_every_depth_were_walked():
    assert {"tooldialect.dialects", "tooldialect.dialects.wires.base", "tooldialect.gate.target"} <= set(MODULES)
