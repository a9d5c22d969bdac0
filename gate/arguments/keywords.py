"""The JSON Schema keywords that are read, whatever draft a schema was written for.

Tool schemas come from every draft, from API descriptions and from code that mixes them, and
one wrong word makes an engine refuse the whole schema. So each keyword is judged alone: what
is well formed is kept in the words of draft 2020-12, the rest is dropped and remembered.

`format`, `contentEncoding` and `contentMediaType` are annotations, as in 2020-12.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

JsonType = int
NULL, BOOLEAN, INTEGER, FRACTION, STRING, ARRAY, OBJECT = (1 << bit for bit in range(7))
ANY_TYPE: JsonType = (1 << 7) - 1
TYPES: dict[str, JsonType] = {
    "null": NULL,
    "boolean": BOOLEAN,
    "integer": INTEGER,
    "number": INTEGER | FRACTION,
    "string": STRING,
    "array": ARRAY,
    "object": OBJECT,
}

DRAFTS = {
    "json-schema.org/draft-03/schema": 4,
    "json-schema.org/draft-04/schema": 4,
    "json-schema.org/draft-06/schema": 6,
    "json-schema.org/draft-07/schema": 7,
    "json-schema.org/draft/2019-09/schema": 2019,
    "json-schema.org/draft/2020-12/schema": 2020,
}
DEFAULT_DRAFT = 2020

# Keywords a later draft brought: under an earlier `$schema` they say nothing.
SINCE = {
    "const": 6,
    "contains": 6,
    "propertyNames": 6,
    "if": 7,
    "then": 7,
    "else": 7,
    "dependentRequired": 2019,
    "dependentSchemas": 2019,
    "maxContains": 2019,
    "minContains": 2019,
    "unevaluatedItems": 2019,
    "unevaluatedProperties": 2019,
    "$recursiveRef": 2019,
    "prefixItems": 2020,
    "$dynamicRef": 2020,
}

LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
SINGLE = (
    "not",
    "if",
    "then",
    "else",
    "items",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
)
MAPS = ("properties", "patternProperties", "dependentSchemas")
# Of these a branch decides about the value it stands beside, not about a part of it.
IN_PLACE_LISTS = ("$ref", "allOf", "anyOf", "oneOf")
IN_PLACE_SINGLE = ("not", "if", "then", "else")

_MAX_LENGTH = 2**62


class Malformed(Exception):
    """The value of one keyword is not what any draft allows there."""


def draft_of(schema: Any) -> int:
    """The draft a schema declares; what is unknown reads as the default one."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(declared, str):
        return DEFAULT_DRAFT
    return DRAFTS.get(declared.strip().rstrip("#").partition("://")[2], DEFAULT_DRAFT)


def json_type(value: Any) -> JsonType:
    """The type of a JSON value; 5.0 is an integer, `True` is none."""
    kind = type(value)
    if kind is float:
        return INTEGER if value.is_integer() else FRACTION
    return _BY_CLASS.get(kind, 0)


_BY_CLASS = {type(None): NULL, bool: BOOLEAN, int: INTEGER, str: STRING, list: ARRAY, dict: OBJECT}


def _number(value: Any) -> Any:
    # The engine holds what is beyond a float as one, or fails.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= sys.float_info.max:
        raise Malformed
    return value


def _divisor(value: Any) -> Any:
    if _number(value) <= 0:
        raise Malformed
    return value


def _count(value: Any) -> int:
    if _number(value) < 0 or value > _MAX_LENGTH or value != int(value):
        raise Malformed
    return int(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Malformed
    return value


def _names(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise Malformed
    return list(dict.fromkeys(value))


def _names_by_name(value: Any) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        raise Malformed
    return {name: _names(needed) for name, needed in value.items()}


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Malformed
    return value


def _types(value: Any) -> list[str]:
    """Type names in lower case: API descriptions write `STRING`, `OBJECT`."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise Malformed
    folded = [name.lower() for name in names]
    if "any" in folded:
        return list(TYPES)
    if not all(name in TYPES for name in folded):
        raise Malformed
    return list(dict.fromkeys(folded))


def _anything(value: Any) -> Any:
    return value


ASSERTIONS: dict[str, Callable[[Any], Any]] = {
    "type": _types,
    "enum": _list,
    "const": _anything,
    "minimum": _number,
    "maximum": _number,
    "exclusiveMinimum": _number,
    "exclusiveMaximum": _number,
    "multipleOf": _divisor,
    "minLength": _count,
    "maxLength": _count,
    "pattern": _anything,
    "minItems": _count,
    "maxItems": _count,
    "uniqueItems": _flag,
    "minContains": _count,
    "maxContains": _count,
    "required": _names,
    "dependentRequired": _names_by_name,
    "minProperties": _count,
    "maxProperties": _count,
}


def in_words_of_2020(source: dict[str, Any], draft: int) -> dict[str, Any]:
    """The keywords of one schema object as draft 2020-12 spells them.

    Words of an older draft are read in every draft where they would otherwise be malformed or
    unknown: lists of schemas under `items`, booleans under `exclusiveMinimum`, `dependencies`.
    """
    words = {word: value for word, value in source.items() if draft >= SINCE.get(word, 0)}
    if draft <= 7 and "$ref" in source:
        return {"$ref": source["$ref"]}
    if isinstance(words.get("items"), list):
        words["prefixItems"] = words.pop("items")
        if "additionalItems" in words:
            words["items"] = words["additionalItems"]
    for bound, strict in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(words.get(strict), bool):
            exclusive = words.pop(strict)
            if exclusive and bound in words:
                words[strict] = words.pop(bound)
    if isinstance(words.get("dependencies"), dict):
        _split_dependencies(words)
    if words.get("nullable") is True:
        _admit_null(words)
    return words


def _split_dependencies(words: dict[str, Any]) -> None:
    names: dict[str, Any] = {}
    schemas: dict[str, Any] = {}
    for name, needed in words.pop("dependencies").items():
        (names if isinstance(needed, (list, str)) else schemas)[name] = [needed] if isinstance(needed, str) else needed
    # A schema that has both spellings means both.
    for word, found in (("dependentRequired", names), ("dependentSchemas", schemas)):
        if found and word not in words:
            words[word] = found


def _admit_null(words: dict[str, Any]) -> None:
    declared = words.get("type")
    if isinstance(declared, str):
        words["type"] = [declared, "null"]
    elif isinstance(declared, list):
        words["type"] = [*declared, "null"]
    if isinstance(words.get("enum"), list) and None not in words["enum"]:
        words["enum"] = [*words["enum"], None]
