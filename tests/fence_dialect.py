"""A dialect whose results stand in Markdown fences, longer than any in the body; its calls are those of the
tool-response one. Bare tool messages get a fence too."""

from __future__ import annotations

import json
import re

from line_dialect import LineDialect
from tool_response_dialect import LIVE

RUN = re.compile("`+")
RESULT = re.compile(r"^### (\".*?\") (ok|failed)\n(`{3,})\n(.*?)\n\3$", re.MULTILINE | re.DOTALL)
HEAD = re.compile(r"^(?=### \")", re.MULTILINE)


class FenceDialect(LineDialect):
    name = "fence"

    def fence(self, body):
        longest = max(map(len, RUN.findall(body)), default=0)
        return "`" * max(3, longest + 1)

    def line(self, name, success, body):
        fence = self.fence(body)
        return f"### {self.title(name)} {'ok' if success else 'failed'}\n{fence}\n{LIVE.sub('&lt;', body)}\n{fence}"

    def read_results(self, entries):
        return [
            (json.loads(name), status == "ok", body)
            for entry in entries
            if not entry.trusted_verbatim
            for name, status, _, body in RESULT.findall(entry.content)
        ]

    def own(self, text):
        return HEAD.sub("~ ", text)

    def bare(self, text):
        return self.line("tool", True, text)
