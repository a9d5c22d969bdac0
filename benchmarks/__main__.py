"""python -m benchmarks [--quick] [--json] [--compare OLD.json] [--transcript FILE] [--only WORD]"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .case import Case

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).resolve().parent / "results"
_PACKAGES = ("tooldialect", "pydantic", "xxhash", "jsonschema-rs", "orjson", "lxml", "jsonschema")
_QUICK_ROUNDS = 5


def main() -> None:
    options = _options()
    if options.case:
        _measure(options.case, options.transcript, options.rounds)
        return
    cases = [
        case for case in all_cases(options.transcript) if (case.quick or not options.quick) and options.only in case.id
    ]
    if options.transcript and not options.only:
        cases = [case for case in cases if case.group == "yours"]
    if not cases:
        raise SystemExit(f"no case has {options.only!r} in its name")
    run = _run(cases, options)
    if options.json:
        print(json.dumps(run, indent=1))
    elif options.transcript or options.only:
        from .report import markdown

        Console().print(Markdown(markdown(run, [])))
    else:
        _write(run, RESULTS / "quick" if options.quick else RESULTS)
    if options.compare:
        from .report import comparison

        print("\n".join(comparison(json.loads(Path(options.compare).read_text(encoding="utf-8")), run)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer cases and rounds, under a minute")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON and write no report")
    parser.add_argument("--compare", metavar="OLD.json", help="also print what moved against this run")
    parser.add_argument(
        "--transcript", metavar="FILE", help="rescan your own: a request, or messages one a line, as JSON"
    )
    parser.add_argument("--only", metavar="WORD", default="", help="only cases with this in their name")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


def all_cases(transcript: str | None = None) -> list[Case]:
    from . import consult, importing, loop, rescan, serialise

    yours = [rescan.from_transcript(transcript)] if transcript else []
    return [
        *yours,
        *rescan.cases(),
        *serialise.cases(),
        *consult.cases(),
        *loop.cases(),
        *importing.cases(),
    ]


def _measure(name: str, transcript: str | None, rounds: int) -> None:
    """In a fresh process: one case, its numbers as JSON."""
    [case] = [case for case in all_cases(transcript) if case.id == name]
    print(json.dumps({metric: list(value) for metric, value in case.run(rounds or case.rounds).items()}))


def _run(cases: Sequence[Case], options: argparse.Namespace) -> dict[str, Any]:
    run = _surroundings(quick=options.quick)
    results: dict[str, Any] = run["results"]
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=len(cases))
        for case in cases:
            progress.update(task, description=case.id)
            results[case.id] = _in_a_process(case, options)
            progress.advance(task)
        progress.update(task, description="")
    return run


def _in_a_process(case: Case, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks", "--case", case.id]
    if options.transcript:
        command += ["--transcript", options.transcript]
    if options.quick:
        command += ["--rounds", str(min(_QUICK_ROUNDS, case.rounds))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{case.id} failed:\n{done.stderr}")
    numbers: dict[str, Any] = json.loads(done.stdout)
    return numbers


def _surroundings(*, quick: bool) -> dict[str, Any]:
    return {
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "quick": quick,
        "machine": {
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            "system": f"{platform.system()} {platform.machine()}",
            "processor": _processor(),
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        },
        "versions": {name: _version(name) for name in _PACKAGES},
        "results": {},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n")
    except OSError:
        return platform.processor() or "unknown processor"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _write(run: dict[str, Any], folder: Path) -> None:
    from .plots import draw
    from .report import markdown

    folder.mkdir(parents=True, exist_ok=True)
    report = markdown(run, draw(run["results"], folder))
    (folder / "results.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(report, encoding="utf-8")
    Console().print(Markdown(report))
    print(f"written to {folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder}")


if __name__ == "__main__":
    main()
