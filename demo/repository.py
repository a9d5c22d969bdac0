"""A git repository for one scene, and what git itself says about it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

# Whoever runs this may sign commits, have hooks, or be inside a hook: none of it reaches a scene.
GIT_ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}


class Repository:
    """Made with one commit, and a change staged for the next."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self._git("init", "--quiet", "--initial-branch=main")
        self._git("config", "user.name", "Demo")
        self._git("config", "user.email", "demo@example.invalid")
        self.stage("README.md", "A repository to play in.\n")
        self._git("commit", "--quiet", "--message=Begin")
        self.stage("notes.md", "- buy milk\n")

    def stage(self, name: str, text: str) -> None:
        """Write a file and add it to the index."""
        (self.path / name).write_text(text, encoding="utf-8")
        self._git("add", "--", name)

    def subjects(self) -> list[str]:
        """The first line of every commit, oldest first."""
        return self._git("log", "--reverse", "--format=%s").splitlines()

    def head(self) -> str:
        """The hash of the last commit."""
        return self._git("rev-parse", "HEAD").strip()

    def _git(self, *arguments: str) -> str:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ["git", "-C", str(self.path), *arguments],
            env=inherited | GIT_ENVIRONMENT,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout
