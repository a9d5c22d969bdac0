"""A dialect that shares nothing with the built-in ones.

Results: one JSON object a line in `<tool_response>`, no banner. Calls: `<function=name>`, a JSON
object of arguments, `</function>`.
"""

from __future__ import annotations

import json
import re

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ParsedResponse,
    ParsedToolCall,
    Problem,
    ToolDialect,
    ToolResultBatch,
)

# A tag of ours, in whatever way a model might take it for one; or a call.
LIVE = re.compile(r"<(?=[|/\s]*(?:tool_response|function)(?:[\s>/|=]|\Z))", re.IGNORECASE | re.ASCII)
OPENER = re.compile(r"<function=([^>\n]+)>\s*(?=[{\"\[\w']|\Z)")
CALL = re.compile(r"<function=([^>\n]+)>(.*?)</function>", re.DOTALL)
RESULTS = re.compile(r"\A<tool_response>\n(.*)\n</tool_response>\Z", re.DOTALL)


def as_json(value):
    return LIVE.sub("\\\\u003c", json.dumps(value, ensure_ascii=False))


class ToolResponseDialect(ToolDialect):
    name = "tool-response"
    protocol_tags = ("tool_response", "function")

    def __init__(self, tools=()):
        self.tools = {tool.name: tool for tool in tools}

    # Results

    def line(self, name, success, body):
        return as_json({"name": name, "ok": success, "content": body})

    def batch(self, results):
        lines = "\n".join(self.line(*result) for result in results)
        return ChatMessage(role="user", content=f"<tool_response>\n{lines}\n</tool_response>")

    def alone(self, text):
        return ChatMessage(role="user", content=text, trusted_verbatim=True)

    def split(self, results):
        """`(name, success, body, marked, attachments)` as messages."""
        entries: list = []
        run: list = []
        attached: list = []
        for name, success, body, marked, attachments in [*results, ("", True, "end", True, ())]:
            if marked and body.strip():
                entries += [self.batch(run).model_copy(update={"attachments": tuple(attached)})] if run else []
                entries.append(self.alone(body))
                run, attached = [], []
            else:
                run.append((name, success, body))
                attached += attachments
        return entries[:-1]

    def format_results(self, outcomes):
        return self.split((o.name, o.success, o.output, o.trusted_verbatim, o.attachments) for o in outcomes)

    def read_results(self, entries):
        return [
            (read["name"], read["ok"], read["content"])
            for entry in entries
            if not entry.trusted_verbatim
            for read in map(json.loads, RESULTS.match(entry.content)[1].split("\n"))
        ]

    # Calls

    def render_call(self, call):
        return f"<function={call.name}>{as_json(call.arguments)}</function>"

    def parse_response(self, response):
        text, end = response.text or "", 0
        calls: list = []
        problems: list = []
        kept: list = []
        for call in response.tool_calls:
            self.read(call.name, call.arguments, call.arguments or call.name, calls, problems)
        for opener in OPENER.finditer(text):
            if opener.start() < end:
                continue
            found = CALL.match(text, opener.start())
            kept.append(text[end : opener.start()])
            end = found.end() if found else len(text)
            raw = text[opener.start() : end]
            if found is None:
                problems.append(Problem(kind="incomplete", name=opener[1], detail="</function> is missing", raw=raw))
                break
            self.read(opener[1], found[2], raw, calls, problems)
        kept.append(text[end:])
        entry = AssistantTurn(
            text=response.text,
            tool_calls=response.tool_calls,
            reasoning_content=response.reasoning_content,
            metadata=response.metadata,
        )
        return ParsedResponse(text="".join(kept), calls=tuple(calls), problems=tuple(problems), entry=entry)

    def read(self, name, body, raw, calls, problems):
        try:
            arguments = json.loads(body)
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            problems.append(Problem(kind="malformed", name=name, detail="arguments are one JSON object", raw=raw))
        elif self.tools and name not in self.tools:
            problems.append(Problem(kind="unknown_tool", name=name, detail=f"no tool is named {name!r}", raw=raw))
        else:
            calls.append(ParsedToolCall(name=name, arguments=arguments))

    def prompt_instructions(self, tools):
        told = "\n".join(f"{t.name}: {t.description} {json.dumps(t.parameters)}" for t in tools)
        return f"Call a tool with its name, and its arguments as one JSON object in a function tag.\n{told}"

    # History

    def replay(self, history):
        names: dict = {}
        replayed: list = []
        for entry in history:
            if isinstance(entry, AssistantTurn):
                turn: dict = {}
                for call in entry.tool_calls:
                    turn.setdefault(call.id, []).append(call.name)
                names.update(turn)
                parts = [self.own(entry.text)] if entry.text and entry.text.strip() else []
                parts += [f"<function={call.name}>{self.shown(call.arguments)}</function>" for call in entry.tool_calls]
                if parts:
                    replayed.append(ChatMessage(role="assistant", content="\n".join(parts), metadata=entry.metadata))
            elif isinstance(entry, ToolResultBatch):
                replayed += self.split(
                    (self.called(r, names), r.success, r.content, r.trusted_verbatim, r.attachments)
                    for r in entry.results
                )
            elif entry.role == "tool":
                marked = entry.trusted_verbatim and entry.content.strip() != ""
                content = entry.content if marked else self.bare(entry.content)
                replayed.append(
                    entry.model_copy(update={"role": "user", "content": content, "trusted_verbatim": marked})
                )
            elif entry.role == "assistant":
                replayed.append(entry.model_copy(update={"content": self.own(entry.content)}))
            else:
                replayed.append(entry)
        return replayed

    def called(self, result, names):
        """The calls of a turn that share an id are answered in order."""
        waiting = names.get(result.tool_call_id, [result.tool_call_id])
        called = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return called if result.name is None else result.name

    def own(self, text):
        """A result that the model wrote is none."""
        return re.sub(r"<(?=[|/\s]*tool_response)", "&lt;", text, flags=re.IGNORECASE)

    def bare(self, text):
        """A tool's words without a frame."""
        return LIVE.sub("&lt;", text)

    def shown(self, arguments):
        try:
            return as_json(json.loads(arguments))
        except ValueError:
            return arguments
