"""A dialect whose results stand between lines and not between tags; its calls are those of the tool-response one."""

from __future__ import annotations

import json
import re

from tool_response_dialect import LIVE, ToolResponseDialect
from tooldialect.dialects import ChatMessage

FRAME = re.compile(r"^(\\*)(?=@@(?:result|end)\b)", re.MULTILINE)
QUOTED = re.compile(r"^(\\*)\\(?=@@(?:result|end)\b)", re.MULTILINE)
RESULT = re.compile(r"^@@result (\".*?\") (ok|failed)\n(.*?)\n@@end$", re.MULTILINE | re.DOTALL)


class LineDialect(ToolResponseDialect):
    name = "line"
    protocol_tags = ()

    def quote(self, body):
        return LIVE.sub("&lt;", FRAME.sub(r"\1\\", body))

    def title(self, name):
        return LIVE.sub("\\\\u003c", json.dumps(name, ensure_ascii=False))

    def line(self, name, success, body):
        return f"@@result {self.title(name)} {'ok' if success else 'failed'}\n{self.quote(body)}\n@@end"

    def batch(self, results):
        return ChatMessage(role="user", content="\n".join(self.line(*result) for result in results))

    def read_results(self, entries):
        return [
            (json.loads(name), status == "ok", QUOTED.sub(r"\1", body))
            for entry in entries
            if not entry.trusted_verbatim
            for name, status, body in RESULT.findall(entry.content)
        ]

    def own(self, text):
        return FRAME.sub(r"\1\\", text)

    def bare(self, text):
        return LIVE.sub("&lt;", FRAME.sub(r"\1\\", text))
