from __future__ import annotations

import json
import re
from typing import Any

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    NativeDialect,
    ParsedResponse,
    ParsedToolCall,
    PFormatDialect,
    XmlDialect,
)

from .control import Control, parsed, replayed


def calls(base: Any, change):
    """`base`, whose calls go through `change`."""
    return parsed(base, lambda reading, _: reading.model_copy(update={"calls": tuple(change(reading.calls))}))


def with_arguments(change):
    return lambda found: [
        ParsedToolCall(name=c.name, id=c.id, arguments={k: change(v) for k, v in c.arguments.items()}) for c in found
    ]


def bad_into_empty(base: Any):
    def change(reading, _):
        made = [
            ParsedToolCall(name=p.name, arguments={}, id=p.id)
            for p in reading.problems
            if p.name and p.kind != "unknown_tool"
        ]
        kept = tuple(p for p in reading.problems if p.kind == "unknown_tool")
        return reading.model_copy(update={"calls": (*reading.calls, *made), "problems": kept})

    return parsed(base, change)


def unknown_into_empty(base: Any):
    def change(reading, _):
        made = [ParsedToolCall(name=p.name, arguments={}) for p in reading.problems if p.kind == "unknown_tool"]
        kept = tuple(p for p in reading.problems if p.kind != "unknown_tool")
        return reading.model_copy(update={"calls": (*reading.calls, *made), "problems": kept})

    return parsed(base, change)


def unknown_dropped(base: Any):
    return parsed(
        base,
        lambda reading, _: reading.model_copy(
            update={"problems": tuple(p for p in reading.problems if p.kind != "unknown_tool")}
        ),
    )


def problems_dropped(base: Any):
    return parsed(
        base,
        lambda reading, _: reading.model_copy(
            update={"problems": tuple(p for p in reading.problems if p.kind == "unknown_tool")}
        ),
    )


class Raises(NativeDialect):
    def parse_response(self, response):
        reading = super().parse_response(response)
        if reading.problems and reading.problems[0].kind == "malformed":
            raise ValueError(reading.problems[0].detail)
        return reading


class RaisesOnTags(XmlDialect):
    def parse_response(self, response):
        reading = super().parse_response(response)
        if any(p.kind == "malformed" for p in reading.problems):
            raise ValueError("bad JSON")
        return reading


def reads_mentions(reading, response):
    """A tool in back quotes with a question behind it is a call."""
    text = response.text or ""
    if "`get_weather`" in text and not reading.calls:
        return reading.model_copy(update={"calls": (ParsedToolCall(name="get_weather", arguments={}),)})
    return reading


def strips_text(reading, response):
    return reading if reading.calls or reading.problems else reading.model_copy(update={"text": reading.text.strip()})


def swallows(reading, response):
    if reading.calls or reading.problems:
        return reading
    return reading.model_copy(update={"text": re.split(r"<tool_call>", reading.text)[0]})


def words_lost(reading, _):
    return reading.model_copy(update={"text": ""}) if len(reading.calls) > 1 else reading


def words_before_lost(reading, response):
    head = (response.text or "").partition("<tool_call>")[0]
    if not reading.calls or not head.strip():
        return reading
    return reading.model_copy(update={"text": reading.text.removeprefix(head)})


def words_behind_lost(reading, response):
    tail = (response.text or "").rpartition("</tool_call>")[2]
    if not reading.calls or not tail.strip():
        return reading
    return reading.model_copy(update={"text": reading.text.removesuffix(tail)})


def problems_hidden(reading, _):
    """A call that could be read hides those that could not."""
    return reading.model_copy(update={"problems": ()}) if reading.calls else reading


def calls_hidden(reading, _):
    """A call that could not be read hides those that could."""
    return reading.model_copy(update={"calls": ()}) if reading.problems else reading


def same_reading(reading, _):
    return reading


class ArraysIntoEmpty(XmlDialect):
    """Arguments that are an array are none."""

    def parse_response(self, response):
        text = re.sub(r'("arguments": )\[[^\]]*\]', r"\1{}", response.text or "")
        reading = super().parse_response(response.model_copy(update={"text": text}))
        kept = dict(reading.entry) | {"text": response.text}
        return ParsedResponse(**{**dict(reading), "entry": AssistantTurn(**kept)})


class IgnoresReportedCalls(XmlDialect):
    def parse_response(self, response):
        reading = super().parse_response(response.model_copy(update={"tool_calls": ()}))
        entry = reading.entry.model_copy(update={"tool_calls": response.tool_calls})
        return reading.model_copy(update={"entry": entry})


def cut_text(reading, response):
    """The entry keeps the narrative, not what the model wrote."""
    if not reading.calls and not reading.problems:
        return reading
    kept = dict(reading.entry) | {"text": reading.text}
    return ParsedResponse(**{**dict(reading), "entry": AssistantTurn(**kept)})


class ReplaysWithoutCalls(XmlDialect):
    def replay(self, history):
        return super().replay(
            [e.model_copy(update={"tool_calls": ()}) if isinstance(e, AssistantTurn) else e for e in history]
        )


def other_spelling(entries, _):
    return [
        e.model_copy(update={"content": e.content.replace("tool_call>", "function_call>")})
        if isinstance(e, ChatMessage) and e.role == "assistant"
        else e
        for e in entries
    ]


class ReplaysUnreadableAsEmpty(PFormatDialect):
    def replay(self, history):
        return super().replay(
            [
                e.model_copy(
                    update={
                        "tool_calls": tuple(
                            c if c.arguments.endswith("}") else c.model_copy(update={"arguments": "{}"})
                            for c in e.tool_calls
                        )
                    }
                )
                if isinstance(e, AssistantTurn)
                else e
                for e in history
            ]
        )


class EscapesNothing(XmlDialect):
    """Arguments as plain JSON, whatever they hold."""

    def render_call(self, call):
        return (
            "<tool_call>\n"
            + json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
            + "\n</tool_call>"
        )


class EscapesItself(XmlDialect):
    def render_call(self, call):
        text = json.dumps({"name": call.name, "arguments": call.arguments}).replace("<", "\\u003c")
        return f"<tool_call>\n{text}\n</tool_call>"


class WritesJson(PFormatDialect):
    """Teaches slots and writes JSON."""

    def render_call(self, call):
        return XmlDialect().render_call(call)


def text_of_numbers(value):
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def same(value):
    return value


CONTROLS = [
    Control("makes text of numbers", "C1", calls(XmlDialect, with_arguments(text_of_numbers)), calls(XmlDialect, with_arguments(same))),
    Control(
        "makes integers of whole floats", "C1",
        calls(XmlDialect, with_arguments(lambda v: int(v) if isinstance(v, float) and v.is_integer() else v)),
        calls(XmlDialect, with_arguments(same)),
    ),
    Control(
        "reads numbers out of text", "C1",
        calls(PFormatDialect, with_arguments(lambda v: int(v) if isinstance(v, str) and v.isdigit() else v)),
        calls(PFormatDialect, with_arguments(same)),
    ),
    Control("strips arguments", "C1", calls(NativeDialect, with_arguments(lambda v: v.strip() if isinstance(v, str) else v)), NativeDialect),
    Control("invents arguments of unknown tools", "C2", unknown_into_empty(PFormatDialect), PFormatDialect, "C5"),
    Control("loses calls of unknown tools", "C2", unknown_dropped(NativeDialect), NativeDialect),
    Control("reads a call from prose", "C3", parsed(XmlDialect, reads_mentions), XmlDialect),
    Control("strips prose", "C3", parsed(NativeDialect, strips_text), NativeDialect),
    Control("lets a mentioned tag swallow the rest", "C3", parsed(PFormatDialect, swallows), PFormatDialect),
    Control("loses the second call", "C4", calls(XmlDialect, lambda found: found[:1]), calls(XmlDialect, lambda found: found[:99]), "C7"),
    Control("turns calls around", "C4", calls(NativeDialect, lambda found: found[::-1]), NativeDialect),
    Control("drops a call made twice", "C4", calls(PFormatDialect, lambda found: {str(c): c for c in found}.values()), PFormatDialect),
    Control("loses words between calls", "C4", parsed(XmlDialect, words_lost), XmlDialect),
    Control("loses words before the first call", "C4", parsed(XmlDialect, words_before_lost), parsed(XmlDialect, same_reading)),
    Control("loses words behind the last call", "C4", parsed(XmlDialect, words_behind_lost), parsed(XmlDialect, same_reading)),
    Control("hides a broken call behind a good one", "C5", parsed(PFormatDialect, problems_hidden), PFormatDialect),
    Control("hides a good call behind a broken one", "C5", parsed(XmlDialect, calls_hidden), XmlDialect),
    Control("reads an array as {}", "C5", ArraysIntoEmpty, XmlDialect, "C7"),
    Control("ignores calls reported beside the text", "C9", IgnoresReportedCalls, XmlDialect),
    Control("turns bad JSON into {}", "C5", bad_into_empty(XmlDialect), XmlDialect, "C7"),
    Control("turns bad arguments into {}", "C5", bad_into_empty(NativeDialect), NativeDialect),
    Control("raises on bad JSON", "C5", RaisesOnTags, XmlDialect, "C7"),
    Control("raises on bad arguments", "C5", Raises, NativeDialect),
    Control("is silent about bad calls", "C5", problems_dropped(PFormatDialect), PFormatDialect),
    Control("keeps the narrative and not the text", "C5", parsed(XmlDialect, cut_text), XmlDialect),
    Control("leaves tags in arguments", "C8", EscapesNothing, EscapesItself),
    Control("teaches slots and writes JSON", "C8", WritesJson, PFormatDialect),
    Control("replays turns without their calls", "C7", ReplaysWithoutCalls, XmlDialect, "F6"),
    Control("replays calls in another spelling", "C7", replayed(XmlDialect, other_spelling), replayed(XmlDialect, lambda es, _: es)),
    Control("replays unreadable arguments as none", "C7", ReplaysUnreadableAsEmpty, PFormatDialect),
]  # fmt: skip
