"""What providers refuse and no type says: one checker a provider, an id a rule.

Each checker gives a `Sheet` of faults; `REJECTED` holds, for each rule, a request that it must reject.
"""

from __future__ import annotations

import json
import re
from collections import Counter

from rule_sheet import Sheet

_STRICT = json.JSONDecoder(parse_constant=lambda constant: (_ for _ in ()).throw(ValueError(constant)))
_NAME = re.compile("[a-zA-Z0-9_-]{1,64}")
_LONG_NAME = re.compile("[a-zA-Z0-9_-]{1,128}")
_LONE = re.compile("[\ud800-\udfff]")
_LONE_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")


def openai_faults(request):
    sheet = Sheet()
    messages = request["messages"]
    arguments = [call["function"]["arguments"] for message in messages for call in message.get("tool_calls") or ()]
    sheet.must("OC-UTF8", _is_encodable(request, arguments))
    for place, message in enumerate(messages):
        calls, content = message.get("tool_calls"), message.get("content")
        if "tool_calls" in message:
            sheet.must("OC-NO-EMPTY-CALLS", bool(calls), place)
        if content is None:
            sheet.must("OC-NULL-NEEDS-CALLS", bool(calls), place)
        else:
            sheet.must("OC-BLANK", all(text.strip() for text in _texts(content)), place)
            sheet.must("OC-EMPTY", content != [], place)
        for call in calls or ():
            sheet.must("OC-ID", 1 <= len(call["id"]) <= 40, call["id"])
            sheet.must("OC-NAME", _NAME.fullmatch(call["function"]["name"]), call["function"]["name"])
            sheet.must("OC-ARGUMENTS", _is_object(call["function"]["arguments"]), call["function"]["arguments"])
        follow = []
        while calls and (at := place + 1 + len(follow)) < len(messages) and messages[at]["role"] == "tool":
            follow.append(messages[at]["tool_call_id"])
        ids = [call["id"] for call in calls or ()]
        if calls:
            sheet.must("OC-PAIRS", follow == ids and len(set(ids)) == len(ids), (ids, follow))
        before = messages[place - 1] if place else {"role": None}
        if message["role"] == "tool":
            sheet.must("OC-PAIRS", before["role"] == "tool" or bool(before.get("tool_calls")), place)
    for tool in request.get("tools", ()):
        sheet.must("OC-NAME", _NAME.fullmatch(tool["function"]["name"]), tool["function"]["name"])
        sheet.must("OC-SCHEMA", _object_root(tool["function"]["parameters"]), tool["function"]["name"])
    return sheet


def anthropic_faults(request):
    sheet = Sheet()
    messages = request["messages"]
    sheet.must("AN-UTF8", _is_encodable(request))
    if messages:
        sheet.must("AN-FIRST-USER", messages[0]["role"] == "user", messages[0]["role"])
    uses = Counter(b["id"] for m in messages for b in m["content"] if b["type"] == "tool_use")
    if uses:
        sheet.must("AN-ID-UNIQUE", all(count == 1 for count in uses.values()), uses)
    for place, message in enumerate(messages):
        blocks = message["content"]
        if place:
            sheet.must("AN-MERGED", messages[place - 1]["role"] != message["role"], place)
        sheet.must("AN-EMPTY", bool(blocks), place)
        for block in blocks:
            texts = [block["text"]] if block["type"] == "text" else _texts(block.get("content", ()))
            sheet.must("AN-BLANK", all(text.strip() for text in texts), place)
            if block["type"] == "thinking":
                sheet.must("AN-SIGNATURE", bool(block["signature"]), place)
            if block["type"] == "tool_use":
                sheet.must("AN-ID", re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", block["id"]), block["id"])
                sheet.must("AN-NAME", _LONG_NAME.fullmatch(block["name"]), block["name"])
            if block["type"] == "tool_result":
                sheet.must("AN-RESULT-EMPTY", block.get("content") != [], place)
                if block.get("is_error"):
                    content = block["content"]
                    only_text = isinstance(content, str) or all(part["type"] == "text" for part in content)
                    sheet.must("AN-ERROR-TEXT", only_text, block)
        if blocks:
            sheet.must("AN-THINKING-LAST", blocks[-1]["type"] not in {"thinking", "redacted_thinking"}, place)
        kinds = [block["type"] == "tool_result" for block in blocks]
        if any(kinds):
            sheet.must("AN-RESULTS-FIRST", kinds == sorted(kinds, reverse=True), place)
        called = [b["id"] for b in messages[place - 1]["content"] if b["type"] == "tool_use"] if place else []
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if called or answered:
            paired = called == answered if message["role"] == "user" else not answered
            sheet.must("AN-PAIRS", paired, (called, answered))
    last = messages[-1] if messages else {"role": "user", "content": []}
    if last["role"] == "assistant" and last["content"]:
        calls = any(block["type"] == "tool_use" for block in last["content"])
        sheet.must("AN-PAIRS", not calls, "the last turn calls")
        text = last["content"][-1].get("text", "")
        sheet.must("AN-FINAL-SPACE", text == text.rstrip(), text)
    for tool in request.get("tools", ()):
        sheet.must("AN-NAME", _LONG_NAME.fullmatch(tool["name"]), tool["name"])
        sheet.must("AN-SCHEMA", _object_root(tool["input_schema"]), tool["name"])
    for block in request.get("system", ()):
        sheet.must("AN-BLANK", bool(block["text"].strip()), "system")
    return sheet


def strict_chat_faults(request):
    """Templates of the strict sort: user and assistant in turn, strings only, system first."""
    sheet = Sheet()
    messages = request["messages"]
    sheet.must("PC-UTF8", _is_encodable(request))
    if messages:
        sheet.must("PC-STRING", all(isinstance(message["content"], str) for message in messages), messages)
        sheet.must("PC-BLANK", all(text.strip() for message in messages for text in _texts(message["content"])))
        sheet.must("PC-SYSTEM-FIRST", all(message["role"] != "system" for message in messages[1:]), messages)
        roles = [message["role"] for message in messages if message["role"] != "system"]
        sheet.must("PC-ALTERNATE", roles == (["user", "assistant"] * len(roles))[: len(roles)], roles)
        sheet.must("PC-KEYS", all(set(message) == {"role", "content"} for message in messages), messages)
    return sheet


def _texts(content):
    return [content] if isinstance(content, str) else [part["text"] for part in content if part["type"] == "text"]


def _is_encodable(request, arguments=()):
    body = json.dumps(request, ensure_ascii=False, allow_nan=False)
    return not _LONE.search(body) and not any(_LONE_ESCAPE.search(text) for text in arguments)


def _is_object(text):
    try:
        return isinstance(_STRICT.decode(text), dict)
    except ValueError:
        return False


def _object_root(schema):
    refused = {"anyOf", "oneOf", "allOf", "enum", "not", "$ref"}
    return schema.get("type") == "object" and isinstance(schema.get("properties"), dict) and not refused & set(schema)


def _call(id_="a", name="f", arguments="{}"):
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def _openai(*messages, **fields):
    return {"messages": list(messages), **fields}


def _called(*calls):
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def _tool(id_, content="x"):
    return {"role": "tool", "tool_call_id": id_, "content": content}


def _blocks(role, *blocks):
    return {"role": role, "content": list(blocks)}


def _text(text="x"):
    return {"type": "text", "text": text}


def _use(id_="a", name="f"):
    return {"type": "tool_use", "id": id_, "name": name, "input": {}}


def _answer(id_="a", content="x"):
    return {"type": "tool_result", "tool_use_id": id_, "content": content}


_GO = _blocks("user", _text("go"))
_STRING = {"role": "user", "content": "x"}

REJECTED = {
    openai_faults: {
        "OC-UTF8": _openai({"role": "user", "content": "\ud83d"}),
        "OC-NO-EMPTY-CALLS": _openai({"role": "assistant", "content": "x", "tool_calls": []}),
        "OC-NULL-NEEDS-CALLS": _openai({"role": "assistant", "content": None}),
        "OC-BLANK": _openai({"role": "user", "content": " "}),
        "OC-EMPTY": _openai({"role": "user", "content": []}),
        "OC-ID": _openai(_called(_call("x" * 41)), _tool("x" * 41)),
        "OC-NAME": _openai(_called(_call(name="a.b")), _tool("a")),
        "OC-ARGUMENTS": _openai(_called(_call(arguments='{"a')), _tool("a")),
        "OC-PAIRS": _openai(_called(_call("a"), _call("b")), _tool("b"), _tool("a")),
        "OC-SCHEMA": _openai(tools=[{"function": {"name": "f", "parameters": {"type": "object", "anyOf": []}}}]),
    },
    anthropic_faults: {
        "AN-UTF8": {"messages": [_blocks("user", _text("\udc00"))]},
        "AN-FIRST-USER": {"messages": [_blocks("assistant", _text())]},
        "AN-ID-UNIQUE": {
            "messages": [_GO, *[_blocks("assistant", _use()), _blocks("user", _answer())] * 2],
        },
        "AN-MERGED": {"messages": [_GO, _GO]},
        "AN-EMPTY": {"messages": [_blocks("user")]},
        "AN-BLANK": {"messages": [_GO, _blocks("assistant", _use()), _blocks("user", _answer(content=""))]},
        "AN-SIGNATURE": {
            "messages": [_GO, _blocks("assistant", {"type": "thinking", "thinking": "t", "signature": ""}, _text())]
        },
        "AN-ID": {"messages": [_GO, _blocks("assistant", _use("a|b")), _blocks("user", _answer("a|b"))]},
        "AN-NAME": {"messages": [_GO, _blocks("assistant", _use(name="a.b")), _blocks("user", _answer())]},
        "AN-THINKING-LAST": {
            "messages": [_GO, _blocks("assistant", _text(), {"type": "thinking", "thinking": "t", "signature": "s"})]
        },
        "AN-RESULT-EMPTY": {"messages": [_GO, _blocks("assistant", _use()), _blocks("user", _answer(content=[]))]},
        "AN-ERROR-TEXT": {
            "messages": [
                _GO,
                _blocks("assistant", _use()),
                _blocks("user", {**_answer(content=[{"type": "image"}]), "is_error": True}),
            ]
        },
        "AN-RESULTS-FIRST": {"messages": [_GO, _blocks("assistant", _use()), _blocks("user", _text(), _answer())]},
        "AN-PAIRS": {"messages": [_GO, _blocks("assistant", _use()), _GO]},
        "AN-FINAL-SPACE": {"messages": [_GO, _blocks("assistant", _text("x "))]},
        "AN-SCHEMA": {"messages": [], "tools": [{"name": "f", "input_schema": {"type": "object", "oneOf": []}}]},
    },
    strict_chat_faults: {
        "PC-UTF8": {"messages": [{"role": "user", "content": "\ud83d"}]},
        "PC-STRING": {"messages": [{"role": "user", "content": [_text()]}]},
        "PC-BLANK": {"messages": [{"role": "user", "content": "\n"}]},
        "PC-SYSTEM-FIRST": {"messages": [_STRING, {"role": "system", "content": "x"}]},
        "PC-ALTERNATE": {"messages": [_STRING, _STRING]},
        "PC-KEYS": {"messages": [{**_STRING, "name": "x"}]},
    },
}
