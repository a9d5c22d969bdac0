"""A dialect as a program: calls in <call>, results as JSON lines in <answers>. Needs nothing but Python."""

import json
import re
import sys

TAGS = "answers|call"
LIVE = re.compile(rf"<(?=[|/\s]*(?:{TAGS})(?:[\s>/|]|\Z))", re.IGNORECASE | re.ASCII)
CALL = re.compile(r"<call>(\{.*?\})</call>", re.DOTALL)
BROKEN = re.compile(r'<call>\s*[{"\[].*', re.DOTALL)


def quote(value):
    return LIVE.sub(r"\\u003c", json.dumps(value, ensure_ascii=False))


def message(role, content, marked=False):
    return {"kind": "chat", "role": role, "content": content, "trusted_verbatim": marked}


def split(results):
    """Results in order: marked ones that are not blank stand alone, runs of others are one message."""
    entries: list = []
    run: list = []
    attached: list = []

    def close():
        if run:
            batch = message("user", "<answers>\n" + "\n".join(run) + "\n</answers>")
            entries.append({**batch, "attachments": [*attached]})
            run.clear()
            attached.clear()

    for name, success, body, marked, attachments in results:
        if marked and body.strip():
            close()
            entries.append(message("user", body, True))
        else:
            run.append(quote({"tool": name, "ok": success, "text": body}))
            attached.extend(attachments)
    close()
    return entries


def format_results(outcomes, **_):
    return split(
        (o["name"], o["success"], o["output"], o["trusted_verbatim"], o.get("attachments", ())) for o in outcomes
    )


def read_results(entries, **_):
    rows = [json.loads(row) for e in entries if not e["trusted_verbatim"] for row in e["content"].split("\n")[1:-1]]
    return [[row["tool"], row["ok"], row["text"]] for row in rows]


def render_call(call, **_):
    return f"<call>{quote({'tool': call['name'], 'with': call['arguments']})}</call>"


def parse_response(response, tools, **_):
    text, calls, problems = response["text"] or "", [], []
    known = {tool["name"] for tool in tools}

    def problem(kind, name, detail, raw):
        problems.append({"kind": kind, "name": name, "detail": detail, "raw": raw})
        return ""

    def read(found):
        try:
            call = json.loads(found[1])
            name, arguments = call["tool"], call["with"]
            if not isinstance(name, str) or not isinstance(arguments, dict):
                raise ValueError
        except (ValueError, KeyError, RecursionError):
            return problem("malformed", None, 'write <call>{"tool": NAME, "with": {...}}</call>', found[0])
        if known and name not in known:
            return problem("unknown_tool", name, f"no tool is named {name}", found[0])
        calls.append({"name": name, "arguments": arguments})
        return ""

    narrative = CALL.sub(read, text)
    narrative = BROKEN.sub(lambda found: problem("incomplete", None, "</call> is missing", found[0]), narrative)
    fields = ("tool_calls", "reasoning_content", "metadata")
    entry = {"kind": "assistant_turn", "text": response["text"], **{field: response[field] for field in fields}}
    for call in response["tool_calls"]:
        problem("malformed", call["name"], "write the call in the text", call["name"])
    return {"text": narrative, "calls": calls, "problems": problems, "entry": entry}


def prompt_instructions(tools, **_):
    return "Call a tool: JSON with its name and arguments in a call tag.\n" + "\n".join(map(json.dumps, tools))


def replay(history, **_):
    entries: list = []
    names: dict = {}
    for entry in history:
        if entry["kind"] == "assistant_turn":
            names.update({call["id"]: [] for call in entry["tool_calls"]})
            parts = [own(entry["text"])] if (entry["text"] or "").strip() else []
            for call in entry["tool_calls"]:
                names[call["id"]].append(call["name"])
                parts.append(shown(call["name"], call["arguments"]))
            if parts:
                entries.append(message("assistant", "\n".join(parts)))
        elif entry["kind"] == "tool_results":
            entries += split(
                (called(r, names), r["success"], r["content"], r["trusted_verbatim"], r.get("attachments", ()))
                for r in entry["results"]
            )
        elif entry["role"] == "tool":
            marked = entry["trusted_verbatim"] and entry["content"].strip() != ""
            content = entry["content"] if marked else LIVE.sub("&lt;", entry["content"])
            entries.append(message("user", content, marked))
        elif entry["role"] == "assistant":
            entries.append({**entry, "content": own(entry["content"])})
        else:
            entries.append(entry)
    return entries


def own(text):
    """A result that the model wrote itself is none."""
    return re.sub(r"<(?=[|/\s]*answers)", "&lt;", text, flags=re.IGNORECASE)


def called(result, names):
    """A result's own name, else that of its call; calls of a turn that share an id are answered in order."""
    waiting = names.get(result["tool_call_id"], [result["tool_call_id"]])
    name = waiting.pop(0) if len(waiting) > 1 else waiting[0]
    return name if result["name"] is None else result["name"]


def shown(name, raw):
    try:
        arguments = json.loads(raw)
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        return render_call({"name": name, "arguments": arguments})
    return f"<call>{name}: {raw}</call>"


def describe(**_):
    return {
        "name": "minimal",
        "results": "text",
        "protocol_tags": TAGS.split("|"),
        "capabilities": ["parse_response", "render_call", "prompt_instructions", "replay", "read_results"],
    }


METHODS = {
    f.__name__: f
    for f in (describe, format_results, parse_response, render_call, prompt_instructions, replay, read_results)
}

if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            reply["result"] = METHODS[request["method"]](**request["params"])
        except Exception as error:
            reply["error"] = {"code": -32000, "message": repr(error)}
        print(json.dumps(reply), flush=True)
