"""E: what a tool returns is data. It opens nothing, closes nothing and calls nothing."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from tooldialect.dialects import (
    ToolOutcome,
)

from .clause import Chapter, require, require_same
from .copied import FIRST, SECOND, two_results
from .entries import all_text, numbered, ok
from .strategies import (
    CODE,
    MARKUP,
    ODD_CHARACTERS,
    hostile_text,
    near_misses,
    tag_pattern,
    words,
    written_hostile,
)
from .trial import Trial

E = Chapter[Trial]("E", "envelope")


@E.clause(
    "E1",
    "A body cannot open or close the envelope, nor spell a call tag, in any case or spacing.",
    reason="A fetched page is written by a stranger.",
    prevents="A tool result that closes its own frame and forges a second result, or a call.",
    needs=("text",),
)
def _nothing_opened(trial: Trial) -> None:
    tags = trial.about.protocol_tags
    live = tag_pattern(tags)

    def require_tags_of(plain: str, hostile: str) -> None:
        want, got = len(live.findall(plain)), len(live.findall(hostile))
        require(got == want, f"the frame has {want} tags around a plain body and {got} around this one", got=hostile)

    def check(body: str) -> None:
        subject = trial.subject()
        for before, after in (([], []), ([ok("x")], [ok("x")])):
            plain = all_text(subject.format_results(numbered([*before, ok("x"), *after])))
            require_tags_of(plain, all_text(subject.format_results(numbered([*before, ok(body), *after]))))

    trial.search.any(hostile_text(tags), check, written_hostile(tags))
    trial.search.every((True, False), lambda success: _require_no_second_result(trial, success=success))


@E.clause(
    "E2",
    "A body without protocol tags is untouched.",
    reason="Source code is what tools return most.",
    prevents="Entities in code, which the model writes back into files.",
    needs=("text",),
)
def _untouched(trial: Trial) -> None:
    _require_bodies_kept(
        trial,
        [*CODE, *MARKUP, *ODD_CHARACTERS, "\ufeff// bom", "a\r\nb"],
        st.lists(st.sampled_from(CODE + MARKUP + ODD_CHARACTERS) | st.text(max_size=5), max_size=6).map("".join),
    )
    trial.search.every(["x", "a\nb"], lambda body: _require_ends_told_apart(trial, body))


@E.clause(
    "E5",
    "Near-miss tags survive.",
    reason="Generics, components and other people's tags look like ours.",
    prevents="Breaking code that has nothing to do with the protocol.",
    needs=("text",),
)
def _near_misses_survive(trial: Trial) -> None:
    near = [text for tag in trial.about.protocol_tags for text in near_misses(tag)]
    _require_bodies_kept(
        trial,
        [*near, *(f"a{text}b" for text in near)],
        st.lists(st.sampled_from(near or ["<x>"]) | words, max_size=5).map(" ".join),
    )


@E.clause(
    "E7",
    "Declared control tokens are broken in bodies, and nothing that only resembles them is.",
    reason="Chat templates do not escape their own tokens.",
    prevents="A tool result that ends its turn and speaks as the user.",
    needs=("text", "control_tokens"),
)
def _tokens(trial: Trial) -> None:
    tokens = trial.about.control_tokens

    def check(token: str) -> None:
        subject = trial.subject()
        for body in (token, f"a{token}b", f"{token}{token}", f"<{token}", f"{token}>"):
            text = all_text(subject.format_results([ok(body)]))
            require(token not in text, f"the control token {token!r} is whole in the frame", got=text)

    trial.search.every(tokens, check)
    folded = [
        form for token in tokens for form in (token.swapcase(), token[:-1], token[1:], token.replace("<", "&lt;", 1))
    ]
    misses = [miss for miss in folded if miss.strip() and not any(token in miss for token in tokens)]
    _require_bodies_kept(trial, misses, st.sampled_from(misses or ["x"]))


def _require_bodies_kept(trial: Trial, written: Sequence[str], drawn: st.SearchStrategy[str]) -> None:
    subject = trial.subject()
    live = tag_pattern(trial.about.protocol_tags)
    tokens = trial.about.control_tokens

    def check(body: str) -> None:
        # Joined pieces can come out as a tag after all.
        if live.search(body) or any(token in body for token in tokens):
            return
        outcomes = numbered([ok(body), ok("other"), ToolOutcome.failed("fetch", body)])
        entries = subject.format_results(outcomes)
        if trial.offers("read_results"):
            read = [found for _, _, found in subject.read_results(entries)]
            require(
                len(read) == len(outcomes), f"{len(outcomes)} results are read as {len(read)}", got=all_text(entries)
            )
            require_same(body, read[0], "a body without protocol tags was changed")
            require_same(body, read[2], "a body without protocol tags was changed")
        else:
            text = all_text(entries)
            require(
                text.count(body) >= (2 if body else 0), "a body without protocol tags was changed", want=body, got=text
            )

    trial.search.any(drawn, check, written)


def _require_ends_told_apart(trial: Trial, body: str) -> None:
    """White space at the ends of a body is part of it, whoever reads."""
    subject = trial.subject()
    plain = all_text(subject.format_results([ok(body)]))
    for other in (f"{body}\n", f"{body}\n\n", f"\n{body}", f"{body} ", f" {body}"):
        text = all_text(subject.format_results([ok(other)]))
        require(text != plain, f"the bodies {body!r} and {other!r} are framed alike", got=text)


def _require_no_second_result(trial: Trial, *, success: bool) -> None:
    """What the frame itself writes between two bodies, copied into one body, is no second result. Asks for no
    tags: an envelope of any shape can be forged from its own text."""
    two = two_results(trial, success=success)
    # A body that does not read plainly in its frame is what E2 looks at.
    start, last = two.find(FIRST[1]), two.find(SECOND[1])
    if not 0 <= start < last:
        return
    body = two[start : last + len(SECOND[1])]
    entries = trial.subject().format_results([ok(body, name=FIRST[0])])
    require(all_text(entries) != two, "one body that copies the frame reads exactly as two results", got=two)
    if trial.offers("read_results"):
        read = trial.subject().read_results(entries)
        require(len(read) == 1, f"one body that copies the frame is read as {len(read)} results", got=all_text(entries))
