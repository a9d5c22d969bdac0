"""What importing costs: processes that import one thing and say what it took."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

from .case import Case, Metric, Metrics
from .measure import Samples

GROUP = "import"
_IMPORTS = {
    "pydantic": "import pydantic; pydantic.BaseModel",
    "a model": "import pydantic\nclass Model(pydantic.BaseModel):\n    text: str",
    "tooldialect": "import tooldialect.dialects, tooldialect.gate",
}


def cases() -> list[Case]:
    return [Case(GROUP, "dialects and gate", partial(_imports))]


def _imports(rounds: int) -> Metrics:
    seconds: dict[str, list[float]] = {name: [] for name in _IMPORTS}
    for _ in range(rounds):
        for name, statement in _IMPORTS.items():
            seconds[name].append(_seconds(statement))
    samples = Samples(seconds)
    return {
        "ms": Metric(samples.median("tooldialect") * 1e3, samples.spread("tooldialect")),
        "ms of pydantic": Metric(samples.median("pydantic") * 1e3, samples.spread("pydantic")),
        "to pydantic": Metric(
            samples.ratio("tooldialect", "pydantic"), samples.ratio_spread("tooldialect", "pydantic")
        ),
        "to pydantic with one model": Metric(
            samples.ratio("tooldialect", "a model"), samples.ratio_spread("tooldialect", "a model")
        ),
    }


def _seconds(statement: str) -> float:
    program = f"from time import process_time\nbegan = process_time()\n{statement}\nprint(process_time() - began)"
    return float(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout)
