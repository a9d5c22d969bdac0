"""The built-in dialects as the suite is given them: with a reader of the text envelope that shares nothing with it."""

from __future__ import annotations

import re

from lxml import etree

from tooldialect.conformance import PythonTarget
from tooldialect.dialects import NativeDialect, PFormatDialect, XmlDialect

BANNER = "[Tool results]\n"
HEAD = re.compile(r"<tool_result [^\n]*>\n")
TAIL = "\n</tool_result>\n"


def read_results(entries):
    """Attributes as an XML parser reads them; bodies as they stand between head and tail."""
    read = []
    for entry in entries:
        if entry.trusted_verbatim:
            continue
        assert entry.content.startswith(BANNER), "no banner"
        place = len(BANNER)
        while place < len(entry.content):
            head = HEAD.match(entry.content, place)
            assert head, f"no head at {place}"
            end = entry.content.index(TAIL, head.end())
            attributes = etree.fromstring(head[0].strip()[:-1] + "/>").attrib
            assert attributes["status"] in ("ok", "error")
            read.append(
                (
                    attributes.get("name", attributes.get("id")),
                    attributes["status"] == "ok",
                    entry.content[head.end() : end],
                )
            )
            place = end + len(TAIL)
    return read


TARGETS = {
    "native": PythonTarget(NativeDialect, name="native"),
    "xml": PythonTarget(XmlDialect, name="xml", read_results=read_results),
    "pformat": PythonTarget(PFormatDialect, name="pformat", read_results=read_results),
}
