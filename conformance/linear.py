"""E: what a body costs to frame grows as the body does."""

from __future__ import annotations

from .clause import Chapter, require
from .entries import all_text, ok
from .trial import Trial

LINEAR = Chapter[Trial]("E", "cost")


# Seconds of processor time that mean nothing: clocks of programs tick in hundredths.
_NOISE = 0.01


@LINEAR.clause(
    "E6",
    "Framing is linear: a megabyte of openers neither takes nor makes much more than a sixteenth does.",
    reason="A body can be made to measure.",
    prevents="One tool result that stops a host.",
    needs=("text",),
)
def _linear(trial: Trial) -> None:
    tags = trial.about.protocol_tags
    floods = ["<", "</", "< ", "<|", *(f"<{tag}" for tag in tags), *(f"</{tag}>" for tag in tags)]
    floods += [tag for tag in tags if "_" in tag][:1]
    trial.search.every(floods, lambda flood: _require_linear(trial, flood))


def _require_linear(trial: Trial, flood: str) -> None:
    """CPU time and size of the output over sizes that grow four-fold. What is compared are ratios:
    quadratic work grows sixteen-fold, and is seen long before the last size."""
    cost, length = 0.0, 0
    size = trial.profile.megabyte >> 8
    while size <= trial.profile.megabyte:
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
