"""The suite is judged by broken dialects: each is caught by the clause meant for it, and by nothing unrelated."""

from __future__ import annotations

import pytest

from control_table import control_table
from mutants import CONTROLS
from tooldialect.conformance import Profile, PythonTarget, clauses, run

# Written inputs alone, so that the table does not hang on what is drawn.
WRITTEN = Profile("controls", examples=0, megabyte=1 << 16, shrink=False)
IDS = [clause.id for clause in clauses("dialect")]


def failing(factory, select=()):
    results = run(PythonTarget(factory), profile=WRITTEN, select_only=sorted(select))
    return frozenset(result.id for result in results if result.status == "fail")


@pytest.mark.parametrize("control", CONTROLS.values(), ids=list(CONTROLS))
def test_a_broken_dialect_is_caught_by_its_clause_and_no_other(control):
    assert failing(control.broken) == control.caught_by


@pytest.mark.parametrize("control", CONTROLS.values(), ids=list(CONTROLS))
def test_its_near_twin_passes(control):
    assert failing(control.twin, control.caught_by) == frozenset()


def test_every_clause_has_a_control_and_the_table_is_complete(capsys):
    meant = {control.meant for control in CONTROLS.values()}
    with capsys.disabled():
        print("\n" + control_table("dialect", [(c.name, c.meant, c.caught_by) for c in CONTROLS.values()]))
    assert [id for id in IDS if id not in meant] == []
    assert [name for name, control in CONTROLS.items() if not control.caught_by <= set(IDS)] == []
