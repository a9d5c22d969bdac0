"""All controls behind one program, the name of the one that is asked in each request."""

import json
import sys
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mutants import CONTROLS
from tooldialect.conformance import PythonTarget
from tooldialect.conformance.serve import Server


@cache
def server(name, life):
    return Server(PythonTarget(CONTROLS[name].broken, name=name))


for line in sys.stdin:
    request = json.loads(line)
    params = request["params"]
    print(json.dumps(server(params.pop("control"), params.pop("life")).answer(request)), flush=True)
