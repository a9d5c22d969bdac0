"""Dialects for the tests of the command line."""

from tooldialect.dialects import ChatMessage, XmlDialect


class TrimsNewline(XmlDialect):
    def format_results(self, outcomes):
        return [
            entry.model_copy(update={"content": entry.content.removesuffix("\n")}) if entry.trusted_verbatim else entry
            for entry in super().format_results(outcomes)
        ]


class LosesLongNames(XmlDialect):
    """A round of four is two turns, if a failure is in it: no written input is like that."""

    def format_results(self, outcomes):
        outcomes = list(outcomes)
        if len(outcomes) == 4 and not all(outcome.success for outcome in outcomes):
            return [
                entry
                for part in (outcomes[:2], outcomes[2:])
                for entry in super(LosesLongNames, self).format_results(part)
            ]
        return super().format_results(outcomes)


NUMBER = 7


def exits_when_made(tools):
    raise SystemExit(5)


def exits_for_tools(tools):
    if tools:
        raise SystemExit(5)
    return XmlDialect(tools)


class Yaml(XmlDialect):
    call_format = "yaml"


class BracketTags(XmlDialect):
    protocol_tags = ("<result>",)


class AtTags(XmlDialect):
    protocol_tags = ("@@end",)


class OneString(XmlDialect):
    protocol_tags = "result"


class CallNone(XmlDialect):
    def render_call(self, call):
        return None


class PromptNone(XmlDialect):
    def prompt_instructions(self, tools):
        return None


class ParsedTuple(XmlDialect):
    def parse_response(self, response):
        return response.text, []


class ReplayOne(XmlDialect):
    def replay(self, history):
        return ChatMessage(role="user", content="one")


class ReplayNone(XmlDialect):
    def replay(self, history):
        return None


class ReplayExits(XmlDialect):
    def replay(self, history):
        raise SystemExit(5)


class ResultsText(XmlDialect):
    def format_results(self, outcomes):
        return "".join(entry.content for entry in super().format_results(outcomes))


class ResultsDicts(XmlDialect):
    def format_results(self, outcomes):
        return [entry.model_dump() for entry in super().format_results(outcomes)]


class MessagesNone(XmlDialect):
    def to_provider_messages(self, history, wire):  # type: ignore[override]
        return None


class ReadsDicts(XmlDialect):
    def read_results(self, entries):
        return [{"name": "a", "success": True, "body": entry.content} for entry in entries]
