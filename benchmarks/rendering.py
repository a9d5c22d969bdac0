"""What it costs to render tool results as text.

    python benchmarks/rendering.py [--json]

Three tables. Plain bodies, as a ratio to a bare `"".join` of the same parts in the same run:
at most 2; framing alone, and from outcomes to messages, where reading a record's fields
outweighs copying 4 KiB. Code of 64 KiB, in ns a byte: at most 1.0. Hostile and dense bodies at n and 4n
bytes: a ratio near 4 is linear, near 16 quadratic. The best of many repetitions is taken,
in one process; numbers on a busy machine are only fit to be compared with each other.
"""

from __future__ import annotations

import argparse
import json
import timeit
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

from tooldialect.dialects import AssistantTurn, ParsedResponse, ToolOutcome
from tooldialect.dialects.envelope import frame
from tooldialect.dialects.neutralise import neutraliser
from tooldialect.dialects.tags import CONTROL_TOKENS
from tooldialect.dialects.text_dialect import TextDialect

KIB = 1024
CODE_SIZE = 64 * KIB

HTML = """<div class="card" id="card_12" data-key="Y|7">
  <h2>Results &amp; totals</h2>
  <p>The <a href="/reports/2024?page=2">second page</a> lists <em>every</em> order.</p>
  <ul><li>One</li><li>Two</li></ul>
</div>
"""
JSX = """export function Card({ title, items, onSelect }) {
  const total = window.scrollY + items.reduce((sum, item) => sum + item.price, 0);
  if (items.length < 2 || total > MAX_TOTAL) return <Empty title={title} />;
  return (
    <section className="card">
      <h2>{title}</h2>
      {items.map((item) => <Row key={item.id} item={item} onClick={() => onSelect(item)} />)}
    </section>
  );
}
"""
CPP = """template <typename Key, typename Value>
std::vector<std::pair<Key, Value>> sorted_items(const std::map<Key, Value>& source_map) {
  std::vector<std::pair<Key, Value>> items_out(source_map.begin(), source_map.end());
  for (size_t index = 0; index < items_out.size(); ++index) {
    std::cout << items_out[index].first << " -> " << items_out[index].second << std::endl;
  }
  return items_out;
}
"""
PYTHON = """def read_rows(self, table_name: str, *, page_size: int = 100) -> list[dict[str, Any]]:
    rows_read = self._connection.execute(f"select * from {table_name} limit {page_size}")
    if len(rows_read) < page_size:
        self._last_page_seen = True
    return [row_as_dict(row) for row in rows_read]
"""
PLAIN = "2024-05-01 12:00:03 worker-7 finished batch 4471 in 12.5 s; 0 retries, 3 warnings\n"

DENSE = {
    "flood of <": "<",
    "flood of _": "_",
    "flood of |": "|",
    "flood of <|": "<|",
    "flood of < and white space": "< \n",
    "one < and white space": " ",
    "tag openers cut short": "<tool_resul",
    "tag openers without end": "<tool_result",
    "tag words": "tool_result ",
    "closing tags": "</tool_result>",
    "control tokens": "<|im_start|>",
    "control tokens cut short": "<|im_start|",
    "turn tokens": "<start_of_turn>",
    "one hostile tag in a line": "</tool_result> and then a line of ordinary text, eighty characters long in all.\n",
}


class Dialect(TextDialect):
    """Only the results are rendered here."""

    name = "benchmark"

    def parse_response(self, response: Any) -> ParsedResponse:
        return ParsedResponse(text="", entry=AssistantTurn())

    def render_call(self, call: Any) -> str:
        return ""

    def render_raw_call(self, name: str, raw_arguments: str) -> str:
        return ""

    def prompt_instructions(self, tools: Any) -> str:
        return ""


def fill(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def best(run: Callable[[], object]) -> float:
    """Seconds of processor time of one run, the best of several series."""
    number = max(1, int(0.01 / max(timeit.timeit(run, number=1), 1e-7)))
    return min(timeit.repeat(run, number=number, repeat=9, timer=process_time)) / number


def render(dialect: Dialect, body: str) -> float:
    outcomes = [ToolOutcome.ok("read_file", body)]
    return best(partial(dialect.format_results, outcomes))


def plain_rows(dialect: Dialect) -> Iterator[dict[str, Any]]:
    break_tags = neutraliser(dialect.protocol_tags, dialect.control_tokens)
    for size, count in ((4 * KIB, 64), (4 * KIB, 1024), (64 * KIB, 4), (64 * KIB, 64), (1024 * KIB, 4)):
        bodies = [fill(PLAIN, size) for _ in range(count)]
        parts = ["[Tool results]\n"]
        for body in bodies:
            parts += ['<tool_result name="read_file" status="ok">\n', body, "\n</tool_result>\n"]
        outcomes = [ToolOutcome.ok("read_file", body) for body in bodies]
        join = best(partial("".join, parts))
        pairs = list(zip(parts[1::3], bodies, strict=True))
        yield {
            "case": f"{count} plain bodies of {size // KIB} KiB",
            "ratio to join, framing": best(partial(frame, pairs, break_tags, "<")) / join,
            "with records": best(partial(dialect.format_results, outcomes)) / join,
        }
    small = [ToolOutcome.ok("read_file", fill(PLAIN, 200)) for _ in range(64)]
    yield {"case": "64 results of 200 B", "ns a result": best(partial(dialect.format_results, small)) / 64 * 1e9}


def code_rows(dialects: dict[str, Dialect]) -> Iterator[dict[str, Any]]:
    for case, unit in {"HTML": HTML, "JSX": JSX, "C++": CPP, "Python": PYTHON}.items():
        body = fill(unit, CODE_SIZE)
        yield {"case": case, **{name: render(dialect, body) / CODE_SIZE * 1e9 for name, dialect in dialects.items()}}


def dense_rows(dialect: Dialect) -> Iterator[dict[str, Any]]:
    for case, unit in DENSE.items():
        lead = "<" if case.startswith("one <") else ""
        small, large = (render(dialect, lead + fill(unit, size)) for size in (CODE_SIZE, 4 * CODE_SIZE))
        yield {"case": case, "ns a byte": small / CODE_SIZE * 1e9, "4n to n": large / small}


def show(title: str, rows: list[dict[str, Any]]) -> None:
    print(f"\n{title}")
    for row in rows:
        numbers = "  ".join(f"{name} {value:.2f}" for name, value in row.items() if name != "case")
        print(f"  {row['case']:<28} {numbers}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    as_json = parser.parse_args().json
    with_tokens, without = Dialect(control_tokens=CONTROL_TOKENS), Dialect(control_tokens=())
    tables = {
        "Plain bodies (at most 2 times a join)": list(plain_rows(with_tokens)),
        "Code of 64 KiB, ns a byte (at most 1.0)": list(
            code_rows({"without control tokens": without, "with": with_tokens})
        ),
        "Dense bodies (linear: 4n to n near 4)": list(dense_rows(with_tokens)),
    }
    if as_json:
        print(json.dumps(tables))
        return
    for title, rows in tables.items():
        show(title, rows)


if __name__ == "__main__":
    main()
