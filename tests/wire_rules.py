"""What providers refuse and no type says: one checker a provider, an id a rule.

Each checker yields `(rule, what)`; `REJECTED` holds, for each rule, a request that it must reject.
"""

from __future__ import annotations

import json
import re
from collections import Counter

_STRICT = json.JSONDecoder(parse_constant=lambda constant: (_ for _ in ()).throw(ValueError(constant)))
_LONE = re.compile("[\ud800-\udfff]")
_LONE_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")


def openai_faults(request):
    messages = request["messages"]
    yield from _encodable(request, "OC-UTF8")
    for place, message in enumerate(messages):
        calls = message.get("tool_calls")
        content = message.get("content")
        if calls == []:
            yield "OC-NO-EMPTY-CALLS", place
        if content is None and not calls:
            yield "OC-NULL-NEEDS-CALLS", place
        if isinstance(content, str) and not content.strip():
            yield "OC-BLANK", place
        for call in calls or ():
            if not 1 <= len(call["id"]) <= 40:
                yield "OC-ID", call["id"]
            if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"]):
                yield "OC-NAME", call["function"]["name"]
            if not _is_object(call["function"]["arguments"]):
                yield "OC-ARGUMENTS", call["function"]["arguments"]
        follow = []
        while calls and (at := place + 1 + len(follow)) < len(messages) and messages[at]["role"] == "tool":
            follow.append(messages[at]["tool_call_id"])
        ids = [call["id"] for call in calls or ()]
        if calls and (follow != ids or len(set(ids)) != len(ids)):
            yield "OC-PAIRS", (ids, follow)
        before = messages[place - 1] if place else {"role": None}
        if message["role"] == "tool" and before["role"] != "tool" and not before.get("tool_calls"):
            yield "OC-PAIRS", place
    for tool in request.get("tools", ()):
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["function"]["name"]):
            yield "OC-NAME", tool["function"]["name"]
        if not _object_root(tool["function"]["parameters"]):
            yield "OC-SCHEMA", tool["function"]["name"]


def anthropic_faults(request):
    messages = request["messages"]
    yield from _encodable(request, "AN-UTF8")
    if messages and messages[0]["role"] != "user":
        yield "AN-FIRST-USER", messages[0]["role"]
    uses = Counter(b["id"] for m in messages for b in m["content"] if b["type"] == "tool_use")
    if any(count > 1 for count in uses.values()):
        yield "AN-ID-UNIQUE", uses
    for place, message in enumerate(messages):
        blocks = message["content"]
        if place and messages[place - 1]["role"] == message["role"]:
            yield "AN-MERGED", place
        if not blocks:
            yield "AN-EMPTY", place
        for block in blocks:
            if not str(block.get("text", "x")).strip() or not str(block.get("content", "x")).strip():
                yield "AN-BLANK", place
            if block["type"] == "thinking" and not block["signature"]:
                yield "AN-SIGNATURE", place
            if block["type"] == "tool_use":
                if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", block["id"]):
                    yield "AN-ID", block["id"]
                if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", block["name"]):
                    yield "AN-NAME", block["name"]
        if blocks and blocks[-1]["type"] in {"thinking", "redacted_thinking"}:
            yield "AN-THINKING-LAST", place
        kinds = [block["type"] == "tool_result" for block in blocks]
        if kinds != sorted(kinds, reverse=True):
            yield "AN-RESULTS-FIRST", place
        called = [b["id"] for b in messages[place - 1]["content"] if b["type"] == "tool_use"] if place else []
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if (message["role"] == "user" and called != answered) or (message["role"] == "assistant" and answered):
            yield "AN-PAIRS", (called, answered)
    last = messages[-1] if messages else {"role": "user", "content": []}
    if last["role"] == "assistant" and last["content"]:
        if any(block["type"] == "tool_use" for block in last["content"]):
            yield "AN-PAIRS", "the last turn calls"
        text = last["content"][-1].get("text", "")
        if text != text.rstrip():
            yield "AN-FINAL-SPACE", text
    for tool in request.get("tools", ()):
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool["name"]):
            yield "AN-NAME", tool["name"]
        if not _object_root(tool["input_schema"]):
            yield "AN-SCHEMA", tool["name"]
    for block in request.get("system", [{"text": "x"}]):
        if not block["text"].strip():
            yield "AN-BLANK", "system"


def strict_chat_faults(request):
    """Templates of the strict sort: user and assistant in turn, strings only, system first."""
    yield from _encodable(request, "PC-UTF8")
    messages = request["messages"]
    if any(not isinstance(message["content"], str) for message in messages):
        yield "PC-STRING", messages
        return
    if any(not message["content"].strip() for message in messages):
        yield "PC-BLANK", messages
    if any(message["role"] == "system" for message in messages[1:]):
        yield "PC-SYSTEM-FIRST", messages
    roles = [message["role"] for message in messages if message["role"] != "system"]
    if roles != (["user", "assistant"] * len(roles))[: len(roles)]:
        yield "PC-ALTERNATE", roles
    if any(set(message) != {"role", "content"} for message in messages):
        yield "PC-KEYS", messages


def _encodable(request, rule):
    body = json.dumps(request, ensure_ascii=False, allow_nan=False)
    if _LONE.search(body) or any(_LONE_ESCAPE.search(text) for text in _call_arguments(request)):
        yield rule, body


def _call_arguments(request):
    for message in request["messages"]:
        for call in message.get("tool_calls") or ():
            if isinstance(arguments := call["function"]["arguments"], str):
                yield arguments


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
