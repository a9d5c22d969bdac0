"""What LangChain refuses or silently changes and its loading does not say."""

from __future__ import annotations

import re

from rule_sheet import Sheet, is_utf8_json
from wire_rules import _object_root

KEYS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "additional_kwargs", "response_metadata"},
    "tool": {"role", "content", "tool_call_id", "name", "status"},
}
NAME = re.compile("[a-zA-Z0-9_-]{1,64}")


def langchain_faults(request):
    sheet = Sheet()
    sheet.must("LC-UTF8", is_utf8_json(request))
    waiting = []
    for message in request["messages"]:
        role, content, calls = message["role"], message["content"], message.get("tool_calls")
        sheet.must("LC-KEYS", set(message) <= KEYS.get(role, set()), message)
        sheet.must("LC-CONTENT", isinstance(content, (str, list)), content)
        blank = not str(content).strip() if isinstance(content, str) else not all(map(shows, content))
        sheet.must("LC-BLANK", not blank or bool(calls and content == ""), message)
        if role == "tool":
            sheet.must("LC-PAIRS", bool(waiting) and waiting.pop(0) == message["tool_call_id"], message)
            sheet.must("LC-STATUS", message["status"] in {"success", "error"}, message)
            sheet.must("LC-NAME", NAME.fullmatch(message.get("name", "f")), message)
        elif waiting:
            sheet.must("LC-PAIRS", False, waiting)
        for call in calls or ():
            sheet.must("LC-CALL", set(call) == {"name", "args", "id", "type"}, call)
            sheet.must("LC-ARGS", isinstance(call.get("args"), dict), call)
            sheet.must("LC-NAME", NAME.fullmatch(call.get("name", "")), call)
            sheet.must("LC-ID", str(call.get("id") or "").strip(), call)
        if calls:
            waiting = [call.get("id") for call in calls]
            sheet.must("LC-PAIRS", len(set(waiting)) == len(waiting), waiting)
    sheet.must("LC-PAIRS", not waiting, waiting)
    for tool in request.get("tools", ()):
        sheet.must("LC-NAME", NAME.fullmatch(tool["function"]["name"]), tool)
        sheet.must("LC-SCHEMA", _object_root(tool["function"]["parameters"]), tool)
    return sheet


def shows(block):
    text = block if isinstance(block, str) else block.get("text", "x")
    return bool(text.strip())


def said(role="user", content="x", **fields):
    return {"role": role, "content": content, **fields}


def call(id_="a", name="f", args=None, **fields):
    return {"name": name, "args": {} if args is None else args, "id": id_, "type": "tool_call", **fields}


def called(*calls):
    return said("assistant", "", tool_calls=list(calls))


def answered(id_="a", status="success", **fields):
    return said("tool", tool_call_id=id_, status=status, **fields)


def request(*messages, **fields):
    return {"messages": list(messages), **fields}


REJECTED = {
    "LC-UTF8": request(said(content="\udc00")),
    "LC-KEYS": request(said(is_error=True)),
    "LC-CONTENT": request(said(content={"a": 1})),
    "LC-BLANK": request(said(content=" ")),
    "LC-PAIRS": request(called(call("a"), call("b")), answered("b"), answered("a")),
    "LC-STATUS": request(called(call()), answered(status="failed")),
    "LC-NAME": request(called(call(name="a.b")), answered()),
    "LC-CALL": request(called({**call(), "function": {}}), answered()),
    "LC-ARGS": request(called(call(args="{}")), answered()),
    "LC-ID": request(called(call("")), answered("")),
    "LC-SCHEMA": request(tools=[{"function": {"name": "f", "parameters": {"type": "string"}}}]),
}
