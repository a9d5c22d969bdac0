from __future__ import annotations

import html
import re
from typing import Any

from builtin_dialects import read_results
from line_dialect import FRAME, LineDialect
from tool_response_dialect import LIVE
from tooldialect.dialects import PFormatDialect, ToolOutcome, XmlDialect

from .control import Control, EachBatchTheSame, parsed

TAG = f"(?:{'|'.join(XmlDialect.protocol_tags)})"


def only(pattern, flags=re.ASCII | re.IGNORECASE):
    return lambda value: re.sub(pattern, "&lt;", value, flags=flags)


BREAKS_ALL = only(rf"<(?=[|/\s]*{TAG}(?:[\s>/|]|\Z))")


class OwnEnvelope(EachBatchTheSame, XmlDialect):
    """XmlDialect whose bodies and heads a control renders itself, to get them wrong in one way."""

    body = staticmethod(BREAKS_ALL)
    head = staticmethod(str)
    read_results = staticmethod(read_results)

    def __init__(self, tools=()):
        super().__init__(tools, control_tokens=())
        self._render_body, self._changed = self.body, ""
        self._neutralise = BREAKS_ALL

    def _batch(self, results, *rest):
        return super()._batch([(self.head(head), body) for head, body in results], *rest)


def envelope(body=None, head=None):
    hooks = {"body": body, "head": head}
    return type("Own", (OwnEnvelope,), {name: staticmethod(hook) for name, hook in hooks.items() if hook is not None})


def name_changed(change):
    """Heads with another name."""
    return lambda head: re.sub(r'(?<=name=").*(?=" status=)', lambda m: change(m[0]), head, flags=re.DOTALL)


def quadratic(value):
    if len(value) < 200:
        return BREAKS_ALL(value)
    out = ""
    for place in range(len(value)):
        out += "&lt;" if value[place] == "<" and BREAKS_ALL(value[place:])[0] == "&" else value[place]
    return out


def doubling(value):
    return BREAKS_ALL(value).replace("<", "<" * (1 + len(value) // 3000))


def reads_entities(base: Any):
    class Reads(base):
        def parse_response(self, response):
            return super().parse_response(response.model_copy(update={"text": html.unescape(response.text or "")}))

    return Reads


class TokensAlive(XmlDialect):
    """Declares tokens and breaks none."""

    def __init__(self, tools=()):
        super().__init__(tools, control_tokens=())
        whole = XmlDialect()
        self.control_tokens, self._neutralise = whole.control_tokens, whole._neutralise


class TokensFolded(XmlDialect):
    """Breaks what resembles a token."""

    def format_results(self, outcomes):
        return super().format_results(
            o
            if o.trusted_verbatim
            else ToolOutcome(**{**dict(o), "output": re.sub(r"<(?=\|?[A-Z]*(?:IM_START|EOT_ID))", "&lt;", o.output)})
            for o in outcomes
        )


class ReplaysForgeries(XmlDialect):
    def __init__(self, tools=()):
        super().__init__(tools)
        self._break_results = str


class LinesUnquoted(LineDialect):
    """A body may hold a line of the frame; calls are broken."""

    def quote(self, body):
        return LIVE.sub("&lt;", body)


class UnreadLinesUnquoted(LinesUnquoted):
    read_results = property()


class RawNames(LineDialect):
    """A name with a line break is a line of the frame."""

    read_results = property()

    def title(self, name):
        return LIVE.sub("&lt;", name)


class UnreadLines(LineDialect):
    read_results = property()


class StrippedLines(UnreadLines):
    """Line breaks at the end of a body are dropped."""

    def quote(self, body):
        return super().quote(body.rstrip("\n"))


class MarkedCalls(LineDialect):
    """Reads a call at the start of a line, behind white space and the marks of a list or a quotation."""

    lead = re.compile(r"^([ \t>*-]*)<(?=function=)", re.MULTILINE)
    broken = lead

    def parse_response(self, response):
        text = re.sub(r"(?<=[^\n])<(?=function=)", "&lt;", self.lead.sub("<", response.text or ""))
        reading = super().parse_response(response.model_copy(update={"text": text}))
        entry = reading.entry.model_copy(update={"text": response.text})
        return reading.model_copy(update={"entry": entry})

    def quote(self, body):
        return self.broken.sub(r"\1&lt;", FRAME.sub(r"\1\\", body))


class MarkedCallsAlive(MarkedCalls):
    """Breaks calls at the very start of a line only."""

    broken = re.compile(r"^()<(?=function=)", re.MULTILINE)


class ReplaysForgedLines(LineDialect):
    def own(self, text):
        return text


class BreaksHeadsOnly(LineDialect):
    """Of an invented result only the first line is broken, by what is put before it."""

    def own(self, text):
        return re.sub(r"^(?=@@result)", "~ ", text, flags=re.MULTILINE)


CONTROLS = [
    Control("replays lines the model made up", "E8", ReplaysForgedLines, BreaksHeadsOnly),
    Control("drops line breaks at the end and reads none", "E2", StrippedLines, UnreadLines),
    Control("leaves calls behind list marks alive", "E4", MarkedCallsAlive, MarkedCalls),
    Control("copies lines of its frame", "E1", LinesUnquoted, LineDialect),
    Control("copies lines of its frame and reads none", "E1", UnreadLinesUnquoted, UnreadLines),
    Control("writes line breaks in names", "E3", RawNames, UnreadLines),
    Control("leaves bodies alone", "E1", envelope(str), envelope(BREAKS_ALL), "E4"),
    Control("neutralises only lower case", "E1", envelope(only(rf"<(?=[|/\s]*{TAG}(?:[\s>/|]|\Z))", re.ASCII)), envelope(BREAKS_ALL)),
    Control("lets a body end in an open tag", "E1", envelope(only(rf"<(?=[|/\s]*{TAG}[\s>/|])")), envelope(BREAKS_ALL)),
    Control("neutralises closing tags only", "E1", envelope(only(rf"<(?=[|\s]*/[|/\s]*{TAG}(?:[\s>/|]|\Z))")), envelope(BREAKS_ALL)),
    Control("neutralises tags without spacing only", "E1", envelope(only(rf"<(?=/?{TAG}(?:[\s>/|]|\Z))")), envelope(BREAKS_ALL), "E4"),
    Control("forgets the call tag", "E1", envelope(only(r"<(?=[|/\s]*(?:tool_result|think)(?:[\s>/|]|\Z))")), envelope(BREAKS_ALL), "E4"),
    Control("escapes whole bodies", "E2", envelope(lambda v: html.escape(v, quote=False)), envelope(BREAKS_ALL), "E5"),
    Control("strips bodies", "E2", envelope(lambda v: BREAKS_ALL(v.rstrip(" "))), envelope(BREAKS_ALL)),
    Control("translates line ends of bodies", "E2", envelope(lambda v: BREAKS_ALL(v.replace("\r\n", "\n"))), envelope(lambda v: BREAKS_ALL(v.replace("\n", "\n")))),
    Control("does not escape names", "E3", envelope(head=name_changed(html.unescape)), envelope(head=name_changed(str)), "E4"),
    Control("strips names", "E3", envelope(head=name_changed(str.strip)), envelope(head=name_changed(str))),
    Control("escapes names twice", "E3", envelope(head=name_changed(html.escape)), envelope(head=name_changed(str))),
    Control("reads calls in entities", "E4", reads_entities(XmlDialect), parsed(XmlDialect, lambda reading, _: reading), "C1 C5 E9"),
    Control("breaks whatever begins like a tag", "E5", envelope(only(rf"<(?=[|/\s]*{TAG})")), envelope(BREAKS_ALL)),
    Control("is quadratic", "E6", envelope(quadratic), envelope(BREAKS_ALL)),
    Control("writes more the longer it gets", "E6", envelope(doubling), envelope(BREAKS_ALL)),
    Control("leaves control tokens alive", "E7", TokensAlive, XmlDialect),
    Control("breaks what resembles a token", "E7", TokensFolded, PFormatDialect),
    Control("replays results the model made up", "E8", ReplaysForgeries, XmlDialect),
]  # fmt: skip
