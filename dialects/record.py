"""What all records are: frozen, closed, of clean text and plain JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, PlainValidator

from .text import MAX_FIELD_DEPTH, RepairedText, clean_json, clean_text


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a string is wanted, not {type(value).__name__}")
    cleaned = clean_text(value)
    # A host's own kind of text may answer for its characters as it likes.
    return cleaned if type(cleaned) is str or type(cleaned) is RepairedText else str.__str__(cleaned)


def _json_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"a JSON object is wanted, not {type(value).__name__}")
    cleaned: dict[str, Any] = clean_json(value, max_depth=MAX_FIELD_DEPTH)
    return cleaned


Text: TypeAlias = Annotated[str, PlainValidator(_text, json_schema_input_type=str)]
JsonObject: TypeAlias = Annotated[dict[str, Any], PlainValidator(_json_object, json_schema_input_type=dict[str, Any])]


class Record(BaseModel):
    """Base of all records: frozen, closed, and validated on `model_copy(update=…)` too."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy; changed fields are validated, so that no copy holds what no constructor takes."""
        if not update:
            return super().model_copy(deep=deep)
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**{**fields, **update})


R = TypeVar("R", bound=Record)


def record_of_clean(kind: type[R], **fields: Any) -> R:
    """A record of values that its constructor would take unchanged, without asking it again:
    texts joined from the texts of records are clean, and checking one copies it.

    Equal to the constructor's in every way. For records whose defaults are plain values.
    """
    record: R = object.__new__(kind)
    values = _blank(kind).copy()
    values.update(fields)
    _set_values(record, values)
    _set_given(record, set(fields))
    _set_extra(record, None)
    _set_private(record, None)
    return record


# A frozen record refuses `setattr`; these are what `object.__setattr__` looks up each time.
_set_values, _set_given, _set_extra, _set_private = (
    BaseModel.__dict__[slot].__set__
    for slot in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


@cache
def _blank(kind: type[Record]) -> dict[str, Any]:
    return {name: field.default for name, field in kind.model_fields.items()}


def refuse_others(items: Iterable[object], kinds: tuple[type[Record], ...], what: str) -> None:
    """Raises TypeError, naming both, for the first item that is none of these records.

    For where one was met already: healthy items are not looked at twice.
    """
    for item in items:
        if not isinstance(item, kinds):
            wanted = ", ".join(kind.__name__ for kind in kinds)
            # A record given in place of a list of them goes through its fields, as pairs.
            single = "; is it one record without a list around it?" if isinstance(item, tuple) else ""
            raise TypeError(f"{what} takes a list of records ({wanted}), and met {type(item).__name__}{single}")
