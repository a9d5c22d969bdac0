"""C: a call is spelled one way, and what is in it opens nothing."""

from __future__ import annotations

from hypothesis import strategies as st

from tooldialect.dialects import AssistantTurn, ChatMessage, ModelResponse, ParsedToolCall, ToolCall

from .clause import Chapter, require
from .entries import all_text
from .faults import Unsayable
from .same_json import shown_json
from .sample_calls import calls_by_hand, is_plain, require_calls
from .strategies import hostile_text, tag_pattern, words, written_hostile
from .tools import TOOLS
from .trial import Trial

SPELLING = Chapter[Trial]("C", "spelling")


@SPELLING.clause(
    "C7",
    "In replay a structured call is shown as this dialect writes it.",
    reason="A model imitates its own history.",
    prevents="A conversation that teaches the model another spelling than the one that is read.",
    needs=("text", "replay", "parsing", "calls"),
)
def _shown_as_written(trial: Trial) -> None:
    subject = trial.subject(TOOLS)

    def check(calls: list[ParsedToolCall]) -> None:
        turn = AssistantTurn(
            text="Let me look.",
            tool_calls=tuple(
                ToolCall(id=f"c{n}", name=c.name, arguments=shown_json(c.arguments)) for n, c in enumerate(calls)
            ),
        )
        [shown] = subject.replay([turn])
        require(
            isinstance(shown, ChatMessage) and shown.role == "assistant",
            "an assistant turn is not replayed as the assistant's",
        )
        require(
            all_text([shown]).startswith("Let me look."),
            "the words of the turn do not come first",
            got=all_text([shown]),
        )
        response = ModelResponse(text=all_text([shown]))
        require_calls(trial, calls, subject.parse_response(response), response)

    def check_unreadable(raw: str) -> None:
        turn = AssistantTurn(text="Let me look.", tool_calls=(ToolCall(id="c", name="ping", arguments=raw),))
        text = all_text(subject.replay([turn]))
        require(
            raw in text and "ping" in text,
            "a call whose arguments cannot be read is not shown as it was",
            want=raw,
            got=text,
        )
        require(
            not subject.parse_response(ModelResponse(text=text)).calls,
            "a call that could not be read is shown as one that can",
            got=text,
        )

    plain = [call for call in calls_by_hand(trial) if is_plain(call)]
    calls = st.builds(ParsedToolCall, name=st.just("get_weather"), arguments=st.fixed_dictionaries({"location": words}))
    trial.search.any(st.lists(calls, min_size=1, max_size=3), check, [[call] for call in plain] + [plain])
    trial.search.every(["not json", '{"a": ', "[1, 2]", "12"], check_unreadable)


@SPELLING.clause(
    "C8",
    "A call is spelled in the format the dialect declares, and what its arguments hold opens nothing in it.",
    reason="A rendered call stands in the assistant's turn; chat templates and parsers read it there.",
    prevents="An argument that ends its call or its turn, and a catalogue that teaches one format while another is written.",
    needs=("text", "calls"),
)
def _spelled(trial: Trial) -> None:
    subject = trial.subject(TOOLS)
    tags, tokens = trial.about.protocol_tags, trial.about.control_tokens
    live = tag_pattern(tags)

    def spelled(text: str) -> str:
        return subject.render_call(ParsedToolCall(name="get_weather", arguments={"location": text}))

    plain = spelled("London")
    quoted = '"London"' in plain.replace(" ", "")
    require("London" in plain, "a plain argument cannot be read in the call", got=plain)
    if trial.about.call_format in ("json", "slots"):
        require(
            quoted == (trial.about.call_format == "json"),
            f"a call is not spelled as {trial.about.call_format}",
            got=plain,
        )

    def check(text: str) -> None:
        try:
            call = spelled(text)
        except Unsayable:
            return
        want, got = len(live.findall(plain)), len(live.findall(call))
        require(got == want, f"a call has {want} tags around a plain argument and {got} around this one", got=call)
        alive = [token for token in tokens if token in call]
        require(not alive, f"the control tokens {alive} are whole in a call", got=call)

    trial.search.any(hostile_text(tags, tokens), check, [*written_hostile(tags), *tokens])
