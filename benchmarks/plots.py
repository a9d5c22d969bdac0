"""The three pictures of a run: growth, marked rows, share of the request's own serialisation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

from .targets import Results, exponent, growth

mpl.use("Agg")

from matplotlib import pyplot as plt

_KINDS = {"openai-chat": "OpenAI Chat rows", "anthropic": "Anthropic blocks", "entries": "entries", "strings": "texts"}


def draw(results: Results, folder: Path) -> list[str]:
    """The names of the files that were drawn; none for which too little was measured."""
    makers = {"cost-against-rows.png": _rows, "cost-per-marked-row.png": _marked, "share-of-serialisation.png": _share}
    drawn = []
    for name, make in makers.items():
        figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
        if make(results, axes):
            figure.savefig(folder / name, dpi=110)
            drawn.append(name)
        plt.close(figure)
    return drawn


def _rows(results: Results, axes: Any) -> bool:
    shown = False
    for kind, title in _KINDS.items():
        points = growth(results, kind)
        if len(points) < 2:
            continue
        shown = True
        fitted = exponent(results, kind)
        label = title if fitted is None else f"{title}: rows^{fitted:.2f}"
        axes.loglog([rows for rows, _ in points], [rows * ns / 1e6 for rows, ns in points], marker="o", label=label)
    axes.set(xlabel="rows", ylabel="ms of a refresh, caches cold", title="Cost of a rescan against rows")
    axes.grid(visible=True, which="both", alpha=0.3)
    if shown:
        axes.legend()
    return shown


def _marked(results: Results, axes: Any) -> bool:
    cases = {case: metrics for case, metrics in results.items() if case.startswith("rescan/marked rows")}
    names = ("us a marked row more", "us the same in other objects", "us the first time")
    for at, (case, metrics) in enumerate(cases.items()):
        bars = axes.bar(
            [place + at * 0.4 for place in range(len(names))],
            [metrics[name][0] for name in names],
            width=0.38,
            label=case.removeprefix("rescan/marked rows "),
        )
        axes.bar_label(bars, fmt="%.1f")
    axes.set_xticks(
        [place + 0.2 for place in range(len(names))], ["seen before", "seen, parsed anew", "the first time"]
    )
    axes.set(ylabel="µs more than a plain row", title="Cost of a marked row of 4 KiB")
    if cases:
        axes.legend()
    return bool(cases)


def _share(results: Results, axes: Any) -> bool:
    shares = {}
    for case, metrics in results.items():
        if case.startswith(("rescan/", "loop/")) and "of json.dumps" in metrics:
            shares[case.split("/", 1)[1]] = metrics["of json.dumps"][0] * 100
    bars = axes.barh(list(shares), list(shares.values()))
    axes.bar_label(bars, fmt="%.1f %%", fontsize=7)
    axes.tick_params(axis="y", labelsize=7)
    axes.invert_yaxis()
    axes.set(xlabel="% of json.dumps of the same request", title="The gate beside the request's own serialisation")
    return bool(shares)
