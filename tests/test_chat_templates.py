"""What `PlainChatWire` sends, in the templates of real models."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat_templates import FRAMES, STRICT, WITHOUT_SYSTEM, render, stands_alone
from strategies_histories import ARGUMENTS, ODD_IDS, ODD_NAMES, TEXTS, damaged, healthy
from tooldialect.dialects import ChatMessage, PlainChatWire, ToolOutcome, get_dialect

WIRE = PlainChatWire()
ALTERNATING = PlainChatWire(strict_alternation=True)
TEXT_DIALECTS = [get_dialect("xml"), get_dialect("pformat")]
ODD = {"ids": ODD_IDS, "names": ODD_NAMES, "texts": TEXTS, "arguments": ARGUMENTS}
HISTORIES = st.one_of(healthy(**ODD), damaged(**ODD))
OUTCOMES = [
    ToolOutcome.ok("f", "one"),
    ToolOutcome.failed("f", "[contract-gate:x] é\n\n{{ messages }} {% raise %} 'q' \"d\"").verbatim(),
    ToolOutcome.ok("f", "three"),
]
every_template = pytest.mark.parametrize("name", FRAMES)


def spoken(replayed, name):
    """Without system text where the template has no place for it; what is marked carries no outer white space."""
    left_out = name in WITHOUT_SYSTEM
    return [entry for entry in replayed if not (left_out and entry.role == "system") and is_sendable(entry)]


def is_sendable(entry):
    return not entry.trusted_verbatim or entry.content.strip() == entry.content


@every_template
@given(history=HISTORIES, dialect=st.sampled_from(TEXT_DIALECTS))
@settings(max_examples=12)
def test_turns_that_alternate_are_taken_and_a_verbatim_text_is_a_turn_of_its_own(name, history, dialect):
    entries = spoken(dialect.replay(history), name)
    messages = ALTERNATING.encode(entries)["messages"]
    if any(message["role"] == "user" for message in messages):
        prompt = render(name, messages)
        assert all(stands_alone(name, prompt, entry.content) for entry in entries if is_verbatim(entry))


def is_verbatim(entry):
    return entry.role == "user" and entry.trusted_verbatim and bool(entry.content.strip())


@pytest.mark.parametrize("name", [name for name in FRAMES if name not in STRICT])
@pytest.mark.parametrize("dialect", TEXT_DIALECTS, ids=lambda dialect: dialect.name)
def test_neighbours_are_taken_by_templates_that_do_not_alternate(name, dialect):
    history = [ChatMessage(role="system", content="s"), ChatMessage(role="user", content="go")]
    history += [ChatMessage(role="assistant", content="so"), *dialect.format_results(OUTCOMES)]
    history += [ChatMessage(role="user", content="on")]
    prompt = render(name, WIRE.encode(history)["messages"])
    assert stands_alone(name, prompt, OUTCOMES[1].output)
    assert stands_alone(name, prompt, "on")


@pytest.mark.parametrize("name", sorted(STRICT))
def test_strict_templates_refuse_what_does_not_alternate(name):
    with pytest.raises(ValueError, match=r"alternat|role"):
        render(name, [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])


@every_template
def test_the_verbatim_text_of_a_round_stands_between_its_neighbours(name):
    for dialect in TEXT_DIALECTS:
        history = [ChatMessage(role="user", content="go"), ChatMessage(role="assistant", content="so")]
        history += [*dialect.format_results(OUTCOMES), ChatMessage(role="user", content="on")]
        prompt = render(name, ALTERNATING.encode(history)["messages"])
        assert stands_alone(name, prompt, OUTCOMES[1].output)
        assert prompt.index("one") < prompt.index(OUTCOMES[1].output) < prompt.index("three") < prompt.rindex("on")


@every_template
def test_a_text_that_is_part_of_a_turn_is_not_alone(name):
    messages = [{"role": "user", "content": "Summary: x"}, {"role": "assistant", "content": "x"}]
    prompt = render(name, [*messages, {"role": "user", "content": "x y"}])
    assert not stands_alone(name, prompt, "x")
    assert stands_alone(name, prompt, "x y")
