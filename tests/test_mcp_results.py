from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import types

from tooldialect.dialects.mcp_results import outcome_from_mcp


def text(value):
    return {"type": "text", "text": value}


def refuse(constant):
    raise AssertionError(f"{constant} is not JSON")


@pytest.mark.parametrize(("flag", "success"), [({"isError": True}, False), ({"isError": False}, True), ({}, True)])
def test_the_failure_flag_is_carried(flag, success):
    outcome = outcome_from_mcp({"content": [text("said")], **flag}, "rows", "c1")
    assert (outcome.name, outcome.output, outcome.success, outcome.tool_call_id) == ("rows", "said", success, "c1")
    assert outcome.trusted_verbatim is False


@pytest.mark.parametrize("flag", ["false", 0, 1, None, []])
def test_a_flag_that_is_no_boolean_is_refused(flag):
    with pytest.raises(TypeError, match=r"'rows'.*isError"):
        outcome_from_mcp({"content": [], "isError": flag}, "rows")


def test_text_blocks_are_joined_by_a_line_break():
    assert outcome_from_mcp({"content": [text("a"), text("b\n"), text("c")]}, "t").output == "a\nb\n\nc"


def test_structured_content_stands_in_where_there_is_no_text():
    structured = {"rows": [1, 2], "ok": True}
    for content in ([], [text("")], [text(" \n")]):
        outcome = outcome_from_mcp({"content": content, "structuredContent": structured}, "t")
        assert json.loads(outcome.output) == structured


def test_text_is_shown_before_structured_content_and_a_difference_is_logged(caplog):
    caplog.set_level(logging.INFO, "tooldialect.dialects")
    result = {"content": [text("two rows")], "structuredContent": {"rows": [1, 2]}}
    assert outcome_from_mcp(result, "t").output == "two rows"
    assert "structured content" in caplog.text
    caplog.clear()
    outcome_from_mcp({"content": [text('{"rows": [1, 2]}')], "structuredContent": {"rows": [1, 2]}}, "t")
    assert not caplog.text


def test_blocks_that_are_not_text_are_named_in_a_line_each_in_their_place():
    content = [
        text("before"),
        {"type": "image", "data": "QUJD", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///a\nb", "text": "inner", "mimeType": "text/plain"}},
        {"type": "resource_link", "uri": "file:///c", "name": "c"},
        {"type": "hologram"},
        text("after"),
    ]
    lines = outcome_from_mcp({"content": content}, "t").output.split("\n")
    assert (lines[0], lines[-1], len(lines)) == ("before", "after", 6)
    for line, words in zip(
        lines[1:5], (["image", "image/png"], ["file:///a b"], ["file:///c"], ["hologram"]), strict=True
    ):
        assert all(word in line for word in words)
    assert "QUJD" not in "".join(lines)


def test_structured_content_and_images_are_both_told():
    result = {"content": [{"type": "image", "data": "QUJD", "mimeType": "image/png"}], "structuredContent": {"a": 1}}
    first, second = outcome_from_mcp(result, "t").output.split("\n")
    assert json.loads(first) == {"a": 1}
    assert "image/png" in second


def test_the_objects_of_the_sdk_are_read():
    result = types.CallToolResult(
        content=[
            types.TextContent(type="text", text="hello"),
            types.ImageContent(type="image", data="QUJD", mime_type="image/png"),
            types.EmbeddedResource(
                type="resource", resource=types.TextResourceContents(uri="file:///x", text="t", mime_type="text/plain")
            ),
        ],
        is_error=True,
    )
    for given_ in (
        result,
        result.model_dump(),
        result.model_dump(by_alias=True),
        json.loads(result.model_dump_json(by_alias=True)),
    ):
        outcome = outcome_from_mcp(given_, "t")
        assert not outcome.success
        assert outcome.output.startswith("hello\n")
        assert "image/png" in outcome.output
        assert "file:///x" in outcome.output
    bare = types.CallToolResult(content=[], structured_content={"n": 1})
    assert json.loads(outcome_from_mcp(bare, "t").output) == {"n": 1}


def test_structured_values_that_json_lacks_are_still_told():
    class Odd:
        def __str__(self):
            raise RuntimeError("no words")

    knot = {}
    knot["self"] = knot
    structured = {
        "score": float("nan"),
        "hi": float("inf"),
        "when": datetime(2024, 1, 2, tzinfo=UTC),
        "raw": b"\xff\x00",
        "s": {1, 2},
        "odd": Odd(),
        "long": 10**5000,
        7: (1, 2.5),
        "model": types.TextContent(type="text", text="m"),
        "knot": knot,
        "lone": "\ud83d",
    }
    outcome = outcome_from_mcp({"content": [], "structuredContent": structured}, "t")
    read = json.loads(outcome.output, parse_constant=refuse)
    assert set(read) == {str(key) for key in structured}
    assert (read["score"], read["when"], read["raw"], read["s"], read["7"]) == (
        "nan",
        "2024-01-02T00:00:00+00:00",
        "/wA=",
        [1, 2],
        [1, 2.5],
    )
    assert read["model"]["text"] == "m"
    outcome.output.encode()


@pytest.mark.parametrize("result", [None, 1, "text", [], {}, {"content": 5}, {"content": {"type": "text"}}])
def test_what_is_no_tool_result_is_refused_by_the_tools_name(result):
    with pytest.raises(TypeError, match="'rows'"):
        outcome_from_mcp(result, "rows")


def test_a_bare_string_as_content_and_missing_content_are_read():
    assert outcome_from_mcp({"content": "plain"}, "t").output == "plain"
    assert outcome_from_mcp({"content": None}, "t").output == ""


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_structured_value_gives_strict_json(value):
    outcome = outcome_from_mcp({"content": [], "structuredContent": {"v": value}}, "t")
    assert set(json.loads(outcome.output, parse_constant=refuse)) == {"v"}


def nested(levels: int) -> list:
    value: list = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("key", ["uri", "name", "mimeType"])
@pytest.mark.parametrize("value", [10**5000, nested(100_000)], ids=["long integer", "deep list"])
@pytest.mark.parametrize("inside", [False, True])
def test_a_detail_that_has_no_words_is_named_by_its_type(key, value, inside):
    block = {"type": "resource", "resource": {key: value}} if inside else {"type": "resource_link", key: value}
    output = outcome_from_mcp({"content": [block]}, "t").output
    assert output == f"[{block['type']} block, not shown: <{type(value).__name__}>]"
