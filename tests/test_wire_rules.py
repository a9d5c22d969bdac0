from __future__ import annotations

import pytest

import bedrock_rules
import gemini_rules
import langchain_rules
import mistral_rules
import responses_rules
from bedrock_judge import check_bedrock
from gemini_judge import check_gemini
from responses_judge import check_responses
from sdk_types import check_anthropic, check_openai
from wire_rules import REJECTED

CHECKERS = {
    **REJECTED,
    responses_rules.responses_faults: responses_rules.REJECTED,
    mistral_rules.mistral_faults: mistral_rules.REJECTED,
    mistral_rules.faults_before_v7: mistral_rules.REJECTED_BEFORE_V7,
    langchain_rules.langchain_faults: langchain_rules.REJECTED,
    gemini_rules.gemini_faults: gemini_rules.REJECTED,
    bedrock_rules.bedrock_faults: bedrock_rules.REJECTED,
    bedrock_rules.faults_where_results_stand_alone: bedrock_rules.REJECTED_BESIDE_RESULTS,
}


def _failed(id_, status):
    return {"toolResult": {"toolUseId": id_, "content": [{"text": "x"}], "status": status}}


SAMPLES = [(checker, rule, sample) for checker, samples in CHECKERS.items() for rule, sample in samples.items()]


@pytest.mark.parametrize(("checker", "rule", "sample"), SAMPLES, ids=[rule for _, rule, _ in SAMPLES])
def test_each_rule_rejects_its_sample(checker, rule, sample):
    assert rule in {found for found, _ in checker(sample)}


@pytest.mark.parametrize(
    ("check", "request_"),
    [
        (check_openai, {"messages": [{"role": "user", "content": "x", "is_error": True}]}),
        (check_openai, {"messages": [{"role": "assistant", "content": None, "tool_calls": [{"id": 1}]}]}),
        (check_openai, {"messages": [], "system": "x"}),
        (check_responses, {"input": [{"role": "user", "content": "x", "odd": 1}]}),
        (check_responses, {"input": [{"role": "tool", "content": "x"}]}),
        (check_responses, {"input": [{"type": "function_call_output", "call_id": "a", "output": 1}]}),
        (check_responses, {"input": [{"type": "reasoning", "id": "rs", "summary": [{"type": "odd", "text": "x"}]}]}),
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
        (check_gemini, {"contents": [{"role": "user", "parts": [{"text": "x", "type": "text"}]}]}),
        (
            check_gemini,
            {"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": "x"}}]}]},
        ),
        (check_gemini, {"contents": [], "tools": [{"functionDeclarations": [{"name": "f", "inputSchema": {}}]}]}),
        (check_bedrock, {"messages": [{"role": "user", "content": "x"}]}),
        (check_bedrock, {"messages": [{"role": "tool", "content": []}]}),
        (check_bedrock, {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}),
        (check_bedrock, {"messages": [{"role": "user", "content": [{"text": "x", "json": {}}]}]}),
        (check_bedrock, {"messages": [], "toolConfig": {"tools": []}}),
        (check_bedrock, {"messages": [], "system": [{"text": ""}]}),
        (check_bedrock, {"messages": [{"role": "user", "content": [_failed("a", "failed")]}]}),
        (check_bedrock, {"messages": [{"role": "user", "content": [_failed("a b", "error")]}]}),
        (check_bedrock, {"messages": [{"role": "user", "content": [_failed("a" * 65, "error")]}]}),
    ],
)
def test_the_sdk_judges_see_keys_and_types_that_do_not_belong(check, request_):
    with pytest.raises((ValueError, AssertionError)):
        check(request_)
