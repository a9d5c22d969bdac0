"""Every shortcut of the neutraliser agrees with the rule as DESIGN words it, read character by character."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tooldialect.dialects import Attachment, ChatMessage, openers
from tooldialect.dialects.neutralise import check_control_tokens, neutraliser
from tooldialect.dialects.record import record_of_clean
from tooldialect.dialects.tags import CONTROL_TOKENS, PROTOCOL_TAGS

IMAGE = Attachment(media_type="image/png", url="https://example.com/a.png")
ASCII_SPACE = " \t\n\r\f\v"


def opens(text: str, at: int, tags: tuple[str, ...], tokens: tuple[str, ...]) -> bool:
    """Whether the `<` at this place opens a protocol tag or a control token."""
    if any(text.startswith(token, at) for token in tokens):
        return True
    name_at = at + 1
    while name_at < len(text) and text[name_at] in "|/" + ASCII_SPACE:
        name_at += 1
    for tag in tags:
        end = name_at + len(tag)
        written = text[name_at:end]
        if (
            written.isascii()
            and written.lower() == tag.lower()
            and (end == len(text) or text[end] in ">/|" + ASCII_SPACE)
        ):
            return True
    return False


def broken(text: str, tags: tuple[str, ...], tokens: tuple[str, ...]) -> str:
    return "".join(
        "&lt;" if character == "<" and opens(text, at, tags, tokens) else character for at, character in enumerate(text)
    )


PIECES = [
    *CONTROL_TOKENS,
    *("<", "</", "<|", "<<", "|", "/", ">", " ", "\n", "\v", "_", "&", "&lt;", ";", "x", "é", "\uff5c", "😀", "\x00"),
    *(
        "tool_result",
        "tool_call",
        "TOOL_Result",
        "Tool_Call",
        "think",
        "thinK",
        "THINK>",
        "</think>",
        "tool_calls",
        "tool_resul",
        "tool",
        "im_start",
        "SYS>>",
    ),
    *("</tool_result>", '<tool_result name="x">', "<tool_call", "<|tool_call|>", "<\ttool_call/", "_of_turn>"),
    *("tool_re\u017fult>", "\u0131", "\u212a"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
repeated = st.tuples(st.lists(st.sampled_from(PIECES), max_size=4).map("".join), st.integers(1, 40), texts).map(
    lambda parts: parts[0] * parts[1] + parts[2]
)


@given(texts | repeated)
@example("".join(CONTROL_TOKENS) + "</tool_result>")
@example("<|im_start|><|im_start|" * 20)
@example("</tool_result>" * 20 + "<tool_result")
def test_the_built_in_tags_and_tokens_are_broken_wherever_the_rule_says_and_nowhere_else(text):
    assert neutraliser(PROTOCOL_TAGS, CONTROL_TOKENS)(text) == broken(text, PROTOCOL_TAGS, CONTROL_TOKENS)
    assert neutraliser(PROTOCOL_TAGS)(text) == broken(text, PROTOCOL_TAGS, ())
    assert neutraliser((), CONTROL_TOKENS)(text) == broken(text, (), CONTROL_TOKENS)


alphabet = "<|/s>ta_ \n\\$.[é\uff5c"
# Long texts are broken in pieces: what lies across the place of a cut is broken as if there were none.
around_a_cut = st.tuples(
    st.sampled_from(["a", "é", "a\u2581", "<", "<x", "</", "<tool_result", "</tool_result>", "<|im_end|", "<<SYS>>"]),
    st.integers(24 * 1024 - 40, 24 * 1024 + 40),
    texts,
    st.booleans(),
    texts,
).map(lambda p: "".join((repeat(p[0], p[1]), p[2], repeat(p[0], 24 * 1024 - 40) if p[3] else "", p[4])))


def repeat(unit, size):
    return (unit * (size // len(unit) + 1))[:size]


@settings(max_examples=60)
@given(around_a_cut)
@example("a" * (24 * 1024 - 1) + "<<SYS>>" + "a" * (24 * 1024) + "<</SYS>>")
@example("a" * (24 * 1024 - 11) + "<tool_call<" + "a" * (24 * 1024) + "<tool_call")
@example("<tool_call>" + "a" * (24 * 1024) + "<|im_start|><|im_start|>")
def test_where_a_long_text_is_cut_makes_no_difference(text):
    assert neutraliser(PROTOCOL_TAGS, CONTROL_TOKENS)(text) == broken(text, PROTOCOL_TAGS, CONTROL_TOKENS)
    assert neutraliser(PROTOCOL_TAGS)(text) == broken(text, PROTOCOL_TAGS, ())


many = tuple(f"<|reserved_special_token_{number}|>" for number in range(300))


@given(
    st.lists(
        st.sampled_from(["<|reserved_special_token_2", "5", "|>", "x", "<", "</tool_result>", *CONTROL_TOKENS, *many]),
        max_size=12,
    ).map("".join)
)
def test_hundreds_of_tokens_of_a_host_are_broken_by_the_same_rule(text):
    tokens = (*CONTROL_TOKENS, *many)
    assert neutraliser(PROTOCOL_TAGS, tokens)(text) == broken(text, PROTOCOL_TAGS, tokens)


nested = tuple("<" + "ab" * number for number in range(1, 12))


@given(st.lists(st.sampled_from(["<", "ab", "a", "<abab", "b>", "ababababababababab"]), max_size=12).map("".join))
def test_tokens_that_begin_with_one_another_are_all_broken(text):
    for tokens in (nested, nested[::-1], nested[5:]):
        assert neutraliser(("ab",), tokens)(text) == broken(text, ("ab",), tokens)


token_sets = st.lists(st.text(alphabet, max_size=5).map("<{}".format), max_size=4).map(tuple)
tag_sets = st.lists(st.sampled_from(["ta", "s", "sta", "t_a", "TA_s", "a.t", "s_é"]), max_size=2, unique=True).map(
    tuple
)


@given(st.text(alphabet, max_size=40), tag_sets, token_sets)
@example("<x<y", (), ("<x<y", "<y"))
@example("<a<a<a<a", (), ("<a<a",))
@example("<|<s>", ("s",), ("<|<s",))
@example("<</s>", ("s",), ("<</",))
@example("<<", (), ("<<", "<"))
def test_tags_and_tokens_of_a_host_are_broken_by_the_same_rule(text, tags, tokens):
    tokens = check_control_tokens(tokens)
    assert neutraliser(tags, tokens)(text) == broken(text, tags, tokens)


@given(st.lists(st.sampled_from(["<ab", "<abc", "<ab<", "<b", "b<", "a", "<", ">", "c"]), max_size=20).map("".join))
def test_tokens_that_begin_inside_one_another_are_all_broken(text):
    tokens = ("<ab<ab", "<abc", "<b<abc>", "<b")
    assert neutraliser((), tokens)(text) == broken(text, (), tokens)


@pytest.mark.parametrize("count", [100, 1000])
def test_any_number_of_tokens_is_taken(count):
    tokens = tuple(f"<|token_{number}_of_a_very_long_vocabulary|>" for number in range(count))
    last = tokens[-1]
    assert neutraliser((), tokens)(f"{last} <|token_{count}_of_a_very_long_vocabulary|>") == (
        f"&lt;{last[1:]} <|token_{count}_of_a_very_long_vocabulary|>"
    )


@given(texts)
def test_without_the_fast_search_the_rule_is_the_same(text):
    def too_large(*args, **kwargs):
        raise openers.SchemaError("Compiled regex exceeds size limit")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openers, "SchemaValidator", too_large)
        slow = neutraliser.__wrapped__(PROTOCOL_TAGS, CONTROL_TOKENS[:5])
        # Patterns are compiled with the first text.
        assert slow(text) == broken(text, PROTOCOL_TAGS, CONTROL_TOKENS[:5])


def test_a_lone_surrogate_hides_nothing():
    assert neutraliser(PROTOCOL_TAGS, CONTROL_TOKENS)("\ud800</tool_result>\udc00<|im_start|>") == (
        "\ud800&lt;/tool_result>\udc00&lt;|im_start|>"
    )


def test_a_token_with_a_lone_surrogate_is_refused():
    with pytest.raises(ValueError, match="surrogate"):
        check_control_tokens(["<\ud800>"])


def test_a_string_of_a_derived_type_is_broken_too():
    class Page(str):
        __slots__ = ()

    assert neutraliser(PROTOCOL_TAGS, CONTROL_TOKENS)(Page("</tool_result> <|im_start|>")) == (
        "&lt;/tool_result> &lt;|im_start|>"
    )


@given(texts, st.none() | st.just({"a": [1]}), st.booleans())
def test_a_record_made_of_clean_texts_equals_the_validated_one(text, metadata, marked):
    for fields in (
        {"role": "user", "content": text},
        {"role": "user", "content": text, "metadata": metadata, "trusted_verbatim": marked},
        {"role": "user", "content": text, "attachments": (IMAGE,)},
    ):
        made, validated = record_of_clean(ChatMessage, **fields), ChatMessage(**fields)
        assert made == validated
        assert made.model_fields_set == validated.model_fields_set
        assert made.model_dump() == validated.model_dump()
        assert made.model_dump_json(exclude_defaults=True) == validated.model_dump_json(exclude_defaults=True)
        assert repr(made) == repr(validated)
        assert made.model_copy(update={"content": "x"}) == validated.model_copy(update={"content": "x"})
        assert ChatMessage.model_validate(made) == validated
        with pytest.raises(ValueError, match="frozen"):
            made.content = "y"
