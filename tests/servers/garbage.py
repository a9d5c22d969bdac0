"""A program that greets like an MCP server and answers everything else with garbage."""

import json
import sys

NOISE = (
    "Traceback (most recent call last):",
    "{",
    "[]",
    '{"jsonrpc": "2.0", "id": 12345, "result": {"tools": []}}',
    '{"jsonrpc": "2.0", "id": null}',
    '"NaN"',
    "\x00\x01",
)

for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "initialize":
        result = {
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "garbage", "version": "0"},
        }
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
    elif "id" in request:
        print(*NOISE, sep="\n", flush=True)
