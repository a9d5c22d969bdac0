"""The built-in dialects keep every clause that applies to them, with no expected failure."""

from __future__ import annotations

import pytest

from builtin_dialects import TARGETS
from tooldialect.conformance import PROFILES, PythonTarget, run
from tooldialect.dialects import NativeDialect, PFormatDialect, XmlDialect

SKIPPED = {
    "native": {"F8", "F9", "E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "E9", "C7", "C8"},
    "xml": {"N1", "N2", "N3", "N4", "N5", "N6", "N7"},
    "pformat": {"N1", "N2", "N3", "N4", "N5", "N6", "N7"},
}


@pytest.mark.parametrize("name", TARGETS)
def test_all_that_applies_holds(name):
    results = list(run(TARGETS[name], profile=PROFILES["quick"]))
    assert [(r.id, r.detail, r.example) for r in results if r.status == "fail"] == []
    assert {r.id for r in results if r.status == "skip"} == SKIPPED[name]
    assert all(r.detail for r in results if r.status == "skip")


@pytest.mark.parametrize("dialect", [NativeDialect, XmlDialect, PFormatDialect])
def test_it_holds_without_a_reader_of_the_envelope_too(dialect):
    results = run(PythonTarget(dialect), select_only=["V", "F", "E"])
    assert [(r.id, r.detail) for r in results if r.status == "fail"] == []
