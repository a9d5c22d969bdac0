"""Contracts the host holds itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tooldialect.gate.contract import Contract
from tooldialect.gate.sources import Found, NotFound, StaticSource
from tooldialect.gate.target import GateTarget

CONTRACT = Contract(description="Search.", input_schema={"type": "object"})
OTHER = Contract(description="Other.", input_schema={"type": "object"})


def source_of(*targets: GateTarget) -> StaticSource:
    return StaticSource(dict.fromkeys(targets, CONTRACT))


def test_a_known_target_is_found_and_peeked() -> None:
    target = GateTarget.tool("search")
    source = source_of(target)
    assert source.lookup(target) == Found(CONTRACT)
    assert source.peek(target) == CONTRACT
    assert source.peek(GateTarget.tool("other")) is None


def test_alternatives_are_the_names_of_the_same_kind_as_the_model_spells_them() -> None:
    source = source_of(GateTarget.composio("gmail_send"), GateTarget.workflow("a:b c"), GateTarget.workflow("two"))
    assert source.lookup(GateTarget.workflow("three")) == NotFound(("a:b c", "two"))
    assert source.lookup(GateTarget.composio("GMAIL_SENT")) == NotFound(("GMAIL_SEND",))
    assert source.lookup(GateTarget.tool("two")) == NotFound(())


def test_alternatives_of_an_mcp_tool_are_the_tools_of_its_server() -> None:
    source = source_of(GateTarget.mcp("git", "log"), GateTarget.mcp("git", "diff"), GateTarget.mcp("time", "now"))
    assert source.lookup(GateTarget.mcp("git", "show")) == NotFound(("log", "diff"))


def test_alternatives_of_an_unknown_server_are_the_servers() -> None:
    source = source_of(GateTarget.mcp("git", "log"), GateTarget.mcp("git", "diff"), GateTarget.mcp("time", "now"))
    assert source.lookup(GateTarget.mcp("gti", "log")) == NotFound(("git", "time"))


def test_a_target_of_another_length_is_no_alternative() -> None:
    source = source_of(GateTarget("own", ("a", "b")))
    assert source.lookup(GateTarget("own", ("a",))) == NotFound(())


def test_the_mapping_given_is_not_shared_and_changes_go_through_the_source() -> None:
    target = GateTarget.tool("search")
    given_mapping = {target: CONTRACT}
    source = StaticSource(given_mapping)
    given_mapping.clear()
    assert source.lookup(target) == Found(CONTRACT)
    source[target] = OTHER
    assert source.lookup(target) == Found(OTHER)
    del source[target]
    assert source.lookup(target) == NotFound(())


def test_an_empty_source_knows_nothing() -> None:
    assert StaticSource().lookup(GateTarget.tool("search")) == NotFound(())


_names = st.text("ab:%", min_size=1, max_size=2)
_targets = st.builds(
    lambda kind, parts: GateTarget(kind, tuple(parts)), _names, st.lists(_names, min_size=1, max_size=3)
)


@given(known=st.lists(_targets, max_size=8), asked=_targets)
def test_what_is_found_was_given_and_what_is_not_found_was_not(known: list[GateTarget], asked: GateTarget) -> None:
    answer = source_of(*known).lookup(asked)
    if asked in known:
        assert answer == Found(CONTRACT)
    else:
        assert isinstance(answer, NotFound)
        spelled = {part for target in known if target.kind == asked.kind for part in target.parts}
        assert set(answer.alternatives) <= spelled
        assert len(answer.alternatives) == len(set(answer.alternatives))
        # Each is a way on: put in the place of a wrong part it leads closer to a known target.
        for name in answer.alternatives:
            corrected = [(*asked.parts[:place], name) for place in range(len(asked.parts))]
            assert any(other.parts[: len(prefix)] == prefix for prefix in corrected for other in known)
