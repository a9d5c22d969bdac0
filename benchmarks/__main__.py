"""What the gate and the dialects cost on this machine, or on your own transcripts.

Without options all cases run, some ten minutes, and the report goes to benchmarks/results/ and the README, where the
project keeps its own: `git diff` shows what is different here, `git checkout README.md benchmarks` takes it back.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tooldialect.dialects import available_wires

from .case import Case, Unusable
from .machine import busy, load, surroundings
from .printable import printable
from .report import machine, sections
from .runner import PROCESSES, ROOT, CaseFailedError, measured, run_case
from .transcript import SAVED, STDIN

RESULTS = ROOT / "benchmarks" / "results"
_LINES = "\n\t"
_SLOWER, _UNUSABLE, _FAILED, _STOPPED = 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0; 1 where --fail-if-slower says so; 2 for what cannot be used; 3 where a case failed; 130 when stopped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What a terminal's encoding lacks.
            stream.reconfigure(errors="backslashreplace")
    options = _options(arguments)
    try:
        if options.case is not None:
            return _one(options)
        return _report(options) if options.report else _run(options)
    except Unusable as problem:
        print(f"benchmarks: {printable(str(problem))}", file=sys.stderr)
        return _UNUSABLE
    except CaseFailedError as failure:
        print(f"benchmarks: {printable(str(failure), keep=_LINES)}", file=sys.stderr)
        return _FAILED
    except KeyboardInterrupt:
        print("benchmarks: stopped; nothing was written", file=sys.stderr)
        return _STOPPED


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer cases and rounds, under a minute, to results/quick")
    parser.add_argument(
        "--only", metavar="WORD", default="", help="only cases with this in their name; nothing is written"
    )
    parser.add_argument(
        "--transcript",
        metavar="FILE",
        action="extend",
        nargs="+",
        default=[],
        help="what the rescan of your own adds to a model call, instead of the cases: a request of any provider as JSON, "
        "requests or messages one a line, or what dump_transcript wrote; - is stdin",
    )
    parser.add_argument(
        "--wire",
        choices=[SAVED, *available_wires()],
        help="what the transcripts are, where their shape does not tell",
    )
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON and write nothing")
    parser.add_argument("--into", metavar="FOLDER", type=Path, help="where to write, instead of benchmarks/results")
    parser.add_argument("--compare", metavar="OLD.json", help="also say what moved against that run, beyond noise")
    parser.add_argument(
        "--fail-if-slower",
        metavar="PERCENT",
        type=float,
        help="with --compare: exit status 1 where something costs so much more, beyond noise",
    )
    parser.add_argument(
        "--report", action="store_true", help="measure nothing: write the reports of all results.json anew"
    )
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.transcript and (options.only or options.quick or options.report or options.into):
        parser.error(
            "--transcript measures your files alone and writes nothing: leave out --only, --quick, --report, --into"
        )
    if options.into and (options.only or options.json):
        parser.error("--only and --json write nothing: leave out --into")
    if options.into and options.into.exists() and not options.into.is_dir():
        parser.error(printable(f"--into {options.into}: not a folder"))
    if options.wire and not options.transcript:
        parser.error("--wire says what a --transcript is")
    if options.fail_if_slower is not None and not options.compare:
        parser.error("--fail-if-slower needs --compare")
    return options


def all_cases() -> list[Case]:
    from . import consult, importing, loop, rescan, serialise

    return [*rescan.cases(), *serialise.cases(), *consult.cases(), *loop.cases(), *importing.cases()]


def _one(options: argparse.Namespace) -> int:
    """In a process of its own: the one case it is for."""
    try:
        print(measured(_case(options), options.rounds))
    except Exception as error:
        if not options.transcript:
            raise
        # Its words may quote what a transcript says.
        print(type(error).__name__, file=sys.stderr)
        return _FAILED
    return 0


def _case(options: argparse.Namespace) -> Case:
    if options.transcript:
        from . import yours

        [file] = yours.files(options.transcript, options.wire)
        return yours.case(file)
    [case] = [case for case in all_cases() if case.id == options.case]
    return case


def _run(options: argparse.Namespace) -> int:
    from .saved import read_run

    # Before minutes are spent.
    old = read_run(options.compare) if options.compare else None
    run = surroundings(quick=options.quick, processes=1 if options.quick else PROCESSES)
    if options.transcript:
        run["answers"] = _transcripts(run, options)
    else:
        _cases(run, options)
    if options.json:
        print(json.dumps(run, indent=1))
    elif options.transcript:
        print("\n\n".join(run["answers"]))
        _show("\n".join(machine(run)[:2]))
        _show("\n".join(sections(run)))
    elif options.only:
        _show("\n".join(sections(run)))
    else:
        _write(run, options)
    slower = False
    if old is not None:
        from .compare import compare, markdown

        comparison = compare(old, run)
        _show(markdown(comparison), error=options.json)
        slower = options.fail_if_slower is not None and bool(comparison.slower(options.fail_if_slower))
    if doubt := busy(run):
        print(f"benchmarks: the machine was busy: {doubt}; believe no small difference", file=sys.stderr)
    return _SLOWER if slower else 0


def _transcripts(run: dict[str, Any], options: argparse.Namespace) -> list[str]:
    """Measure them; the answer for each, and for all where there are several."""
    from . import yours

    files = yours.files(options.transcript, options.wire)
    forms = [(file.transcript.form, file.transcript.of) for file in files]
    # A pipe can be read but once.
    arguments = ["--case", "", "--transcript", STDIN, *(["--wire", options.wire] if options.wire else [])]
    _measure(run, [(yours.case(file), arguments, file.content) for file in files], quick=False)
    results = list(run["results"].items())
    answers = [
        yours.answer(case.split("/", 1)[1], metrics, *form)
        for (case, metrics), form in zip(results, forms, strict=True)
    ]
    return [*answers, *yours.answer_for_all([metrics for _, metrics in results])]


def _cases(run: dict[str, Any], options: argparse.Namespace) -> None:
    cases = [case for case in all_cases() if (case.quick or not options.quick) and options.only in case.id]
    if not cases:
        raise Unusable(f"no case has {options.only!r} in its name")
    _measure(run, [(case, ["--case", case.id], b"") for case in cases], quick=options.quick)


def _measure(run: dict[str, Any], work: Sequence[tuple[Case, list[str], bytes]], *, quick: bool) -> None:
    if doubt := busy(run):
        print(f"benchmarks: the machine is busy: {doubt}", file=sys.stderr)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    waited = []
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=len(work) * run["processes"])
        for case, arguments, given in work:
            progress.update(task, description=printable(case.id))
            result = run_case(case, arguments, quick=quick, given=given, done=lambda: progress.advance(task))
            run["results"][case.id] = {name: list(number) for name, number in result.metrics.items()}
            waited.append(result.waited)
        progress.update(task, description="")
    run["machine"] |= {"load at the end": load(), "waited": round(sum(waited) / len(waited), 4)}


def _show(text: str, *, error: bool = False) -> None:
    """Markdown: as it is where it goes to a file."""
    stream = sys.stderr if error else sys.stdout
    text = printable(text, keep=_LINES)
    if stream.isatty():
        Console(file=stream).print(Markdown(text))
    else:
        print(text, file=stream)


def _write(run: dict[str, Any], options: argparse.Namespace) -> None:
    from .saved import write

    root = options.into or RESULTS
    folder = write(run, root / "quick" if options.quick else root)
    if root == RESULTS and not options.quick:
        _into_readme()
    _show((folder / "README.md").read_text(encoding="utf-8"))
    print(f"written to {_named(folder)}")


def _report(options: argparse.Namespace) -> int:
    from .saved import write_again

    for folder in write_again(options.into or RESULTS):
        print(f"written anew: {_named(folder)}")
    if not options.into:
        _into_readme()
    return 0


def _into_readme() -> None:
    from .saved import with_targets

    readme = ROOT / "README.md"
    readme.write_text(with_targets(readme.read_text(encoding="utf-8"), RESULTS), encoding="utf-8")


def _named(path: Path) -> str:
    return printable(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


if __name__ == "__main__":
    sys.exit(main())
