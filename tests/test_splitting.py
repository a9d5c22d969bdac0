import itertools

from hypothesis import given
from hypothesis import strategies as st

from tooldialect.dialects.splitting import is_verbatim_turn, split_verbatim


@given(st.lists(st.tuples(st.booleans(), st.integers())))
def test_order_is_kept_and_nothing_is_lost_or_repeated(items):
    parts = list(split_verbatim(items, lambda item: item[0]))
    assert [item for _, run in parts for item in run] == items


@given(st.lists(st.tuples(st.booleans(), st.integers())))
def test_marked_items_stand_alone_and_runs_are_the_longest(items):
    parts = list(split_verbatim(items, lambda item: item[0]))
    for alone, run in parts:
        assert run
        assert all(marked is alone for marked, _ in run)
        assert len(run) == 1 or not alone
    assert not any(not a and not b for (a, _), (b, _) in itertools.pairwise(parts))


def test_nothing_gives_nothing():
    assert list(split_verbatim([], bool)) == []


def test_a_blank_text_is_no_verbatim_turn():
    assert not is_verbatim_turn("", True)
    assert not is_verbatim_turn(" \t\n\u00a0\u3000", True)
    assert is_verbatim_turn(" x ", True)
    assert is_verbatim_turn("\ufeff", True)
    assert not is_verbatim_turn("x", False)
