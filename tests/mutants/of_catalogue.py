from __future__ import annotations

import re
import textwrap
from typing import Any

from tooldialect.dialects import NativeDialect, PFormatDialect, XmlDialect

from .control import Control


def each(base: Any, change):
    """`base`, whose catalogue tells of each tool as `change` left it."""

    class Changed(base):
        def prompt_instructions(self, tools):
            return super().prompt_instructions([change(tool) for tool in tools])

    return Changed


def described(change):
    """A change of tools that changes their descriptions."""
    return lambda tool: tool.model_copy(update={"description": change(tool.description)})


def schemas(change):
    """A change of tools: `change(keyword, value)` for all that their schemas hold, None to leave it out."""

    def inside(value):
        if isinstance(value, dict):
            held = {key: change(key, inside(inner)) for key, inner in value.items()}
            return {key: inner for key, inner in held.items() if inner is not None}
        return [inside(item) for item in value] if isinstance(value, list) else value

    return lambda tool: tool.model_copy(update={"parameters": inside(tool.parameters)})


def details(change):
    """The same for the descriptions in schemas."""
    return schemas(lambda key, value: change(value) if key == "description" and isinstance(value, str) else value)


def without(keyword):
    return schemas(lambda key, value: None if key == keyword else value)


def outer_details_only(tool):
    """Of a parameter that has parts the parts are not described."""
    outer = {
        name: {k: v for k, v in schema.items() if k == "description" or not isinstance(v, dict | list)}
        for name, schema in tool.parameters.get("properties", {}).items()
    }
    return tool.model_copy(update={"parameters": {**tool.parameters, "properties": outer}})


def ten_values(key, value):
    return value[:10] if key == "enum" else value


class SkipsDescriptions(XmlDialect):
    def prompt_instructions(self, tools):
        return super().prompt_instructions([tool.model_copy(update={"description": ""}) for tool in tools])


class SkipsLast(PFormatDialect):
    def prompt_instructions(self, tools):
        return super().prompt_instructions(tools[:2])


class SkipsParameters(XmlDialect):
    def prompt_instructions(self, tools):
        return super().prompt_instructions(
            [t.model_copy(update={"parameters": {"type": "object", "properties": {}}}) for t in tools]
        )


class TellsTwice(NativeDialect):
    def prompt_instructions(self, tools):
        return XmlDialect().prompt_instructions(tools)


class SkipsAllButTwenty(XmlDialect):
    def prompt_instructions(self, tools):
        return super().prompt_instructions(tools[:20])


class SkipsAllButThousands(XmlDialect):
    def prompt_instructions(self, tools):
        return super().prompt_instructions(tools[:5000])


class TellsItsOwnTools(PFormatDialect):
    def prompt_instructions(self, tools):
        return super().prompt_instructions(self.tools)


class TellsItsOwnToolsIfAny(XmlDialect):
    def prompt_instructions(self, tools):
        return super().prompt_instructions(self.tools or tools)


class TellsItsOwnToolsToo(XmlDialect):
    def prompt_instructions(self, tools):
        given = {tool.name for tool in tools}
        return super().prompt_instructions([*tools, *(tool for tool in self.tools if tool.name not in given)])


class TellsWhatItKnows(XmlDialect):
    """Of a tool that it was made with under that name."""

    known = True

    def prompt_instructions(self, tools):
        own = {tool.name: tool for tool in self.tools} if self.known else {}
        return super().prompt_instructions([own.get(tool.name, tool) for tool in tools])


class TellsWhatItIsGiven(TellsWhatItKnows):
    known = False


class ShowsExamplesOfItsOwn(XmlDialect):
    """The catalogue is of the given tools, the example of those it was made with."""

    def example(self, tools):
        return self.tools

    def prompt_instructions(self, tools):
        shown = "".join(f"\nFor instance {tool.name}." for tool in self.example(tools)[:1])
        return super().prompt_instructions(tools) + shown


class ShowsExamplesOfTheGiven(ShowsExamplesOfItsOwn):
    def example(self, tools):
        return tools


class ShortensWhenMany(XmlDialect):
    """Beyond so many characters in all, every description loses its end."""

    budget = 20_000

    def prompt_instructions(self, tools):
        if len(tools) > 1 and sum(len(tool.description) for tool in tools) > self.budget:
            tools = [tool.model_copy(update={"description": tool.description[:120]}) for tool in tools]
        return super().prompt_instructions(tools)


class ShortensNever(ShortensWhenMany):
    budget = float("inf")


CONTROLS = [
    Control("tells no descriptions", "C6", SkipsDescriptions, XmlDialect),
    Control("tells of some tools only", "C6", SkipsLast, PFormatDialect),
    Control("tells no parameters", "C6", SkipsParameters, XmlDialect),
    Control("tells natively sent tools in the prompt too", "C6", TellsTwice, NativeDialect),
    Control("tells of the first twenty tools", "C6", SkipsAllButTwenty, SkipsAllButThousands),
    Control("tells of the tools it was made with", "C10", TellsItsOwnTools, PFormatDialect),
    Control("tells of the tools it was made with, if there are any", "C10", TellsItsOwnToolsIfAny, XmlDialect),
    Control("tells of the tools it was made with too", "C10", TellsItsOwnToolsToo, XmlDialect),
    Control("tells of a tool as it was made with it", "C10", TellsWhatItKnows, TellsWhatItIsGiven),
    Control("shows an example of the tools it was made with", "C10", ShowsExamplesOfItsOwn, ShowsExamplesOfTheGiven),
    Control("cuts descriptions", "C11", each(XmlDialect, described(lambda d: d[:1000])), each(XmlDialect, described(lambda d: d[:100_000]))),
    Control("shortens descriptions to so many characters", "C11", each(PFormatDialect, described(lambda d: textwrap.shorten(d, 1024))), PFormatDialect),
    Control("tells the first line of descriptions", "C11", each(XmlDialect, described(lambda d: d.partition("\n")[0])), XmlDialect),
    Control("wraps descriptions", "C11", each(XmlDialect, described(lambda d: textwrap.fill(d, 88))), XmlDialect),
    Control("folds the white space of descriptions", "C11", each(PFormatDialect, described(lambda d: re.sub(r"\s+", " ", d))), PFormatDialect),
    Control("dedents descriptions", "C11", each(XmlDialect, described(lambda d: re.sub(r"\n +", "\n", d))), XmlDialect),
    Control("takes markup out of descriptions", "C11", each(XmlDialect, described(lambda d: re.sub(r"<[^>]*>", "", d))), each(XmlDialect, described(lambda d: d.replace("<", "&lt;")))),
    Control("shortens descriptions when there are many", "C11", ShortensWhenMany, ShortensNever),
    Control("cuts descriptions of parameters", "C11", each(PFormatDialect, details(lambda d: d[:200])), each(PFormatDialect, without("description"))),
    Control("wraps descriptions of parameters", "C11", each(XmlDialect, details(lambda d: textwrap.fill(d, 88))), each(XmlDialect, without("title"))),
    Control("tells no descriptions of parameters", "C11", each(XmlDialect, without("description")), each(PFormatDialect, without("description"))),
    Control("describes no parts of parameters", "C11", each(XmlDialect, outer_details_only), each(PFormatDialect, outer_details_only)),
    Control("tells no definitions", "C11", each(XmlDialect, without("$defs")), each(PFormatDialect, without("$defs"))),
    Control("tells ten values of an enum", "C11", each(PFormatDialect, schemas(ten_values)), each(PFormatDialect, without("title"))),
    Control("tells no enums", "C11", each(XmlDialect, without("enum")), each(PFormatDialect, without("enum"))),
]  # fmt: skip
