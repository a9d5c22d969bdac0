"""What the programs of this project do alike."""

from __future__ import annotations

import sys
from pathlib import Path


def read_input(file: str) -> str:
    """The text of a file, or of standard input for `-`; OSError or UnicodeDecodeError where there is none."""
    # Bytes, so that neither the locale nor newline translation touches a text.
    content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    return content.decode("utf-8-sig")
