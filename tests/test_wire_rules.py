from __future__ import annotations

import pytest

from sdk_types import check_anthropic, check_openai
from wire_rules import REJECTED

SAMPLES = [(checker, rule, sample) for checker, samples in REJECTED.items() for rule, sample in samples.items()]


@pytest.mark.parametrize(("checker", "rule", "sample"), SAMPLES, ids=[rule for _, rule, _ in SAMPLES])
def test_each_rule_rejects_its_sample(checker, rule, sample):
    assert rule in {found for found, _ in checker(sample)}


@pytest.mark.parametrize(
    ("check", "request_"),
    [
        (check_openai, {"messages": [{"role": "user", "content": "x", "is_error": True}]}),
        (check_openai, {"messages": [{"role": "assistant", "content": None, "tool_calls": [{"id": 1}]}]}),
        (check_openai, {"messages": [], "system": "x"}),
        (check_anthropic, {"messages": [{"role": "user", "content": [{"type": "text", "text": "x", "odd": 1}]}]}),
        (
            check_anthropic,
            {
                "messages": [
                    {
                        "role": "assistant",
                        "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}, "odd": 1}],
                    }
                ]
            },
        ),
        (
            check_anthropic,
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": 1}]}]},
        ),
    ],
)
def test_the_sdk_judges_see_keys_and_types_that_do_not_belong(check, request_):
    with pytest.raises((ValueError, AssertionError)):
        check(request_)
