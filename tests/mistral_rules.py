"""What Mistral refuses and neither its types nor every version of its validator says."""

from __future__ import annotations

import re

from rule_sheet import Sheet, is_utf8_json
from wire_rules import _is_object, _object_root

NAME = re.compile("[a-zA-Z0-9_-]{1,64}")


def mistral_faults(request, *, text_with_calls=True):
    sheet = Sheet()
    messages = request["messages"]
    arguments = [call["function"]["arguments"] for message in messages for call in message.get("tool_calls") or ()]
    sheet.must("MI-UTF8", is_utf8_json(request, filter(_is_object, arguments)))
    roles = [message["role"] for message in messages]
    turns = [role for role in roles if role != "system"]
    sheet.must("MI-SYSTEM-FIRST", roles[: len(roles) - len(turns)] == ["system"] * (len(roles) - len(turns)), roles)
    if turns:
        sheet.must("MI-FIRST-USER", turns[0] == "user", turns)
        goes_on = messages[-1].get("prefix") is True and not messages[-1].get("tool_calls")
        sheet.must("MI-LAST", turns[-1] in {"user", "tool"} or goes_on, messages[-1])
    waiting = []
    for place, message in enumerate(messages):
        role, content, calls = message["role"], message["content"], message.get("tool_calls")
        before = messages[place - 1]["role"] if place else None
        for text in [content] if isinstance(content, str) else [part.get("text", "x") for part in content or ()]:
            sheet.must("MI-BLANK", bool(text.strip()), place)
        if role != "user":
            sheet.must("MI-IMAGES", content is None or isinstance(content, str), place)
        if role == "user" and before is not None:
            sheet.must("MI-USER-AFTER-TOOL", before != "tool", place)
        if role == "assistant":
            sheet.must("MI-SAYS-OR-CALLS", bool(content) or bool(calls), place)
            if not text_with_calls:
                near = [m for m in messages[max(place - 1, 0) : place + 1] if m["role"] == "assistant"]
                both = any(m["content"] for m in near) and any(m.get("tool_calls") for m in near)
                sheet.must("MI-ONE-OF", not both, place)
        if role == "tool":
            sheet.must("MI-PAIRS", bool(waiting) and waiting.pop(0) == message["tool_call_id"], message)
            sheet.must("MI-NAME", NAME.fullmatch(message.get("name", "f")), message)
        elif waiting:
            sheet.must("MI-PAIRS", False, waiting)
        for call in calls or ():
            sheet.must("MI-ID", re.fullmatch("[a-zA-Z0-9]{9}", call["id"]), call["id"])
            sheet.must("MI-NAME", NAME.fullmatch(call["function"]["name"]), call["function"]["name"])
            sheet.must("MI-ARGUMENTS", _is_object(call["function"]["arguments"]), call)
        if calls:
            waiting = [call["id"] for call in calls]
            sheet.must("MI-PAIRS", len(set(waiting)) == len(waiting), waiting)
    sheet.must("MI-PAIRS", not waiting, waiting)
    for tool in request.get("tools", ()):
        sheet.must("MI-NAME", NAME.fullmatch(tool["function"]["name"]), tool)
        sheet.must("MI-SCHEMA", _object_root(tool["function"]["parameters"]), tool)
    return sheet


def faults_before_v7(request):
    return mistral_faults(request, text_with_calls=False)


def said(role="user", content="x", **fields):
    return {"role": role, "content": content, **fields}


def called(*ids, name="f", arguments="{}", content=None):
    function = {"name": name, "arguments": arguments}
    return said("assistant", content, tool_calls=[{"id": id_, "type": "function", "function": function} for id_ in ids])


def answered(id_, content="x", **fields):
    return said("tool", content, tool_call_id=id_, **fields)


def request(*messages, **fields):
    return {"messages": list(messages), **fields}


A, B = "aaaaaaaaa", "bbbbbbbbb"
REJECTED = {
    "MI-UTF8": request(said(content="\udc00")),
    "MI-SYSTEM-FIRST": request(said(), said("system"), said()),
    "MI-FIRST-USER": request(said("assistant"), said()),
    "MI-LAST": request(said(), said("assistant")),
    "MI-BLANK": request(said(content="\n")),
    "MI-IMAGES": request(said(), called(A), answered(A, [{"type": "image_url", "image_url": {"url": "data:x"}}])),
    "MI-USER-AFTER-TOOL": request(said(), called(A), answered(A), said()),
    "MI-SAYS-OR-CALLS": request(said(), said("assistant", None), said()),
    "MI-PAIRS": request(said(), called(A, B), answered(B), answered(A)),
    "MI-ID": request(said(), called("call_1234"), answered("call_1234")),
    "MI-NAME": request(said(), called(A), answered(A, name="a.b")),
    "MI-ARGUMENTS": request(said(), called(A, arguments="[1]"), answered(A)),
    "MI-SCHEMA": request(tools=[{"function": {"name": "f", "parameters": {"type": "object", "not": {}}}}]),
}
REJECTED_BEFORE_V7 = {"MI-ONE-OF": request(said(), called(A, content="so"), answered(A))}
