from __future__ import annotations

from tooldialect.dialects import AssistantTurn, ChatMessage, NativeDialect, PFormatDialect, XmlDialect

from .control import Control, changed, is_marked, text


def requested(base, change):
    """`base`, whose replayed entries are changed on their way to the provider."""

    class Requests(base):
        def to_provider_messages(self, history, wire=None):
            return wire.messages(wire.encode(change(self, self.replay(list(history)))))

    return Requests


def rewritten(change, when=lambda entries: True):
    """After hashing: the transcript is whole, the request is not."""
    return lambda _self, entries: [
        changed(e, change(text(e))) if is_marked(e) and when(entries) else e for e in entries
    ]


def cap(value):
    return value if len(value) < 600 else value[:599] + "…"


def two_user_turns(entries):
    return sum(isinstance(e, ChatMessage) and e.role == "user" for e in entries) > 2


def wide_cap(value):
    return value if len(value) < 600_000 else value[:599] + "…"


class Restores(XmlDialect):
    """Mends what somebody cut, from what it has seen under the same header."""

    def __init__(self, tools=()):
        super().__init__(tools)
        self.seen = {}

    def to_provider_messages(self, history, wire=None):
        entries = self.replay(list(history))
        mended = []
        for e in entries:
            if is_marked(e) and e.content.startswith("[contract-gate:"):
                whole = self.seen.setdefault(e.content.partition("]")[0], e.content)
                mended.append(changed(e, whole))
            else:
                mended.append(e)
        return wire.messages(wire.encode(mended))


class RestoresNothing(Restores):
    def to_provider_messages(self, history, wire=None):
        self.seen.clear()
        return super().to_provider_messages(history, wire)


class TrustsOnlyItself(PFormatDialect):
    """A marked text that this object has not delivered is framed like any other."""

    def __init__(self, tools=()):
        super().__init__(tools)
        self.delivered = set()

    def format_results(self, outcomes):
        entries = super().format_results(outcomes)
        self.delivered.update(e.content for e in entries if e.trusted_verbatim)
        return entries

    def replay(self, history):
        return [
            e
            if not is_marked(e) or not e.content.startswith("[contract-gate:") or e.content in self.delivered
            else changed(e, f"Earlier:\n{e.content}")
            for e in super().replay(history)
        ]


class QuotesAsUser(XmlDialect):
    """An assistant text that leads with a marker is taken for a tool's."""

    prefix = "[contract-gate:"

    def replay(self, history):
        return [
            e.model_copy(update={"role": "user"})
            if isinstance(e, ChatMessage) and e.role == "assistant" and e.content.startswith(self.prefix)
            else e
            for e in super().replay(history)
        ]


class QuotesNothing(QuotesAsUser):
    prefix = "\x00never"


class NativeQuotes(NativeDialect):
    def replay(self, history):
        return [
            ChatMessage(role="user", content=e.text)
            if isinstance(e, AssistantTurn) and (e.text or "").startswith("[contract-gate:")
            else e
            for e in super().replay(history)
        ]


class IgnoresRepetition(XmlDialect):
    """A turn that stands in the history already is a loop of the model, and no call."""

    _shown: frozenset[str] = frozenset()

    def replay(self, history):
        entries = super().replay(history)
        self._shown = frozenset(e.content for e in entries if e.role == "assistant")
        return entries

    def parse_response(self, response):
        reading = super().parse_response(response)
        return reading.model_copy(update={"calls": ()}) if response.text in self._shown else reading


class UnwrapsArguments(NativeDialect):
    """Takes the inner arguments out of an envelope it happens to know."""

    def parse_response(self, response):
        reading = super().parse_response(response)
        return reading.model_copy(
            update={
                "calls": tuple(
                    c.model_copy(update={"arguments": {**c.arguments, "arguments": {}}})
                    if "server_id" in c.arguments
                    else c
                    for c in reading.calls
                )
            }
        )


CONTROLS = [
    Control("rewrites after hashing", "G1", requested(XmlDialect, rewritten(cap)), requested(XmlDialect, rewritten(wide_cap)), "G2 G3 G4"),
    Control("rewrites after hashing in native", "G1", requested(NativeDialect, rewritten(cap)), requested(NativeDialect, rewritten(wide_cap)), "G2 G3 G4"),
    Control("rewrites a delivery among others", "G2", requested(XmlDialect, rewritten(cap, two_user_turns)), requested(XmlDialect, rewritten(wide_cap, two_user_turns)), "G3 G4"),
    Control("restores what was cut", "G3", Restores, RestoresNothing),
    Control("trusts only what it delivered itself", "G4", TrustsOnlyItself, PFormatDialect),
    Control("replays the assistant's quotation as the user's", "G5", QuotesAsUser, QuotesNothing),
    Control("sends a quoted turn as the user's", "G5", NativeQuotes, NativeDialect),
    Control("ignores a call the model repeats", "G6", IgnoresRepetition, XmlDialect, "C7"),
    Control("executes with other arguments", "G6", UnwrapsArguments, NativeDialect),
]  # fmt: skip
