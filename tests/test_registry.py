"""Dialects by name, with plug-ins installed as pip would install them."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from tooldialect.dialects import (
    NativeDialect,
    PFormatDialect,
    PluginError,
    ToolSpec,
    UnknownDialectError,
    XmlDialect,
    available_dialects,
    get_dialect,
)
from tooldialect.dialects.registry import known_tags

BUILT_IN = ["native", "xml", "pformat"]
TOOLS = (ToolSpec(name="ls"),)

ACME = """
from tooldialect.dialects import XmlDialect

class AcmeDialect(XmlDialect):
    name = "acme"
    protocol_tags = ("tool_result", "tool_call", "acme_call")
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Lay a distribution with one entry point on the path."""

    def lay(distribution: str, entry_point: str, module: str = "", source: str = "") -> None:
        site = tmp_path / distribution
        info = site / f"{distribution}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[tooldialect.dialects]\n{entry_point}\n")
        if module:
            (site / f"{module}.py").write_text(textwrap.dedent(source))
            monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.syspath_prepend(str(site))

    return lay


@pytest.mark.parametrize(
    ("name", "kind"), [("native", NativeDialect), ("xml", XmlDialect), ("pformat", PFormatDialect)]
)
def test_built_in_dialects_are_found_by_name(name, kind):
    dialect = get_dialect(name, TOOLS)
    assert type(dialect) is kind
    assert dialect.name == name


def test_built_in_dialects_are_listed():
    assert available_dialects()[: len(BUILT_IN)] == BUILT_IN


def test_an_unknown_name_lists_the_known_ones(install):
    install("acme_dist", "acme = acme_mod:AcmeDialect")
    with pytest.raises(UnknownDialectError, match=r"'jason'.*native, xml, pformat, acme"):
        get_dialect("jason")


@pytest.mark.parametrize("name", ["XML", "xml ", ""])
def test_names_are_exact(name):
    with pytest.raises(UnknownDialectError):
        get_dialect(name)


def test_a_registered_dialect_is_listed_and_gets_the_tools(install):
    install("acme_dist", "acme = acme_good:AcmeDialect", "acme_good", ACME)
    assert "acme" in available_dialects()
    dialect = get_dialect("acme", TOOLS)
    assert isinstance(dialect, XmlDialect)
    assert dialect.name == "acme"
    assert dialect.tools == TOOLS


def test_the_tags_of_a_loaded_dialect_are_known(install):
    assert {"tool_result", "tool_call"} <= known_tags()
    install("acme_dist", "acme = acme_tags:AcmeDialect", "acme_tags", ACME.replace("acme_call", "loaded_call"))
    available_dialects()
    assert "loaded_call" not in known_tags()
    get_dialect("acme")
    assert "loaded_call" in known_tags()


def test_a_registered_dialect_never_clobbers_a_built_in(install):
    install("evil_dist", "xml = evil_mod:Evil", "evil_mod", "raise SystemError('imported')")
    assert type(get_dialect("xml")) is XmlDialect
    assert available_dialects().count("xml") == 1


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("import a_module_nobody_has", "ModuleNotFoundError: No module named 'a_module_nobody_has'"),
        ("raise SystemError('boom')", "SystemError: boom"),
        ("", "AttributeError"),
        ("def Dialect(tools): raise ValueError('no licence')", "ValueError: no licence"),
        ("def Dialect(): ...", "TypeError"),
    ],
)
def test_a_plug_in_that_fails_is_named_with_its_cause_and_breaks_no_other(install, source, cause):
    install("broken_dist", "broken = broken_mod:Dialect", "broken_mod", source)
    install("acme_dist", "acme = acme_beside:AcmeDialect", "acme_beside", ACME)
    with pytest.raises(PluginError, match=f"'broken' .broken_mod:Dialect. .*{cause}") as raised:
        get_dialect("broken")
    assert type(raised.value.__cause__).__name__ in cause
    assert get_dialect("acme").name == "acme"
    assert get_dialect("xml").name == "xml"


def test_a_plug_in_that_returns_something_else_is_refused(install):
    install("odd_dist", "odd = odd_mod:make", "odd_mod", "def make(tools): return 'dialect'")
    with pytest.raises(PluginError, match=r"'odd' .odd_mod:make. is str, not a ToolDialect"):
        get_dialect("odd")


def test_two_plug_ins_of_one_name_are_an_error_that_names_both(install):
    install("one_dist", "acme = one_mod:AcmeDialect", "one_mod", ACME)
    install("two_dist", "acme = two_mod:AcmeDialect", "two_mod", ACME)
    with pytest.raises(PluginError, match="one_mod:AcmeDialect, two_mod:AcmeDialect"):
        get_dialect("acme")


def test_one_plug_in_seen_twice_is_no_conflict(install):
    install("one_dist", "acme = acme_twice:AcmeDialect", "acme_twice", ACME)
    install("two_dist", "acme = acme_twice:AcmeDialect")
    assert get_dialect("acme").name == "acme"


def test_importing_the_package_reads_no_entry_points():
    code = """
        import importlib.metadata as metadata
        read = metadata.entry_points
        def entry_points(**selection):
            if selection.get("group") == "tooldialect.dialects":
                raise SystemExit("entry points read at import")
            return read(**selection)
        metadata.entry_points = entry_points
        import tooldialect.dialects as dialects
        assert dialects.get_dialect("xml").name == "xml"
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
