"""What Converse refuses and neither botocore's validation nor its model says."""

from __future__ import annotations

import re

from rule_sheet import Sheet, is_utf8_json
from wire_rules import _object_root

ID = re.compile("[a-zA-Z0-9_-]{1,64}")


def bedrock_faults(request, *, results_alone=False, status=True):
    sheet = Sheet()
    messages = request["messages"]
    sheet.must("BE-UTF8", is_utf8_json(request))
    if messages:
        sheet.must("BE-FIRST-USER", messages[0]["role"] == "user", messages[0])
        sheet.must("BE-LAST-USER", messages[-1]["role"] == "user", messages[-1])
    ids = [use["toolUseId"] for message in messages for use in _all(message, "toolUse")]
    if ids:
        sheet.must("BE-ID-UNIQUE", len(set(ids)) == len(ids), ids)
    if ids or any(_all(message, "toolResult") for message in messages):
        sheet.must("BE-TOOL-CONFIG", bool(request.get("toolConfig", {}).get("tools")), request.get("toolConfig"))
    for place, message in enumerate(messages):
        before = messages[place - 1] if place else {"role": None, "content": []}
        role, blocks = message["role"], message["content"]
        if place:
            sheet.must("BE-ALTERNATE", before["role"] != role, place)
        sheet.must("BE-EMPTY", bool(blocks), place)
        for block in blocks:
            if "text" in block:
                sheet.must("BE-BLANK", bool(block["text"].strip()), place)
            if "reasoningContent" in block:
                text = block["reasoningContent"].get("reasoningText", {"signature": "none wanted"})
                sheet.must("BE-SIGNATURE", role == "assistant" and bool(text.get("signature")), block)
        uses, results = _all(message, "toolUse"), _all(message, "toolResult")
        for use in uses:
            sheet.must("BE-SIDES", role == "assistant", place)
            sheet.must("BE-ID", ID.fullmatch(use["toolUseId"]), use)
            sheet.must("BE-INPUT", isinstance(use["input"], dict), use)
        for result in results:
            sheet.must("BE-SIDES", role == "user", place)
            sheet.must("BE-RESULT-EMPTY", bool(result["content"]), result)
            sheet.must("BE-STATUS", ("status" in result) is status, result)
            for block in result["content"]:
                if "text" in block:
                    sheet.must("BE-BLANK", bool(block["text"].strip()), place)
                if result.get("status") == "error":
                    sheet.must("BE-ERROR-TEXT", "text" in block, result)
                if "json" in block:
                    sheet.must("BE-JSON-OBJECT", isinstance(block["json"], dict), block)
        if role == "user":
            called = [use["toolUseId"] for use in _all(before, "toolUse")]
            answered = [result["toolUseId"] for result in results]
            if called or answered:
                sheet.must("BE-PAIRS", called == answered, (called, answered))
            if results:
                kinds = ["toolResult" not in block for block in blocks]
                sheet.must("BE-RESULTS-FIRST", kinds == sorted(kinds), place)
                if results_alone:
                    sheet.must("BE-RESULTS-ALONE", not any(kinds), place)
        if role == "assistant":
            sheet.must("BE-REASONING-LAST", not blocks or "reasoningContent" not in blocks[-1], place)
    for block in request.get("system", ()):
        sheet.must("BE-BLANK", bool(block["text"].strip()), "system")
    for tool in request.get("toolConfig", {}).get("tools", ()):
        sheet.must("BE-SCHEMA", _object_root(tool["toolSpec"]["inputSchema"]["json"]), tool)
    return sheet


def faults_where_results_stand_alone(request):
    return bedrock_faults(request, results_alone=True, status=False)


def _all(message, key):
    return [block[key] for block in message["content"] if key in block]


def said(role, *blocks):
    return {"role": role, "content": list(blocks)}


def request(*messages, tools=None, **fields):
    tools = [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object", "properties": {}}}}}]
    return {"messages": list(messages), "toolConfig": {"tools": tools}, **fields}


def use(id_="a", input_=None):
    return {"toolUse": {"toolUseId": id_, "name": "f", "input": {} if input_ is None else input_}}


def result(id_="a", *content, **fields):
    return {
        "toolResult": {"toolUseId": id_, "content": list(content) or [{"text": "x"}], "status": "success", **fields}
    }


def reasoning(**text):
    return {"reasoningContent": {"reasoningText": {"text": "t", **text}}}


X = {"text": "x"}
GO = said("user", X)
USES, RESULTS = said("assistant", use()), said("user", result())
_NO_OBJECT = {"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object", "anyOf": []}}}}
REJECTED = {
    "BE-UTF8": request(said("user", {"text": "\udc00"})),
    "BE-FIRST-USER": request(said("assistant", X), GO),
    "BE-LAST-USER": request(GO, said("assistant", X)),
    "BE-ID-UNIQUE": request(GO, USES, RESULTS, USES, RESULTS),
    "BE-TOOL-CONFIG": {"messages": [GO, USES, RESULTS]},
    "BE-ALTERNATE": request(GO, GO),
    "BE-EMPTY": request(said("user")),
    "BE-BLANK": request(GO, USES, said("user", result("a", {"text": "\n"}))),
    "BE-SIGNATURE": request(GO, said("assistant", reasoning(), X), GO),
    "BE-SIDES": request(said("user", use())),
    "BE-ID": request(GO, said("assistant", use("a.b")), said("user", result("a.b"))),
    "BE-INPUT": request(GO, said("assistant", use("a", "{}")), RESULTS),
    "BE-RESULT-EMPTY": request(GO, USES, said("user", result(content=[]))),
    "BE-STATUS": request(GO, USES, said("user", {"toolResult": {"toolUseId": "a", "content": [X]}})),
    "BE-ERROR-TEXT": request(GO, USES, said("user", result("a", {"image": {}}, status="error"))),
    "BE-JSON-OBJECT": request(GO, USES, said("user", result("a", {"json": [1]}))),
    "BE-PAIRS": request(GO, said("assistant", use("a"), use("b")), said("user", result("b"), result("a"))),
    "BE-RESULTS-FIRST": request(GO, USES, said("user", X, result())),
    "BE-REASONING-LAST": request(GO, said("assistant", X, reasoning(signature="s")), GO),
    "BE-SCHEMA": {"messages": [GO], "toolConfig": {"tools": [_NO_OBJECT]}},
}
REJECTED_BESIDE_RESULTS = {"BE-RESULTS-ALONE": request(GO, USES, said("user", result(), X))}
