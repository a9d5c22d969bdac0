"""A reference agent loop to test in: any dialect, any wire, the gate, the context middlewares real ones have.

    model = ReadingModel(dialect, wire, [["create_order"]])
    harness = Harness(dialect, wire, gate, shop.tools(), usual_middlewares(gate))
    report = harness.run_turn(model, "order two lamps")

`middleware.py` has the hooks, `stack.py` the usual order, `faults.py` ways to get it wrong,
`requests.py` reads what the model was sent without any help of the code under test.
"""

from .breakers import FailureBreaker, RepeatedCallGuard
from .compaction import Microcompact, Summariser
from .images import ImageTrimmer
from .loop import Harness, Tool, TurnReport
from .middleware import Middleware
from .models import ReadingModel, ScriptedModel
from .requests import Seen, host_units, seen_contracts
from .rewriters import TextRewriter, byte_cap, collapse_white_space
from .shop import Shop
from .spelling import spell_reply
from .stack import usual_middlewares

__all__ = [
    "FailureBreaker",
    "Harness",
    "ImageTrimmer",
    "Microcompact",
    "Middleware",
    "ReadingModel",
    "RepeatedCallGuard",
    "ScriptedModel",
    "Seen",
    "Shop",
    "Summariser",
    "TextRewriter",
    "Tool",
    "TurnReport",
    "byte_cap",
    "collapse_white_space",
    "host_units",
    "seen_contracts",
    "spell_reply",
    "usual_middlewares",
]
