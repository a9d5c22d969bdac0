"""The vectors: language-neutral cases, one fault each, in JSON files that need no Python."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from pydantic import TypeAdapter

from tooldialect.dialects import ModelResponse, ToolOutcome, ToolResultBatch, ToolSpec, TranscriptEntry
from tooldialect.dialects.transcript import DiscriminatedEntry

from .clause import require, require_same
from .description import Description
from .entries import is_flagged, text_of
from .faults import Refused
from .same_json import same_json
from .target import Subject, Target

_ENTRY: TypeAdapter[TranscriptEntry] = TypeAdapter(DiscriminatedEntry)


def vectors() -> Iterator[dict[str, Any]]:
    """Every vector as it is shipped, ordered by id; its shape is `vector.schema.json`."""
    for folder in sorted(files(__package__).joinpath("vectors").iterdir(), key=lambda found: found.name):
        if folder.is_dir():
            yield from (_read(file) for file in sorted(folder.iterdir(), key=lambda found: found.name))


def applies(vector: Mapping[str, Any], about: Description) -> bool:
    """Whether the vector speaks of this dialect, and the dialect has the method."""
    has_method = vector["method"] in ("format_results", *about.capabilities)
    tells_tools = about.embeds_catalogue or vector["method"] != "prompt_instructions"
    return vector["dialect"] in (about.results, about.name) and has_method and tells_tools


def check_vector(vector: Mapping[str, Any], target: Target) -> None:
    """Raises Violation where the dialect answers otherwise."""
    params = vector["params"]
    subject = target.make(_tools(params.get("made_for", params["tools"])))
    expected = vector["expected"]
    if "error" in expected:
        try:
            _ask(vector["method"], subject, params)
        except Refused as refusal:
            missing = [text for text in expected["error"]["holds"] if text not in refusal.message]
            require(not missing, f"the error does not hold {missing}: {refusal.message}")
        else:
            require(False, "it was accepted and had to be refused")
        return
    answer = _ask(vector["method"], subject, params)
    if "entries" in expected:
        _check_entries(expected["entries"], answer)
    elif "block" in expected:
        _check_block(expected["block"], answer)
    else:
        _check_parsed(expected, answer)


def _ask(method: str, subject: Subject, params: Mapping[str, Any]) -> Any:
    if method == "format_results":
        return subject.format_results([ToolOutcome.model_validate(outcome) for outcome in params["outcomes"]])
    if method == "replay":
        return subject.replay([_ENTRY.validate_python(entry) for entry in params["history"]])
    if method == "prompt_instructions":
        return subject.prompt_instructions(_tools(params["tools"]))
    return subject.parse_response(ModelResponse.model_validate(params["response"]))


def _tools(tools: Sequence[Mapping[str, Any]]) -> list[ToolSpec]:
    return [ToolSpec.model_validate(tool) for tool in tools]


def _check_block(expected: Mapping[str, Sequence[str]], block: str) -> None:
    for text in expected["holds"]:
        require(text in block, f"the block does not hold {text!r}", got=block)
    for text in expected.get("lacks", ()):
        require(text not in block, f"the block holds {text!r}", got=block)


def _check_entries(expected: Sequence[Mapping[str, Any]], entries: Sequence[TranscriptEntry]) -> None:
    rest = list(entries)
    for place, wanted in enumerate(expected):
        require(rest, f"entry {place} is missing")
        if "answers" in wanted:
            _check_answers(wanted["answers"], rest)
            continue
        entry = rest.pop(0)
        if "exactly" in wanted:
            record = _ENTRY.validate_python(wanted["exactly"])
            require_same(text_of(record), text_of(entry), f"entry {place} differs")
            require(entry == record, f"entry {place} is {entry!r}, not {record!r}")
            continue
        require(not is_flagged(entry), f"entry {place} is marked")
        text, start = text_of(entry), 0
        for piece in wanted["holds"]:
            start = text.find(piece, start)
            require(start >= 0, f"entry {place} does not hold {piece!r} where it should", got=text)
    require(not rest, f"{len(rest)} entries more than expected")


def _check_answers(expected: Sequence[Mapping[str, Any]], rest: list[TranscriptEntry]) -> None:
    results = []
    while rest and isinstance(rest[0], ToolResultBatch):
        batch = rest.pop(0)
        assert isinstance(batch, ToolResultBatch)
        results += [result.model_dump() for result in batch.results]
    got = [{key: result[key] for key in wanted} for result, wanted in zip(results, expected, strict=False)]
    require(len(results) == len(expected) and got == list(expected), f"the answers are {results}, not {list(expected)}")


def _check_parsed(expected: Mapping[str, Any], parsed: Any) -> None:
    calls = [call.model_dump(exclude_defaults=True) for call in parsed.calls]
    require(same_json(calls, expected["calls"]), f"the calls read are {calls}, not {expected['calls']}")
    got = [problem.model_dump() for problem in parsed.problems]
    problems = [
        {key: problem[key] for key in wanted} for problem, wanted in zip(got, expected["problems"], strict=False)
    ]
    require(len(got) == len(expected["problems"]) and problems == expected["problems"], f"the problems are {got}")
    if "text" in expected:
        require_same(expected["text"], parsed.text, "the text differs")


def _read(file: Traversable) -> dict[str, Any]:
    vector: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return vector
