from __future__ import annotations

import unicodedata

from tooldialect.dialects import ChatMessage, NativeDialect, PFormatDialect, ToolResultBatch, XmlDialect

from .control import Control, changed, each_marked, framed, is_marked, replayed, results, text

BANNER = "[Tool results]\n"


def merge_marked(entries, _):
    merged = []
    for entry in entries:
        if merged and is_marked(entry) and is_marked(merged[-1]):
            merged[-1] = changed(merged[-1], text(merged[-1]) + "\n" + text(entry))
        else:
            merged.append(entry)
    return merged


def merge_batches(entries, _):
    """Two neighbours that are not marked: there are none in a round."""
    return entries


def unflag(entry):
    if isinstance(entry, ToolResultBatch):
        return ToolResultBatch(
            results=tuple(result.model_copy(update={"trusted_verbatim": False}) for result in entry.results)
        )
    return entry.model_copy(update={"trusted_verbatim": False})


def forget_first(base):
    class Forgets(base):
        def format_results(self, outcomes):
            first, *rest = list(outcomes) or [None]
            if first is not None and rest:
                first = first.model_copy(update={"trusted_verbatim": False})
            return super().format_results([o for o in (first, *rest) if o is not None])

    return Forgets


def empty_turn(entries, outcomes):
    """A blank marked outcome as the marked turn that it asks to be."""
    if [o.trusted_verbatim and not o.output.strip() for o in outcomes] == [True]:
        return [ChatMessage(role="user", content=outcomes[0].output, trusted_verbatim=True)]
    return entries


def lose_blank(base):
    class Loses(base):
        def format_results(self, outcomes):
            return super().format_results([o for o in outcomes if o.output.strip() or not o.trusted_verbatim])

    return Loses


class FramesMarkedResults(XmlDialect):
    """Replay looks at messages' flags but not at those of results."""

    def replay(self, history):
        return super().replay([unflag(entry) if isinstance(entry, ToolResultBatch) else entry for entry in history])


class DropsFlagOfBatches(NativeDialect):
    """Replay keeps a flag only where the result stands in a batch of its own."""

    def replay(self, history):
        return super().replay(
            [unflag(e) if isinstance(e, ToolResultBatch) and len(e.results) > 1 else e for e in history]
        )


class MergesUserTurns(XmlDialect):
    """What a middleware in front of a strict template does."""

    keep_marked = False

    def to_provider_messages(self, history, wire=None):
        merged = []
        for message in super().to_provider_messages(history, wire):
            content = message.get("content")
            neighbours = merged and message["role"] == merged[-1]["role"] == "user" and isinstance(content, str)
            if neighbours and not self.keep_marked:
                merged[-1] = {**merged[-1], "content": merged[-1]["content"] + "\n\n" + content}
            else:
                merged.append(message)
        return merged


class KeepsUserTurns(MergesUserTurns):
    keep_marked = True


def trims_in_request(base, trim):
    class Trims(base):
        def to_provider_messages(self, history, wire=None):
            return [
                {**message, "content": trim(message["content"])} if isinstance(message.get("content"), str) else message
                for message in super().to_provider_messages(history, wire)
            ]

    return Trims


def strips_newline(value):
    return value.removesuffix("\n") or value


EVERY_V = "V2 V3 V5 V6 V7 G1 G2 G3 G4"
CONTROLS = [
    Control(
        "wraps the marked result", "V1",
        results(XmlDialect, each_marked(lambda t: f"<result>\n{t}\n</result>")),
        framed(XmlDialect, lambda t: f"<results>\n{t}</results>\n"), "V2 V3 V5 V6 V7 G1 G2 G3 G4",
    ),
    Control(
        "banners the marked result", "V1",
        results(PFormatDialect, each_marked(lambda t: BANNER + t)),
        framed(PFormatDialect, lambda t: t.replace(BANNER, "[Results]\n")),
        EVERY_V,
    ),
    Control(
        "strips its last newline", "V1",
        results(XmlDialect, each_marked(strips_newline)),
        framed(XmlDialect, strips_newline),
        "V3 V5 V6 V7",
    ),
    Control(
        "strips white space in native", "V1",
        results(NativeDialect, each_marked(str.strip)),
        results(NativeDialect, each_marked(str)),
        "V3 V5 V6 V7",
    ),
    Control(
        "flags the marked result no more", "V1",
        results(XmlDialect, lambda entries, _: [unflag(entry) for entry in entries]),
        results(XmlDialect, lambda entries, _: [entry.model_copy() for entry in entries]), "V2 V5 V6 V7 G2 G4",
    ),
    Control("forgets it when first", "V2", forget_first(XmlDialect), XmlDialect, "V5 V6 V7 G2"),
    Control(
        "merges two marked neighbours", "V2",
        results(XmlDialect, merge_marked), results(XmlDialect, merge_batches), "V5 V6 V7 F2",
    ),
    Control(
        "neutralises tags in it", "V3",
        results(XmlDialect, each_marked(lambda t: t.replace("<tool", "&lt;tool").replace("</tool", "&lt;/tool"))),
        framed(XmlDialect, lambda t: t.replace("&lt;tool", "&lt;tool")),
        "V5 V6 V7",
    ),
    Control(
        "normalises its Unicode", "V3",
        results(NativeDialect, each_marked(lambda t: unicodedata.normalize("NFC", t))),
        results(NativeDialect, each_marked(lambda t: unicodedata.normalize("NFC", t) and t)),
        "",
    ),
    Control(
        "drops its byte order mark", "V3",
        results(XmlDialect, each_marked(lambda t: t.removeprefix("\ufeff") or t)),
        results(XmlDialect, each_marked(lambda t: t.removeprefix("\x00\x00") or t)),
        "V5 V6 V7",
    ),
    Control(
        "translates its line ends", "V3",
        results(PFormatDialect, each_marked(lambda t: t.replace("\r\n", "\n"))),
        results(PFormatDialect, each_marked(lambda t: t.replace("\n", "\n"))),
        "V5 V6 V7",
    ),
    Control("makes an empty turn of a blank one", "V4", results(XmlDialect, empty_turn), XmlDialect),
    Control("loses a blank one", "V4", lose_blank(NativeDialect), NativeDialect),
    Control(
        "frames marked messages in replay", "V5",
        replayed(XmlDialect, lambda entries, _: [changed(e, BANNER + text(e)) if is_marked(e) else e for e in entries]),
        replayed(XmlDialect, lambda entries, _: list(entries)), "V6 V7 G1 G2 G3 G4",
    ),
    Control(
        "drops the flag in replay", "V5",
        replayed(PFormatDialect, lambda entries, _: [unflag(entry) for entry in entries]),
        PFormatDialect, "V6 V7 G2 G4",
    ),
    Control("frames marked results of another dialect", "V6", FramesMarkedResults, XmlDialect),
    Control("drops flags inside a stored batch", "V6", DropsFlagOfBatches, NativeDialect, "N6"),
    Control("merges user turns in the request", "V7", MergesUserTurns, KeepsUserTurns, "G2 G4"),
    Control(
        "trims what it sends", "V7", trims_in_request(XmlDialect, str.strip), trims_in_request(XmlDialect, str)
    ),
]  # fmt: skip
