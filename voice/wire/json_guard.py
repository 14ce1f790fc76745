"""From one websocket text message to a JSON object, or a named refusal.

Owns the limits that hold for every client protocol: size before anything is decoded, depth, no NaN
and no infinities, numbers that fit. Pure and total. What the keys mean is each protocol's own file;
author files and tool arguments are read elsewhere, with their own rules.
"""

import binascii
from typing import Final, TypeAlias, cast

import msgspec

from voice.wire.events import BadMessage

__all__ = [
    "MOST_CHARS",
    "MOST_DEPTH",
    "JsonObject",
    "decode_base64",
    "encode_object",
    "quote",
    "read_object",
    "whole_number",
]

JsonObject: TypeAlias = dict[str, object]

MOST_CHARS: Final = 1_048_576
"""Length of a text message above which nothing is decoded (1 Mi)."""
MOST_DEPTH: Final = 32
"""Containers inside containers; client protocols use 3."""
_MOST_CONTAINERS: Final = 10_000
"""Brackets in one message; more is no control message, and would hold up the other calls."""


def read_object(message: str) -> JsonObject | BadMessage:
    """Decode a text message that must be a JSON object."""
    if len(message) > MOST_CHARS:
        return BadMessage("too_large", f"text of more than {MOST_CHARS} characters")
    containers = message.count("{") + message.count("[")
    if containers > _MOST_CONTAINERS:
        return BadMessage("too_deep", f"more than {_MOST_CONTAINERS} objects and arrays")
    try:
        value: object = msgspec.json.decode(message)
    except RecursionError:
        return BadMessage("too_deep", f"nested deeper than {MOST_DEPTH}")
    except ValueError:  # msgspec's errors, and text that is no Unicode
        return BadMessage("not_json", "empty text" if not message.strip() else "no JSON")
    if containers > MOST_DEPTH and _depth(value) > MOST_DEPTH:
        return BadMessage("too_deep", f"nested deeper than {MOST_DEPTH}")
    if not isinstance(value, dict):
        return BadMessage("not_object", "JSON, but no object")
    return cast("JsonObject", value)


def decode_base64(text: object) -> bytes | None:
    """Decode a payload; None for anything that is not exactly base64."""
    if not isinstance(text, str):
        return None
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:  # binascii.Error, and text outside ASCII
        return None


def whole_number(value: object) -> int | None:
    """Read a whole number that may come as a number or as text; None for anything else.

    Telephone platforms write ``8000``, ``"8000"`` and sometimes ``8000.0``.
    """
    match value:
        case bool():
            return None
        case int():
            return value
        case float() if value.is_integer() and abs(value) < 1e15:
            return int(value)
        case str() if value.isascii() and value.isdecimal() and len(value) <= 15:
            return int(value)
        case _:
            return None


def encode_object(value: JsonObject) -> str:
    """Write an object; what JSON can't hold is written as text, so this never raises."""
    try:
        return msgspec.json.encode(value, enc_hook=str).decode()
    except (ValueError, TypeError, RecursionError):
        return msgspec.json.encode(_printable(value, MOST_DEPTH)).decode()


def quote(text: str) -> str:
    """Write one JSON string, quotes included."""
    return msgspec.json.encode(_unicode(text)).decode()


def _unicode(text: str) -> str:
    """Replace halves of surrogate pairs, which no UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()


def _printable(value: object, depth: int) -> object:
    match value:
        case str():
            return _unicode(value)
        case dict() if depth:
            entries = cast("dict[object, object]", value)
            return {_unicode(str(k)): _printable(v, depth - 1) for k, v in entries.items()}
        case list() | tuple() if depth:
            return [_printable(item, depth - 1) for item in cast("list[object]", value)]
        case None | bool() | float():
            return value
        case int() if -(2**63) <= value < 2**64:
            return value
        case _:
            return _unicode(str(value)) if depth else "…"


def _depth(value: object) -> int:
    """Levels of containers, counted without recursion and no further than needed."""
    level = [value]
    for depth in range(MOST_DEPTH + 2):
        below: list[object] = []
        for item in level:
            match item:
                case dict():
                    below.extend(cast("dict[str, object]", item).values())
                case list():
                    below.extend(cast("list[object]", item))
                case _:
                    pass
        if not any(isinstance(item, dict | list) for item in level):
            return depth
        level = below
    return MOST_DEPTH + 1
