from __future__ import annotations

from itertools import count
from typing import Any

from tooldialect.dialects import AssistantTurn, ChatMessage, NativeDialect, PFormatDialect, ToolResultBatch, XmlDialect

from .control import Control, EachBatchTheSame, changed, framed, is_marked, parsed, replayed, results

BANNER = "[Tool results]\n"


def given(base: Any, change):
    """`base`, which is given other outcomes than it was."""

    class Given(base):
        def format_results(self, outcomes):
            return super().format_results(change(list(outcomes)))

    return Given


def marked_last(outcomes):
    return sorted(outcomes, key=lambda outcome: outcome.trusted_verbatim)


def batches(base: Any, change):
    """`base`, whose batches hold other results than they were given."""

    class Batches(EachBatchTheSame, base):
        def _batch(self, results, *rest):
            return super()._batch(change(list(results)), *rest)

    return Batches


def reopens_nothing(entries, _):
    """What follows a marked outcome is not framed anew."""
    seen = False
    kept = []
    for entry in entries:
        kept.append(changed(entry, entry.content.removeprefix(BANNER)) if seen and not is_marked(entry) else entry)
        seen = seen or is_marked(entry)
    return kept


def counts_batches(entries, outcomes):
    """The frame tells how many results the round had."""
    return [e if is_marked(e) else changed(e, f"({len(outcomes)} results)\n{e.content}") for e in entries]


def counts_its_own(text):
    return f"({text.count('</tool_result>')} results)\n{text}"


class OneEntryEach(XmlDialect):
    def format_results(self, outcomes):
        return [entry for outcome in outcomes for entry in super(OneEntryEach, self).format_results([outcome])]


class OneBatchEach(NativeDialect):
    def format_results(self, outcomes):
        return [entry for outcome in outcomes for entry in super(OneBatchEach, self).format_results([outcome])]


def named_by_id(base: Any):
    class ById(base):
        """Replay knows the name and writes the id."""

        def replay(self, history):
            return super().replay(
                [
                    ToolResultBatch(results=tuple(r.model_copy(update={"name": r.tool_call_id}) for r in entry.results))
                    if isinstance(entry, ToolResultBatch)
                    else entry
                    for entry in history
                ]
            )

    return ById


class NamesAllAlike(XmlDialect):
    """A result without a name takes that of the last call, whatever its id."""

    def replay(self, history):
        last, named = "", []
        for entry in history:
            if isinstance(entry, AssistantTurn) and entry.tool_calls:
                last = entry.tool_calls[-1].name
            named.append(self._named(entry, last) if isinstance(entry, ToolResultBatch) else entry)
        return super().replay(named)

    def _named(self, batch, name):
        return ToolResultBatch(
            results=tuple(r if r.name or not name else r.model_copy(update={"name": name}) for r in batch.results)
        )


class Renames(NativeDialect):
    def format_results(self, outcomes):
        return super().format_results([o.model_copy(update={"name": "tool"}) for o in outcomes])


class Mutates(XmlDialect):
    def format_results(self, outcomes):
        entries = super().format_results(list(outcomes))
        outcomes.clear()
        return entries


class MutatesItsCopy(XmlDialect):
    def format_results(self, outcomes):
        mine = list(outcomes)
        entries = super().format_results(mine)
        mine.clear()
        return entries


class MutatesCalls(PFormatDialect):
    def render_call(self, call):
        spelled = super().render_call(call)
        call.arguments.pop("a", None)
        return spelled


class Alternates(NativeDialect):
    """Order depends on how often it was asked, as that of a set does on the process."""

    _asked = count()

    def format_results(self, outcomes):
        outcomes = list(outcomes)
        if len(outcomes) > 3 and not any(o.trusted_verbatim for o in outcomes) and next(self._asked) % 2:
            outcomes = [outcomes[1], outcomes[0], *outcomes[2:]]
        return super().format_results(outcomes)


class Counts(XmlDialect):
    """The frame carries a number that grows."""

    def __init__(self, tools=()):
        super().__init__(tools)
        self._number = count()

    def format_results(self, outcomes):
        return [
            e if is_marked(e) else changed(e, f"{e.content}#{next(self._number)}\n")
            for e in super().format_results(outcomes)
        ]


class LeavesRecords(XmlDialect):
    """A turn without calls is passed through as the record that it is."""

    def replay(self, history):
        history = list(history)
        spoken = {e.text: e for e in history if isinstance(e, AssistantTurn) and not e.tool_calls}
        return [spoken.get(e.content, e) if e.role == "assistant" else e for e in super().replay(history)]


class BlankTurns(XmlDialect):
    def replay(self, history):
        history = list(history)
        silent = [
            e for e in history if isinstance(e, AssistantTurn) and not e.tool_calls and not (e.text or "").strip()
        ]
        return [*super().replay(history), *(ChatMessage(role="assistant", content="") for _ in silent)]


def failed_last(results):
    return sorted(results, key=lambda result: 'status="ok"' not in result[0])


def judged_by_body(outcomes):
    """A body that tells of an error is a failure."""
    return [o.model_copy(update={"success": o.success and "error" not in o.output.lower()}) for o in outcomes]


class BreaksWhatUsersQuote(XmlDialect):
    def replay(self, history):
        return super().replay(
            [
                e.model_copy(update={"content": e.content.replace("<tool_", "&lt;tool_")})
                if isinstance(e, ChatMessage)
                and e.role == "user"
                and not e.trusted_verbatim
                and not e.content.startswith(BANNER)
                else e
                for e in history
            ]
        )


def entry_without_report(reading, _):
    entry = reading.entry.model_copy(update={"reasoning_content": None, "metadata": None})
    return reading.model_copy(update={"entry": entry})


def without_attachments(outcomes):
    return [o.model_copy(update={"attachments": ()}) for o in outcomes]


def trims_user(entries, _):
    return [
        e.model_copy(update={"content": e.content.strip()})
        if e.role == "user" and not is_marked(e) and not e.content.startswith("[")
        else e
        for e in entries
    ]


CONTROLS = [
    Control("moves verbatim to the end", "F1", given(XmlDialect, marked_last), given(XmlDialect, list), "V2 V4 F2"),
    Control("reverses a batch", "F1", batches(PFormatDialect, lambda rs: rs[::-1]), batches(PFormatDialect, lambda rs: rs[:])),
    Control("drops the last of many", "F1", batches(XmlDialect, lambda rs: rs[:10]), batches(XmlDialect, lambda rs: rs[:1000])),
    Control(
        "shows a result twice", "F1",
        batches(XmlDialect, lambda rs: [*rs, rs[-1]]), batches(XmlDialect, lambda rs: [*rs]),
    ),
    Control("puts failures last", "F1", batches(XmlDialect, failed_last), batches(XmlDialect, list)),
    Control("takes a body for a failure", "F5", given(XmlDialect, judged_by_body), given(XmlDialect, list)),
    Control("breaks what the user quotes", "F8", BreaksWhatUsersQuote, XmlDialect),
    Control("forgets reasoning and metadata", "F9", parsed(XmlDialect, entry_without_report), XmlDialect),
    Control("drops attachments", "F10", given(PFormatDialect, without_attachments), given(PFormatDialect, list)),
    Control("drops attachments of records", "F10", given(NativeDialect, without_attachments), NativeDialect),
    Control("reopens no batch", "F2", results(XmlDialect, reopens_nothing), XmlDialect),
    Control("counts the round in its frame", "F2", results(XmlDialect, counts_batches), framed(XmlDialect, counts_its_own), "F6"),
    Control("gives every result a turn", "F3", OneEntryEach, XmlDialect, "V2 F6"),
    Control("gives every result a batch", "F3", OneBatchEach, NativeDialect, "V2"),
    Control(
        "frames nothing", "F4",
        results(XmlDialect, lambda es, os: es or [ChatMessage(role="user", content=BANNER)]), XmlDialect,
    ),
    Control(
        "drops the status", "F5",
        framed(XmlDialect, lambda t: t.replace(' status="error"', ' status="ok"')),
        framed(XmlDialect, lambda t: t.replace(' status="failed"', ' status="error"')),
    ),
    Control("drops the name", "F5", Renames, NativeDialect, "N1"),
    Control("renders replay by id though the name is known", "F6", named_by_id(XmlDialect), XmlDialect),
    Control("names results after the last call", "F6", NamesAllAlike, XmlDialect),
    Control("mutates its input", "F7", Mutates, MutatesItsCopy),
    Control("mutates the arguments of a call", "F7", MutatesCalls, PFormatDialect),
    Control("has no order of its own", "F7", Alternates, NativeDialect, "F1"),
    Control("numbers its frames", "F7", Counts, XmlDialect, "V4 F2 F6"),
    Control("leaves records in replay", "F8", LeavesRecords, XmlDialect),
    Control("writes blank turns in replay", "F8", BlankTurns, XmlDialect),
    Control("trims what the user said", "F8", replayed(XmlDialect, trims_user), replayed(XmlDialect, lambda es, _: es)),
]  # fmt: skip
