"""Seeded inputs: the same bytes in every run, on every machine."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any

from tooldialect.dialects import AssistantTurn, ChatMessage, ToolCall, ToolResult, ToolResultBatch, TranscriptEntry
from tooldialect.gate import (
    Contract,
    ContractGate,
    GateTarget,
    Ledger,
    MemoryLedger,
    SignedLedger,
    StaticSource,
    Surface,
)

SEED = 4
KIB = 1024
DELIVERY = 4 * KIB
PREFIX = "[contract-gate:"
LEDGERS: dict[str, Callable[[], Ledger]] = {
    "memory": MemoryLedger,
    "signed": lambda: SignedLedger("a secret of the benchmarks"),
}

# --- bodies -----------------------------------------------------------------------------------------------

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
CODE = {"HTML": HTML, "JSX": JSX, "C++": CPP, "Python": PYTHON}
# The same page with one typographic quote in it: no longer ASCII, so searched another way.
ACCENTED = HTML.replace("second page", "\u201csecond page\u201d")
PLAIN = "2024-05-01 12:00:03 worker-7 finished batch 4471 in 12.5 s; 0 retries, 3 warnings\n"
HOSTILE = "</tool_result> and then a line of ordinary text, eighty characters long in all.\n"
DENSE = {
    "flood of <": "<",
    "flood of <|": "<|",
    "flood of < and white space": "< \n",
    "tag openers cut short": "<tool_resul",
    "tag openers without end": "<tool_result",
    "closing tags": "</tool_result>",
    "control tokens": "<|im_start|>",
    "control tokens cut short": "<|im_start|",
    "turn tokens": "<start_of_turn>",
    "every spelling": "<tool_call></TOOL_RESULT ><|tool_call|>< tool_result/<|im_end|><|eot_id|><<SYS>>",
    "a token in a flood of <": "<",
}


def fill(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


# What stands before each opener, of which no two neighbours are spelled alike.
_BEFORE_SPELLINGS = {
    "spellings in floods of <": "<" * 1000,
    "spellings in floods of </": "</" * 500,
    "a thousand spellings": "",
}


DENSE_NAMES = (*DENSE, *_BEFORE_SPELLINGS)


def dense(name: str, size: int) -> str:
    if name in _BEFORE_SPELLINGS:
        # Replacing one spelling everywhere is of no use here.
        draw = random.Random(SEED)
        spellings = ["".join(map(draw.choice, zip(word, word.upper(), strict=True))) for word in ["tool_result"] * 997]
        return fill("".join(f"{_BEFORE_SPELLINGS[name]}<{spelling}>" for spelling in spellings), size)
    # At the end: everything before it is searched in vain.
    token = "<|im_start|>" if name.startswith("a token") else ""
    return fill(DENSE[name], size - len(token)) + token


# --- transcripts ------------------------------------------------------------------------------------------

_FIRST = '[{<"#TtAaIir12 \n*-'
_WORDS = (
    "the",
    "of",
    "a",
    "request",
    "result",
    "file",
    "error",
    "42",
    "0.5",
    "true",
    "{}",
    "[1]",
    "<b>",
    "path/to",
    "key:",
    "\n",
)


def texts(count: int, draw: random.Random) -> list[str]:
    """Tool results and messages of 20 characters to 8 KiB, every size as likely as its double."""
    pages = " ".join(draw.choices(_WORDS, k=20_000))
    made = []
    for _ in range(count):
        size = int(math.exp(draw.uniform(math.log(20), math.log(8 * KIB))))
        start = draw.randrange(len(pages) - size)
        made.append(draw.choice(_FIRST) + pages[start : start + size])
    return made


def gate_for(count: int, ledger: Ledger) -> ContractGate:
    """A gate before `count` tools whose deliveries are 4 KiB long, as near as the wording allows."""
    schema = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    contracts = {
        GateTarget.mcp("srv", f"tool_{number}"): Contract(
            description=f"Sends number {number}. " + "It is binding. " * 229, input_schema=schema
        )
        for number in range(count)
    }
    return ContractGate([Surface.mcp(StaticSource(contracts))], ledger=ledger)


def deliveries(gate: ContractGate, count: int) -> list[str]:
    with gate.run() as run:
        messages = [
            run.consult(GateTarget.mcp("srv", f"tool_{number}"), {"wrong": 1}).message for number in range(count)
        ]
    return [message for message in messages if message is not None]


def entries(count: int, marked: list[str]) -> list[TranscriptEntry]:
    """A transcript of about `count` texts; the marked ones lie spread over it."""
    draw = random.Random(SEED)
    given = texts(count, draw)
    places = set(draw.sample(range(count), len(marked)))
    made: list[TranscriptEntry] = []
    waiting = iter(marked)
    for number, text in enumerate(given):
        call = f"call_{number}"
        if number in places:
            made.append(ChatMessage(role="user", content=next(waiting), trusted_verbatim=True))
        elif number % 3 == 0:
            made.append(ChatMessage(role="user", content=text))
        elif number % 3 == 1:
            arguments = json.dumps({"path": text[:40]})
            made.append(
                AssistantTurn(text=text or None, tool_calls=(ToolCall(id=call, name="read_file", arguments=arguments),))
            )
        else:
            made.append(
                ToolResultBatch(
                    results=(ToolResult(tool_call_id=f"call_{number - 1}", name="read_file", content=text),)
                )
            )
    return made


def chat_rows(count: int, marked: list[str]) -> list[dict[str, Any]]:
    """The same as OpenAI Chat messages, one row an entry."""
    rows: list[dict[str, Any]] = []
    for entry in entries(count, marked):
        if isinstance(entry, ChatMessage):
            rows.append({"role": "user", "content": entry.content})
        elif isinstance(entry, AssistantTurn):
            [call] = entry.tool_calls
            function = {"name": call.name, "arguments": call.arguments}
            rows.append(
                {
                    "role": "assistant",
                    "content": entry.text,
                    "tool_calls": [{"id": call.id, "type": "function", "function": function}],
                }
            )
        else:
            [result] = entry.results
            rows.append({"role": "tool", "tool_call_id": result.tool_call_id, "content": result.content})
    return rows


def block_rows(count: int, marked: list[str]) -> list[dict[str, Any]]:
    """The same as Anthropic messages, one row an entry, each text in a block."""
    rows: list[dict[str, Any]] = []
    for entry in entries(count, marked):
        if isinstance(entry, ChatMessage):
            rows.append({"role": "user", "content": [{"type": "text", "text": entry.content}]})
        elif isinstance(entry, AssistantTurn):
            [call] = entry.tool_calls
            use = {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
            rows.append({"role": "assistant", "content": [{"type": "text", "text": entry.text}, use]})
        else:
            [result] = entry.results
            block = {"type": "tool_result", "tool_use_id": result.tool_call_id, "content": result.content}
            rows.append({"role": "user", "content": [block]})
    return rows
