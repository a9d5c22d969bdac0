"""Whatever guarded middlewares are on: one delivery, seen whole, credited, and one execution."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from harness import host_units
from harness.setups import ALL, EVERYWHERE, Host
from harness.shop import CONTRACTS, GUESS, RIGHT, clock_call, gated_call, long_answer
from tooldialect.dialects import TranscriptEntry, dump_transcript, load_transcript
from tooldialect.gate import GateSettings, Reason, SignedLedger
from wire_rules import anthropic_faults, openai_faults, strict_chat_faults

GUESSES = dict.fromkeys(CONTRACTS, GUESS)
REFUSED_BY = {"openai": openai_faults, "anthropic": anthropic_faults, "strict": strict_chat_faults}
LIMITS = {
    "cap": st.integers(16, 3_000),
    "budget": st.integers(0, 6_000),
    "keep": st.integers(1, 4),
    "rows": st.integers(0, 3),
    "failures": st.integers(2, 4),
    "repeats": st.integers(1, 3),
}
beside = st.lists(st.sampled_from(["Rome", "Oslo"]).map(clock_call), max_size=2)


@given(
    where=st.sampled_from(EVERYWHERE),
    which=st.sets(st.sampled_from(ALL)),
    limits=st.fixed_dictionaries(LIMITS),
    tool=st.sampled_from(sorted(CONTRACTS)),
    before=beside,
    after=beside,
    waits=st.integers(0, 4),
    signed=st.booleans(),
    must_read=st.booleans(),
    ask=st.text(max_size=20),
)
@settings(max_examples=300)
def test_the_delivery_is_seen_whole_credited_and_followed_by_one_execution(
    where, which, limits, tool, before, after, waits, signed, must_read, ask
):
    host = Host(*where)
    host.open_gate(
        ledger=SignedLedger("secret") if signed else None,
        settings=GateSettings(must_read=lambda target, contract: must_read),
    )
    host.shop.clock_text = long_answer
    right = gated_call(tool, RIGHT[tool])
    first = right if must_read else gated_call(tool, GUESS)
    fillers = [[clock_call(f"zone {number}")] for number in range(waits)]
    model = host.script([*before, first, *after], *fillers, [*after, right, *before])
    report = host.harness(which, **limits).run_turn(model, ask + " [IMAGE:https://shop.test/a.png]")
    assert report.stopped is None
    faults = REFUSED_BY.get(host.wire_name, lambda request: ())
    assert [list(faults(request)) for request in model.requests if list(faults(request))] == []
    [delivery] = host.deliveries
    assert len(model.requests) == waits + 3
    for request in model.requests[1:]:
        assert list(host_units(request)).count(delivery) == 1
    assert host.reasons == [Reason.MUST_READ if must_read else Reason.CONTRACT_REQUIRED, Reason.PRESENT]
    assert host.shop.book == [(tool, RIGHT[tool])]


@given(
    where=st.sampled_from(EVERYWHERE),
    which=st.sets(st.sampled_from(ALL[:5])),
    limits=st.fixed_dictionaries(LIMITS),
    waits=st.integers(0, 4),
)
def test_unguarded_or_not_the_gate_credits_exactly_what_the_model_is_sent(where, which, limits, waits):
    host = Host(*where)
    host.shop.clock_text = long_answer
    harness = host.harness(which, guarded=False, max_rounds=1, **limits)
    with host.gate.run() as run:
        harness.play(run, host.script([clock_call(), gated_call("refund", GUESS)]), "Refund  the lamp.")
        for number in range(waits):
            harness.play(run, host.script([clock_call(f"zone {number}")]))
            sent = harness.request(run)
            assert ("mcp:shop:refund" in run.present) == (host.deliveries[0] in list(host_units(sent)))


@given(
    where=st.sampled_from(EVERYWHERE),
    which=st.sets(st.sampled_from(ALL)),
    limits=st.fixed_dictionaries(LIMITS),
    guarded=st.booleans(),
    wishes=st.lists(st.lists(st.sampled_from(sorted(CONTRACTS)), min_size=1, max_size=3, unique=True), max_size=6),
)
def test_in_a_long_conversation_a_contract_is_delivered_again_only_where_it_was_lost(
    where, which, limits, guarded, wishes
):
    host = Host(*where)
    host.shop.clock_text = long_answer
    harness = host.harness(which if guarded else which - {"breaker", "guard"}, guarded=guarded, **limits)
    requests = []
    for wish in wishes:
        model = host.reader([*wish, clock_call()], patience=2)
        harness.run_turn(model, "Do what I want.")
        requests += model.requests
    for key, decision in host.decisions:
        if decision.reason is Reason.PRESENT:
            assert decision.arguments == RIGHT[key.rpartition(":")[2]]
    if guarded:
        wanted = [name for wish in wishes for name in wish]
        assert len(host.deliveries) == len(set(wanted))
        assert Counter(name for name, _ in host.shop.book) == Counter(wanted)
        assert all(arguments == RIGHT[name] for name, arguments in host.shop.book)
        seen = {unit for request in requests for unit in host_units(request) if unit.startswith("[contract-gate:")}
        assert seen == set(host.deliveries)


@given(
    ways=st.lists(st.sampled_from(EVERYWHERE), min_size=3, max_size=7),
    which=st.sets(st.sampled_from(ALL[:5])),
    limits=st.fixed_dictionaries(LIMITS),
    tools=st.lists(st.sampled_from(sorted(CONTRACTS)), min_size=1, max_size=3, unique=True),
    beside=beside,
)
def test_each_request_of_a_conversation_may_go_another_way(ways, which, limits, tools, beside):
    """Saved and loaded before every model call, each through some dialect and wire: what was delivered stays."""
    host = Host(*ways[0])
    ledger = SignedLedger("secret")
    host.open_gate(ledger=ledger)
    host.shop.clock_text = long_answer
    history: list[TranscriptEntry] = [host.system()]
    guesses, retries = ([gated_call(name, kind[name]) for name in tools] for kind in (GUESSES, RIGHT))
    lines = [[*beside, *guesses], *[[clock_call()] for _ in ways[2:]], [*retries, *beside]]
    with host.gate.run() as run:
        for (dialect, wire), line in zip(ways, lines, strict=True):
            here = Host(dialect, wire, host.shop)
            here.gate = host.gate
            saved = dump_transcript(history)
            harness = here.harness(which, history=load_transcript(saved), max_rounds=1, **limits)
            model = here.script(line)
            harness.play(run, model, "Go on.")
            history = harness.history
            [request] = model.requests
            assert list(REFUSED_BY.get(wire, lambda request: ())(request)) == []
            if line is not lines[0]:
                units = list(host_units(request))
                assert [units.count(delivery) for delivery in host.deliveries] == [1] * len(tools)
    assert host.reasons == [Reason.CONTRACT_REQUIRED] * len(tools) + [Reason.PRESENT] * len(tools)
    assert host.shop.book == [(name, RIGHT[name]) for name in tools]
