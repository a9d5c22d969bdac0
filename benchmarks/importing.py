"""What importing costs: processes that import one thing and say what it took."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial

from .case import Case, Metric, Metrics
from .measure import Samples

GROUP = "import"
# Pydantic imports itself bit by bit: the name alone, its base class, what it takes to have one model.
_PYDANTIC = {
    "pydantic": "import pydantic",
    "BaseModel": "from pydantic import BaseModel",
    "one model": "import pydantic\nclass Model(pydantic.BaseModel):\n    text: str",
}
# So does this package, and hides nothing by it: the second is what a harness names, the third a whole first turn.
_NAMES = """\
from tooldialect.dialects import ChatMessage, ModelResponse, OpenAIChatWire, ToolOutcome, ToolSpec, XmlDialect, get_dialect
from tooldialect.gate import Contract, ContractGate, GateTarget, StaticSource, Surface, check_arguments
"""
FIRST_TURN = (
    _NAMES
    + """\
schema = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
source = StaticSource({GateTarget.workflow("send"): Contract(description="Sends a letter", input_schema=schema)})
tools = [ToolSpec(name="run_workflow")]
dialect, wire = get_dialect("xml", tools), OpenAIChatWire()
history = [ChatMessage(role="system", content=dialect.prompt_instructions(tools))]
with ContractGate([Surface.workflow(source)]).run() as run:
    run.encode(history, dialect, wire, tools)
    text = '<tool_call>{"name": "run_workflow", "arguments": {"workflow_id": "send"}}</tool_call>'
    reply = dialect.parse_response(ModelResponse(text=text))
    outcomes = [run.guard(call, lambda arguments: ToolOutcome.ok("run_workflow", "")) for call in reply.calls]
    run.encode([*history, reply.entry, *dialect.format_results(outcomes)], dialect, wire, tools)
    assert run.present
"""
)
_OURS = {
    "dialects and gate": "import tooldialect.dialects, tooldialect.gate",
    "ready to work": _NAMES,
    "a first turn": FIRST_TURN,
}


def cases() -> list[Case]:
    return [Case(GROUP, name, partial(_imports, program)) for name, program in _OURS.items()]


def _imports(program: str, rounds: int) -> Metrics:
    programs = {**_PYDANTIC, "ours": program}
    for statements in programs.values():
        _seconds(statements)  # so that all of it is compiled
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, statements in programs.items():
            seconds[name].append(_seconds(statements))
    samples = Samples(seconds)
    return {
        "ms": Metric(samples.median("ours") * 1e3, samples.spread("ours")),
        **{f"to {name}": Metric(samples.ratio("ours", name), samples.ratio_spread("ours", name)) for name in _PYDANTIC},
        "ms of pydantic": Metric(samples.median("pydantic") * 1e3, samples.spread("pydantic")),
    }


def _seconds(statements: str) -> float:
    program = f"from time import process_time\nbegan = process_time()\n{statements}\nprint(process_time() - began)"
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", program]
    return float(subprocess.run(command, capture_output=True, check=True, text=True, env=surroundings).stdout)
