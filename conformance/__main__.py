"""`python -m tooldialect.conformance package.module:factory`, or `--stdio "command args"`.

Exit status: 0 all clauses hold, 1 some clause fails, 2 the run itself could not be done.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import threading
from pathlib import Path
from typing import Annotated

try:
    import typer
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.table import Table
    from rich.text import Text
except ImportError as error:
    sys.exit(f"{error}\nThe suite's command line needs its extra: pip install 'tooldialect[conformance]'")

from .chapters import clauses
from .faults import ProgramFault, Refused, TargetError
from .process import ProcessTarget
from .report import as_document, as_junit, every_table, explain
from .run import ExpectationError, Result, run, select
from .target import Target, load_target
from .trial import PROFILES

_STYLES = {"pass": "green", "fail": "bold red", "skip": "dim", "expected_failure": "yellow"}

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def main(  # noqa: PLR0913, PLR0917 - a command line is its options
    dialect: Annotated[
        str | None,
        typer.Argument(help="package.module:factory, called with the tools; a class or an instance serves too"),
    ] = None,
    stdio: Annotated[str | None, typer.Option(help="a program that speaks the protocol of protocol.md")] = None,
    select_ids: Annotated[str | None, typer.Option("--select", help="ids and letters, such as V,E3")] = None,
    seed: Annotated[int, typer.Option(help="the same seed looks at the same inputs")] = 0,
    profile: Annotated[str, typer.Option(help="quick or thorough")] = "quick",
    json_file: Annotated[Path | None, typer.Option("--json", help="write the results as JSON")] = None,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="write the results as JUnit XML")] = None,
    expect: Annotated[
        list[str] | None, typer.Option(help="ID=REASON: a failure that is known; may be repeated")
    ] = None,
    timeout: Annotated[float, typer.Option(help="seconds a program may take for one request")] = 10.0,
    list_clauses: Annotated[bool, typer.Option("--list", help="print the clauses and stop")] = False,
) -> None:
    """Run the conformance suite on a dialect. Exit 0: all hold. 1: some clause fails. 2: it could not be run."""
    if list_clauses:
        print(every_table(), end="")
        return
    sys.path.insert(0, str(Path.cwd()))
    try:
        if profile not in PROFILES:
            raise TargetError(f"--profile {profile!r}: known are {', '.join(PROFILES)}")
        if select_ids is not None and not select_ids.strip(", "):
            raise TargetError("--select names no clause: write ids and letters, such as V,E3")
        chosen = select((select_ids or "").split(","), clauses("dialect"))
        expected = dict(_expectation(text) for text in expect or ())
        _check_writable("--json", json_file)
        _check_writable("--junit", junit_file)
        target = _target(dialect, stdio, timeout)
        try:
            results = _show_progress(target, [clause.id for clause in chosen], expected, seed, profile)
        finally:
            target.close()
        _print(target.name, results, seed)
        _write(json_file, json.dumps(as_document(target.name, results), ensure_ascii=False, indent=1) + "\n")
        _write(junit_file, as_junit(target.name, results, {clause.id: clause for clause in clauses()}))
    except (TargetError, ExpectationError, ProgramFault, Refused, OSError) as error:
        print(f"tooldialect-conformance: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    raise typer.Exit(1 if any(result.status == "fail" for result in results) else 0)


def _target(dialect: str | None, stdio: str | None, timeout: float) -> Target:
    if (dialect is None) == (stdio is None):
        raise TargetError("name one thing to test: package.module:factory, or --stdio 'command args'")
    # What is not a number compares as false, what is endless is longer than any wait.
    if not 0 < timeout <= threading.TIMEOUT_MAX:
        raise TargetError(f"--timeout {timeout:g}: seconds above 0 are wanted")
    if stdio is None:
        assert dialect is not None
        return load_target(dialect)
    try:
        command = shlex.split(stdio)
    except ValueError as error:
        raise TargetError(f"--stdio {stdio!r} is no command line: {error}") from None
    if not command:
        raise TargetError("--stdio names no program")
    target = ProcessTarget(command, timeout=timeout)
    try:
        target.describe()
    except BaseException:
        target.close()
        raise
    return target


def _check_writable(option: str, path: Path | None) -> None:
    """Before the run, which may take minutes."""
    if path is None:
        return
    if path.is_dir():
        raise TargetError(f"{option} {path}: is a directory")
    if not path.parent.is_dir():
        raise TargetError(f"{option} {path}: there is no directory {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise TargetError(f"{option} {path}: cannot be written")


def _expectation(text: str) -> tuple[str, str]:
    id_, _, reason = text.partition("=")
    return id_.strip(), reason.strip()


def _show_progress(target: Target, ids: list[str], expected: dict[str, str], seed: int, profile: str) -> list[Result]:
    results: list[Result] = []
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(f"{target.name} {ids[0]}", total=len(ids))
        given = {id_: reason for id_, reason in expected.items() if id_ in ids}
        if left_out := expected.keys() - given.keys():
            # Refuses ids that are no clauses; the others were left out by --select.
            list(select(left_out, clauses("dialect")))
        for number, result in enumerate(
            run(target, select_only=ids, expected_failures=given, seed=seed, profile=PROFILES[profile]), start=1
        ):
            results.append(result)
            progress.update(task, completed=number, description=f"{target.name} {([*ids, ''])[number]}")
    return results


def _print(name: str, results: list[Result], seed: int) -> None:
    by_id = {clause.id: clause for clause in clauses()}
    console = Console()
    console.print(Text(f"{name}, seed {seed}"))
    table = Table()
    for heading in ("id", "status", "clause"):
        table.add_column(heading, overflow="fold")
    for result in results:
        told = by_id[result.id].promise if result.status in ("pass", "fail") else result.detail
        table.add_row(result.id, Text(result.status.replace("_", " "), style=_STYLES[result.status]), Text(told))
    console.print(table)
    for result in results:
        if result.status == "fail":
            console.print()
            for line in explain(result, by_id[result.id]):
                console.print(Text(line), soft_wrap=True)
    counts = {status: sum(result.status == status for result in results) for status in _STYLES}
    console.print(", ".join(f"{count} {status.replace('_', ' ')}" for status, count in counts.items() if count))


def _write(path: Path | None, text: str) -> None:
    if path is not None:
        path.write_text(text, encoding="utf-8")


def run_app() -> None:
    """The console script `tooldialect-conformance`."""
    app(prog_name="tooldialect-conformance")


if __name__ == "__main__":
    run_app()
