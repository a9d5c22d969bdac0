"""What it costs to render tool results as text."""

from __future__ import annotations

from functools import partial
from xml.sax.saxutils import escape

from lxml import etree

from tooldialect.dialects import (
    AssistantTurn,
    ChatMessage,
    ToolCall,
    ToolDialect,
    ToolOutcome,
    ToolResult,
    ToolResultBatch,
    TranscriptEntry,
    XmlDialect,
)
from tooldialect.dialects.record import record_of_clean

from . import corpus
from .case import Case, Metric, Metrics
from .corpus import KIB
from .measure import Contender, Samples, measure

GROUP = "serialise"
_SIZES = ((200, 64), (4 * KIB, 1), (4 * KIB, 64), (64 * KIB, 4), (64 * KIB, 64), (KIB * KIB, 4))
_DENSE = 64 * KIB


def cases() -> list[Case]:
    plain = [
        Case(GROUP, f"plain {count} x {_size(size)}", partial(_plain, size, count), quick=size * count <= 512 * KIB)
        for size, count in _SIZES
    ]
    code = [
        Case(GROUP, f"code {name} 64 KiB", partial(_code, unit, 64 * KIB))
        for name, unit in {**corpus.CODE, "HTML, not ASCII": corpus.ACCENTED}.items()
    ]
    code += [
        Case(GROUP, f"code HTML {_size(size)}", partial(_code, corpus.HTML, size), quick=False)
        for size in (200, KIB * KIB)
    ]
    hostile = [
        Case(GROUP, f"hostile line {_size(size)}", partial(_hostile, size), quick=size >= 4 * KIB)
        for size in (200, 4 * KIB, 64 * KIB, KIB * KIB)
    ]
    dense = [
        Case(GROUP, f"dense {name}", partial(_dense, name), quick=name in ("flood of <|", "closing tags"))
        for name in corpus.DENSE_NAMES
    ]
    return [*plain, *code, *hostile, *dense]


def _size(size: int) -> str:
    return f"{size} B" if size < KIB else f"{size // KIB} KiB"


def _plain(size: int, count: int, rounds: int) -> Metrics:
    dialect = XmlDialect()
    bodies = [corpus.fill(corpus.PLAIN, size) for _ in range(count)]
    outcomes = [ToolOutcome.ok("read_file", body, tool_call_id=f"call_{at}") for at, body in enumerate(bodies)]
    history = _history(bodies)
    parts = ["[Tool results]\n"]
    for body in bodies:
        parts += ['<tool_result name="read_file" status="ok">\n', body, "\n</tool_result>\n"]
    [message] = dialect.format_results(outcomes)
    assert message.content == "".join(parts) == _by_hand(outcomes)
    samples = measure(
        {
            "format_results": lambda: dialect.format_results(outcomes),
            "replay": lambda: dialect.replay(history),
            "replay of the turn": lambda: dialect.replay(history[:1]),
            "join": lambda: "".join(parts),
            "by hand": lambda: _by_hand(outcomes),
            "record": lambda: record_of_clean(ChatMessage, role="user", content=message.content, attachments=()),
            "saxutils": lambda: "".join(map(escape, parts)),
            "lxml": lambda: _lxml(bodies),
        },
        rounds,
    )
    return {
        "to a join": Metric(samples.ratio("format_results", "join"), samples.ratio_spread("format_results", "join")),
        "to a join by hand": Metric(
            samples.ratio("format_results", "by hand"), samples.ratio_spread("format_results", "by hand")
        ),
        "to saxutils.escape": Metric(samples.ratio("format_results", "saxutils")),
        "to lxml": Metric(samples.ratio("format_results", "lxml")),
        "ns a result": Metric(samples.median("format_results") / count * 1e9, samples.spread("format_results")),
        "ns beyond the record": Metric(
            samples.difference("format_results", "record") / count * 1e9,
            samples.difference_spread("format_results", "record"),
        ),
        "replay to a join": Metric(samples.difference("replay", "replay of the turn") / samples.median("join")),
    }


def _history(bodies: list[str]) -> list[TranscriptEntry]:
    """A turn with a call for each body, and the results."""
    calls = tuple(ToolCall(id=f"call_{at}", name="read_file", arguments="{}") for at in range(len(bodies)))
    results = tuple(ToolResult(tool_call_id=f"call_{at}", content=body) for at, body in enumerate(bodies))
    return [AssistantTurn(tool_calls=calls), ToolResultBatch(results=results)]


def _by_hand(outcomes: list[ToolOutcome]) -> str:
    """The same text as a harness would write it, unescaped and not yet a record."""
    return "[Tool results]\n" + "".join(
        f'<tool_result name="{outcome.name}" status="{"ok" if outcome.success else "error"}">\n'
        f"{outcome.output}\n</tool_result>\n"
        for outcome in outcomes
    )


def _lxml(bodies: list[str]) -> str:
    """Every body as the text of an element, written out: full escaping by somebody else."""
    root = etree.Element("results")
    for body in bodies:
        etree.SubElement(root, "tool_result", name="read_file", status="ok").text = body
    written: str = etree.tostring(root, encoding="unicode")
    return written


def _renderers() -> dict[str, ToolDialect]:
    return {"with tokens": XmlDialect(), "without": XmlDialect(control_tokens=())}


def _code(unit: str, size: int, rounds: int) -> Metrics:
    body = corpus.fill(unit, size)
    outcomes = [ToolOutcome.ok("read_file", body)]
    dialects = _renderers()
    samples = measure(
        {
            **{name: partial(dialect.format_results, outcomes) for name, dialect in dialects.items()},
            **_beside(dialects["with tokens"], body),
        },
        rounds,
    )
    return {
        **{f"ns a byte {name}": Metric(samples.median(name) / size * 1e9, samples.spread(name)) for name in dialects},
        **_to_others(samples, "with tokens", size),
    }


def _beside(dialect: ToolDialect, body: str) -> dict[str, Contender]:
    """What a result is compared with: the same from a history, and full escaping by others."""
    history = _history([body])
    return {
        "replay": lambda: dialect.replay(history),
        "replay of the turn": lambda: dialect.replay(history[:1]),
        "saxutils": lambda: escape(body),
        "lxml": lambda: _lxml([body]),
    }


def _to_others(samples: Samples, name: str, size: int) -> dict[str, Metric]:
    return {
        "ns a byte replayed": Metric(
            samples.difference("replay", "replay of the turn") / size * 1e9,
            samples.difference_spread("replay", "replay of the turn"),
        ),
        "to saxutils.escape": Metric(samples.ratio(name, "saxutils"), samples.ratio_spread(name, "saxutils")),
        "to lxml": Metric(samples.ratio(name, "lxml"), samples.ratio_spread(name, "lxml")),
    }


def _hostile(size: int, rounds: int) -> Metrics:
    return _growing(corpus.fill(corpus.HOSTILE, size), corpus.fill(corpus.HOSTILE, 4 * size), rounds)


def _dense(name: str, rounds: int) -> Metrics:
    return _growing(corpus.dense(name, _DENSE), corpus.dense(name, 4 * _DENSE), rounds)


def _growing(body: str, longer: str, rounds: int) -> Metrics:
    dialect = XmlDialect()
    small, large = ([ToolOutcome.ok("read_file", text)] for text in (body, longer))
    samples = measure(
        {
            "small": lambda: dialect.format_results(small),
            "large": lambda: dialect.format_results(large),
            **_beside(dialect, body),
        },
        rounds,
    )
    return {
        "ns a byte": Metric(samples.median("small") / len(body) * 1e9, samples.spread("small")),
        "4n to n": Metric(samples.ratio("large", "small"), samples.ratio_spread("large", "small")),
        **_to_others(samples, "small", len(body)),
    }
