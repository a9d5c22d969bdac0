"""The shipped vectors and schemas: well-formed, in step with the code, kept by the dialects, broken by the broken."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import tooldialect.conformance
from builtin_dialects import TARGETS
from mutants import CONTROLS
from tool_response_dialect import ToolResponseDialect
from tooldialect.conformance import ProcessTarget, PythonTarget, Violation, clauses
from tooldialect.conformance.record_schema import as_text, published, records_schema
from tooldialect.conformance.vector import applies, check_vector, vectors
from tooldialect.dialects import ToolOutcome, ToolResultBatch

ALL = list(vectors())
BY_ID = {vector["id"]: vector for vector in ALL}
NODE = ["node", str(Path(__file__).parent / "drivers" / "minimal.mjs")]


@pytest.mark.parametrize("vector", ALL, ids=list(BY_ID))
def test_a_vector_fits_the_schema_and_lies_under_its_id(vector):
    assert [error.message for error in Draft202012Validator(published("vector")).iter_errors(vector)] == []
    assert vector["clause"] in {clause.id for clause in clauses()}
    assert files(tooldialect.conformance).joinpath("vectors", f"{vector['id']}.json").is_file()


@pytest.mark.parametrize("name", TARGETS)
def test_the_dialects_keep_the_vectors_that_apply(name):
    kept = [vector for vector in ALL if applies(vector, TARGETS[name].describe())]
    assert len(kept) >= 10
    for vector in kept:
        check_vector(vector, TARGETS[name])


def test_every_vector_applies_to_some_dialect():
    assert [
        id for id, vector in BY_ID.items() if not any(applies(vector, t.describe()) for t in TARGETS.values())
    ] == []


def test_vectors_of_every_text_dialect_know_no_envelope():
    target = PythonTarget(ToolResponseDialect)
    kept = [vector for vector in ALL if applies(vector, target.describe())]
    assert {vector["dialect"] for vector in kept} == {"text"}
    for vector in kept:
        check_vector(vector, target)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_dialect_in_another_language_keeps_them():
    target = ProcessTarget(NODE)
    try:
        kept = [vector for vector in ALL if applies(vector, target.describe())]
        assert len(kept) >= 10
        for vector in kept:
            check_vector(vector, target)
    finally:
        target.close()


@pytest.mark.parametrize(
    ("id", "control"),
    [
        ("verbatim/wrapped", "wraps the marked result"),
        ("verbatim/lost-when-first", "forgets it when first"),
        ("verbatim/merged-neighbours", "merges two marked neighbours"),
        ("verbatim/tags-escaped", "neutralises tags in it"),
        ("verbatim/empty-turn", "makes an empty turn of a blank one"),
        ("verbatim/empty-turn-native", "loses a blank one"),
        ("verbatim/framed-in-replay", "frames marked results of another dialect"),
        ("framing/empty-frame", "frames nothing"),
        ("framing/not-reopened", "reopens no batch"),
        ("framing/scattered", "gives every result a turn"),
        ("framing/named-by-id", "renders replay by id though the name is known"),
        ("envelope/closed-by-body", "leaves bodies alone"),
        ("envelope/closed-in-upper-case", "neutralises only lower case"),
        ("envelope/open-tag-at-the-end", "lets a body end in an open tag"),
        ("envelope/code-escaped", "escapes whole bodies"),
        ("envelope/near-miss-broken", "breaks whatever begins like a tag"),
        ("envelope/control-token-alive", "leaves control tokens alive"),
        ("envelope/bare-message-alive", "leaves tags in bare tool messages"),
        ("envelope/name-forges-status", "does not escape names"),
        ("native/invented-id", "invents ids"),
        ("native/healthy-rewritten", "rewrites healthy cycles"),
        ("native/unanswered", "repairs nothing"),
        ("native/orphan-kept", "keeps orphans"),
        ("native/answered-twice", "lets the last result win"),
        ("native/marked-orphan-lost", "loses marked orphans"),
        ("calls/arguments-retyped", "makes text of numbers"),
        ("calls/bad-json-empty", "turns bad arguments into {}"),
        ("calls/unknown-tool-run", "loses calls of unknown tools"),
        ("calls/mention-swallows", "lets a mentioned tag swallow the rest"),
        ("calls/second-lost", "turns calls around"),
        ("catalogue/tool-missing", "tells of some tools only"),
        ("catalogue/of-other-tools", "tells of the tools it was made with"),
        ("catalogue/description-cut", "cuts descriptions"),
        ("catalogue/parameter-cut", "cuts descriptions of parameters"),
    ],
)
def test_a_vector_catches_the_fault_it_is_named_after(id, control):
    broken = PythonTarget(CONTROLS[control].broken)
    # The broken dialect stands in for the one that the vector names.
    with pytest.raises(Violation):
        check_vector(BY_ID[id], broken)


def test_the_schema_of_the_records_is_in_step_with_them():
    shipped = files(tooldialect.conformance).joinpath("schemas", "records.schema.json").read_text(encoding="utf-8")
    assert shipped == as_text(records_schema())


@pytest.mark.parametrize("name", ["records", "vector", "report"])
def test_a_schema_is_one(name):
    Draft202012Validator.check_schema(published(name))


def test_the_schema_takes_what_records_dump_and_refuses_the_rest():
    schema = published("records")

    def errors(name, document):
        return list(Draft202012Validator({**schema, "$ref": f"#/$defs/{name}"}).iter_errors(document))

    outcome = ToolOutcome.failed("f", "x").verbatim().model_dump(mode="json")
    assert errors("ToolOutcome", outcome) == []
    assert errors("ToolOutcome", {**outcome, "success": "yes"})
    assert errors("ToolOutcome", {**outcome, "more": 1})
    assert errors("ToolResultBatch", ToolResultBatch(results=[]).model_dump(mode="json")) == []
    assert errors("ToolResultBatch", {"kind": "chat", "results": []})
