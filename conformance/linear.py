"""E: what a body costs to frame grows as the body does."""

from __future__ import annotations

import re

from .clause import Chapter, require
from .copied import FIRST, SECOND, two_results
from .entries import all_text, ok
from .trial import Trial

LINEAR = Chapter[Trial]("E", "cost")

# Seconds of processor time that mean nothing: clocks of programs tick in hundredths.
_NOISE = 0.01
# What envelopes escape, beside what they write: quotes, escapes, fences, brackets, line ends, controls, beyond ASCII.
_MARKS = (
    '"', "'", "`", "```", "\\", "\\n", "&", "<", ">", "[", "]", "{", "}", "(", "|", "#", "=", "-", "---", "~", "*", "_", ":", "@",
    "%", "$", "!", "]]>", "\n", "\r\n", "\t", " ", "\x00", "\x1b", "\x7f", "\u2028", "\u00e9", "\U0001f600",
)  # fmt: skip
_LETTERS = "QZXJKVWYBqzjkv"


@LINEAR.clause(
    "E6",
    "Framing is linear: a megabyte of tags, or of anything else that this envelope writes or escapes, takes and makes "
    "little more than sixteen times what a sixteenth does.",
    reason="A body can be made to measure.",
    prevents="One tool result that stops a host.",
    needs=("text",),
)
def _linear(trial: Trial) -> None:
    tags = trial.about.protocol_tags
    floods = ["<", "</", "< ", "<|", *(f"<{tag}" for tag in tags), *(f"</{tag}>" for tag in tags)]
    floods += [tag for tag in tags if "_" in tag][:1]
    pieces = [piece for piece in _pieces(trial) if piece not in floods]
    changed = [piece for piece in pieces if _is_changed(trial, piece)]
    trial.search.every([*floods, *changed], lambda flood: _require_linear(trial, flood, trial.profile.megabyte))
    # Runs are one thing to an escape, many small ones another, and some openers count where a line begins.
    # What passes through may have been looked at for long.
    more = [*(f"{piece}{between}" for piece in changed for between in ("x", "\n")), *pieces]
    less = [flood for flood in dict.fromkeys(more) if flood not in changed]
    trial.search.every(less, lambda flood: _require_linear(trial, flood, trial.profile.megabyte // 4))


def _pieces(trial: Trial) -> list[str]:
    """What this envelope writes itself, found in a frame, for no envelope is known; and what others escape."""
    frame = two_results(trial)
    for known in (*FIRST, *SECOND):
        frame = frame.replace(known, " ")
    lines = [line.strip() for line in frame.splitlines() if line.strip()]
    written = [*lines, *(line[: len(line) // 2].strip() for line in lines), *re.findall(r"[^\w\s]+", frame)]
    return [piece for piece in dict.fromkeys([*written, *_MARKS]) if piece]


def _is_changed(trial: Trial, piece: str) -> bool:
    """Whether the piece makes another frame than letters do: it is escaped, or what stands around it gives way."""

    def framed(layout: str, filling: str) -> str:
        return all_text(trial.subject().format_results([ok(layout.replace("?", filling))]))

    bare = framed("", "")
    letters = len(piece) * next((letter for letter in _LETTERS if letter not in bare), "Q")
    layouts = ("?", "x?y", "????", "?\n?\n")
    return any(framed(layout, letters).replace(letters, piece) != framed(layout, piece) for layout in layouts)


def _require_linear(trial: Trial, flood: str, largest: int) -> None:
    """CPU time and size of the output over sizes that grow four-fold. What is compared are ratios:
    quadratic work grows sixteen-fold, and is seen long before the last size."""
    cost, length = 0.0, 0
    size = largest >> 8
    while size <= largest:
        body = flood * (size // len(flood))
        more, longer = _cost(trial, body)
        require(longer <= 16 * size + 4096, f"{size} characters of {flood!r} became {longer}")
        require(
            not length or longer <= 5 * length + 4096,
            f"the output grew from {length} to {longer} where the body grew 4 times",
        )
        if cost and more > 10 * max(cost, _NOISE):
            # Once more, the best of three: another process may have had the processor.
            before = min(_cost(trial, body[: len(body) // 4])[0] for _ in range(3))
            more = min(more, *(_cost(trial, body)[0] for _ in range(2)))
            require(
                more <= 10 * max(before, _NOISE),
                f"framing {size} characters of {flood!r} costs {more / max(before, _NOISE):.0f} times what a quarter of it does",
            )
        cost, length = more, longer
        size *= 4


def _cost(trial: Trial, body: str) -> tuple[float, int]:
    outcome = ok(body)
    started = trial.target.cpu_seconds()
    entries = trial.subject().format_results([outcome])
    return trial.target.cpu_seconds() - started, len(all_text(entries))
