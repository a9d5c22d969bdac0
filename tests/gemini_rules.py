"""What Gemini refuses and its types do not say."""

from __future__ import annotations

import base64
import re

from rule_sheet import Sheet, is_utf8_json
from wire_rules import _object_root

NAME = re.compile("[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
DATA = {"text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult"}


def gemini_faults(request):
    sheet = Sheet()
    contents = request["contents"]
    sheet.must("GE-UTF8", is_utf8_json(request))
    if contents:
        sheet.must("GE-FIRST-USER", contents[0]["role"] == "user", contents[0])
        sheet.must("GE-LAST-USER", contents[-1]["role"] == "user", contents[-1])
    ids = [call["id"] for content in contents for call in _all(content, "functionCall")]
    if ids:
        sheet.must("GE-ID-UNIQUE", len(set(ids)) == len(ids), ids)
    for place, content in enumerate(contents):
        before = contents[place - 1] if place else {"role": None, "parts": []}
        after = contents[place + 1] if place + 1 < len(contents) else {"role": None, "parts": []}
        sheet.must("GE-ROLES", content["role"] in {"user", "model"}, content["role"])
        sheet.must("GE-EMPTY", bool(content["parts"]), place)
        calls, responses = _all(content, "functionCall"), _all(content, "functionResponse")
        for part in content["parts"]:
            sheet.must("GE-ONE-FIELD", len(DATA & set(part)) == 1, part)
            if "text" in part:
                sheet.must("GE-BLANK", bool(part["text"].strip()), place)
            if "thoughtSignature" in part:
                sheet.must("GE-SIGNATURE", content["role"] == "model" and _is_base64(part["thoughtSignature"]), part)
        if content["role"] == "model" and before["role"] is not None:
            sheet.must("GE-MERGED", before["role"] == "user", place)
        if calls:
            sheet.must("GE-SIDES", content["role"] == "model", place)
            first = next(part for part in content["parts"] if "functionCall" in part)
            sheet.must("GE-FIRST-SIGNED", "thoughtSignature" in first, first)
            sheet.must("GE-CALL-AFTER-USER", before["role"] == "user", place)
            answers = [(r["id"], r["name"]) for r in _all(after, "functionResponse")]
            sheet.must("GE-PAIRS", answers == [(c["id"], c["name"]) for c in calls], (calls, answers))
            sheet.must("GE-ARGUMENTS", all(isinstance(call["args"], dict) for call in calls), calls)
        if responses:
            sheet.must("GE-SIDES", content["role"] == "user", place)
            sheet.must("GE-PAIRS", len(_all(before, "functionCall")) == len(responses), place)
            sheet.must("GE-RESULTS-ALONE", len(responses) == len(content["parts"]), place)
        for response in responses:
            answer = response["response"]
            sheet.must("GE-RESPONSE", isinstance(answer, dict) and len({"output", "error"} & set(answer)) == 1, answer)
            sheet.must("GE-BLANK", all(str(text).strip() for text in answer.values()), answer)
            sheet.must("GE-REF", not _has_ref(answer), answer)
        for named in calls + responses:
            sheet.must("GE-NAME", NAME.fullmatch(named["name"]), named["name"])
    for part in request.get("systemInstruction", {}).get("parts", ()):
        sheet.must("GE-BLANK", bool(part["text"].strip()), "system")
    for tool in (tool for group in request.get("tools", ()) for tool in group["functionDeclarations"]):
        sheet.must("GE-NAME", NAME.fullmatch(tool["name"]), tool["name"])
        sheet.must("GE-SCHEMA", _object_root(tool["parametersJsonSchema"]), tool)
    return sheet


def _all(content, key):
    return [part[key] for part in content["parts"] if key in part]


def _has_ref(value):
    if isinstance(value, dict):
        return "$ref" in value or any(map(_has_ref, value.values()))
    return isinstance(value, list) and any(map(_has_ref, value))


def _is_base64(text):
    standard = text.replace("-", "+").replace("_", "/")
    try:
        return bool(base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True))
    except ValueError:
        return False


def content(role, *parts):
    return {"role": role, "parts": list(parts)}


def request(*contents, **fields):
    return {"contents": list(contents), **fields}


def call(id_="a", name="f", **fields):
    return {"functionCall": {"id": id_, "name": name, "args": {}}, "thoughtSignature": "c2ln", **fields}


def answer(id_="a", name="f", **response):
    return {"functionResponse": {"id": id_, "name": name, "response": response or {"output": "x"}}}


def declared(schema):
    return [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": schema}]}]


GO = content("user", {"text": "go"})
CALLS, ANSWERS = content("model", call()), content("user", answer())
REJECTED = {
    "GE-UTF8": request(content("user", {"text": "\udc00"})),
    "GE-FIRST-USER": request(content("model", {"text": "x"}), GO),
    "GE-LAST-USER": request(GO, content("model", {"text": "x"})),
    "GE-ID-UNIQUE": request(GO, CALLS, ANSWERS, CALLS, ANSWERS),
    "GE-ROLES": request(content("system", {"text": "x"}), GO),
    "GE-EMPTY": request(content("user")),
    "GE-ONE-FIELD": request(content("user", {"text": "x", "inlineData": {}})),
    "GE-BLANK": request(content("user", {"text": " \n"})),
    "GE-SIGNATURE": request(content("user", {"text": "x", "thoughtSignature": "c2ln"})),
    "GE-MERGED": request(GO, content("model", {"text": "x"}), content("model", {"text": "x"}), GO),
    "GE-SIDES": request(content("user", call()), ANSWERS),
    "GE-FIRST-SIGNED": request(GO, content("model", {"functionCall": call()["functionCall"]}), ANSWERS),
    "GE-CALL-AFTER-USER": request(GO, content("model", {"text": "x"}), CALLS, ANSWERS),
    "GE-PAIRS": request(GO, content("model", call("a"), call("b")), content("user", answer("b"), answer("a"))),
    "GE-ARGUMENTS": request(GO, content("model", {"functionCall": {"id": "a", "name": "f", "args": "{}"}}), ANSWERS),
    "GE-RESULTS-ALONE": request(GO, CALLS, content("user", answer(), {"text": "x"})),
    "GE-RESPONSE": request(GO, CALLS, content("user", answer(result="x"))),
    "GE-REF": request(GO, CALLS, content("user", answer(output={"$ref": "#/x"}))),
    "GE-NAME": request(GO, content("model", call(name="1f")), content("user", answer(name="1f"))),
    "GE-SCHEMA": request(GO, tools=declared({"type": "object", "oneOf": []})),
}
