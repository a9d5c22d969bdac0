"""A program that misbehaves as its argument says, from the third request on."""

import json
import os
import sys
import time

FAULT = sys.argv[1]
ANSWERS = {
    "describe": {"name": "faulty", "results": "text", "protocol_tags": ["x"], "capabilities": []},
    "format_results": [],
}
SAYS = {
    "no JSON": "Traceback (most recent call last):",
    "another id": '{"jsonrpc": "2.0", "id": 99999, "result": []}',
    "no result": '{"jsonrpc": "2.0", "id": %d}',
    "wrong shape": '{"jsonrpc": "2.0", "id": %d, "result": [{"kind": "chat", "role": "wizard", "content": 3}]}',
    "error without code": '{"jsonrpc": "2.0", "id": %d, "error": "sorry"}',
    "a bare list": "[]",
}

if FAULT == "dies at once":
    sys.exit("cannot find my dialect")
for number, line in enumerate(sys.stdin):
    request = json.loads(line)
    if number >= 2 or FAULT == "hangs at once":
        if FAULT.startswith("hangs"):
            time.sleep(60)
        if FAULT == "dies":
            print("out of luck", file=sys.stderr, flush=True)
            os._exit(3)
        if FAULT == "floods":
            while True:
                os.write(1, b"x" * 65536)
        if FAULT == "floods with lines":
            while True:
                os.write(1, b'{"jsonrpc": "2.0", "id": 0, "result": []}\n' * 1000)
        if FAULT == "no UTF-8":
            os.write(1, b"\xff\xfe\n")
            continue
        print(SAYS[FAULT] % request["id"] if "%d" in SAYS[FAULT] else SAYS[FAULT], flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": ANSWERS[request["method"]]}), flush=True)
