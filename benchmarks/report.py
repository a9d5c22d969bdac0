"""A run as Markdown, and the targets of several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .machine import busy
from .printable import cell
from .targets import Verdict, judge

_GROUPS = {
    "rescan": "Rescan: a full refresh, caches cold, of what is done with the same request",
    "serialise": "Serialise: results as text",
    "consult": "Consult and checked arguments",
    "loop": "Whole loop: the gate's time, of `json.dumps` of the same requests",
    "import": "Importing",
    "yours": "Your transcripts",
}
_MADE_BY = "<!-- made by python -m benchmarks from results.json: what is written here is lost -->"


def markdown(run: Mapping[str, Any], plots: list[str]) -> str:
    lines = [_MADE_BY, "", "# What it costs", "", *machine(run), "", *_targets(run)]
    lines += ["", "What is missed and why: [missed.md](../../missed.md)."]
    for plot in plots:
        lines += ["", f"![{plot.removesuffix('.png').replace('-', ' ')}]({plot})"]
    return "\n".join([*lines, *sections(run)]) + "\n"


def sections(run: Mapping[str, Any]) -> Iterator[str]:
    """The numbers of each group of cases, as tables."""
    for group, title in _GROUPS.items():
        cases = {case: metrics for case, metrics in run["results"].items() if case.split("/")[0] == group}
        if cases:
            yield from ["", f"## {title}", "", *_tables(cases)]


def index(runs: Mapping[str, Mapping[str, Any]]) -> str:
    """What several runs kept, by the names of their folders."""
    lines = [_MADE_BY, "", "# What it costs", ""]
    for folder, run in runs.items():
        machine = run["machine"]
        lines.append(
            f"* [{machine['python']}]({folder}/README.md): {machine['system']}, {machine['processor']}, "
            f"{machine['cores']} cores, {run['when']}{', a quick run' if run.get('quick') else ''}"
        )
    lines += ["", *typical_of(runs), "", *targets_of(runs), "", "What is missed and why: [missed.md](../missed.md)."]
    return "\n".join(lines) + "\n"


def targets_of(runs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One table: a row for each target, a column for each run."""
    verdicts = [judge(run) for run in runs.values()]
    names = [run["machine"]["python"] for run in runs.values()]
    lines = [" | ".join(["| target", "wanted", *names]) + " |", "| --- | --- |" + " --- |" * len(names)]
    for told in zip(*verdicts, strict=True):
        wanted = " / ".join(dict.fromkeys(verdict.wanted for verdict in told))
        lines.append(f"| {told[0].what} | {wanted} | " + " | ".join(_judged(verdict) for verdict in told) + " |")
    return lines


# What a platform's people ask first: in words, of which case, what, and how a figure of it reads.
_TYPICAL = (
    ("a rescan of a request of 100 rows, of json.dumps", "rescan/openai-chat 100 rows", "of json.dumps"),
    ("the same of 1,000 rows", "rescan/openai-chat 1000 rows", "of json.dumps"),
    ("deciding a call whose contract is in context, µs", "consult/present", "us"),
    ("deciding one that fits its contract, µs", "consult/satisfied", "us"),
    ("answering one with its contract of 4 KiB, µs", "consult/surfaced", "us"),
    ("all the gate does in a loop of 40 turns, of json.dumps", "loop/native on openai 40 turns", "of json.dumps"),
    ("the whole loop of 200 turns, gate on to off", "loop/native on openai 200 turns", "loop on to off"),
)


def typical_of(runs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One table: what the gate adds in usual sizes, a column for each run."""
    names = [run["machine"]["python"] for run in runs.values()]
    lines = [" | ".join(["| what the gate adds", *names]) + " |", "| --- |" + " --- |" * len(names)]
    for words, case, metric in _TYPICAL:
        numbers = [run["results"].get(case, {}).get(metric) for run in runs.values()]
        lines.append(
            f"| {words} | " + " | ".join("not measured" if n is None else f"{n[0]:.3g}" for n in numbers) + " |"
        )
    return lines


def _judged(verdict: Verdict) -> str:
    if verdict.measured is None:
        return "not measured"
    return f"{verdict.measured:.3g}" if verdict.kept else f"**{verdict.measured:.3g}** (missed)"


def machine(run: Mapping[str, Any]) -> list[str]:
    machine = run["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    loads = f"load {machine['load']} when it began"
    if machine.get("load at the end") is not None:
        loads += f", {machine['load at the end']} when it ended, its own included"
    if machine.get("waited") is not None:
        loads += f"; {machine['waited']:.1%} of the time without the processor"
    processes = run.get("processes", 1)
    several = f"{processes} processes of its own" if processes > 1 else "a process of its own"
    lines = [
        f"{machine['python']} on {machine['system']}, {machine['processor']}, {machine['cores']} cores; {loads}.",
        f"{versions}. {'A quick run. ' if run.get('quick') else ''}{run['when']}.",
        "",
    ]
    if doubt := busy(run):
        lines += [f"**The machine was busy**: {doubt}. Measure again before believing small differences.", ""]
    return [
        *lines,
        (
            f"Every case ran in {several}, its contenders in an order drawn anew each round; numbers are medians, "
            "ratios medians of the ratios within a round, ± half the distance between the quartiles, or between "
            "processes where that is more. Times are of the processor, an allocator that keeps its memory and the "
            "call of the contender included."
        ),
    ]


def _targets(run: Mapping[str, Any]) -> list[str]:
    lines = ["| target | wanted | measured | |", "| --- | --- | --- | --- |"]
    for verdict in judge(run):
        measured = "not measured" if verdict.measured is None else f"{verdict.measured:.3g}"
        # A quick run leaves out the cases that take long, and with them some of the worst.
        kept = {True: "kept by these cases" if run.get("quick") else "kept", False: "**missed**", None: ""}[
            verdict.kept
        ]
        lines.append(f"| {verdict.what} | {verdict.wanted} | {measured} | {kept} |")
    return lines


def _tables(cases: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """One table for each set of cases that were measured alike, where the first of them stands."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for case, metrics in cases.items():
        alike.setdefault(tuple(metrics), []).append(case)
    for number, (names, members) in enumerate(alike.items()):
        if number:
            yield ""
        yield "| case | " + " | ".join(names) + " |"
        yield "| --- |" + " --- |" * len(names)
        for case in members:
            numbers = " | ".join(_number(*cases[case][name]) for name in names)
            yield f"| {cell(case.split('/', 1)[1])} | {numbers} |"


def _number(value: float, spread: float) -> str:
    shown = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{shown} ±{spread:.0%}" if spread else shown
