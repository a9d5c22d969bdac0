"""The xml dialect: calls as JSON in `<tool_call>` tags, results in `<tool_result>` tags.

    <tool_call>
    {"name": "get_weather", "arguments": {"location": "London"}}
    </tool_call>

`render_call` can say every call: any name, any arguments. Nothing raises RenderError.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .catalogue import render_catalogue
from .dialect import CallFormat
from .parsing.json_form import JsonGrammar
from .parsing.tagged import CallGrammar
from .sample_calls import sample_calls
from .tagged_calls import TaggedCallDialect
from .tags import CALL_TAGS, RESULT_TAGS
from .transcript import ToolSpec

_CALL, _RESULT = CALL_TAGS[0], RESULT_TAGS[0]
_RULES = f"""\
# Tools

To call a tool, write its name and arguments as one JSON object between {_CALL} tags:

{{examples}}

- `arguments` is an object that fits the tool's `parameters`. Escape strings as JSON does.
- Close every call with its own closing tag. For several calls, write several blocks.
- After your calls, stop. The results come in the next message, in {_RESULT} tags; never write them yourself.
"""


class XmlDialect(TaggedCallDialect):
    """JSON calls in tags. `well_formed`: result batches are well-formed XML fragments."""

    name: ClassVar[str] = "xml"
    call_format: ClassVar[CallFormat] = "json"

    def prompt_instructions(self, tools: Sequence[ToolSpec]) -> str:
        """How to call, with two examples, then the catalogue of `tools`."""
        examples = "\n".join(map(self.render_call, sample_calls(tools)))
        rules = _RULES.format(examples=examples)
        return f"{rules}\nThe tools:\n\n{render_catalogue(tools, self.call_format)}\n" if tools else rules

    def _grammar(self) -> CallGrammar:
        return JsonGrammar(tool.name for tool in self.tools)
