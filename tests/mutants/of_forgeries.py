from __future__ import annotations

from fence_dialect import FenceDialect
from line_dialect import FRAME, LineDialect
from tool_response_dialect import LIVE, ToolResponseDialect
from tooldialect.dialects import XmlDialect

from .control import Control


def bare(base, change):
    """`base`, whose bare tool messages are what `change` makes of the text."""
    return type("Bare", (base,), {"bare": lambda self, text: change(text)})


class LeavesTags(XmlDialect):
    """Breaks the tags of results and leaves those of a bare tool message, and what is in it, as they are."""

    def _replay_message(self, message):
        if message.role == "tool" and not message.trusted_verbatim:
            return message.model_copy(update={"role": "user"})
        return super()._replay_message(message)


class LeavesTokens(XmlDialect):
    def _replay_message(self, message):
        if message.role == "tool":
            return XmlDialect(control_tokens=())._replay_message(message)
        return super()._replay_message(message)


class SaysItItself(XmlDialect):
    """A bare tool message becomes the assistant's."""

    speaker = "assistant"

    def _replay_message(self, message):
        replayed = super()._replay_message(message)
        if message.role == "tool" and not message.trusted_verbatim:
            return replayed.model_copy(update={"role": self.speaker})
        return replayed


class SaysItAsTheUser(SaysItItself):
    speaker = "user"


class LosesBareMessages(XmlDialect):
    def _replay_message(self, message):
        if message.role == "tool" and not message.trusted_verbatim:
            message = message.model_copy(update={"content": "(a result)"})
        return super()._replay_message(message)


class OneFenceForAll(FenceDialect):
    """A bare tool message gets the shortest fence, whatever it holds."""

    def bare(self, text):
        return f'### "tool" ok\n```\n{LIVE.sub("&lt;", text)}\n```'


class OneFenceForAllUnread(OneFenceForAll):
    read_results = property()


class FencesUnread(FenceDialect):
    read_results = property()


def only_calls(text):
    return LIVE.sub("&lt;", text)


def only_lines(text):
    return FRAME.sub(r"\1\\", text)


def quoted(text):
    return only_calls(only_lines(text))


def in_bars(text):
    return "".join(f"| {line}" for line in quoted(text).splitlines(keepends=True))


CONTROLS = [
    Control("leaves tags in bare tool messages", "E9", LeavesTags, XmlDialect),
    Control("leaves lines of its frame in bare tool messages", "E9", bare(LineDialect, only_calls), bare(LineDialect, quoted)),
    Control("leaves calls in bare tool messages", "E9", bare(LineDialect, only_lines), bare(LineDialect, in_bars)),
    Control("leaves bare tool messages alone", "E9", bare(ToolResponseDialect, str), ToolResponseDialect),
    Control("leaves control tokens in bare tool messages", "E9", LeavesTokens, XmlDialect),
    Control("lets bare tool messages close their fence", "E9", OneFenceForAll, FenceDialect),
    Control("lets bare tool messages close their fence and reads none", "E9", OneFenceForAllUnread, FencesUnread),
    Control("replays bare tool messages as the assistant's", "E9", SaysItItself, SaysItAsTheUser),
    Control("loses bare tool messages", "E9", LosesBareMessages, XmlDialect),
]  # fmt: skip
