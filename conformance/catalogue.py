"""C: what the model is told it can call: every tool, to the last word, and no other."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

from tooldialect.dialects import ModelResponse, ToolSpec

from .clause import Chapter, require, require_same
from .tools import ANYTHING, OTHER, PING, TOOLS, WEATHER
from .trial import Trial

CATALOGUE = Chapter[Trial]("C", "catalogue")

# As many as a host with a few servers offers.
_MANY = 80
# Characters of a line, of a paragraph, of what servers write, and of the longest that they do.
_LENGTHS = (100, 300, 1200, 5000, 40_000)


@CATALOGUE.clause(
    "C6",
    "The catalogue names every tool, what it does and what it takes; where there is none, tools are sent as specs.",
    reason="A model calls what it was told of.",
    prevents="A tool that exists and is never called, or called with made-up parameter names.",
    needs=("catalogue",),
)
def _catalogue(trial: Trial) -> None:
    about = trial.about
    require(about.embeds_catalogue or about.sends_tool_specs, "the tools are neither in the prompt nor sent as specs")

    def check(tools: tuple[ToolSpec, ...]) -> None:
        block = trial.subject(tools).prompt_instructions(tools)
        if not about.embeds_catalogue:
            told = [tool.name for tool in tools if tool.name in block]
            require(not told, f"the tools {told} are told twice: in the prompt and as specs", got=block)
            return
        require(block.strip() != "", "the dialect has no protocol block for the prompt")
        for tool in tools:
            for wanted in (tool.name, tool.description, *tool.parameters.get("properties", {})):
                require(wanted in block, f"{wanted!r} of the tool {tool.name!r} is not in the catalogue", got=block)
        if "calls" in about.meets() and trial.offers("parse_response"):
            _require_examples(trial, tools, block)

    trial.search.every([(WEATHER,), TOOLS, (ANYTHING, PING), (OTHER,), (), _many_tools(1)], check)


@CATALOGUE.clause(
    "C10",
    "The catalogue is of the tools that it is given, whatever tools the dialect was made with.",
    reason="A host offers fewer tools to a sub-agent, and more once a server has come up.",
    prevents="A model that is told of tools it has not, and not of those it has.",
    needs=("catalogue",),
)
def _of_the_given(trial: Trial) -> None:
    older = WEATHER.model_copy(update={"description": "An older weather", "parameters": PING.parameters})

    def check(made_with: tuple[ToolSpec, ...], given: tuple[ToolSpec, ...]) -> None:
        want = trial.subject(given).prompt_instructions(given)
        got = trial.subject(made_with).prompt_instructions(given)
        if want == got:
            return
        for tool in given:
            require(
                tool.name in got or tool.name not in want,
                f"the tool {tool.name!r} is given and is not in the catalogue",
                got=got,
            )
        for tool in made_with:
            require(
                tool.name in want or tool.name not in got,
                f"the dialect was made with the tool {tool.name!r}, which is not given, and tells of it",
                got=got,
            )
        require_same(want, got, "the catalogue of the same tools depends on what the dialect was made with")

    offers: list[tuple[ToolSpec, ...]] = [(), (OTHER,), (WEATHER, PING), (older,)]
    pairs = [(made_with, given) for made_with in offers for given in offers if made_with != given]
    trial.search.every(pairs, lambda pair: check(*pair))


@dataclass(frozen=True)
class _Place:
    """Where in a tool a text can stand. `tool` makes one with it there; `owner` is the name that the text is of."""

    name: str
    tool: Callable[[str], ToolSpec]
    owner: str = "quarry"

    def words(self, length: int) -> str:
        """A text of that length, in which no word comes twice."""
        stem = re.sub(r"[^a-z]", "", self.name)
        count = max(2, length // (len(stem) + 6))
        return " ".join(f"{stem}{number:04}{',' if number % 7 == 0 else ''}" for number in range(count))


def _taking(schema: dict[str, Any], **more: Any) -> ToolSpec:
    parameters = {"type": "object", "properties": {"quarry": schema}, **more}
    return ToolSpec(name="dig_up", description="Digs", parameters=parameters)


def _object(text: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"depth": {"type": "integer", "description": text}}}


_PLACES = (
    _Place("the tool's description", lambda text: ToolSpec(name="dig_up", description=text), "dig_up"),
    _Place("a parameter's description", lambda text: _taking({"type": "string", "description": text})),
    _Place("the description inside an object", lambda text: _taking(_object(text))),
    _Place(
        "the description inside an array",
        lambda text: _taking({"type": "array", "items": _object(text)}),
    ),
    _Place(
        "the description inside an alternative",
        lambda text: _taking({"anyOf": [_object(text), {"type": "null"}]}),
    ),
    _Place(
        "the description inside a definition",
        lambda text: _taking({"$ref": "#/$defs/Site"}, **{"$defs": {"Site": _object(text)}}),
    ),
)


@CATALOGUE.clause(
    "C11",
    "The catalogue tells descriptions and enums whole: not cut, not re-wrapped, however long and however many.",
    reason="The end of a long description is where servers write formats, limits and what not to do.",
    prevents="A model that guesses what it was not shown, while the host believes that it was told.",
    needs=("catalogue",),
)
def _whole(trial: Trial) -> None:
    if not trial.about.embeds_catalogue:
        return

    def block(*tools: ToolSpec) -> str:
        return trial.subject(tools).prompt_instructions(tools)

    told = [place for place in _PLACES if _is_told(trial, place.name, place.tool("quartz"), place.owner, "quartz")]
    by_name = {place.name: place for place in told}
    trial.search.every(
        [(place.name, length) for place in told for length in _LENGTHS],
        lambda case: _require_whole(
            case[0], by_name[case[0]].words(case[1]), block(by_name[case[0]].tool(by_name[case[0]].words(case[1])))
        ),
    )
    trial.search.every(by_name, lambda name: _require_lines(name, by_name[name], block))
    trial.search.every(by_name, lambda name: _require_marks(name, by_name[name], block))

    # The last one: a call that shows how to call may hold the first.
    few = _taking({"enum": ["quartz", "gneiss"]})
    if _is_told(trial, "an enum", few, "quarry", "gneiss"):
        trial.search.every((10, 100, 1000), lambda count: _require_enum(count, block))
    _require_whole_of_many(by_name, block)


def _is_told(trial: Trial, what: str, tool: ToolSpec, owner: str, word: str) -> bool:
    """Whether a short text in that place is in the catalogue. A dialect that writes calls as JSON shows schemas
    whole; others may leave things out, but then the short as well as the long."""
    shown = trial.subject((tool,)).prompt_instructions((tool,))
    if word in shown:
        return True
    # What does not name the tool or the parameter is what C6 looks at; so is the tool's description.
    named = owner in shown and owner != tool.name
    require(
        not named or trial.about.call_format != "json", f"{what} is not in the catalogue at all", want=word, got=shown
    )
    return False


def _require_whole(what: str, text: str, block: str) -> None:
    if text in block:
        return
    words = text.split()
    told = [word for word in words if word in block]
    start = max(block.find(words[0]), 0)
    require(
        len(told) == len(words),
        f"{what} is cut: of its {len(words)} words {len(told)} are in the catalogue",
        want=text,
        got=block[start : start + len(text)],
    )
    require(False, f"{what} is re-wrapped", want=text, got=block[start : start + len(text)])


def _require_lines(what: str, place: _Place, block: Callable[..., str]) -> None:
    """However a dialect writes line breaks, a text with them is not the text without."""
    lines = ["Usage:", "    quartz first", "        then gneiss", "", "- basalt  twice"]
    shown = block(place.tool("\n".join(lines)))
    missing = [line.strip() for line in lines if line.strip() not in shown]
    require(not missing, f"{what} lost the lines {missing}", got=shown)
    for other, said in (
        (" ".join(line.strip() for line in lines), "line breaks"),
        ("\n".join(line.lstrip() for line in lines), "indentation"),
    ):
        require(block(place.tool(other)) != shown, f"{what} reads the same without its {said}", got=shown)


def _require_marks(what: str, place: _Place, block: Callable[..., str]) -> None:
    """Marks may be escaped; the words between them are the server's."""
    text = 'Takes <place_name> or {coordinates}, see `usage` and "quoted" [link](target) # heading & rest | last'
    shown = block(place.tool(text))
    lost = [word for word in re.findall(r"\w+", text) if word not in shown]
    require(not lost, f"{what} lost the words {lost}", want=text, got=shown)


def _require_enum(count: int, block: Callable[..., str]) -> None:
    values = [f"quartz{number:04}" for number in range(count)]
    shown = block(_taking({"enum": values}))
    told = [value for value in values if value in shown]
    require(len(told) == count, f"of the {count} values of an enum {len(told)} are in the catalogue", got=shown)


def _require_whole_of_many(told: Container[str], block: Callable[..., str]) -> None:
    """A budget for all of them together cuts none of them."""
    tools = _many_tools(40)
    shown = block(*tools)
    for number, tool in enumerate(tools):
        # Of a tool that is not named C6 speaks.
        if tool.name not in shown:
            continue
        [parameter] = tool.parameters["properties"].values()
        for place, text in zip(_PLACES, (tool.description, parameter["description"]), strict=False):
            if place.name in told:
                _require_whole(f"with {len(tools)} tools, {place.name} in number {number}", text, shown)


def _many_tools(words: int) -> tuple[ToolSpec, ...]:
    def described(stem: str) -> str:
        return " ".join(f"{stem}x{place:02}" for place in range(words))

    return tuple(
        ToolSpec(
            name=f"tool_{number:03}",
            description=described(f"word{number:03}"),
            parameters={
                "type": "object",
                "properties": {f"slot_{number:03}": {"type": "string", "description": described(f"hint{number:03}")}},
            },
        )
        for number in range(_MANY)
    )


def _require_examples(trial: Trial, tools: tuple[ToolSpec, ...], block: str) -> None:
    """Calls that the block shows are calls of the tools it tells of; without tools it shows some all the same."""
    if tools:
        read = trial.subject(tools).parse_response(ModelResponse(text=block))
        names = [call.name for call in read.calls] + [
            problem.name for problem in read.problems if problem.kind == "unknown_tool"
        ]
        strange = [name for name in names if name not in {tool.name for tool in tools}]
        require(not strange, f"the catalogue's examples call {strange}, which are no tools", got=block)
        return
    with_tools = trial.subject((OTHER,))
    if with_tools.parse_response(ModelResponse(text=with_tools.prompt_instructions((OTHER,)))).calls:
        read = trial.subject().parse_response(ModelResponse(text=block))
        require(
            read.calls or read.problems, "with tools the block shows how to call, without tools it does not", got=block
        )
