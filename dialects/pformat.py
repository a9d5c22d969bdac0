r"""The p-format dialect: compact calls, each value behind the number of its slot.

    <tool_call>
    get_weather[0|London|1|metric]
    </tool_call>

Slots are a tool's parameters in code-point order. In values `|`, `]` and `\` are escaped by
a backslash; a backslash before anything else stays.

`render_call` writes the JSON form where slots cannot say a call: a tool that is not given
or whose name is more than ASCII letters, digits and `_ . : / -`; an argument that is no
parameter; a value whose text would be read as another (a number for a string parameter,
text for a parameter of another type that spells that type); a value that would spell a
protocol tag or a control token. With it every call can be said: nothing raises RenderError.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from .catalogue import render_catalogue
from .dialect import CallFormat
from .parsing.slot_form import SlotForm
from .parsing.slot_grammar import SlotGrammar
from .parsing.tagged import CallGrammar
from .sample_calls import sample_calls, sample_tools
from .tagged_calls import TaggedCallDialect
from .tags import CALL_TAGS, CONTROL_TOKENS, RESULT_TAGS
from .transcript import ParsedToolCall, ToolSpec

_CALL, _RESULT = CALL_TAGS[0], RESULT_TAGS[0]
_RULES = f"""\
# Tools

To call a tool, write its name and, in brackets, slot numbers and values, between {_CALL} tags:

{{examples}}

- The catalogue numbers the slots of each tool. Every value stands behind the number of its slot: `0|value|1|value`.
- Leave out the slots you do not need, number and value. With no value at all, write the brackets alone.
- In a value write `\\|` for `|`, `\\]` for `]`, `\\\\` for a backslash. Line breaks and quotes need nothing.
- Text is written without quotes. Numbers, true, false, null, arrays and objects are written as JSON, then escaped.
- What this cannot say, write between the tags as JSON: `{{{{"name": "TOOL", "arguments": {{{{…}}}}}}}}`.
- Close every call with its own closing tag. For several calls, write several blocks.
- After your calls, stop. The results come in the next message, in {_RESULT} tags; never write them yourself.
"""


class PFormatDialect(TaggedCallDialect):
    """Slot-numbered calls in tags; the tools given say which slot is which parameter."""

    name: ClassVar[str] = "pformat"
    call_format: ClassVar[CallFormat] = "slots"

    def __init__(self, tools: Sequence[ToolSpec] = (), *, control_tokens: Iterable[str] = CONTROL_TOKENS) -> None:
        super().__init__(tools, control_tokens=control_tokens)
        self._forms = {tool.name: SlotForm(tool) for tool in self.tools}

    def prompt_instructions(self, tools: Sequence[ToolSpec]) -> str:
        """How to call, with two examples, then the catalogue of `tools`."""
        writer = PFormatDialect(sample_tools(tools), control_tokens=self.control_tokens)
        rules = _RULES.format(examples="\n".join(map(writer.render_call, sample_calls(tools))))
        return f"{rules}\nThe tools:\n\n{render_catalogue(tools, self.call_format)}\n" if tools else rules

    def _grammar(self) -> CallGrammar:
        return SlotGrammar(self._forms)

    def _write(self, call: ParsedToolCall) -> str:
        form = self._forms.get(call.name)
        slots = form.write(call.arguments) if form else None
        return slots if slots is not None and self._neutralise_call(slots) == slots else self._write_json(call)
