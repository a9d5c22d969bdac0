"""`python -m demo`: play the scenes, print the timeline, exit 1 if one did not go as told.

Exit 2: git is missing, a server cannot be started, or there is no such scene or dialect.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import logging
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .scenes import SCENES
from .servers import ServerError, serving
from .stage import Check, Scene, play
from .timeline import LONGEST, GateLog, Timeline
from .ways import Way, all_ways

_WIDTH = 120
Played = list[tuple[Scene, Way, list[Check]]]


def main(arguments: Sequence[str] | None = None, ways: Sequence[Way] | None = None) -> int:
    ways = all_ways() if ways is None else ways
    options = _parser(ways).parse_args(arguments)
    scenes = [scene for scene in SCENES if options.scene in (None, scene.name)]
    chosen = [way for way in ways if options.dialect in (None, way.dialect.name)]
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # not every locale has the ticks
    # Where nobody looks on a terminal the lines are as long as they are on a wide one.
    is_terminal = sys.stdout.isatty()
    console = Console(force_terminal=is_terminal, width=None if is_terminal else _WIDTH, highlight=False)
    timeline = Timeline(Console(quiet=True) if options.quiet else console, None if options.full else LONGEST)
    log = logging.getLogger("tooldialect.gate")
    log.propagate = False
    log.addHandler(GateLog(timeline))
    if shutil.which("git") is None:
        print("demo: git is not on the PATH; the scenes need it for a repository to play in", file=sys.stderr)
        return 2
    try:
        played = asyncio.run(_play_all(scenes, chosen, timeline))
    except ServerError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    return _report(played, console)


async def _play_all(scenes: Sequence[Scene], ways: Sequence[Way], timeline: Timeline) -> Played:
    with tempfile.TemporaryDirectory(prefix="tooldialect-demo-") as name:
        folder = Path(name)
        async with serving(folder) as servers:
            return [(scene, way, await play(scene, way, servers, timeline, folder)) for scene in scenes for way in ways]


def _report(played: Played, console: Console) -> int:
    table = Table("scene", "dialect / wire", "checks", "failed", title="\nScenes and checks", title_justify="left")
    for scene, way, checks in played:
        failed = [check for check in checks if not check.fine]
        words = "\n".join(f"{check.sentence}: told {check.told!r}, seen {check.seen!r}" for check in failed)
        mark = Text("✗ ", "red") + Text(words) if failed else Text("✓ as told", "green")
        table.add_row(scene.name, way.name, str(len(checks)), mark)
    console.print(table)
    broken = sum(any(not check.fine for check in checks) for _, _, checks in played)
    console.print(
        f"{len(played)} scenes played, {broken} did not go as told."
        if broken
        else f"{len(played)} scenes played, all as told."
    )
    return 1 if broken or not played else 0


def _parser(ways: Sequence[Way]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m demo", description="The contract gate on two real MCP servers.")
    parser.add_argument("--scene", choices=[scene.name for scene in SCENES], help="one scene alone")
    parser.add_argument("--dialect", choices=sorted({way.dialect.name for way in ways}), help="one dialect alone")
    parser.add_argument("--quiet", action="store_true", help="the table alone")
    parser.add_argument("--full", action="store_true", help="long texts as they are")
    return parser


if __name__ == "__main__":
    sys.exit(main())
