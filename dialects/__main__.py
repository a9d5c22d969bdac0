"""`python -m tooldialect.dialects render --dialect xml FILE`: outcomes in, rendered entries out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .command_line import read_input
from .errors import ToolDialectError
from .registry import available_dialects, get_dialect
from .saved import dump_transcript, load_outcomes

_UNREADABLE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0, or 2 with one line on standard error."""
    options = _parser().parse_args(arguments)
    try:
        entries = get_dialect(options.dialect).format_results(load_outcomes(read_input(options.file)))
    except (OSError, UnicodeDecodeError, ToolDialectError) as error:
        # Keys and file names hold line breaks too.
        reason = " ".join(f"{options.file}: {error}".split())
        print(f"tooldialect.dialects render: {reason}", file=sys.stderr)
        return _UNREADABLE
    sys.stdout.buffer.write(dump_transcript(entries).encode())
    sys.stdout.buffer.flush()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tooldialect.dialects", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    render = commands.add_parser("render", help="render the outcomes of one round as a dialect shows them")
    render.add_argument("--dialect", required=True, help=f"one of: {', '.join(available_dialects())}")
    render.add_argument("file", metavar="FILE", help="a JSON array of outcomes, or one JSON object a line; - is stdin")
    return parser


if __name__ == "__main__":
    sys.exit(main())
