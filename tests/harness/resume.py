"""A process of its own that goes on with saved transcripts: `python -m harness.resume`.

stdin: `{"secret": …, "transcripts": {name: text}}`. stdout: for each transcript, dialect and
wire `[name, dialect, wire, what happened]`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from tooldialect.dialects import load_transcript
from tooldialect.gate import SignedLedger

from .requests import host_units
from .setups import EVERYWHERE, Host
from .shop import target


def go_on(text: str, dialect: str, wire: str, secret: str, tool: str) -> dict[str, Any]:
    """The model is asked at once; it acts on what it finds in its context."""
    host = Host(dialect, wire)
    host.open_gate(ledger=SignedLedger(secret))
    saved = [entry for entry in load_transcript(text) if getattr(entry, "role", "") != "system"]
    harness = host.harness(history=[host.system(), *saved])
    with host.gate.run() as run:
        units = list(host_units(harness.request(run)))
        present = target(tool).key in run.present
    model = host.reader([tool])
    harness.run_turn(model)
    return {"present": present, "units": units, "reasons": host.reasons, "book": host.shop.book}


if __name__ == "__main__":
    given = json.load(sys.stdin)
    resumed = [
        [name, dialect, wire, go_on(text, dialect, wire, given["secret"], "create_order")]
        for name, text in given["transcripts"].items()
        for dialect, wire in EVERYWHERE
    ]
    json.dump(resumed, sys.stdout)
