"""Runs as files: a folder for each Python, an index of all of them, a table for the README of the project."""

from __future__ import annotations

import json
import re
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .case import Unusable
from .report import index, markdown, targets_of, typical_of
from .targets import POSITIVE

_JSON = "results.json"
_REPORT = "README.md"
_BEGIN, _END = "<!-- targets: python -m benchmarks --report -->", "<!-- end of targets -->"


def read_run(path: str | Path) -> dict[str, Any]:
    """A run from its `results.json`. Raises Unusable, in words for whoever named the file."""
    try:
        run: Any = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror or 'cannot be read'}") from None
    except (ValueError, RecursionError):
        raise Unusable(f"{path} is not JSON: name a results.json, or what --json printed") from None
    if not _is_run(run):
        raise Unusable(
            f"{path} holds no run of these benchmarks, or figures that none can have: name a results.json, or what --json printed"
        )
    return dict(run)


def _is_run(run: Any) -> bool:
    if not isinstance(run, dict):
        return False
    machine, versions, results = (run.get(name) for name in ("machine", "versions", "results"))
    if not (isinstance(machine, dict) and isinstance(versions, dict) and isinstance(results, dict)):
        return False
    return (
        isinstance(machine.get("python"), str)
        and all(_is_number(machine.get(name, 0) or 0) for name in ("cores", "load", "waited"))
        and isinstance(run.get("when"), str)
        and _is_number(run.get("processes", 1))
        and all(
            isinstance(metrics, dict) and all(_is_metric(*metric) for metric in metrics.items())
            for metrics in results.values()
        )
    )


def _is_metric(what: str, metric: Any) -> bool:
    if not (isinstance(metric, list) and len(metric) == 2 and all(map(_is_number, metric))):
        return False
    value, spread = metric
    return spread >= 0 and (value > 0 or what not in POSITIVE)


def _is_number(value: Any) -> bool:
    """Also small enough to be divided and multiplied by others, and large enough."""
    return type(value) in (int, float) and (value == 0 or 1e-30 < abs(value) < 1e30)


def folder_name(run: dict[str, Any]) -> str:
    """`cpython-3.11`."""
    found = re.match(r"(\w+) (\d+\.\d+)", run["machine"]["python"])
    return f"{found[1].lower()}-{found[2]}" if found else "python"


def write(run: dict[str, Any], root: Path) -> Path:
    """The run's folder below `root`, drawn and written whole or not at all, and the index anew."""
    folder = root / folder_name(run)
    folder.mkdir(parents=True, exist_ok=True)
    _fill(run, folder)
    write_index(root)
    return folder


def write_again(root: Path) -> list[Path]:
    """All that is made from the runs below `root`, made anew."""
    folders = [path.parent for path in _runs(root)]
    for folder in folders:
        _fill(read_run(folder / _JSON), folder)
    write_index(root)
    return folders


def write_index(root: Path) -> None:
    runs = {path.parent.name: read_run(path) for path in _runs(root)}
    with _new_files(root) as made:
        (made / _REPORT).write_text(index(runs), encoding="utf-8")


def with_targets(text: str, root: Path) -> str:
    """A text with the table of all runs' targets between its two marks."""
    runs = {path.parent.name: read_run(path) for path in _runs(root)}
    before, begin, rest = text.partition(_BEGIN)
    _, end, behind = rest.partition(_END)
    if not end:
        return text
    return f"{before}{begin}\n\n" + "\n".join([*typical_of(runs), "", *targets_of(runs)]) + f"\n\n{end}{behind}"


def _runs(root: Path) -> list[Path]:
    # 3.9 before 3.11.
    return sorted(
        root.glob(f"*/{_JSON}"), key=lambda path: [int(part) for part in re.findall(r"\d+", path.parent.name)]
    )


def _fill(run: dict[str, Any], folder: Path) -> None:
    with _new_files(folder) as made:
        report = markdown(run, _drawn(run, made) or sorted(path.name for path in folder.glob("*.png")))
        (made / _JSON).write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        (made / _REPORT).write_text(report, encoding="utf-8")


def _drawn(run: dict[str, Any], made: Path) -> list[str]:
    """The pictures of a run; none without matplotlib, and then those of before stand."""
    try:
        from .plots import draw
    except ModuleNotFoundError:
        return []
    return draw(run["results"], made)


@contextmanager
def _new_files(folder: Path) -> Iterator[Path]:
    """A place for files that are put into `folder` when all are there."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as place:
        made = Path(place)
        yield made
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            for path in made.iterdir():
                path.replace(folder / path.name)
        finally:
            signal.signal(signal.SIGINT, before)
