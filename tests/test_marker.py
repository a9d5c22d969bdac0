from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooldialect.gate import ContractGate, GateTarget
from tooldialect.gate.marker import MAX_HEADER_BYTES, MAX_KEYS, find_markers, fits_header, read_marker, write_marker

TOKEN = "0123456789abcdef"
VERSION = "fedcba9876543210"
KEYS = st.builds(
    lambda parts: GateTarget("k", tuple(parts)).key,
    st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=3),
)
CLAIMS = st.dictionaries(KEYS, st.text(alphabet="0123456789abcdef", min_size=16, max_size=16), min_size=1, max_size=6)
TOKENS = st.text(alphabet="0123456789abcdef", min_size=16, max_size=128)


@given(TOKENS, CLAIMS, st.text())
def test_a_marker_that_was_written_is_read_back(token, claims, payload):
    marker = read_marker(write_marker(token, claims) + payload)
    assert marker is not None
    assert (marker.token, marker.claims, marker.payload) == (token, claims, payload)


def test_the_marker_has_the_documented_form():
    claims = {"b": VERSION, "a": VERSION}
    assert write_marker(TOKEN, claims) == f"[contract-gate:{TOKEN}:a@{VERSION},b@{VERSION}]"


@pytest.mark.parametrize("length", [16, 48, 127, 128])
def test_tokens_of_16_to_128_digits_are_read(length):
    assert read_marker(f"[contract-gate:{'a' * length}:k@{VERSION}]x")


NO_MARKERS = {
    "empty": "",
    "prefix alone": "[contract-gate:",
    "no end": f"[contract-gate:{TOKEN}:k@{VERSION}",
    "not at byte 0": f" [contract-gate:{TOKEN}:k@{VERSION}]x",
    "behind a byte order mark": f"\ufeff[contract-gate:{TOKEN}:k@{VERSION}]x",
    "other case": f"[Contract-Gate:{TOKEN}:k@{VERSION}]x",
    "token of 15": f"[contract-gate:{TOKEN[:15]}:k@{VERSION}]x",
    "token of 129": f"[contract-gate:{'a' * 129}:k@{VERSION}]x",
    "token in upper case": f"[contract-gate:{TOKEN.upper()}:k@{VERSION}]x",
    "token of other digits": f"[contract-gate:{'٣' * 16}:k@{VERSION}]x",
    "token not hex": f"[contract-gate:{'g' * 16}:k@{VERSION}]x",
    "no key": f"[contract-gate:{TOKEN}:]x",
    "blank key": f"[contract-gate:{TOKEN}:@{VERSION}]x",
    "no version": f"[contract-gate:{TOKEN}:k]x",
    "version of 15": f"[contract-gate:{TOKEN}:k@{VERSION[:15]}]x",
    "version of 17": f"[contract-gate:{TOKEN}:k@{VERSION}0]x",
    "version in upper case": f"[contract-gate:{TOKEN}:k@{VERSION.upper()}]x",
    "space in key": f"[contract-gate:{TOKEN}:a b@{VERSION}]x",
    "no-break space in key": f"[contract-gate:{TOKEN}:a\u00a0b@{VERSION}]x",
    "line break in key": f"[contract-gate:{TOKEN}:a\nb@{VERSION}]x",
    "line separator in key": f"[contract-gate:{TOKEN}:a\u2028b@{VERSION}]x",
    "control character in key": f"[contract-gate:{TOKEN}:a\x00b@{VERSION}]x",
    "angle in key": f"[contract-gate:{TOKEN}:a<b@{VERSION}]x",
    "two ats": f"[contract-gate:{TOKEN}:a@b@{VERSION}]x",
    "lone surrogate in key": f"[contract-gate:{TOKEN}:a\ud800@{VERSION}]x",
    "space behind comma": f"[contract-gate:{TOKEN}:a@{VERSION}, b@{VERSION}]x",
    "trailing comma": f"[contract-gate:{TOKEN}:a@{VERSION},]x",
    "keys not sorted": f"[contract-gate:{TOKEN}:b@{VERSION},a@{VERSION}]x",
    "key repeated": f"[contract-gate:{TOKEN}:a@{VERSION},a@{VERSION}]x",
    "key repeated with another version": f"[contract-gate:{TOKEN}:a@{VERSION},a@{TOKEN}]x",
}


@pytest.mark.parametrize("text", NO_MARKERS.values(), ids=NO_MARKERS.keys())
def test_anything_else_is_no_marker(text):
    assert read_marker(text) is None


def _with_keys(count):
    return f"[contract-gate:{TOKEN}:{','.join(f'k{number:04}@{VERSION}' for number in range(count))}]x"


def test_a_marker_has_256_keys_at_most():
    marker = read_marker(_with_keys(256))
    assert marker is not None
    assert len(marker.claims) == 256
    assert read_marker(_with_keys(257)) is None


@pytest.mark.parametrize("letter", ["k", "é", "😀"])
def test_a_header_is_under_16_kibibytes_of_utf8(letter):
    def header(size):
        around = f"[contract-gate:{TOKEN}:@{VERSION}]"
        room = size - len(around)
        padding, letters = room % len(letter.encode()), room // len(letter.encode())
        return f"[contract-gate:{TOKEN}:{'k' * padding}{letter * letters}@{VERSION}]"

    assert len(header(16 * 1024).encode()) == 16 * 1024
    assert read_marker(header(16 * 1024 - 1) + "x") is not None
    assert read_marker(header(16 * 1024) + "x") is None


@given(st.text(max_size=8), TOKENS, CLAIMS, st.text())
def test_a_marker_is_found_behind_whatever_stands_before_it(before, token, claims, payload):
    text = before + write_marker(token, claims) + payload
    assert find_markers(text)[0] == (token, claims, payload)


def test_a_long_header_is_found_as_far_as_a_marker_may_reach():
    inside, beyond = _with_keys(256), f"[contract-gate:{TOKEN}:{'k' * MAX_HEADER_BYTES}@{VERSION}]x"
    assert [len(marker.claims) for marker in find_markers(beyond + inside + beyond)] == [256]


@given(st.text(), st.sampled_from([*NO_MARKERS.values(), ""]))
def test_no_text_makes_the_reader_raise(tail, head):
    for text in (head + tail, tail + head, head + head + tail):
        marker = read_marker(text)
        assert marker is None or text.endswith(marker.payload)
        for found in find_markers(text):
            assert write_marker(found.token, found.claims) + found.payload in text


@given(st.text(alphabet=st.characters(categories=("Cs",)), min_size=1, max_size=3))
def test_lone_surrogates_make_no_marker_and_no_error(surrogates):
    text = f"[contract-gate:{TOKEN}:{surrogates}@{VERSION}]x"
    assert read_marker(text) is None
    assert find_markers(text) == []
    assert ContractGate([]).run().refresh([text, f"[contract-gate:{TOKEN}:a@{VERSION}]{surrogates}"]) == set()


@given(CLAIMS)
def test_a_marker_that_fits_is_read_whatever_the_token(claims):
    assert fits_header(claims)
    assert read_marker(write_marker("f" * 128, claims))


@given(
    st.sampled_from("ké\ud800"),
    st.sampled_from([1, 800, 990, 1010, 1100, 5000, 8000, 16_000, 16_300]),
    st.integers(0, 40),
)
def test_what_fits_is_what_the_longest_header_leaves_room_for(letter, length, more):
    claims = {letter * (length + more): VERSION}
    header = write_marker("0" * 128, claims)
    assert fits_header(claims) == (letter != "\ud800" and len(header.encode()) < MAX_HEADER_BYTES)


def test_what_no_marker_can_carry_does_not_fit():
    assert not fits_header({})
    assert not fits_header({"k" * MAX_HEADER_BYTES: VERSION})
    assert not fits_header({f"k{number}": VERSION for number in range(MAX_KEYS + 1)})
    assert fits_header({f"k{number}": VERSION for number in range(MAX_KEYS)})


def test_markers_are_found_wherever_they_stand_but_no_more_than_256_of_them():
    one = f"[contract-gate:{TOKEN}:k@{VERSION}]"
    assert len(find_markers(f"a {one} b {one}")) == 2
    assert len(find_markers(one * 1000)) == 256
    assert find_markers("[contract-gate:" * 10_000 + one) == []
