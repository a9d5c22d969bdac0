"""The slot form of a call: `name[0|a|1|b]`, each value behind the number of its slot.

Slots are a tool's parameters in code-point order. Bare positions were miscounted by real
models and bound values to the wrong parameters without any error; a number can be checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..tags import CATALOGUE_TAG, CONTROL_TOKENS, PROTOCOL_TAGS
from ..text import MAX_FIELD_DEPTH, clean_json, compact_json, single_line_json
from ..transcript import ToolSpec
from .json_form import JSON_LESS_THAN
from .names import quoted
from .schema_types import allowed_types, parameters_of, read_slot
from .spelling import BLANK

SLOT_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]*+")
_PLAIN_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*+")
_NUMBER = re.compile(rf"{BLANK}([0-9]++){BLANK}(?=\||\Z)")
_VALUE = re.compile(r"(?:[^|\\]++|\\[|\]\\]|\\)*+")
_ESCAPED = re.compile(r"\\([|\]\\])")
_SPACE = re.compile(r"\s*+")
_SPECIAL = re.compile(r"[|\]\\]")
_LONGEST_NUMBER = 6
# More than is quoted.
_LONGEST_SHOWN = 200
_TAG_NAMES = frozenset({*PROTOCOL_TAGS, CATALOGUE_TAG, *(token.strip("<>").lower() for token in CONTROL_TOKENS)})


class SlotForm:
    """One tool's slots: reads and writes their text."""

    def __init__(self, tool: ToolSpec) -> None:
        self.name = tool.name
        self.schemas, self.required = parameters_of(tool.parameters)
        self.parameters = sorted(self.schemas)
        self.types = [allowed_types(self.schemas[name], tool.parameters) for name in self.parameters]
        self._numbers = {name: number for number, name in enumerate(self.parameters)}

    @property
    def writable(self) -> bool:
        """The tool's name can stand before the bracket."""
        return SLOT_NAME.fullmatch(self.name) is not None

    @property
    def signature(self) -> str:
        """The form of a call: `get_weather[0|<location>|1|<unit>]`."""
        slots = (f"{number}|<{shown_parameter(name)}>" for number, name in enumerate(self.parameters))
        return f"{self.name}[{'|'.join(slots)}]"

    def write(self, arguments: Mapping[str, Any]) -> str | None:
        """The call, or None where slots cannot say these arguments, types included."""
        if not self.writable or not arguments.keys() <= self._numbers.keys():
            return None
        slots = []
        for number, name in enumerate(self.parameters):
            if name not in arguments:
                continue
            value = arguments[name]
            text = value if isinstance(value, str) else compact_json(value)
            # What was read is the JSON that was written, or text: equal values have equal types.
            if read_slot(text, self.types[number]) != value:
                return None
            slots.append(f"{number}|{_SPECIAL.sub(_escape, text)}")
        return f"{self.name}[{'|'.join(slots)}]"

    def read(self, text: str, start: int, end: int) -> dict[str, Any]:
        """The arguments in the text between the brackets; ValueError says what is wrong with it.

        A place in a text, since bodies may share their end: to copy each would be quadratic.
        """
        arguments: dict[str, Any] = {}
        for number, value in _slots(text, start, end):
            if number >= len(self.parameters):
                count = len(self.parameters)
                has = f"slots 0 to {count - 1}" if count > 1 else "slot 0 only" if count else "no slots"
                raise ValueError(f"there is no slot {number}: the tool has {has}")
            name = self.parameters[number]
            if name in arguments:
                raise ValueError(f"slot {number} is given twice")
            arguments[name] = read_slot(value, self.types[number])
        checked: dict[str, Any] = clean_json(arguments, "arguments", max_depth=MAX_FIELD_DEPTH)
        return checked


def is_blank(text: str, start: int, end: int) -> bool:
    """Nothing but white space stands there."""
    return _SPACE.fullmatch(text, start, end) is not None


def _slots(text: str, start: int, end: int) -> Iterable[tuple[int, str]]:
    if is_blank(text, start, end):
        return
    position = start
    while True:
        found = _NUMBER.match(text, position, end)
        if not found:
            piece = _VALUE.match(text, position, min(end, position + _LONGEST_SHOWN))
            shown = piece[0] if piece else ""
            raise ValueError(f"{quoted(shown)} stands where the number of a slot is wanted")
        digits = found[1]
        if found.end() == end:
            raise ValueError(f"slot {digits[:_LONGEST_NUMBER]} has no value")
        value = _VALUE.match(text, found.end() + 1, end)
        assert value is not None
        if len(digits) > _LONGEST_NUMBER:
            raise ValueError(f"there is no slot {digits[:_LONGEST_NUMBER]}…")
        yield int(digits), _ESCAPED.sub(r"\1", value[0])
        if value.end() == end:
            return
        position = value.end() + 1


def _escape(special: re.Match[str]) -> str:
    return "\\" + special[0]


def shown_parameter(parameter: str) -> str:
    """A parameter's name as a signature and the catalogue show it: in quotes where `<name>` would not be plain."""
    if _PLAIN_PARAMETER.fullmatch(parameter) and parameter.lower() not in _TAG_NAMES:
        return parameter
    return single_line_json(parameter).replace("<", JSON_LESS_THAN)
