"""What goes wrong where the rescan stands in the wrong place, or where a host breaks the chain."""

from __future__ import annotations

import pytest

from harness import TextRewriter, collapse_white_space, host_units, seen_contracts
from harness.faults import Banner, DropFlags, MergeBatches, MergeUserTurns
from harness.setups import DIALECTS, EVERYWHERE, Host
from harness.shop import GUESS, RIGHT, clock_call, gated_call, target
from tooldialect.dialects import ChatMessage
from tooldialect.gate import Reason

KEY = target("create_order").key
GUESSES = [[gated_call("create_order", GUESS)]] * 4


@pytest.fixture(params=EVERYWHERE, ids=" over ".join)
def host(request) -> Host:
    return Host(*request.param)


def credits_what_the_model_cannot_see(host: Host, middlewares, *, rescan_after: bool) -> bool:
    """Whether, in the request after the delivery, the gate believes in a contract that is not there."""
    harness = host.harness(middlewares=middlewares, rescan_after=rescan_after)
    with host.gate.run() as run:
        harness.max_rounds = 1
        harness.play(run, host.script(*GUESSES), "Order a lamp.")
        sent = harness.request(run)
        intact = host.deliveries[0] in list(host_units(sent))
        return KEY in run.present and not intact


def test_rescanning_before_the_middlewares_credits_a_contract_that_the_model_does_not_see(host):
    cleaner = [TextRewriter(collapse_white_space)]
    assert credits_what_the_model_cannot_see(host, cleaner, rescan_after=False)


def test_rescanning_after_the_middlewares_credits_nothing_that_the_model_does_not_see(host):
    cleaner = [TextRewriter(collapse_white_space)]
    assert not credits_what_the_model_cannot_see(host, cleaner, rescan_after=True)


@pytest.mark.parametrize("rescan_after", [True, False])
def test_the_guess_runs_unread_where_the_rescan_comes_first(host, rescan_after):
    harness = host.harness(["microcompact"], rows=0, guarded=False, rescan_after=rescan_after)
    model = host.reader(["create_order"], patience=2)
    harness.run_turn(model, "Order a lamp.")
    assert not any(seen_contracts(request) for request in model.requests)
    if rescan_after:
        assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.REDELIVERED]
        assert host.shop.book == []
    else:
        assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.PRESENT]
        assert host.shop.book == [("create_order", GUESS)]


def test_an_unguarded_white_space_cleaner_leaves_the_delivery_uncredited(host, caplog):
    """The call still gets through in the end, with a warning that says where to look."""
    harness = host.harness(["cleaner"], guarded=False)
    harness.run_turn(host.script(*GUESSES[:3]), "Order a lamp.")
    assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.REDELIVERED, Reason.UNSEEN]
    assert host.shop.book == [("create_order", GUESS)]
    [warning] = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert KEY in warning


def test_the_same_cleaner_wrapped_in_exempt_leaves_it_credited(host):
    harness = host.harness(middlewares=[TextRewriter(host.gate.exempt(collapse_white_space))])
    harness.run_turn(host.reader(["create_order"]), "Order  a lamp.")
    assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.PRESENT]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("wire", ["openai", "strict"])
@pytest.mark.parametrize("fault", [Banner, MergeUserTurns, MergeBatches, DropFlags])
def test_a_host_that_breaks_the_chain_credits_nothing(dialect, wire, fault):
    """Where the fault reaches the delivery, the gate does not believe in it; where it does not, it does."""
    host = Host(dialect, wire)
    harness = host.harness(middlewares=[fault()])
    batch = [clock_call("Rome"), gated_call("create_order", GUESS), clock_call("Oslo")]
    with host.gate.run() as run:
        harness.max_rounds = 1
        harness.play(run, host.script(batch), "Order a lamp.")
        sent = harness.request(run)
        intact = list(host_units(sent)).count(host.deliveries[0]) == 1
        assert (KEY in run.present) == intact
    assert intact == ((dialect, wire, fault.__name__) in HARMLESS)


# Results of the native dialect stay apart on the wire whatever a history says of batches and flags, unless a
# template takes user turns alone. Without strict alternation the text dialects' turns stay apart, too. A strict wire
# puts a turn of its own between a verbatim turn and its neighbours: nothing is left to merge in the request.
HARMLESS = {
    ("native", "openai", "MergeUserTurns"),
    ("native", "openai", "MergeBatches"),
    ("native", "openai", "DropFlags"),
    ("native", "strict", "MergeUserTurns"),
    ("native", "strict", "MergeBatches"),
    ("xml", "openai", "DropFlags"),
    ("pformat", "openai", "DropFlags"),
    ("xml", "strict", "MergeUserTurns"),
    ("pformat", "strict", "MergeUserTurns"),
}


def test_compaction_drops_the_contract_and_it_is_delivered_again(host):
    harness = host.harness()
    with host.gate.run() as run:
        harness.max_rounds = 1
        harness.play(run, host.script(*GUESSES), "Order a lamp.")
        harness.history = [host.system(), ChatMessage(role="user", content="Summary: a lamp is wanted.")]
        harness.max_rounds = 20
        model = host.reader(["create_order"])
        harness.play(run, model)
    assert host.reasons == [Reason.CONTRACT_REQUIRED, Reason.REDELIVERED, Reason.PRESENT]
    assert host.shop.book == [("create_order", RIGHT["create_order"])]
    assert host.deliveries[1] in list(host_units(model.requests[1]))


def test_a_contract_stays_credited_for_later_calls_until_compaction_takes_it(host):
    harness = host.harness()
    right = gated_call("create_order", RIGHT["create_order"])
    wrong = gated_call("create_order", {"sku": 5})
    harness.run_turn(host.reader(["create_order"]), "Order a lamp.")
    harness.run_turn(host.script([wrong], [right]), "Order another.")
    assert host.reasons == [Reason.CONTRACT_REQUIRED, *[Reason.PRESENT] * 3]
    harness.history = [host.system()]
    harness.run_turn(host.script([wrong]), "And another.")
    assert host.reasons[-1] is Reason.CONTRACT_REQUIRED


def test_the_harness_sends_what_run_encode_gives(host):
    harness = host.harness()
    harness.run_turn(host.reader(["create_order", clock_call()]), "Order a lamp.")
    with host.gate.run() as first, host.gate.run() as second:
        late = host.harness(["trimmer"], history=harness.history)
        assert late.request(first) == harness.request(second)
        assert first.present == second.present == {KEY}
