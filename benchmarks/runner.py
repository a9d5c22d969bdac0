"""Cases in processes of their own, and what several processes say of one case."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from .case import Case, Metric, Metrics
from .printable import printable

ROOT = Path(__file__).resolve().parent.parent
# Where a process puts its memory and in which order it hashes is drawn when it starts, and
# moves some figures more than any round does.
PROCESSES = 3
_QUICK_ROUNDS = 5
# Else an allocator that gives memory back and takes it again is what a large text costs, or does not.
_WARM = "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296"


class CaseFailedError(Exception):
    """A case's process ended with an error; the message says how."""


class CaseResult(NamedTuple):
    """What one process says of its case; `waited`: the share of the time in which it had no processor."""

    metrics: dict[str, Metric]
    waited: float


def measured(case: Case, rounds: int) -> str:
    """In a process of its own: run the case, its numbers as JSON."""
    began, spent = perf_counter(), _spent()
    metrics = case.run(rounds)
    waited = 1 - (_spent() - spent) / max(perf_counter() - began, 1e-9)
    return json.dumps({"metrics": metrics, "waited": round(max(waited, 0.0), 4)})


def run_case(
    case: Case, arguments: Sequence[str], *, quick: bool, given: bytes, done: Callable[[], None]
) -> CaseResult:
    """`arguments` tell the process which case; `given` is its standard input."""
    processes = 1 if quick else PROCESSES
    rounds = min(_QUICK_ROUNDS, case.rounds) if quick else -(-case.rounds // processes)
    results = []
    for _ in range(processes):
        results.append(_in_a_process(case, [*arguments, "--rounds", str(rounds)], given))
        done()
    return CaseResult(pooled([one.metrics for one in results]), statistics.mean(one.waited for one in results))


def pooled(runs: Sequence[Metrics]) -> dict[str, Metric]:
    """The median of what several processes found; its spread is theirs, or what lies between them."""
    found = {}
    for name in runs[0]:
        values = [run[name].value for run in runs]
        middle = statistics.median(values)
        between = abs((max(values) - min(values)) / 2 / middle) if middle else 0.0
        found[name] = Metric(middle, max(between, statistics.median(run[name].spread for run in runs)))
    return found


def _in_a_process(case: Case, arguments: Iterable[str], given: bytes) -> CaseResult:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, input=given, env=_environment())
    if done.returncode:
        said = done.stderr.decode(errors="replace").rstrip()
        if case.group == "yours":
            # An error's words may quote what a transcript says.
            said = kind if (kind := said.rpartition("\n")[2]).isidentifier() else ""
        code = done.returncode
        ended = f"ended by signal {-code}" if code < 0 else f"exit status {code}"
        raise CaseFailedError(f"{printable(case.id)} failed:\n{said or ended}")
    numbers: Mapping[str, Any] = json.loads(done.stdout)
    return CaseResult({name: Metric(*numbers) for name, numbers in numbers["metrics"].items()}, numbers["waited"])


def _environment() -> dict[str, str]:
    # The package is found in the folder where the process starts.
    given = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    tunables = given.get("GLIBC_TUNABLES")
    return {**given, "GLIBC_TUNABLES": f"{tunables}:{_WARM}" if tunables else _WARM}


def _spent() -> float:
    """Processor seconds of this process and of those that it started and that ended."""
    return sum(os.times()[:4])
