"""What importing loads, and that a name which is loaded late is a name like any other."""

from __future__ import annotations

import ast
import importlib
import json
import os
import pickle
import pkgutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import benchmark_package  # noqa: F401 - which makes the next import work
import tooldialect.dialects as d
import tooldialect.gate as g
from benchmarks.importing import FIRST_TURN
from tooldialect.dialects import ToolOutcome

PACKAGES = [
    "tooldialect.dialects",
    "tooldialect.dialects.wires",
    "tooldialect.gate",
    "tooldialect.gate.arguments",
    "tooldialect.gate.sources",
]
each_package = pytest.mark.parametrize("package", PACKAGES)


def fresh(program, *arguments, path=""):
    """What a program prints, as JSON, in a process that has imported nothing of ours."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(path), os.environ.get("PYTHONPATH")]))}
    command = [sys.executable, "-P", "-c", textwrap.dedent(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def loaded_by(program):
    return set(fresh(f"import json, sys\n{textwrap.dedent(program)}\nprint(json.dumps(sorted(sys.modules)))"))


# Each in turn as if it were the first: nothing of ours is left of the one before.
ONE_BY_ONE = """
import importlib, json, sys, traceback

failed = {}
for what in sys.argv[1:]:
    for name in [name for name in sys.modules if name.startswith("tooldialect.")]:
        del sys.modules[name]
    module, _, name = what.partition(":")
    try:
        found = importlib.import_module(module)
        if name:
            namespace = {}
            exec(f"from {module} import {name}", namespace)
            assert namespace[name] is getattr(found, name)
    except BaseException:
        failed[what] = traceback.format_exc()
print(json.dumps(failed))
"""


@each_package
def test_every_public_name_is_found_alone(package):
    names = importlib.import_module(package).__all__
    assert fresh(ONE_BY_ONE, *(f"{package}:{name}" for name in names)) == {}


def modules(package):
    root = Path(importlib.import_module(package).__file__).parent
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[-1] != "__main__":
            yield ".".join([package, *(part for part in parts if part != "__init__")])


@pytest.mark.parametrize("package", ["tooldialect.dialects", "tooldialect.gate"])
def test_every_module_can_be_imported_first(package):
    found = list(modules(package))
    assert len(found) > 20
    assert fresh(ONE_BY_ONE, *found) == {}


def names_for_type_checkers(package):
    tree = ast.parse(Path(importlib.import_module(package).__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        assert node.level == 1
        yield from ((alias.name, f"{package}.{node.module}") for alias in node.names)


@each_package
def test_type_checkers_and_the_interpreter_find_the_same(package):
    written = dict(names_for_type_checkers(package))
    unresolved = f"import json, {package} as p; print(json.dumps(sorted(set(dir(p)) - set(vars(p)))))"
    assert sorted(written) == sorted(importlib.import_module(package).__all__) == fresh(unresolved)
    for name, module in written.items():
        assert getattr(importlib.import_module(package), name) is getattr(importlib.import_module(module), name)


@each_package
def test_a_star_imports_every_public_name(package):
    names = fresh(f"import json\nfrom {package} import *\nprint(json.dumps([n for n in dir() if n[0] != '_']))")
    assert sorted(set(names) - {"json"}) == sorted(importlib.import_module(package).__all__)


@each_package
def test_a_package_lists_its_names(package):
    found = importlib.import_module(package)
    assert set(found.__all__) <= set(dir(found))
    assert "__name__" in dir(found)


@each_package
def test_an_unknown_name_is_an_ordinary_error(package):
    found = importlib.import_module(package)
    with pytest.raises(AttributeError, match=f"^module '{package}' has no attribute 'nonsense'$") as caught:
        _ = found.nonsense
    assert (caught.value.name, caught.value.obj) == ("nonsense", found)
    assert not hasattr(found, "nonsense")
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec(f"from {package} import nonsense", {})


def test_records_are_pickled_by_the_module_that_defines_them():
    outcome = ToolOutcome.ok("ls", "a.txt")
    again = "import json, pickle, sys; print(json.dumps(pickle.loads(bytes.fromhex(sys.argv[1])).output))"
    assert fresh(again, pickle.dumps(outcome).hex()) == "a.txt"
    assert pickle.loads(pickle.dumps(d.XmlDialect)) is d.XmlDialect
    assert pickle.loads(pickle.dumps(g.Reason.PRESENT)) is g.Reason.PRESENT


@each_package
def test_no_export_has_the_name_of_a_module(package):
    found = importlib.import_module(package)
    assert not {module.name for module in pkgutil.iter_modules(found.__path__)} & set(found.__all__)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Lay a package whose names are late: `{file: source}`, `{module: names}`."""

    def lay(name, files, exports):
        root = tmp_path / name
        root.mkdir()
        late = f"from tooldialect.dialects.later import exports_later\nexports_later(__name__, {exports!r})\n"
        (root / "__init__.py").write_text(late)
        for file, source in files.items():
            (root / f"{file}.py").write_text(source)
        monkeypatch.syspath_prepend(str(tmp_path))
        for module in [module for module in sys.modules if module.partition(".")[0] == name]:
            monkeypatch.delitem(sys.modules, module)
        return importlib.import_module(name)

    return lay


@pytest.mark.parametrize("error", ["ImportError", "ValueError", "KeyboardInterrupt"])
def test_an_error_in_a_module_is_the_error_of_its_names(package, error):
    broken = package("late_broken", {"inner": f"raise {error}('the disc is full')"}, {"inner": ["name"]})
    for statement in ("package.name", "from late_broken import name", "hasattr(package, 'name')"):
        with pytest.raises(getattr(__import__("builtins"), error), match="the disc is full"):
            exec(statement, {"package": broken})


@pytest.mark.parametrize("source", ["None.nothing", "other = 1"], ids=["at its import", "not in it"])
def test_a_missing_attribute_does_not_pass_for_a_missing_name(package, source):
    broken = package("late_missing", {"inner": source}, {"inner": ["name"]})
    for statement in ("package.name", "from late_missing import name"):
        with pytest.raises(ImportError, match=r"cannot import 'name' from 'late_missing': .* has no attribute"):
            exec(statement, {"package": broken})


def test_a_name_can_be_asked_for_again_where_its_module_failed_once(package, tmp_path):
    healed = package("late_healed", {"inner": "raise OSError"}, {"inner": ["name"]})
    with pytest.raises(OSError):
        _ = healed.name
    (tmp_path / "late_healed" / "inner.py").write_text("name = 'here now'")
    importlib.invalidate_caches()
    assert healed.name == "here now"


def test_what_is_no_export_of_that_name_is_still_set(package):
    found = package("late_set", {"inner": "name = 1", "other": ""}, {"inner": ["name"]})
    importlib.import_module("late_set.other")
    assert found.other is sys.modules["late_set.other"]
    found.name = 2
    assert found.name == 2


def test_threads_that_ask_at_once_get_one_and_the_same():
    program = """
    import json, threading
    import tooldialect.dialects as d, tooldialect.gate as g
    names = [(package, name) for package in (d, g) for name in package.__all__]
    threads, begin = [], threading.Barrier(12)
    found = [{} for _ in range(begin.parties)]

    def ask(number):
        begin.wait()
        for step in range(len(names)):
            package, name = names[(step + number * 7) % len(names)]
            found[number][name] = getattr(package, name)

    threads = [threading.Thread(target=ask, args=[number]) for number in range(begin.parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same = all(each[name] is getattr(package, name) for each in found for package, name in names)
    print(json.dumps([same, len(names)]))
    """
    assert fresh(program) == [True, len(d.__all__) + len(g.__all__)]


def test_a_plug_in_may_import_the_package_that_looks_it_up(tmp_path):
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tooldialect.dialects]\nacme = acme_late:Acme\n")
    (tmp_path / "acme_late.py").write_text(
        "import tooldialect.gate\n"
        "from tooldialect.dialects import *\n"
        "from tooldialect.dialects import get_dialect, XmlDialect\n"
        "inner = get_dialect('xml')\n"
        "class Acme(XmlDialect):\n"
        "    name = 'acme'\n"
    )
    program = """
    import json, threading
    from tooldialect.dialects import get_dialect
    names = []
    threads = [threading.Thread(target=lambda: names.append(get_dialect("acme").name)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(names))
    """
    assert fresh(program, path=tmp_path) == ["acme"] * 4


def test_importing_the_packages_imports_nothing_else():
    loaded = loaded_by("import tooldialect.dialects, tooldialect.gate")
    ours = {name for name in loaded if name.partition(".")[0] == "tooldialect"}
    assert ours == {"tooldialect", "tooldialect.dialects", "tooldialect.dialects.later", "tooldialect.gate"}
    assert loaded.isdisjoint({"pydantic", "pydantic_core", "jsonschema_rs", "regex", "xxhash", "asyncio", "logging"})


UNUSED = {
    "asyncio", "concurrent.futures", "difflib", "mcp", "regex",
    *(f"tooldialect.dialects.{name}" for name in ("mcp_results", "native", "pformat", "saved")),
    *(f"tooldialect.dialects.parsing.{name}" for name in ("slot_form", "slot_grammar")),
    *(f"tooldialect.dialects.wires.{name}" for name in (
        "anthropic", "bedrock", "gemini", "langchain", "mistral", "named", "openai_responses", "plain_chat",
        "root_schema", "tool_specs",
    )),
}  # fmt: skip


def test_a_text_dialect_and_the_gate_import_only_what_they_use():
    loaded = loaded_by(FIRST_TURN + "assert check_arguments({}, Contract(input_schema=schema)).violations\n")
    assert "tooldialect.dialects.xml" in loaded
    assert loaded & UNUSED == set()


@pytest.mark.parametrize(
    ("program", "used"),
    [
        ("from tooldialect.dialects import NativeDialect", "tooldialect.dialects.native"),
        ("from tooldialect.dialects import get_dialect; get_dialect('pformat')", "tooldialect.dialects.pformat"),
        ("from tooldialect.dialects import OpenAIChatWire, ToolSpec; OpenAIChatWire().encode([], [ToolSpec(name='x')])",
         "tooldialect.dialects.wires.tool_specs"),
        ("from tooldialect.dialects import wire_for; wire_for('bedrock')", "tooldialect.dialects.wires.bedrock"),
        ("from tooldialect.gate import McpSource", "asyncio"),
    ],
)  # fmt: skip
def test_what_the_guard_looks_for_is_loaded_by_its_use(program, used):
    assert used in UNUSED
    assert used in loaded_by(program)
