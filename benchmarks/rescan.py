"""What reading the transcript again before every model call costs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import orjson
import xxhash

from tooldialect.dialects import AnthropicWire, OpenAIChatWire, TranscriptEntry, Wire, host_texts
from tooldialect.gate import ContractGate, Ledger

from . import corpus
from .case import Case, Metric, Metrics
from .measure import Contender, Samples, measure

GROUP = "rescan"
WIRES: dict[str, Wire] = {"openai-chat": OpenAIChatWire(), "anthropic": AnthropicWire()}
KINDS = (*WIRES, "entries", "strings")
_PER_ROW = 1e9


def cases() -> list[Case]:
    sizes = [
        Case(GROUP, f"{kind} {rows} rows", partial(_sized, kind, rows), quick=rows <= 10_000 and kind == "openai-chat")
        for kind in KINDS
        for rows in (100, 1000, 10_000, 100_000)
    ]
    shares = [
        Case(
            GROUP,
            f"openai-chat 10000 rows {marked} marked",
            partial(_sized, "openai-chat", 10_000, marked=marked),
            quick=False,
        )
        for marked in (0, 50)
    ]
    signed = Case(
        GROUP,
        "openai-chat 10000 rows signed ledger",
        partial(_sized, "openai-chat", 10_000, ledger="signed"),
        quick=False,
    )
    marked = [
        Case(GROUP, f"marked rows {ledger} ledger", partial(_marked, ledger), rounds=41) for ledger in corpus.LEDGERS
    ]
    return [*sizes, *shares, signed, *marked, Case(GROUP, "append-only 10000 entries", _appended)]


def _sized(kind: str, rows: int, rounds: int, marked: int = 5, ledger: str = "memory") -> Metrics:
    gate = corpus.gate_for(marked, corpus.LEDGERS[ledger]())
    rendered = corpus.deliveries(gate, marked)
    if kind == "anthropic":
        request = corpus.block_rows(rows, rendered)
        return compare(gate, lambda: WIRES[kind].host_texts(request), request, _block_texts, rounds)
    request = corpus.chat_rows(rows, rendered)
    if kind == "openai-chat":
        return compare(gate, lambda: WIRES[kind].host_texts(request), request, _chat_texts, rounds)
    if kind == "strings":
        texts = [row["content"] for row in request]
        return compare(gate, lambda: texts, texts, list, rounds)
    entries = corpus.entries(rows, rendered)
    # A new run each time: one that has seen these entries reads none of them again.
    return compare(gate, lambda: host_texts(entries), request, _chat_texts, rounds, fresh=True)


def compare(
    gate: ContractGate,
    given: Callable[[], Iterable[str]],
    request: list[Any],
    texts_of: Callable[[list[Any]], list[str | None]],
    rounds: int,
    *,
    fresh: bool = False,
) -> Metrics:
    """A full refresh against what else is done with the same request, caches cold."""
    dump = partial(json.dumps, {"messages": request})
    # Of the largest only what its growth is fitted from, and its share: all else would take minutes.
    large = len(request) > 10_000
    with gate.run() as run:
        runs = gate.run if fresh else lambda: run
        contenders: dict[str, Contender] = {
            "refresh": lambda: runs().refresh(given()),
            "touch": lambda: _touch(request, texts_of),
            "json.dumps": dump,
        }
        if not large:
            contenders |= {
                "orjson.dumps": lambda: orjson.dumps({"messages": request}),
                "search": lambda: _search(request, texts_of),
                "xxh3": lambda: [xxhash.xxh3_64_digest(text.encode()) for text in texts_of(request) if text],
                "sha256": lambda: [hashlib.sha256(text.encode()).digest() for text in texts_of(request) if text],
            }
        samples = measure(contenders, rounds, between=partial(orjson.dumps, request) if large else dump)
    others = [name for name in samples.seconds if name != "refresh"]
    return {
        "rows": Metric(len(request)),
        "MB": Metric(len(dump()) / 1e6),
        "ns a row": Metric(samples.median("refresh") / len(request) * _PER_ROW, samples.spread("refresh")),
        **{f"of {name}": _ratio(samples, "refresh", name) for name in others},
    }


def _ratio(samples: Samples, name: str, to: str) -> Metric:
    return Metric(samples.ratio(name, to), samples.ratio_spread(name, to))


def _touch(request: list[Any], texts_of: Callable[[list[Any]], list[str | None]]) -> None:
    """A bare loop that looks at the first character of each row's text."""
    if texts_of is _chat_texts:
        for row in request:
            (row["content"] or " ")[0]
    elif texts_of is _block_texts:
        for row in request:
            block = row["content"][0]
            (block["text"] if block["type"] == "text" else block["content"])[0]
    else:
        for text in request:
            text[0]


def _search(request: list[Any], texts_of: Callable[[list[Any]], list[str | None]]) -> list[Any]:
    """What needs no thought: whether the marker stands anywhere in a text, one text after the other."""
    prefix = corpus.PREFIX
    if texts_of is _chat_texts:
        return [row for row in request if row["content"] and prefix in row["content"]]
    if texts_of is _block_texts:
        return [
            row
            for row in request
            for block in row["content"]
            if prefix in (block.get("text") or block.get("content") or "")
        ]
    return [text for text in request if prefix in text]


def _chat_texts(request: list[Any]) -> list[str | None]:
    return [row["content"] for row in request]


def _block_texts(request: list[Any]) -> list[str | None]:
    return [block.get("text") or block.get("content") for row in request for block in row["content"]]


def _marked(ledger_name: str, rounds: int) -> Metrics:
    """50 deliveries of 4 KiB against 50 plain rows of 4 KiB: seen before, and for the first time."""
    count = 50
    ledger = corpus.LEDGERS[ledger_name]()
    gate = corpus.gate_for(count, ledger)
    marked = corpus.deliveries(gate, count)
    plain = [corpus.fill(corpus.PLAIN, len(text)) for text in marked]
    # What a host parsed anew is seen again, in other objects.
    copies = [text[:1] + text[1:] for text in marked]
    with gate.run() as run:
        assert len(run.refresh(marked)) == count
        samples = measure(
            {
                "plain": lambda: run.refresh(plain),
                "marked": lambda: run.refresh(marked),
                "copies": lambda: run.refresh(copies),
                "plain at first": _at_first(ledger, plain),
                "marked at first": _at_first(ledger, marked),
            },
            rounds,
        )
    microseconds = 1e6 / count
    return {
        "us a marked row more": Metric(
            samples.difference("marked", "plain") * microseconds, samples.difference_spread("marked", "plain")
        ),
        "us the same in other objects": Metric(
            samples.difference("copies", "plain") * microseconds, samples.difference_spread("copies", "plain")
        ),
        "us the first time": Metric(
            samples.difference("marked at first", "plain at first") * microseconds,
            samples.difference_spread("marked at first", "plain at first"),
        ),
        "bytes a delivery": Metric(sum(map(len, marked)) / count),
    }


def _at_first(ledger: Ledger, texts: list[str]) -> Contender:
    """A refresh by a gate that has not read these rows before, but whose ledger issued them."""

    def run() -> None:
        with ContractGate([], ledger=ledger).run() as fresh:
            fresh.refresh(texts)

    return run


def _appended(rounds: int) -> Metrics:
    """Ten entries added to ten thousand, against reading all of them."""
    gate = corpus.gate_for(5, corpus.LEDGERS["memory"]())
    before: list[TranscriptEntry] = corpus.entries(10_000, corpus.deliveries(gate, 5))
    after = before + corpus.entries(10, [])

    with gate.run() as run:
        samples = measure(
            {
                "added": lambda: run.refresh(host_texts(after)),
                "unchanged": _unchanged(gate, after),
                "all": lambda: gate.run().refresh(host_texts(after)),
            },
            rounds,
            # Untimed, or a hundredth of two large figures' difference would be told.
            before={"added": lambda: run.refresh(host_texts(before))},
        )
    return {
        "us for ten added": Metric(samples.median("added") * 1e6, samples.spread("added")),
        "us for none added": Metric(samples.median("unchanged") * 1e6, samples.spread("unchanged")),
        "us for all": Metric(samples.median("all") * 1e6, samples.spread("all")),
    }


def _unchanged(gate: ContractGate, entries: list[TranscriptEntry]) -> Contender:
    run = gate.run()
    run.refresh(host_texts(entries))
    return lambda: run.refresh(host_texts(entries))
