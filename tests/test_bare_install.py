"""The core works without any extra: nothing of them is imported, not even where they are installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

OPTIONAL = [
    "anthropic", "anyio", "httpx", "hypothesis", "jsonschema", "lxml", "mcp", "openai", "pytest", "rich", "typer",
]  # fmt: skip
REPORT = """
import importlib, json, sys
package = importlib.import_module(sys.argv[1])
for name in package.__all__:
    getattr(package, name)  # which imports it
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
BARE = os.environ.get("TOOLDIALECT_BARE_PYTHON")
needs_bare = pytest.mark.skipif(not BARE, reason="only `make test` makes an environment without extras")


def run(python, code, *arguments):
    done = subprocess.run([python, "-P", "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("package", ["tooldialect.dialects", "tooldialect.gate"])
@pytest.mark.parametrize(
    "python", [pytest.param(BARE, id="bare", marks=needs_bare), pytest.param(sys.executable, id="full")]
)
def test_importing_the_core_imports_no_extra(python, package):
    imported = json.loads(run(python, REPORT, package))
    assert "tooldialect" in imported
    assert [name for name in OPTIONAL if name in imported] == []


@needs_bare
def test_the_bare_environment_is_bare():
    code = "import importlib.util as u, sys; print(*[name for name in sys.argv[1:] if u.find_spec(name)])"
    assert run(BARE, code, *OPTIONAL).split() == []


ASK_A_SESSION = """
import asyncio
from tooldialect.gate import GateTarget, McpSource

class Session:
    async def list_tools(self, params=None):
        raise AssertionError

async def main():
    return await McpSource({"s": Session()}).lookup(GateTarget.mcp("s", "t"))

print(asyncio.run(main()).why)
"""


@needs_bare
def test_what_needs_an_extra_says_how_to_install_it():
    assert "pip install 'tooldialect[mcp]'" in run(BARE, ASK_A_SESSION)
    for words in (["-c", "from tooldialect.conformance import run"], ["-m", "tooldialect.conformance"]):
        done = subprocess.run([BARE, "-P", *words], capture_output=True, text=True, check=False)
        assert "pip install 'tooldialect[conformance]'" in done.stderr
