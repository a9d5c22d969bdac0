"""What the dialects that write calls in tags share: reading a response, writing the JSON form."""

from __future__ import annotations

from abc import abstractmethod

from .neutralise import neutraliser
from .parsing.json_form import write_json_call
from .parsing.reported import read_reported_calls
from .parsing.tagged import CallGrammar, read_tagged
from .tags import CALL_TAGS, CATALOGUE_TAG, PROTOCOL_TAGS
from .text_dialect import TextDialect
from .transcript import ModelResponse, ParsedResponse, ParsedToolCall, reported_turn

_TAG = CALL_TAGS[0]


class TaggedCallDialect(TextDialect):
    """Calls in call tags. Calls the provider reports although it was sent no tools are read
    too, behind those in the text, with the same problems."""

    @abstractmethod
    def _grammar(self) -> CallGrammar:
        """The grammar between the tags, for one response."""

    def parse_response(self, response: ModelResponse) -> ParsedResponse:
        """Calls in tags, then reported ones; `text` without the calls (see `parsing.tagged`)."""
        reading = read_tagged(response.text or "", self._grammar(), truncated=response.truncated)
        names = [tool.name for tool in self.tools]
        calls, problems = read_reported_calls(response.tool_calls, names, truncated=response.truncated)
        return ParsedResponse(
            text=reading.text,
            calls=(*reading.calls, *calls),
            problems=(*reading.problems, *problems),
            entry=reported_turn(response),
        )

    def render_call(self, call: ParsedToolCall) -> str:
        """The call in its tag; `parse_response` reads it back equal, but for the id, which text does not carry."""
        return in_tag(self._write(call))

    def _write(self, call: ParsedToolCall) -> str:
        return self._write_json(call)

    def _write_json(self, call: ParsedToolCall) -> str:
        return write_json_call(call.name, call.arguments, self._neutralise_call)

    def render_raw_call(self, name: str, raw_arguments: str) -> str:
        return in_tag(write_json_call(name, raw_arguments, self._neutralise_call))

    def _neutralise_call(self, call: str) -> str:
        # The catalogue's tag too: an example call stands in the prompt that holds the catalogue.
        return neutraliser((*PROTOCOL_TAGS, CATALOGUE_TAG), self.control_tokens)(call)


def in_tag(call: str) -> str:
    """A call between its tags, each on a line of its own."""
    return f"<{_TAG}>\n{call}\n</{_TAG}>"
