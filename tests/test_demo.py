"""The demo goes as told, and says so only when it does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCENES = ["guess", "batch", "fits", "unread", "compaction", "deferred", "rewriter", "sub-agents", "carry"]
WAYS = ["native / openai-chat", "native / anthropic", "xml / openai-chat", "pformat / plain-chat"]

# In place of `python -m demo`: dialects that lose the verbatim split, each in one way.
BROKEN = """
import sys
from demo.__main__ import main
from demo.spelling import json_call, openai_text
from demo.tools import TOOLS
from demo.ways import Way
from tooldialect.dialects import OpenAIChatWire, XmlDialect

class Batching(XmlDialect):
    name = "batching"
    def format_results(self, outcomes):
        return super().format_results([o.model_copy(update={"trusted_verbatim": False}) for o in outcomes])

class Bannered(XmlDialect):
    name = "bannered"
    def format_results(self, outcomes):
        entries = super().format_results(outcomes)
        return [entry.model_copy(update={"content": "[Tool results]\\n" + entry.content}) for entry in entries]

ways = [Way(dialect(TOOLS), OpenAIChatWire(), openai_text(json_call)) for dialect in (Batching, Bannered)]
sys.exit(main(["--quiet", "--scene", "guess"], ways=ways))
"""
SILENT = """
import sys
from demo import servers
from demo.__main__ import main
servers.SERVERS.update(git=["no_such_server"], time=["keyword"])
sys.exit(main(["--quiet"]))
"""


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A python in the root, as `make demo` starts it: it finds `demo`, and colours have no say."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def rows(table: str) -> list[list[str]]:
    """Cells of the closing table; a row of several lines is one row."""
    found: list[list[str]] = []
    for line in table.split("\n"):
        if line.startswith("│"):
            cells = [cell.strip() for cell in line.strip("│").split("│")]
            if cells[0]:
                found.append(cells)
            else:
                found[-1][-1] += " " + cells[-1]
    return found


def test_every_scene_goes_as_told_in_every_dialect() -> None:
    done = run("-m", "demo", FORCE_COLOR="1")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout[-2000:] + done.stderr
    assert [(scene, way) for scene, way, *_ in rows(done.stdout)] == [(s, w) for s in SCENES for w in WAYS]
    assert {verdict for *_, verdict in rows(done.stdout)} == {"✓ as told"}
    assert all(int(checks) >= 3 for _, _, checks, _ in rows(done.stdout))
    assert "\x1b" not in done.stdout
    authors = set(
        re.findall(r"^ *(host|model|server|gate) +(?:system|user|assistant|tool) ", done.stdout, re.MULTILINE)
    )
    assert authors == {"host", "model", "server", "gate"}


def test_a_dialect_that_loses_the_verbatim_split_fails_the_scene() -> None:
    done = run("-c", BROKEN)
    assert done.returncode == 1, done.stderr
    batching, bannered = rows(done.stdout)
    for _, _, _, verdict in (batching, bannered):
        assert "the contract reached the model byte for byte" in verdict
        assert "seen ['CONTRACT_REQUIRED', 'ARGUMENTS_SATISFY']" in verdict
    assert "2 did not go as told" in done.stdout


def test_one_scene_in_one_dialect_fails_with_the_gate_switched_off() -> None:
    done = run("-m", "demo", "--scene", "guess", "--dialect", "xml", "--quiet", TOOLDIALECT_CONTRACT_GATE="off")
    assert done.returncode == 1
    [[scene, way, _, verdict]] = rows(done.stdout)
    assert (scene, way) == ("guess", "xml / openai-chat")
    assert "DISABLED" in verdict
    assert "decides" not in done.stdout


def test_servers_that_cannot_start_are_told_in_one_line() -> None:
    done = run("-c", SILENT)
    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, ""), done.stderr
    assert "the MCP server 'git' cannot be started: " in done.stderr
    assert "no_such_server" in done.stderr
    assert "the MCP server 'time' cannot be started: " in done.stderr


def test_without_git_one_line_says_so(tmp_path: Path) -> None:
    done = run("-m", "demo", "--quiet", PATH=str(tmp_path))
    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
    assert "git" in done.stderr


def test_an_unknown_scene_is_refused_with_the_names_of_those_there_are() -> None:
    done = run("-m", "demo", "--scene", "nowhere")
    assert done.returncode == 2
    assert "sub-agents" in done.stderr
