"""Calls that are hard to spell, drawn and by hand; and reading them back."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tooldialect.dialects import ModelResponse, ParsedResponse, ParsedToolCall

from .clause import Violation, require
from .same_json import same_json, shown_json
from .strategies import any_text, hostile_text, json_values, written_hostile
from .tools import ANYTHING
from .trial import Trial

_TRICKY = (
    "007", "1", "1.0", "-0", "1e3", "true", "false", "null", "None", "[]", "{}", '"quoted"', '{"a": 1}', "a|b", "a]b", "a\\b",
    "a\\|b", "\\", "]", "|", "0|x", "[0|x]", "a]\n", "\n", "", " ", " x ", "a\nb", "C:\\dir\\new", "NaN", "Infinity", "'", "``` x",
)  # fmt: skip


def arguments_of(trial: Trial) -> st.SearchStrategy[dict[str, Any]]:
    texts = st.one_of(
        any_text, hostile_text(trial.about.protocol_tags, trial.about.control_tokens), st.sampled_from(_TRICKY)
    )
    values = texts | json_values(trial.about.numbers)
    names = st.sampled_from(("location", "unit", "days", *ANYTHING.parameters["properties"])) | st.text(max_size=4)
    return st.dictionaries(names, values, max_size=4)


def calls_by_hand(trial: Trial) -> list[ParsedToolCall]:
    texts = [*_TRICKY, *written_hostile(trial.about.protocol_tags), *trial.about.control_tokens[:8]]
    by_name: list[tuple[str, dict[str, Any]]] = [
        ("ping", {}),
        ("get_weather", {"location": "London", "unit": "metric"}),
        ("get_weather", {"unit": "imperial"}),
        ("run-it.v2", {"count": 3, "flag": True, "list": [1, "a", None], "map": {"k": [{}]}, "nothing": None}),
        ("run-it.v2", {"any": 1, "either": 1}),
        ("run-it.v2", {"any": "1", "either": "1", "text": "1"}),
        ("run-it.v2", {"any": True, "either": None, "list": [], "map": {}}),
        ("run-it.v2", {"flag": "true", "count": "3", "list": "[]", "map": "{}", "nothing": "null", "share": "0.5"}),
        ("run-it.v2", {"unheard": "of", "text": "x"}),
        ("run-it.v2", {"": "empty name", "a|b": 1, "<x>": 2}),
    ]
    if trial.about.numbers == "exact":
        by_name += [
            ("run-it.v2", {"share": 1.0, "any": 1.0, "count": 10**20, "either": -1}),
            ("run-it.v2", {"share": 1, "any": -0.0}),
        ]
    by_name += [("run-it.v2", {"text": text, "any": text, "list": [text], "either": text}) for text in texts]
    return [ParsedToolCall(name=name, arguments=arguments) for name, arguments in by_name]


def is_plain(call: ParsedToolCall) -> bool:
    return all(isinstance(value, str) and value.isalpha() for value in call.arguments.values())


def require_calls(trial: Trial, want: list[ParsedToolCall], parsed: ParsedResponse, spelled: ModelResponse) -> None:
    written = spelled.text if not trial.is_native else shown_json([call.arguments for call in spelled.tool_calls])
    require(
        not parsed.problems,
        f"a call as the dialect writes it is a problem: {[p.detail for p in parsed.problems]}",
        got=written,
    )
    require(len(parsed.calls) == len(want), f"{len(want)} calls were written, {len(parsed.calls)} read", got=written)
    for read, call in zip(parsed.calls, want, strict=True):
        require(read.name == call.name, f"a call of {call.name!r} was read as one of {read.name!r}", got=written)
        if not same_json(read.arguments, call.arguments, trial.about.numbers):
            raise Violation(
                f"the arguments of {call.name!r} came back changed",
                want=json.dumps(call.arguments, ensure_ascii=False, sort_keys=True),
                got=json.dumps(read.arguments, ensure_ascii=False, sort_keys=True),
            )
