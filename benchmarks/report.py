"""A run as Markdown, and against an older one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .targets import judge

_BAR = "\\|"

_GROUPS = {
    "rescan": "Rescan: a full refresh, caches cold, of what is done with the same request",
    "serialise": "Serialise: results as text",
    "consult": "Consult and checked arguments",
    "loop": "Whole loop: the gate's time, of `json.dumps` of the same requests",
    "import": "Importing",
    "yours": "Your transcript",
}


def markdown(run: dict[str, Any], plots: list[str]) -> str:
    lines = ["# What it costs", "", *_machine(run), "", *_targets(run["results"])]
    lines += ["", "What is missed and why: [missed.md](../missed.md)."]
    for plot in plots:
        lines += ["", f"![{plot.removesuffix('.png').replace('-', ' ')}]({plot})"]
    for group, title in _GROUPS.items():
        cases = {case: metrics for case, metrics in run["results"].items() if case.split("/")[0] == group}
        if cases:
            lines += ["", f"## {title}", "", *_tables(cases)]
    return "\n".join(lines) + "\n"


def _machine(run: dict[str, Any]) -> list[str]:
    machine = run["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    return [
        (
            f"{machine['python']} on {machine['system']}, {machine['processor']}, {machine['cores']} cores; "
            f"load {machine['load']} when it began."
        ),
        f"{versions}. {'A quick run. ' if run['quick'] else ''}{run['when']}.",
        "",
        (
            "Every case ran in a process of its own, its contenders in an order drawn anew each round; numbers are "
            "medians, ratios medians of the ratios within a round, ± half the distance between the quartiles. Times are "
            "of the processor, and only fit to be compared with others of the same run: the machine is not idle."
        ),
    ]


def _targets(results: dict[str, Any]) -> list[str]:
    lines = ["| target | wanted | measured | |", "| --- | --- | --- | --- |"]
    for verdict in judge(results):
        measured = "not measured" if verdict.measured is None else f"{verdict.measured:.3g}"
        kept = {True: "kept", False: "**missed**", None: ""}[verdict.kept]
        lines.append(f"| {verdict.what} | {verdict.wanted} | {measured} | {kept} |")
    return lines


def _tables(cases: dict[str, Any]) -> Iterator[str]:
    """One table for each run of cases that were measured alike."""
    before: list[str] = []
    for case, metrics in cases.items():
        names = list(metrics)
        if names != before:
            if before:
                yield ""
            yield "| case | " + " | ".join(names) + " |"
            yield "| --- |" + " --- |" * len(names)
            before = names
        yield (
            f"| {case.split('/', 1)[1].replace('|', _BAR)} | "
            + " | ".join(_number(*metrics[name]) for name in names)
            + " |"
        )


def _number(value: float, spread: float) -> str:
    shown = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{shown} ±{spread:.0%}" if spread else shown


def comparison(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Every number that both runs have, and how much of the old one the new one is; those that moved
    more than both spreads are marked."""
    lines = []
    for case, metrics in new["results"].items():
        for name, (value, spread) in metrics.items():
            if name not in old["results"].get(case, {}):
                continue
            was, was_spread = old["results"][case][name]
            if not was or value == was:
                continue
            moved = value / was
            mark = "  <--" if abs(moved - 1) > 2 * (spread + was_spread) + 0.05 else ""
            lines.append(f"{case:<44} {name:<28} {was:>12.4g} -> {value:<12.4g} x {moved:.2f}{mark}")
    return lines or ["the two runs have no number in common"]
