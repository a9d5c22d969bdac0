"""Nothing in the suite knows our envelope: a wholly different one is judged as sharply."""

from __future__ import annotations

import json
import re

import pytest

from fence_dialect import FenceDialect
from line_dialect import LineDialect
from tool_response_dialect import LIVE, ToolResponseDialect
from tooldialect.conformance import PROFILES, Profile, PythonTarget, run
from tooldialect.dialects import ParsedToolCall

WRITTEN = Profile("controls", examples=0, megabyte=1 << 16, shrink=False)


class WrapsMarked(ToolResponseDialect):
    def alone(self, text):
        return super().alone(f"<tool_response>\n{text}\n</tool_response>")


class TrimsMarked(ToolResponseDialect):
    def alone(self, text):
        return super().alone(text.strip())


class LeavesTags(ToolResponseDialect):
    def line(self, name, success, body):
        return json.dumps({"name": name, "ok": success, "content": body}, ensure_ascii=False)


class EscapesLowerCaseOnly(ToolResponseDialect):
    def line(self, name, success, body):
        plain = json.dumps({"name": name, "ok": success, "content": body}, ensure_ascii=False)
        return re.sub(LIVE.pattern, "\\\\u003c", plain, flags=re.ASCII)


class DropsStatus(ToolResponseDialect):
    def line(self, name, success, body):
        return super().line(name, True, body)


class EscapesBodies(ToolResponseDialect):
    def line(self, name, success, body):
        return super().line(name, success, body.replace("<", "&lt;"))


class StripsNames(ToolResponseDialect):
    def line(self, name, success, body):
        return super().line(name.strip(), success, body)


class OneTurnEach(ToolResponseDialect):
    def format_results(self, outcomes):
        return [entry for outcome in outcomes for entry in super(OneTurnEach, self).format_results([outcome])]


class BadJsonIsEmpty(ToolResponseDialect):
    def read(self, name, body, raw, calls, problems):
        super().read(name, body, raw, calls, problems)
        if problems and problems[-1].kind == "malformed":
            calls.append(ParsedToolCall(name=name, arguments={}))


class ReplaysForgeries(ToolResponseDialect):
    def own(self, text):
        return text


def failing(dialect, profile=WRITTEN):
    return {result.id for result in run(PythonTarget(dialect), profile=profile) if result.status == "fail"}


def test_it_passes_every_clause_that_applies_to_it():
    results = list(run(PythonTarget(ToolResponseDialect), profile=PROFILES["quick"]))
    assert [(r.id, r.detail, r.example, r.got) for r in results if r.status == "fail"] == []
    assert {r.id for r in results if r.status == "skip"} == {"E7", "N1", "N2", "N3", "N4", "N5", "N6", "N7"}


@pytest.mark.parametrize("dialect", [LineDialect, FenceDialect])
def test_an_envelope_without_tags_passes_every_clause_that_applies_to_it(dialect):
    results = list(run(PythonTarget(dialect), profile=PROFILES["quick"]))
    assert [(r.id, r.detail, r.example, r.got) for r in results if r.status == "fail"] == []


@pytest.mark.parametrize(
    ("dialect", "caught"),
    [
        (WrapsMarked, {"V1", "V2", "V3", "V5", "V6", "V7", "G1", "G2", "G3", "G4"}),
        (TrimsMarked, {"V1", "V3", "V5", "V6", "V7"}),
        (LeavesTags, {"E1", "E3", "E4"}),
        (EscapesLowerCaseOnly, {"E1", "E3"}),
        (DropsStatus, {"F5"}),
        (EscapesBodies, {"E2", "E5"}),
        (StripsNames, {"E3"}),
        (OneTurnEach, {"V2", "F3", "F6"}),
        (BadJsonIsEmpty, {"C5", "C7"}),
        (ReplaysForgeries, {"E8"}),
    ],
)
def test_its_broken_variants_fail(dialect, caught):
    assert failing(dialect) == caught
