"""The reference harness of the tests as a host under test, and ways to break it."""

from __future__ import annotations

from harness import FailureBreaker, Harness, RepeatedCallGuard, TextRewriter, Tool, usual_middlewares
from harness.faults import Banner, DropFlags, MergeBatches, MergeUserTurns
from harness.middleware import Middleware
from harness.stack import USUAL_ORDER
from tooldialect.conformance import HarnessDriver, Turn
from tooldialect.dialects import ChatMessage, ToolOutcome, dump_transcript, get_dialect, load_transcript
from tooldialect.dialects.wires import OpenAIChatWire, PlainChatWire, wire_for

BREAKERS = ("breaker", "guard")


class Watch(Middleware):
    """Tells the scene what passes."""

    def __init__(self, scene, name):
        self._scene, self._name = scene, name

    def on_history(self, entries):
        self._scene.hop(self._name, entries)
        return entries


class ReferenceHost(HarnessDriver):
    """The harness with its usual middlewares, all guarded; `hops` tells the scene what passes where."""

    context_managers = tuple(name for name in USUAL_ORDER if name not in BREAKERS)
    offers = frozenset({"resume", "delegation", "breaker", "rewriting"})
    guarded = True
    breaker_guarded = True
    rescan_after = True
    hops = True

    def __init__(self, dialect="xml", wire="openai-chat"):
        self.dialect_name, self.wire = dialect, wire

    def provider_wire(self):
        return PlainChatWire(strict_alternation=True) if self.wire == "strict" else wire_for(self.wire)

    def make_dialect(self, tools):
        return get_dialect(self.dialect_name, tools)

    def faults(self):
        return []

    def middlewares(self, scene):
        knobs = {"cap": 1500, "budget": 6000, "rows": 2}
        made = [TextRewriter(scene.rewrite)] if scene.rewrite else []
        if scene.manager:
            made += usual_middlewares(scene.gate, [scene.manager], guarded=self.guarded, **knobs)
        made += self.breakers(scene)
        watched = [Watch(scene, "history")] if self.hops else []
        for middleware in [*self.faults(), *made]:
            watched.append(middleware)
            if self.hops:
                watched.append(Watch(scene, type(middleware).__name__))
        return watched

    def breakers(self, scene):
        return usual_middlewares(scene.gate, BREAKERS, guarded=self.breaker_guarded)

    def harness(self, scene, history=()):
        tools = [Tool(tool.spec, tool.execute) for tool in scene.tools]
        tools.append(Tool(self.delegate_spec, lambda call: self.delegate(scene, call)))
        return Harness(
            self.make_dialect([tool.spec for tool in tools]),
            self.provider_wire(),
            self.use_gate(scene.gate),
            tools,
            self.middlewares(scene),
            rescan_after=self.rescan_after,
            history=[ChatMessage(role="system", content="You run a shop."), *history],
            max_rounds=40,
        )

    def use_gate(self, gate):
        return gate

    def run_turn(self, scene):
        harness = self.harness(scene, self.load(scene.saved) if scene.saved else ())
        harness.run_turn(scene.model, scene.user_text)
        return Turn(saved=self.save(harness.history[1:]))

    def delegate(self, scene, call):
        report = self.harness(scene).run_turn(scene.model, call.arguments["task"])
        return ToolOutcome.ok(call.name, report.text or report.stopped)

    def save(self, history):
        return dump_transcript(history)

    def load(self, saved):
        return load_transcript(saved)


class AsyncHost(ReferenceHost):
    """The same, driven by coroutines, its model behind a URL."""

    async def run_turn(self, scene):
        import asyncio
        import json
        import urllib.request

        def post(request):
            path = "messages" if self.wire == "anthropic" else "chat/completions"
            message = urllib.request.Request(f"{scene.model_url()}/v1/{path}", json.dumps(request).encode())
            with urllib.request.urlopen(message) as reply:
                return json.load(reply)

        harness = self.harness(scene, self.load(scene.saved) if scene.saved else ())
        await harness.arun_turn(lambda request: asyncio.to_thread(post, request), scene.user_text)
        return Turn(saved=self.save(harness.history[1:]))


# Broken in one way each


def with_fault(middleware):
    return type(f"With{middleware.__name__}", (ReferenceHost,), {"faults": lambda self: [middleware()]})


FlagDropped = with_fault(DropFlags)
TurnsMerged = with_fault(MergeUserTurns)
BatchesMerged = with_fault(MergeBatches)
Bannered = with_fault(Banner)


class CapNotExempt(ReferenceHost):
    guarded = False


class RescanFirst(ReferenceHost):
    rescan_after = False


class BreakerCountsDeliveries(ReferenceHost):
    def breakers(self, scene):
        return [FailureBreaker(), RepeatedCallGuard(spare=scene.gate.is_contract_delivery)]


class GuardCountsDeliveries(ReferenceHost):
    def breakers(self, scene):
        return [FailureBreaker(spare=scene.gate.is_contract_delivery), RepeatedCallGuard(limit=4)]


class StrictGuardCountsDeliveries(ReferenceHost):
    """Caught without the suite's context manager, too."""

    offers = frozenset({"breaker"})

    def breakers(self, scene):
        return [FailureBreaker(spare=scene.gate.is_contract_delivery), RepeatedCallGuard(limit=1)]


class NoBreaker(ReferenceHost):
    def breakers(self, scene):
        return [RepeatedCallGuard(spare=scene.gate.is_contract_delivery)]


class SparesByPrefix(ReferenceHost):
    def breakers(self, scene):
        return [
            FailureBreaker(spare=lambda text: text.startswith("[contract-gate:")),
            RepeatedCallGuard(spare=scene.gate.is_contract_delivery),
        ]


class SparesTheGatedTool(ReferenceHost):
    """Failures of the tool behind which the late-bound ones lie never count."""

    def breakers(self, scene):
        class Lenient(FailureBreaker):
            def after_round(self, answered):
                return super().after_round([(call, o) for call, o in answered if o.name == "clock"])

        return [Lenient(), RepeatedCallGuard(spare=scene.gate.is_contract_delivery)]


class NeverRescans(ReferenceHost):
    def harness(self, scene, history=()):
        made = super().harness(scene, history)
        made.request = lambda run: Harness.request(made, None)
        return made


class RunPerCall(ReferenceHost):
    """Each call is judged in a run of its own."""

    def harness(self, scene, history=()):
        made = super().harness(scene, history)

        def answer(run, call):
            with scene.gate.run(turn_id=f"call {len(scene.hops)} {call.id}") as own:
                return Harness._answer(made, own, call)

        made._answer = answer
        return made


class LosesTheResult(ReferenceHost):
    """Answers a guess, executes the retry, and tells the model of it in its own words."""

    def harness(self, scene, history=()):
        made = super().harness(scene, history)
        made._tools["mcp_registry_tool_call"] = Tool(
            scene.tools[0].spec, lambda call: scene.tools[0].execute(call).model_copy(update={"output": "ok"})
        )
        return made


class LosesWhatStandsBeside(ReferenceHost):
    """Where a delivery is in a round, it is all that is appended."""

    def harness(self, scene, history=()):
        made = super().harness(scene, history)
        append = made._append

        def alone(entries):
            flagged = [e for e in entries if getattr(e, "trusted_verbatim", False)]
            return append(flagged or entries)

        made._append = alone
        return made


class GivesUpOnSubAgents(ReferenceHost):
    def delegate(self, scene, call):
        return ToolOutcome.failed(call.name, "no sub-agents today")


class CutsLongTexts(ReferenceHost):
    """A cap that nobody thinks of: the transport's."""

    def faults(self):
        return [TextRewriter(lambda text: text if len(text) < 10_000 else text[:10_000])]


class WithoutGate(ReferenceHost):
    def use_gate(self, gate):
        return None


class SavesNoFlags(ReferenceHost):
    def load(self, saved):
        return load_transcript(saved, trusted=False)


class SavesTrimmed(ReferenceHost):
    def load(self, saved):
        return [
            e.model_copy(update={"content": e.content[:500]}) if isinstance(e, ChatMessage) else e
            for e in load_transcript(saved)
        ]


class SubAgentsAreTurns(ReferenceHost):
    def delegate(self, scene, call):
        harness = self.harness(scene)
        self.turns = getattr(self, "turns", 0) + 1
        with scene.gate.run(turn_id=f"turn {self.turns}") as run:
            report = harness.play(run, scene.model, call.arguments["task"])
        return ToolOutcome.ok(call.name, report.text or report.stopped)


class EchoingWire(OpenAIChatWire):
    """Takes assistant text for the host's."""

    def host_texts(self, messages):
        conversation = messages["messages"] if isinstance(messages, dict) else messages
        return iter([m["content"] for m in conversation if isinstance(m.get("content"), str)])


class RescansTheAssistant(ReferenceHost):
    def harness(self, scene, history=()):
        made = super().harness(scene, history)
        made.wire = EchoingWire()
        return made


class RunsTwice(ReferenceHost):
    def harness(self, scene, history=()):
        made = super().harness(scene, history)
        execute = made._execute

        def twice(call):
            execute(call)
            return execute(call)

        made._execute = twice
        return made
