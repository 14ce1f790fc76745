"""When a replayed call happens: the day and hour that its conversation is told.

Owns the default and the two ways to write another one. A replay's own clock begins at 0 whatever
the date; nothing here reads a clock.
"""

from datetime import UTC, date, datetime, time
from typing import Final

from runtime.errors import AgentError

__all__ = ["WALL_START", "StartError", "parse_date", "parse_start"]

WALL_START: Final = 1767607200.0
"""2026-01-05T10:00:00Z, a Monday: when replayed calls happen, unless told otherwise."""

_HOUR: Final = time(10, tzinfo=UTC)
"""Of a day that is written without an hour."""
_FIRST_YEAR: Final = 1970
_LAST_YEAR: Final = 2199


class StartError(AgentError):
    """A date that can't be read: says what to write instead."""


def parse_date(text: str) -> float:
    """Read ``2026-03-02``: 10:00 UTC on that day, as Unix time.

    Raises:
        StartError: it is no such date.
    """
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        raise StartError(f"'{text}' is no date: write it as 2026-03-02") from None
    return _checked(datetime.combine(day, _HOUR), text)


def parse_start(text: str) -> float:
    """Read ``2026-03-02T09:30`` (UTC, unless it says ``+01:00``), or a date alone, as Unix time.

    Raises:
        StartError: it is no such moment.
    """
    if len(text.strip()) <= len("2026-03-02"):
        return parse_date(text)
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise StartError(f"'{text}' is no moment: write it as 2026-03-02T09:30 (UTC)") from None
    return _checked(moment if moment.tzinfo else moment.replace(tzinfo=UTC), text)


def _checked(moment: datetime, text: str) -> float:
    if not _FIRST_YEAR < moment.year <= _LAST_YEAR:
        years = f"{_FIRST_YEAR + 1} to {_LAST_YEAR}"
        raise StartError(f"'{text}' is too far away: write a year from {years}")
    return moment.timestamp()
