"""Quadratic in what one envelope escapes or writes, and in nothing else; none of it is a tag."""

from __future__ import annotations

import re
from itertools import islice

from fence_dialect import FenceDialect
from line_dialect import FRAME, LineDialect
from tool_response_dialect import LIVE, ToolResponseDialect, as_json

from .control import Control


class JoinsQuotes(ToolResponseDialect):
    """Writes the JSON of a body from one quote to the next."""

    def escaped(self, body):
        return '\\"'.join(part and as_json(part)[1:-1] for part in body.split('"'))

    def line(self, name, success, body):
        head = as_json({"name": name, "ok": success})
        return f'{head[:-1]}, "content": "{self.escaped(body)}"}}'


class CountsQuotes(JoinsQuotes):
    """At each quote those before it are counted anew."""

    def escaped(self, body):
        places = [place for place, letter in enumerate(body) if letter == '"']
        assert [body.count('"', 0, place) for place in places] == list(range(len(places)))
        return super().escaped(body)


class LengthensItsFence(FenceDialect):
    """By one, until the body does not hold it."""

    def fence(self, body):
        fence = "```"
        while fence in body:
            fence += "`"
        return fence


class SearchesFromTheStart(LineDialect):
    """For each line of the frame in the body the search begins anew."""

    def quote(self, body):
        done = 0
        while found := list(islice(FRAME.finditer(body), done, done + 1)):
            place = found[0].end()
            body, done = f"{body[:place]}\\{body[place:]}", done + 1
        return LIVE.sub("&lt;", body)


class LooksForHeadings(FenceDialect):
    """Lets everything through that it looks at."""

    heading = re.compile(r"\s#")

    def fence(self, body):
        self.heading.search(body)
        return super().fence(body)


class LooksForHeadingsForLong(LooksForHeadings):
    heading = re.compile(r"\s+#")


CONTROLS = [
    Control("is quadratic in quotes", "E6", CountsQuotes, JoinsQuotes),
    Control("is quadratic in fences", "E6", LengthensItsFence, FenceDialect),
    Control("is quadratic in lines of its frame", "E6", SearchesFromTheStart, LineDialect),
    Control("is quadratic in what it lets through", "E6", LooksForHeadingsForLong, LooksForHeadings),
]
