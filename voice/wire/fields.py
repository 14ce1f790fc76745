"""Readers of the fields that every client protocol has: keys, mark names, rates, metadata.

Owns their limits. Pure and total: what can't be used is None or left out. JSON itself is
``json_guard``; which message holds which field is each protocol's own file.
"""

from enum import Enum, auto
from typing import Final, cast

from voice.wire.json_guard import JsonObject, whole_number

__all__ = [
    "MOST_NAME_CHARS",
    "Phase",
    "read_key",
    "read_name",
    "read_part",
    "read_rate",
    "read_texts",
]

MOST_NAME_CHARS: Final = 128
"""Longest name or id taken from a client; the names of our own marks have at most 24 bytes."""
_KEYS: Final = frozenset("0123456789*#ABCD")
_RATES_HZ: Final = frozenset({8000, 16000, 24000, 48000})
_MOST_ENTRIES: Final = 64
_MOST_VALUE_CHARS: Final = 1000


class Phase(Enum):
    """Where a client's stream is."""

    WAITING = auto()
    """Its start message has not come."""
    OPEN = auto()
    OVER = auto()
    """It was stopped; nothing starts it again."""


def read_key(value: object) -> str | None:
    """Read one key of a keypad; None for anything else."""
    key = str(value).upper() if isinstance(value, str | int) else ""
    return key if key in _KEYS else None


def read_name(value: object) -> str | None:
    """Read a name or an id that must be there, at most ``MOST_NAME_CHARS`` long."""
    if isinstance(value, str) and 0 < len(value) <= MOST_NAME_CHARS:
        return value
    return None


def read_rate(value: object) -> int | None:
    """Read a sample rate in Hz; None for those we don't speak."""
    rate = whole_number(value)
    return rate if rate in _RATES_HZ else None


def read_part(message: JsonObject, key: str) -> JsonObject:
    """Read the object under ``key``; an empty one where there is none."""
    value = message.get(key)
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def read_texts(value: object) -> tuple[tuple[str, str], ...]:
    """Read metadata: the entries that are text, numbers or truths, as text, within bounds."""
    if not isinstance(value, dict):
        return ()
    found: list[tuple[str, str]] = []
    for name, entry in cast("JsonObject", value).items():
        if len(found) < _MOST_ENTRIES and isinstance(entry, str | int | float):
            text = str(entry).lower() if isinstance(entry, bool) else str(entry)
            found.append((name[:MOST_NAME_CHARS], text[:_MOST_VALUE_CHARS]))
    return tuple(found)
