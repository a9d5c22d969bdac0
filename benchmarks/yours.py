"""What the gate's rescan would add to the model calls of a user's own transcripts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import orjson

from tooldialect.gate import ContractGate

from .case import Case, Metric, Metrics
from .corpus import PREFIX
from .measure import Contender, measure
from .printable import printable
from .transcript import Call, Transcript, read, read_bytes, shown

GROUP = "yours"
# Enough for the cheapest of them, which is the noisiest too.
_ROUNDS = 30
# More than any processor's caches hold.
_CACHES = 64 * 1024 * 1024


class File(NamedTuple):
    """A file that was named, what it holds, and what was read of that."""

    name: str
    content: bytes
    transcript: Transcript


def files(names: Sequence[str], wire: str | None) -> list[File]:
    """Raises Unusable for the first that cannot be read."""
    contents = {name: read_bytes(name) for name in dict.fromkeys(names)}
    return [File(name, content, read(name, content, wire)) for name, content in contents.items()]


def case(file: File) -> Case:
    return Case(GROUP, shown(file.name), partial(_measured, file.transcript.calls), rounds=_ROUNDS)


class _AnyLedger:
    """Takes every delivery whose text is intact for its own, as the ledger that issued it would."""

    def issue(self, payload: str, claims: Mapping[str, str], /) -> str:
        raise NotImplementedError

    def verify(self, token: str, payload: str, claims: Mapping[str, str], /) -> bool:
        return True


def _measured(calls: Sequence[Call], rounds: int) -> Metrics:
    requests = [call.request for call in calls]
    texts = [text for call in calls for text in call.texts()]
    marked = [text for text in texts if text.startswith(PREFIX)]
    gate = ContractGate([], ledger=_AnyLedger())
    run = gate.run()
    # A run that has seen saved entries reads none of them again: what is asked for is the most it costs.
    frozen = any(call.frozen for call in calls)
    runs = gate.run if frozen else lambda: run

    def refresh() -> None:
        for call in calls:
            runs().refresh(call.texts())

    contenders: dict[str, Contender] = {
        "refresh": refresh,
        "json.dumps": lambda: [json.dumps(request) for request in requests],
        "search": lambda: [text for text in texts if PREFIX in text],
    }
    if _taken_by_orjson(requests):
        contenders["orjson.dumps"] = lambda: [orjson.dumps(request) for request in requests]
    if frozen:
        contenders["known"] = lambda: [run.refresh(call.texts()) for call in calls]
    # While a model answers, the caches fill with other things: no contender may find what the one before left there.
    others = bytes(_CACHES)
    samples = measure(contenders, rounds, between=lambda: bytearray(others))
    warm = measure({"refresh": refresh}, rounds)
    microseconds = 1e6 / len(calls)
    found = {
        "model calls": Metric(len(calls)),
        "rows": Metric(sum(call.rows for call in calls)),
        "texts": Metric(len(texts)),
        "marked": Metric(len(marked)),
        "us a call": Metric(samples.median("refresh") * microseconds, samples.spread("refresh")),
        "us in warm caches": Metric(warm.median("refresh") * microseconds, warm.spread("refresh")),
    }
    if frozen:
        found["us once known"] = Metric(samples.median("known") * microseconds, samples.spread("known"))
    for name in ("json.dumps", "orjson.dumps", "search"):
        if name in samples.seconds:
            found[f"of {name}"] = Metric(samples.ratio("refresh", name), samples.ratio_spread("refresh", name))
    return found


def _taken_by_orjson(requests: Iterable[Any]) -> bool:
    try:
        for request in requests:
            orjson.dumps(request)
    except TypeError:
        # Integers of more than 64 bits.
        return False
    return True


def answer(name: str, metrics: Mapping[str, Sequence[float]], form: str, of: int) -> str:
    """The question that was asked, answered in a sentence.

    `form` and `of` are what was read, and how many calls it holds."""
    number = {what: value[0] for what, value in metrics.items()}
    calls = int(number["model calls"])
    adds = f"{_figure(number['us a call'])} µs to each model call"
    if calls > 1:
        adds += f" ({_time(number['us a call'] * calls)} to {calls:,} of them)"
    shares = f"{_percent(number['of json.dumps'])} of serialising {'its request' if calls == 1 else 'their requests'} (json.dumps)"
    if "of orjson.dumps" in number:
        shares += f", {_percent(number['of orjson.dumps'])} of orjson.dumps"
    sentence = (
        f"{printable(name)} ({_what(number, form, of)}): the gate's rescan adds {adds}, {shares}. That is with caches that were full of "
        f"other things; where what it reads is still in them, it adds {_figure(number['us in warm caches'])} µs."
    )
    if "us once known" in number:
        sentence += (
            f" Of entries that a run has seen it reads none again: then it adds {_figure(number['us once known'])} µs."
        )
    if not number["texts"]:
        sentence += " No text of a user or a tool was found: is it a request of another provider (--wire)?"
    return sentence


def answer_for_all(results: Sequence[Mapping[str, Sequence[float]]]) -> list[str]:
    """The same over several files, weighed by what they are; nothing for one."""
    if len(results) < 2:
        return []
    numbers = [{what: value[0] for what, value in metrics.items()} for metrics in results]
    calls = sum(number["model calls"] for number in numbers)
    spent = sum(number["us a call"] * number["model calls"] for number in numbers)
    dumped = sum(number["us a call"] * number["model calls"] / number["of json.dumps"] for number in numbers)
    sentence = (
        f"All {len(results)} files: the gate's rescan adds {_figure(spent / calls)} µs to each of {calls:,.0f} model calls on "
        f"average, {_percent(spent / dumped)} of serialising their requests (json.dumps)."
    )
    return [sentence]


def _percent(share: float) -> str:
    return f"{_figure(share * 100)} %"


def _time(microseconds: float) -> str:
    return f"{_figure(microseconds)} µs" if microseconds < 1000 else f"{_figure(microseconds / 1000)} ms"


def _figure(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def _count(number: float, what: str) -> str:
    return f"{number:,.0f} {what}{'' if number == 1 else 's'}"


def _what(number: Mapping[str, float], form: str, of: int) -> str:
    parts = [form] if form else []
    calls = int(number["model calls"])
    if of > calls:
        parts.append(f"{calls:,} of them measured")
    parts.append(f"{_count(number['rows'], 'row')}, {_count(number['texts'], 'text')} of the host's")
    parts[-1] += f", {number['marked']:,.0f} marked"
    return "; ".join(parts)
