"""A program that answers `tools/list` with a well-formed frame: the JSON given as argument."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "initialize":
        result = {
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "misshapen", "version": "0"},
        }
    elif request["method"] == "tools/list":
        result = json.loads(sys.argv[1])
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
