"""The shape of the source, read from its syntax trees: who may import whom, and where tags are spelled."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAY_IMPORT = {
    "dialects": set(),
    "gate": {"dialects"},
    "conformance": {"dialects", "gate"},
}
CORE = {"pydantic", "pydantic_core", "xxhash", "jsonschema_rs", "regex"}
# The one folder of a package whose files may import an extra, and which extra.
EXTRAS = {"gate/sources": {"mcp", "anyio"}}
TAG_TABLE = "dialects/tags.py"
# An opened or closed tag, or a chat template's control token. Field names such as `tool_calls` are no tags.
TAG_LITERAL = re.compile(
    r"</?(?:tool_result|tool_call|think|thinking|function_calls?|invoke)\b(?!_)|<\|(?:im|eot|start|end)|<(?:start|end)_of_turn>"
)


@dataclass(frozen=True)
class Import:
    """`module` in full for an absolute import, the part behind the dots for a relative one."""

    file: str
    line: int
    level: int
    module: str

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {'.' * self.level}{self.module}"


def imports(file: str, tree: ast.AST) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, 0, alias.name)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module == "tooldialect":
                for alias in node.names:
                    yield Import(file, node.lineno, node.level, f"{module}.{alias.name}")
            else:
                yield Import(file, node.lineno, node.level, module)


def direction_errors(found: Import) -> Iterator[str]:
    package = PurePosixPath(found.file).parts[0]
    if found.level:
        if found.level >= len(PurePosixPath(found.file).parts):
            yield f"{found} leaves its package by a relative import"
        return
    if found.top in MAY_IMPORT:
        yield f"{found} is a bare name: across packages, import tooldialect.{found.top}"
    if found.top != "tooldialect":
        return
    target = [*found.module.split("."), ""][1]
    if target == package:
        yield f"{found} is in the same package: import it relatively"
    elif target not in MAY_IMPORT[package]:
        yield f"{found} goes against dialects <- gate <- conformance"


def docstrings(tree: ast.AST) -> set[ast.AST]:
    """Docstrings, and the strings below an assignment that document it: prose, not code."""
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }


def tag_literals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    prose = docstrings(tree)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in prose
            and (found := TAG_LITERAL.search(node.value))
        ):
            yield node.lineno, found[0]


TREES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"), str(path))
    for package in MAY_IMPORT
    for path in sorted((ROOT / package).rglob("*.py"))
}
IMPORTS = [found for file, tree in TREES.items() for found in imports(file, tree)]


def test_all_three_packages_were_read():
    assert {PurePosixPath(file).parts[0] for file in TREES} == set(MAY_IMPORT)
    assert IMPORTS


def test_imports_go_from_conformance_to_gate_to_dialects():
    assert [error for found in IMPORTS for error in direction_errors(found)] == []


def test_only_one_file_of_conformance_imports_pytest():
    files = {found.file for found in IMPORTS if not found.level and found.top in {"pytest", "_pytest"}}
    assert len(files) <= 1
    assert all(file.startswith("conformance/") for file in files)


def test_dialects_and_gate_stand_on_the_core_dependencies():
    foreign = [
        str(found)
        for found in IMPORTS
        if not found.level
        and not found.file.startswith("conformance/")
        and found.top not in sys.stdlib_module_names | CORE | {"tooldialect"}
        and found.top not in EXTRAS.get(PurePosixPath(found.file).parent.as_posix(), set())
    ]
    assert foreign == []


def test_protocol_tags_are_spelled_in_their_table_only():
    spelled = [
        f"{file}:{line} {tag}"
        for file, tree in TREES.items()
        if file != TAG_TABLE and not file.startswith("conformance/")
        for line, tag in tag_literals(tree)
    ]
    assert spelled == []


def test_packages_are_typed_and_subpackages_are_packages():
    for package in MAY_IMPORT:
        assert (ROOT / package / "py.typed").is_file()
    folders = {PurePosixPath(file).parent.as_posix() for file in TREES}
    assert [folder for folder in sorted(folders) if f"{folder}/__init__.py" not in TREES] == []


@pytest.mark.parametrize(
    ("file", "source", "complaint"),
    [
        ("dialects/a.py", "from tooldialect.gate import Contract", "against"),
        ("dialects/a.py", "from tooldialect import gate", "against"),
        ("dialects/a.py", "import tooldialect", "against"),
        ("dialects/a.py", "def f():\n    import tooldialect.conformance", "against"),
        ("gate/a.py", "from tooldialect.conformance.run import run", "against"),
        ("gate/a.py", "from tooldialect.gate.target import GateTarget", "relatively"),
        ("gate/sources/a.py", "import tooldialect.gate.target", "relatively"),
        ("gate/a.py", "from dialects import ToolOutcome", "bare"),
        ("gate/a.py", "import gate.target", "bare"),
        ("gate/a.py", "from ..dialects import ToolOutcome", "leaves"),
        ("gate/sources/a.py", "from ...dialects import ToolOutcome", "leaves"),
    ],
)
def test_the_checker_sees_a_wrong_import(file, source, complaint):
    [error] = [error for found in imports(file, ast.parse(source)) for error in direction_errors(found)]
    assert complaint in error


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("gate/a.py", "from tooldialect.dialects.text import canonical_json"),
        ("gate/sources/a.py", "from ..target import GateTarget"),
        ("dialects/a.py", "from . import text"),
        ("conformance/a.py", "from tooldialect import dialects, gate"),
    ],
)
def test_the_checker_passes_a_right_import(file, source):
    assert [error for found in imports(file, ast.parse(source)) for error in direction_errors(found)] == []


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("x = '<tool_call>'", True),
        ("x = f'</tool_result>{y}'", True),
        ("x = '<|im_start|>'", True),
        ("x = 'tool_call'", False),
        ("x = {'type': 'tool_result', 'tool_calls': []}", False),
        ("def f():\n    'Reads <tool_call>.'", False),
        ("x = 1\n'''What <tool_call> holds.'''", False),
    ],
)
def test_the_checker_tells_tags_from_field_names_and_prose(source, seen):
    assert bool(list(tag_literals(ast.parse(source)))) is seen
