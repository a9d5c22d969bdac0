"""Broken dialects, each wrong in one way, and near-twins of them that are right.

`meant`: the clause that is there to catch it. `caught_by`: every clause it fails, no more and no
less; what stands there beside `meant` promises the same about another place.
"""

from __future__ import annotations

from .control import Control
from .of_calls import CONTROLS as CALLS
from .of_catalogue import CONTROLS as CATALOGUE
from .of_envelope import CONTROLS as ENVELOPE
from .of_forgeries import CONTROLS as FORGERIES
from .of_framing import CONTROLS as FRAMING
from .of_gate import CONTROLS as GATE
from .of_linear import CONTROLS as LINEAR
from .of_native import CONTROLS as NATIVE
from .of_verbatim import CONTROLS as VERBATIM

CONTROLS: dict[str, Control] = {
    control.name: control
    for part in (VERBATIM, FRAMING, ENVELOPE, FORGERIES, LINEAR, NATIVE, CALLS, CATALOGUE, GATE)
    for control in part
}

__all__ = ["CONTROLS", "Control"]
