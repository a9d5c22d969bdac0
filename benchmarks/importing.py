"""What importing costs: processes that import one thing and say what it took."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial

from .case import Case, Metric, Metrics
from .measure import Samples

GROUP = "import"
_IMPORTS = {
    # Pydantic imports itself bit by bit: the name alone, its base class, what it takes to have one model.
    "pydantic": "import pydantic",
    "its BaseModel": "from pydantic import BaseModel",
    "a model": "import pydantic\nclass Model(pydantic.BaseModel):\n    text: str",
    "tooldialect": "import tooldialect.dialects, tooldialect.gate",
}


def cases() -> list[Case]:
    return [Case(GROUP, "dialects and gate", partial(_imports))]


def _imports(rounds: int) -> Metrics:
    for statement in _IMPORTS.values():
        _seconds(statement)  # so that all of it is compiled
    seconds: dict[str, list[float]] = {name: [] for name in _IMPORTS}
    for _ in range(rounds):
        for name, statement in _IMPORTS.items():
            seconds[name].append(_seconds(statement))
    samples = Samples(seconds)
    return {
        "ms": Metric(samples.median("tooldialect") * 1e3, samples.spread("tooldialect")),
        "ms of pydantic": Metric(samples.median("its BaseModel") * 1e3, samples.spread("its BaseModel")),
        "to the name pydantic": Metric(samples.ratio("tooldialect", "pydantic")),
        "to pydantic": Metric(
            samples.ratio("tooldialect", "its BaseModel"), samples.ratio_spread("tooldialect", "its BaseModel")
        ),
        "to pydantic with one model": Metric(
            samples.ratio("tooldialect", "a model"), samples.ratio_spread("tooldialect", "a model")
        ),
    }


def _seconds(statement: str) -> float:
    program = f"from time import process_time\nbegan = process_time()\n{statement}\nprint(process_time() - began)"
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", program]
    return float(subprocess.run(command, capture_output=True, check=True, text=True, env=surroundings).stdout)
