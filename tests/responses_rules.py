"""What OpenAI Responses refuses and no type says."""

from __future__ import annotations

import re

from rule_sheet import Sheet, is_utf8_json
from wire_rules import _is_object, _object_root

SENT_BY_MODEL = ("function_call", "web_search_call", "code_interpreter_call", "mcp_call", "image_generation_call")


def responses_faults(request):
    sheet = Sheet()
    items = request["input"]
    calls = [item for item in items if item.get("type") == "function_call"]
    sheet.must("RS-UTF8", is_utf8_json(request, [c["arguments"] for c in calls if _is_object(c["arguments"])]))
    ids = [call["call_id"] for call in calls]
    sheet.must("RS-UNIQUE", len(set(ids)) == len(ids), ids)
    for place, item in enumerate(items):
        kind, role = item.get("type", "message"), item.get("role")
        after = items[place + 1] if place + 1 < len(items) else {}
        if kind == "message":
            sheet.must("RS-ROLE", role in {"user", "assistant", "system", "developer"}, role)
            if role == "assistant":
                sheet.must("RS-PLAIN-TEXT", isinstance(item["content"], str), item)
            for text in texts(item["content"]):
                sheet.must("RS-BLANK", bool(text.strip()), place)
        elif kind == "function_call":
            sheet.must("RS-CALL-ID", 1 <= len(item["call_id"]) <= 64 and item["call_id"].strip(), item["call_id"])
            sheet.must("RS-ITEM-ID", re.fullmatch("fc[A-Za-z0-9_-]*", item.get("id", "fc")), item.get("id"))
            sheet.must("RS-NAME", re.fullmatch("[a-zA-Z0-9_-]{1,64}", item["name"]), item["name"])
            sheet.must("RS-ARGUMENTS", _is_object(item["arguments"]), item["arguments"])
            kinds = ("function_call", "function_call_output", "reasoning")
            sheet.must("RS-TEXT-FIRST", after.get("type") in kinds, after)
        elif kind == "function_call_output":
            for text in texts(item["output"]):
                sheet.must("RS-BLANK", bool(text.strip()), place)
        elif kind == "reasoning":
            leads = after.get("type") in ("reasoning", *SENT_BY_MODEL) or after.get("role") == "assistant"
            sheet.must("RS-REASONING", leads, after)
            sheet.must("RS-REASONING-WHOLE", {"id", "summary"} <= set(item), item)
    sheet.must("RS-PAIRS", *paired(items))
    for tool in request.get("tools", ()):
        sheet.must("RS-NAME", re.fullmatch("[a-zA-Z0-9_-]{1,64}", tool["name"]), tool["name"])
        sheet.must("RS-SCHEMA", _object_root(tool["parameters"]), tool["name"])
        sheet.must("RS-NOT-STRICT", tool["strict"] is False, tool["name"])
    return sheet


def texts(content):
    return [content] if isinstance(content, str) else [part["text"] for part in content if "text" in part]


def paired(items):
    """All outputs of a run of calls directly behind it, in its order, none missing, none twice."""
    waiting = []
    for item in items:
        if item.get("type") == "function_call_output":
            if not waiting or waiting.pop(0) != item["call_id"]:
                return False, item
        elif item.get("type") == "function_call":
            waiting.append(item["call_id"])
        elif waiting and item.get("type") != "reasoning":
            return False, waiting
    return not waiting, waiting


def said(role="user", content="x"):
    return {"role": role, "content": content}


def called(id_="a", name="f", arguments="{}", **fields):
    return {"type": "function_call", "call_id": id_, "name": name, "arguments": arguments, **fields}


def answered(id_="a", output="x"):
    return {"type": "function_call_output", "call_id": id_, "output": output}


def thought(id_="rs_1"):
    return {"type": "reasoning", "id": id_, "summary": []}


def request(*items, **fields):
    return {"input": list(items), **fields}


def tool(**fields):
    schema = {"type": "object", "properties": {}}
    return {"type": "function", "name": "f", "parameters": schema, "strict": False, **fields}


REJECTED = {
    "RS-UTF8": request(said(content="\ud83d")),
    "RS-UNIQUE": request(called(), answered(), called(), answered()),
    "RS-ROLE": request(said("tool")),
    "RS-PLAIN-TEXT": request(said("assistant", [{"type": "output_text", "text": "x"}])),
    "RS-BLANK": request(called(), answered(output="")),
    "RS-CALL-ID": request(called("x" * 65), answered("x" * 65)),
    "RS-ITEM-ID": request(called(id="call_1"), answered()),
    "RS-NAME": request(called(name="a.b"), answered()),
    "RS-ARGUMENTS": request(called(arguments='{"a'), answered()),
    "RS-TEXT-FIRST": request(called(), said("assistant"), answered()),
    "RS-REASONING": request(thought(), said()),
    "RS-REASONING-WHOLE": request({"type": "reasoning", "id": "rs"}, said("assistant")),
    "RS-PAIRS": request(called("a"), called("b"), answered("b"), answered("a")),
    "RS-SCHEMA": request(tools=[tool(parameters={"type": "object", "anyOf": []})]),
    "RS-NOT-STRICT": request(tools=[tool(strict=True)]),
}
