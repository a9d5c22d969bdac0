"""Programs over stdio: the same verdicts as in process, and faults named with the request."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

import pytest

from mutants import CONTROLS
from tooldialect.conformance import PROFILES, ProcessTarget, Profile, PythonTarget, clauses, run
from tooldialect.conformance.target import ProgramFault
from tooldialect.dialects import NativeDialect, PFormatDialect, ToolOutcome, ToolSpec, XmlDialect

HERE = Path(__file__).parent
DRIVERS = HERE / "drivers"
WRITTEN = Profile("controls", examples=0, megabyte=1 << 16, shrink=False)
DRAWN = Profile("drawn", examples=5, megabyte=1 << 16)
PYTHON = [sys.executable, str(DRIVERS / "minimal.py")]
NODE = ["node", str(DRIVERS / "minimal.mjs")]

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@pytest.fixture
def started():
    targets = []

    def start(command, **options):
        targets.append(ProcessTarget(command, **options))
        return targets[-1]

    yield start
    for target in targets:
        target.close()


class ServedControl(ProcessTarget):
    """One of the controls behind a program that serves them all; starting one each takes too long."""

    def __init__(self, name, program):
        super().__init__(program.command, timeout=60, name=name)
        self._shared, self._life = program, 0

    def ask(self, method, params, shape, changed=None):
        return self._shared.ask(method, {**params, "control": self.name, "life": self._life}, shape, changed)

    def elsewhere(self, tools=()):
        self._life += 1
        return self.make(tools)

    def cpu_seconds(self):
        return self._shared.cpu_seconds()


@pytest.fixture(scope="module")
def controls():
    program = ProcessTarget([sys.executable, str(DRIVERS / "served.py")], timeout=60)
    yield program
    program.close()


def verdicts(target, profile=WRITTEN):
    return {result.id: (result.status, result.detail) for result in run(target, profile=profile)}


@pytest.mark.parametrize("command", [PYTHON, pytest.param(NODE, marks=needs_node)], ids=["python", "node"])
def test_the_minimal_drivers_keep_all_that_applies(command, started):
    results = list(run(started(command), profile=PROFILES["quick"]))
    assert [(r.id, r.detail, r.example) for r in results if r.status == "fail"] == []
    assert {r.id for r in results if r.status == "skip"} == {"E7", *(f"N{n}" for n in range(1, 8))}


@needs_node
def test_node_answers_inputs_that_nobody_wrote_down(started):
    """Drawn from a seed of this moment: a look-up table cannot know them."""
    draw = random.Random()
    pieces = [
        "<call>",
        "</answers>",
        "< / CALL",
        "\u2028",
        "\ufeff",
        "\x1c",
        "\\",
        '"',
        "<",
        "é",
        "\U0001f600",
        "\n",
        " ",
        "x",
    ]
    node, python = started(NODE).make(), started(PYTHON).make()
    for _ in range(100):
        outcomes = [
            ToolOutcome(
                name="".join(draw.choices(pieces, k=3)),
                output="".join(draw.choices(pieces, k=draw.randrange(6))),
                success=draw.random() < 0.5,
                trusted_verbatim=draw.random() < 0.4,
            )
            for _ in range(draw.randrange(5))
        ]
        ours, theirs = python.format_results(outcomes), node.format_results(outcomes)
        assert [e.trusted_verbatim for e in ours] == [e.trusted_verbatim for e in theirs], outcomes
        assert [e.content for e in ours if e.trusted_verbatim] == [e.content for e in theirs if e.trusted_verbatim]
        assert python.read_results(ours) == node.read_results(theirs), outcomes


@pytest.mark.parametrize("dialect", [NativeDialect, XmlDialect, PFormatDialect])
def test_a_served_dialect_gets_the_verdicts_of_its_object(dialect, started):
    spec = f"tooldialect.dialects:{dialect.__name__}"
    served = started([sys.executable, "-m", "tooldialect.conformance.serve", spec])
    assert verdicts(served, DRAWN) == verdicts(PythonTarget(dialect), DRAWN)


@pytest.mark.parametrize("name", CONTROLS)
def test_a_served_control_gets_the_verdicts_of_its_object(name, controls):
    # Its chapter and every clause that catches it; all clauses of all controls would take minutes.
    control = CONTROLS[name]
    ids = sorted(
        {clause.id for clause in clauses("dialect") if clause.id[0] == control.meant[0]} - {"E7"} | control.caught_by
    )
    served = {r.id: (r.status, r.detail) for r in run(ServedControl(name, controls), profile=WRITTEN, select_only=ids)}
    object_ = PythonTarget(control.broken, name=name)
    in_process = {r.id: r.status for r in run(object_, profile=WRITTEN, select_only=ids)}
    assert {id: status for id, (status, _) in served.items()} == in_process
    assert {id for id, (status, _) in served.items() if status == "fail"} == control.caught_by


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("hangs", "no answer to format_results (request 3) within 0.5 seconds"),
        ("dies", "the program ended with status 3 on format_results (request 3); its last words: 'out of luck'"),
        ("floods", "a flood in answer to format_results (request 3)"),
        ("floods with lines", "nonsense in answer to format_results (request 3)"),
        ("no JSON", "nonsense in answer to format_results (request 3): no JSON: 'Traceback"),
        ("no UTF-8", "nonsense in answer to format_results (request 3): not UTF-8"),
        ("another id", "nonsense in answer to format_results (request 3): no JSON-RPC 2.0 response with its id"),
        ("no result", "nonsense in answer to format_results (request 3): neither result nor error"),
        ("wrong shape", "the result's shape is wrong at '0/chat/role'"),
        ("error without code", "nonsense in answer to format_results (request 3): an error without code and message"),
        ("a bare list", "nonsense in answer to format_results (request 3): no JSON-RPC 2.0 response with its id"),
    ],
)
def test_a_faulty_program_is_reported_with_the_request(fault, said, started, monkeypatch):
    monkeypatch.setattr("tooldialect.conformance.program.MAX_LINE", 1 << 20)
    target = started([sys.executable, str(DRIVERS / "faulty.py"), fault], timeout=0.5 if fault == "hangs" else 20)
    subject = target.make()
    target.describe()
    subject.format_results([])
    with pytest.raises(ProgramFault) as raised:
        subject.format_results([ToolOutcome.ok("a", "b")])
    assert said in str(raised.value)
    # It is started anew.
    assert subject.format_results([]) == []


def test_a_crash_is_not_a_refusal_and_the_run_goes_on(started):
    results = {r.id: r for r in run(started([sys.executable, str(DRIVERS / "faulty.py"), "dies"]), profile=WRITTEN)}
    assert results["V1"].status == "fail"
    assert list(results) == [clause.id for clause in clauses("dialect")]
    faults = [r.detail for r in results.values() if "ended with status 3" in r.detail]
    assert any("not asked any more, after 3 faults" in detail for detail in faults)


def test_tools_go_with_every_request(started):
    tool = ToolSpec(name="only_this")
    assert "only_this" in started(PYTHON).make([tool]).prompt_instructions([tool])


def test_a_program_under_a_shell_is_ended_with_its_children(started, tmp_path):
    """The shell waits for its child, which holds the pipes: killing the shell alone would wait for ever."""
    command = f"{sys.executable} {DRIVERS / 'faulty.py'} 'hangs at once'; true"
    with pytest.raises(ProgramFault, match="no answer to describe"):
        started(["sh", "-c", command], timeout=0.3).describe()


def test_a_program_that_dies_is_quoted_with_its_last_ten_lines(started):
    script = "import sys; sys.exit(chr(10).join(f'line {n}' for n in range(1, 13)))"
    with pytest.raises(ProgramFault) as raised:
        started([sys.executable, "-c", script]).describe()
    first, *rest = str(raised.value).splitlines()
    assert first == "the program ended with status 1 on describe (request 1); its last words:"
    assert rest == [f"  line {n}" for n in range(3, 13)]


def test_a_program_that_declares_tags_with_brackets_is_at_fault(started):
    reply = '{"jsonrpc": "2.0", "id": 1, "result": {"name": "x", "results": "text", "protocol_tags": ["<x>"]}}'
    with pytest.raises(ProgramFault, match="'<x>' cannot be the name of a tag: names without brackets are wanted"):
        started([sys.executable, "-c", f"input(); print({reply!r}, flush=True); input()"]).describe()
