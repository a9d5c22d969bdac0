from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tooldialect.dialects import ChatMessage, ToolDialect, ToolResultBatch


@dataclass(frozen=True)
class Control:
    """`broken` and `twin` make dialects for tools; `caught_by` are clause ids, blank-separated."""

    name: str
    meant: str
    broken: Callable[[Any], ToolDialect]
    twin: Callable[[Any], ToolDialect]
    also: str = ""

    @property
    def caught_by(self) -> frozenset[str]:
        return frozenset([self.meant, *self.also.split()])


def changed(entry, text):
    """The entry with another text."""
    if isinstance(entry, ToolResultBatch):
        [result] = entry.results
        return ToolResultBatch(results=(result.model_copy(update={"content": text}),))
    return entry.model_copy(update={"content": text})


def is_marked(entry):
    if isinstance(entry, ToolResultBatch):
        return any(result.trusted_verbatim for result in entry.results)
    return isinstance(entry, ChatMessage) and entry.trusted_verbatim


def text(entry):
    return entry.results[0].content if isinstance(entry, ToolResultBatch) else entry.content


def results(base: Any, change):
    """`base`, whose fresh entries go through `change(entries, outcomes)`."""

    class Changed(base):
        def format_results(self, outcomes):
            outcomes = list(outcomes)
            return change(super().format_results(outcomes), outcomes)

    return Changed


def replayed(base: Any, change):
    """`base`, whose replayed entries go through `change(entries, history)`."""

    class Changed(base):
        def replay(self, history):
            history = list(history)
            return change(super().replay(history), history)

    return Changed


def parsed(base: Any, change):
    """`base`, whose readings go through `change(reading, response)`."""

    class Changed(base):
        def parse_response(self, response):
            return change(super().parse_response(response), response)

    return Changed


def each_marked(change):
    """A change of entries that changes the text of marked ones."""
    return lambda entries, _: [changed(e, change(text(e))) if is_marked(e) else e for e in entries]


class EachBatchTheSame:
    """Every batch of a text dialect goes through `_batch`, rounds without a marked outcome too."""

    _split_results: Any

    def format_results(self, outcomes):
        return self._split_results(list(outcomes))


def framed(base: Any, change):
    """`base`, whose batches go through `change(text)`, fresh and in replay."""

    class Framed(EachBatchTheSame, base):
        def _batch(self, *args):
            batch = super()._batch(*args)
            return changed(batch, change(batch.content))

    return Framed
