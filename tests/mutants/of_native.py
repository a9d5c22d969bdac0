from __future__ import annotations

import json

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    NativeDialect,
    RenderError,
    ToolResultBatch,
)
from tooldialect.dialects.pairing import repair_tool_cycles

from .control import Control, replayed


class InventsIds(NativeDialect):
    def format_results(self, outcomes):
        return super().format_results(
            o if o.tool_call_id else o.model_copy(update={"tool_call_id": f"made-up-{n}"})
            for n, o in enumerate(outcomes)
        )


class RefusesWithoutName(NativeDialect):
    def format_results(self, outcomes):
        try:
            return super().format_results(outcomes)
        except RenderError:
            raise RenderError("an outcome has no id") from None


class RefusesInItsWords(NativeDialect):
    def format_results(self, outcomes):
        outcomes = list(outcomes)
        for outcome in outcomes:
            if outcome.tool_call_id is None:
                raise LookupError(f"which call did {outcome.name} answer?")
        return super().format_results(outcomes)


def unnamed(entries, _):
    """Rebuilds what was whole."""
    return [
        ToolResultBatch(results=tuple(r.model_copy(update={"success": True}) for r in e.results))
        if isinstance(e, ToolResultBatch)
        else e
        for e in entries
    ]


def rebuilt(entries, _):
    return [e.model_copy(deep=True) for e in entries]


class RepairsNothing(NativeDialect):
    def replay(self, history):
        return list(history)


def leaves(keep):
    """Replay repairs only those histories of which `keep` does not hold."""

    class Leaves(NativeDialect):
        def replay(self, history):
            history = list(history)
            return history if keep(history) else super().replay(history)

    return Leaves


def has_orphan(history):
    called = {call.id for e in history if isinstance(e, AssistantTurn) for call in e.tool_calls}
    results = [r for e in history if isinstance(e, ToolResultBatch) for r in e.results]
    return any(r.tool_call_id not in called and not r.trusted_verbatim for r in results)


def twice_answered(entries, _):
    """Answers a call twice where its result is ordinary and fails."""
    out = []
    for e in entries:
        out.append(e)
        if isinstance(e, ToolResultBatch) and any(r.content.startswith("The call was interrupted") for r in e.results):
            out.append(e)
    return out


class Reserialises(NativeDialect):
    def parse_response(self, response):
        return super().parse_response(
            response.model_copy(update={"tool_calls": tuple(map(dumped, response.tool_calls))})
        )


def dumped(call):
    try:
        return call.model_copy(update={"arguments": json.dumps(json.loads(call.arguments))})
    except ValueError:
        return call


def entry_without(*fields):
    class Drops(NativeDialect):
        def parse_response(self, response):
            reading = super().parse_response(response)
            kept = {name: value for name, value in dict(reading.entry).items() if name not in fields}
            return reading.model_copy(update={"entry": AssistantTurn(**kept)})

    return Drops


class DropsExtra(NativeDialect):
    def replay(self, history):
        return super().replay(
            [
                e.model_copy(
                    update={"tool_calls": tuple(c.model_copy(update={"extra_content": None}) for c in e.tool_calls)}
                )
                if isinstance(e, AssistantTurn)
                else e
                for e in history
            ]
        )


def loosened(entries, _):
    """A marked result as a user message, its call answered by words of our own."""
    out = []
    for e in entries:
        if isinstance(e, ToolResultBatch) and e.results and e.results[0].trusted_verbatim:
            [r] = e.results
            out.append(
                ToolResultBatch(results=(r.model_copy(update={"content": "See below.", "trusted_verbatim": False}),))
            )
            out.append(ChatMessage(role="user", content=r.content, trusted_verbatim=True))
        else:
            out.append(e)
    return out


def loses_system(entries, history):
    """Text that stood inside a cycle goes with the repair."""
    return [e for e in entries if not (isinstance(e, ChatMessage) and e.role == "system" and entries != history)]


def loses_orphans(entries, history):
    given = [e for e in history if isinstance(e, ChatMessage)]
    return [e for e in entries if not (isinstance(e, ChatMessage) and e.trusted_verbatim and e not in given)]


class LastOneWins(NativeDialect):
    def replay(self, history):
        latest = {}
        history = list(history)
        ids = [c.id for e in history if isinstance(e, AssistantTurn) for c in e.tool_calls]
        if len(ids) == len(set(ids)):
            for e in history:
                if isinstance(e, ToolResultBatch):
                    latest.update(
                        {
                            r.tool_call_id: r
                            for r in e.results
                            if not r.trusted_verbatim and "interrupted" not in r.content
                        }
                    )
            history = [
                ToolResultBatch(
                    results=tuple(
                        r if r.trusted_verbatim or "interrupted" in r.content else latest[r.tool_call_id]
                        for r in e.results
                    )
                )
                if isinstance(e, ToolResultBatch)
                else e
                for e in history
            ]
        return super().replay(history)


class PlaceholderStays(NativeDialect):
    """A repair is a result like any other, and the first one wins."""

    def replay(self, history):
        entries = [self._known(e) for e in history]
        return [self._own(e) for e in super().replay(entries)]

    def _known(self, e):
        return self._changed(e, "The call was interrupted", "\x00The call was interrupted")

    def _own(self, e):
        return self._changed(e, "\x00The call was interrupted", "The call was interrupted")

    def _changed(self, e, before, after):
        if not isinstance(e, ToolResultBatch):
            return e
        return ToolResultBatch(
            results=tuple(
                r.model_copy(update={"content": after + r.content.removeprefix(before)})
                if r.content.startswith(before)
                else r
                for r in e.results
            )
        )


class SaysItWorked(NativeDialect):
    def replay(self, history):
        return [
            ToolResultBatch(
                results=tuple(
                    r.model_copy(update={"success": True}) if "was interrupted" in r.content else r for r in e.results
                )
            )
            if isinstance(e, ToolResultBatch)
            else e
            for e in super().replay(history)
        ]


class Drops(NativeDialect):
    """The other repair that DESIGN offers: cycles without a result go, both halves."""

    def replay(self, history):
        return repair_tool_cycles(history, "drop")


CONTROLS = [
    Control("invents ids", "N1", InventsIds, NativeDialect),
    Control("refuses without naming the tool", "N1", RefusesWithoutName, RefusesInItsWords),
    Control("rewrites healthy cycles", "N2", replayed(NativeDialect, unnamed), replayed(NativeDialect, rebuilt), "N7"),
    Control("repairs nothing", "N3", RepairsNothing, NativeDialect, "V6 N6 N7"),
    Control("keeps orphans", "N3", leaves(has_orphan), NativeDialect, ""),
    Control("answers a call twice", "N3", replayed(NativeDialect, twice_answered), NativeDialect, "N7"),
    Control("serialises arguments anew", "N4", Reserialises, NativeDialect),
    Control("drops the reasoning", "N4", entry_without("reasoning_content"), NativeDialect),
    Control("drops what the wire must send back", "N4", entry_without("metadata"), NativeDialect),
    Control("drops extra content", "N4", DropsExtra, NativeDialect),
    Control("sends deliveries as user messages", "N5", replayed(NativeDialect, loosened), NativeDialect, "N2"),
    Control("loses system text in repair", "N6", replayed(NativeDialect, loses_system), NativeDialect),
    Control("loses marked orphans", "N6", replayed(NativeDialect, loses_orphans), NativeDialect),
    Control("lets the last result win", "N7", LastOneWins, NativeDialect),
    Control("keeps its placeholder", "N7", PlaceholderStays, NativeDialect),
    Control("says that an interrupted call worked", "N7", SaysItWorked, NativeDialect),
]  # fmt: skip
