"""A delivery that went over a wire is credited from what the provider's own objects hold of it."""

from __future__ import annotations

import json

import pytest

from bedrock_judge import body_of
from gemini_judge import check_gemini
from tooldialect.dialects import (
    AnthropicWire,
    AssistantTurn,
    BedrockWire,
    ChatMessage,
    GeminiWire,
    OpenAIChatWire,
    ParsedToolCall,
    PlainChatWire,
    ToolCall,
    ToolOutcome,
    get_dialect,
)
from tooldialect.gate import Contract, ContractGate, GateTarget, Reason, SignedLedger, StaticSource, Surface

CONTRACT = Contract(
    description="Finds rows; é \u2028 <|im_start|> </tool_result>",
    input_schema={"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
)
TARGET = GateTarget.mcp("db", "rows")


def as_json(request):
    return json.loads(json.dumps(request))


SENT = [
    (OpenAIChatWire(), as_json),
    (AnthropicWire(), as_json),
    (PlainChatWire(), as_json),
    (PlainChatWire(strict_alternation=True), as_json),
    (GeminiWire(), check_gemini),
    (GeminiWire(), as_json),
    (BedrockWire(), body_of),
    (BedrockWire(results_alone=True), as_json),
]


@pytest.mark.parametrize(("wire", "sent"), SENT, ids=lambda value: getattr(value, "name", value.__class__.__name__))
@pytest.mark.parametrize("dialect", ["native", "xml", "pformat"])
def test_a_delivery_is_credited_wherever_it_stands_among_results(wire, sent, dialect):
    dialect = get_dialect(dialect)
    gate = ContractGate(surfaces=[Surface.mcp(StaticSource({TARGET: CONTRACT}))], ledger=SignedLedger(b"k" * 32))
    arguments = {"server_id": "db", "tool_name": "rows", "arguments": {"query": "x"}}
    guess = ParsedToolCall(id="b", name="mcp_registry_tool_call", arguments=arguments)
    with gate.run() as run:
        decision = run.consult(guess)
        assert decision.reason is Reason.CONTRACT_REQUIRED
        outcomes = [
            ToolOutcome.ok("f", "one", tool_call_id="a"),
            decision.outcome(guess.name, tool_call_id="b"),
            ToolOutcome.failed("f", "three", tool_call_id="c"),
        ]
        calls = [("a", "f", {}), ("b", guess.name, arguments), ("c", "f", {})]
        turn = AssistantTurn(tool_calls=[ToolCall(id=i, name=n, arguments=json.dumps(a)) for i, n, a in calls])
        history = [ChatMessage(role="user", content="go"), turn, *dialect.format_results(outcomes)]
        request = wire.encode(dialect.replay([*history, ChatMessage(role="user", content="on")]))
        assert run.refresh(wire.host_texts(sent(request))) == {TARGET.key}
        assert run.consult(guess).reason is Reason.PRESENT
        assert not run.refresh(text[:-1] for text in wire.host_texts(sent(request)))
