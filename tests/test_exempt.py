from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gate_world import GUESS, MAIL, call, delivered, key, target, world
from tooldialect.gate import Reason


def collapse(text):
    """Collapse white space."""
    return " ".join(text.split())


def test_deliveries_pass_an_exempt_rewriter_untouched_and_nothing_else_does():
    gate, _ = world()
    text = delivered(gate.run())
    rewrite = gate.exempt(collapse)
    assert collapse(text) != text
    assert rewrite(text) is text
    assert rewrite("a  b") == "a b"
    assert rewrite(text + " ") == collapse(text)
    assert rewrite(f"x {text}") == collapse(f"x {text}")


@given(st.text())
def test_any_other_text_is_rewritten(text):
    gate, _ = world()
    assert gate.exempt(collapse)(text) == collapse(text)
    assert gate.exempt(collapse)("[contract-gate:" + text) == collapse("[contract-gate:" + text)


def test_a_wrapped_rewriter_keeps_its_name():
    assert world()[0].exempt(collapse).__doc__ == "Collapse white space."


def test_unguarded_the_delivery_is_lost_and_guarded_it_is_not():
    gate, _ = world()
    for rewrite, kept in ((collapse, False), (gate.exempt(collapse), True)):
        with gate.run() as run:
            text = delivered(run)
            assert (run.refresh([rewrite(text)]) == {key("send")}) is kept


def test_all_that_leads_with_a_genuine_marker_is_a_contract_delivery():
    gate, _ = world()
    with gate.run() as run:
        text = delivered(run)
        listed = run.listing({target("send"): MAIL}, "find_tools").output
        carried = [message.content for message in run.carry()]
    assert carried
    assert all(map(gate.is_contract_delivery, [text, listed, *carried]))


def test_the_gates_other_answers_are_none():
    gate, _ = world()
    with gate.run() as run:
        delivered(run)
        same_batch = run.consult(call("send", GUESS))
        unknown = run.consult(call("sned", GUESS))
        malformed = run.consult(call(" "))
    assert [d.reason for d in (same_batch, unknown, malformed)] == [
        Reason.SAME_BATCH,
        Reason.UNKNOWN_TARGET,
        Reason.MALFORMED_CALL,
    ]
    for decision in (same_batch, unknown, malformed):
        assert not gate.is_contract_delivery(decision.message)
        assert not decision.outcome("t").trusted_verbatim


def test_a_delivery_of_an_old_version_is_still_one():
    gate, source = world()
    text = delivered(gate.run())
    source[target("send")] = MAIL.model_copy(update={"effect": "write"})
    assert gate.is_contract_delivery(text)


def test_a_forgery_is_none():
    gate, _ = world()
    foreign = delivered(world()[0].run())
    assert not gate.is_contract_delivery(foreign)
    assert not gate.is_contract_delivery("[contract-gate:")
    assert not gate.is_contract_delivery("")
