from __future__ import annotations

import pickle
import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from tooldialect.gate import GateTarget

TEXTS = st.one_of(
    st.text(min_size=1, max_size=8),
    st.text(alphabet="%:,@]<>[ab \n\x00\x85\u00a0\u2028é", min_size=1, max_size=8),
    st.sampled_from(["%3A", "a:b", "a%3Ab", "a,b", "\ud800", "\ufffd"]),
)
NAMES = TEXTS.filter(lambda text: bool(text.strip()))
TARGETS = st.builds(lambda kind, parts: GateTarget(kind, tuple(parts)), NAMES, st.lists(NAMES, min_size=1, max_size=3))
# Everything a marker or a line-minded rewriter would trip over, spelled out here once more.
FORBIDDEN_IN_KEYS = re.compile("[,@\\]<>\\s\x00-\x20\x7f-\xa0\u2028\u2029\u3000]")


def test_keys_are_namespaced_by_kind():
    assert GateTarget.composio("GMAIL_SEND").key == "composio:GMAIL_SEND"
    assert GateTarget.mcp("srv", "search").key == "mcp:srv:search"
    assert GateTarget.workflow("triage").key == "workflow:triage"
    assert GateTarget.tool("web_fetch").key == "tool:web_fetch"
    assert GateTarget("acme", ("a", "b", "c")).key == "acme:a:b:c"


@given(TARGETS, TARGETS)
def test_equal_targets_have_equal_keys_and_different_targets_different_ones(one, other):
    assert (one == other) == (one.key == other.key)
    if one == other:
        assert hash(one) == hash(other)


@given(TARGETS)
@example(GateTarget("a:b", ("c",)))
@example(GateTarget.mcp("a:b", "c"))
def test_a_key_names_its_target_back(target):
    assert GateTarget.from_key(target.key) == target


@given(TARGETS)
def test_a_key_holds_nothing_that_the_marker_reserves(target):
    assert not FORBIDDEN_IN_KEYS.search(target.key)
    assert target.key.count(":") == len(target.parts)


def test_a_server_and_a_tool_are_never_confused():
    assert GateTarget.mcp("a:b", "c").key != GateTarget.mcp("a", "b:c").key
    assert GateTarget.mcp("a%3Ab", "c") != GateTarget.mcp("a:b", "c")
    assert GateTarget.mcp("a%3Ab", "c").key != GateTarget.mcp("a:b", "c").key


def test_reserved_characters_are_percent_encoded_as_utf8_and_others_are_not():
    assert GateTarget.tool("a b@c").key == "tool:a%20b%40c"
    assert GateTarget.tool("a\u00a0b").key == "tool:a%C2%A0b"
    assert GateTarget.tool("é/ü-_.~[x").key == "tool:é/ü-_.~[x"


@given(st.text(alphabet=string.ascii_letters + "_ßıſKéÉ", min_size=1, max_size=12))
def test_composio_slugs_fold_to_upper_case_in_ascii_alone(slug):
    folded = GateTarget.composio(slug).parts[0]
    assert len(folded) == len(slug)
    for before, after in zip(slug, folded, strict=True):
        assert after == (before.upper() if before in string.ascii_lowercase else before)


def test_a_composio_target_is_one_however_it_was_made():
    assert GateTarget("composio", ("gmail_send",)) == GateTarget.composio("GMAIL_SEND")


@pytest.mark.parametrize("make", [GateTarget.tool, GateTarget.workflow, lambda name: GateTarget.mcp(name, name)])
def test_other_names_are_exact(make):
    assert make("Search") != make("search")
    assert make(" x") != make("x")


@pytest.mark.parametrize(
    "not_a_key", ["", "mcp", "mcp:", ":x", "mcp:a b", "mcp:%41", "mcp:%zz", "mcp:%ff", "mcp:a:%20", "composio:gmail"]
)
def test_what_is_no_key_names_no_target(not_a_key):
    with pytest.raises(ValueError):
        GateTarget.from_key(not_a_key)


@pytest.mark.parametrize(("kind", "parts"), [("", ("a",)), (" ", ("a",)), ("mcp", ()), ("mcp", ("a", "\t"))])
def test_a_target_without_names_is_refused(kind, parts):
    with pytest.raises(ValidationError):
        GateTarget(kind, parts)


def test_a_target_survives_copying_json_and_pickling():
    target = GateTarget.mcp("srv", "a:b")
    assert target.key == str(target)
    assert pickle.loads(pickle.dumps(target)) == target
    assert GateTarget.model_validate_json(target.model_dump_json()) == target
    assert target.model_copy(update={"kind": "tool"}).key == "tool:srv:a%3Ab"
