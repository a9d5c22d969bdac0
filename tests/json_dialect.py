"""The smallest concrete text dialect, for tests of what `TextDialect` itself promises."""

import json

from tooldialect.dialects import AssistantTurn, ParsedResponse, ParsedToolCall, RenderError
from tooldialect.dialects.text_dialect import TextDialect


class JsonDialect(TextDialect):
    name = "json-test"

    def parse_response(self, response):
        return ParsedResponse(text=response.text or "", entry=AssistantTurn(text=response.text))

    def render_call(self, call: ParsedToolCall) -> str:
        if call.name == "unsayable":
            raise RenderError("this test refuses the name", name=call.name)
        body = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
        return f"<tool_call>\n{body}\n</tool_call>"

    def render_raw_call(self, name: str, raw_arguments: str) -> str:
        return f"<tool_call>\n{name} {raw_arguments}\n</tool_call>"

    def prompt_instructions(self, tools):
        return ""
