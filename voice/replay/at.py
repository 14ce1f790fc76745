"""When a caller's line starts: ``4.5s`` from the connect, or ``agent_starts+1200ms``.

Owns the reading of such expressions and their resolution against what has happened so far. Pure.
What counts as an anchor is told to ``Happenings`` by whoever watches the call (``watch``).

An anchor without a number means the first one after the end of the line before (or after the
connect, for the first line); ``#2:agent_starts`` means the second of the call.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from runtime.errors import AgentError

ANCHORS: Final = {
    "agent_starts": "the first sound of the agent after it was silent",
    "agent_ends": "the agent has said all it had to say, and it was heard (or cut off)",
    "say_starts": "the first sound of one message of the agent",
    "say_ends": "one message was heard to its end, or cut off",
    "tool_starts": "a tool begins to run",
    "tool_ends": "a tool has reached its outcome",
}
"""Anchors every call has, and what each means; names of lines come on top."""

_EXPRESSION: Final = re.compile(
    r"""^\s*
    (?:\#\s*(?P<nth>\d+)\s*:\s*)?
    (?P<anchor>[a-z_]\w*(?:-[a-z_]\w*)*)\s*
    (?:(?P<sign>[+-])\s*(?P<offset>.+?))?
    \s*$""",
    re.VERBOSE | re.IGNORECASE,
)
_DURATION: Final = re.compile(r"^(?P<number>\d+(?:\.\d+)?|\.\d+)\s*(?P<unit>ms|s|min)?$")
_UNIT_MS: Final = {"ms": 1.0, "s": 1000.0, "min": 60_000.0}
_MOST_MS: Final = 24 * 3_600_000


class AtError(AgentError):
    """An ``--at`` expression that can't be read: says why, and what to write instead."""


@dataclass(frozen=True, slots=True)
class At:
    """A moment of a call that may not have come yet."""

    anchor: str | None
    """None = counted from the connect."""
    offset_ms: float = 0.0
    """Never negative: what has yet to happen can't be started before."""
    nth: int | None = None
    """Which of the call's anchors, from 1; None = the first after the line before."""

    def __str__(self) -> str:
        """Write as it is read."""
        duration = f"{self.offset_ms:.3f}".rstrip("0").rstrip(".") + "ms"
        if self.anchor is None:
            return duration
        number = "" if self.nth is None else f"#{self.nth}:"
        return f"{number}{self.anchor}" + (f"+{duration}" if self.offset_ms else "")


def parse_at(text: str, line_names: tuple[str, ...] = ()) -> At:
    """Read one expression.

    Args:
        text: ``4.5s``, ``250ms``, ``agent_starts``, ``agent_ends+300ms``, ``#2:tool_starts+1s``.
        line_names: further anchors: the ends of the caller's lines of these names.

    Raises:
        AtError: it can't be read; the message names the mend.
    """
    plain = text.strip()
    if not plain:
        raise AtError("the start time is empty: write 4.5s or agent_starts+1200ms")
    if plain[0].isdigit() or plain[0] == ".":
        return At(None, _duration(plain, text))
    if plain[0] in "+-":
        raise AtError(f"'{text}' has no anchor before its sign: write agent_starts{plain}")
    match = _EXPRESSION.match(plain)
    if match is None:
        raise AtError(
            f"'{text}' can't be read: write a time (4.5s) or an anchor and what comes on top "
            "(agent_starts+1200ms, #2:agent_ends+300ms)"
        )
    anchor = _anchor(match["anchor"], text, line_names)
    nth = None if match["nth"] is None else int(match["nth"])
    if nth == 0:
        raise AtError(f"'{text}': anchors count from 1; write #1:{anchor}")
    if match["offset"] is None:
        return At(anchor, 0.0, nth)
    if match["sign"] == "-":
        raise AtError(
            f"'{text}' lies before something that has yet to happen: "
            f"use + after an earlier anchor (agent_starts+{match['offset']})"
        )
    return At(anchor, _duration(match["offset"], text), nth)


def _anchor(name: str, text: str, line_names: tuple[str, ...]) -> str:
    if name in line_names:
        return name
    known = name.lower().replace("-", "_")
    if known in ANCHORS:
        return known
    choices = [*ANCHORS, *line_names]
    near = get_close_matches(known, choices, n=1)
    hint = f"did you mean {near[0]}?" if near else "there are " + ", ".join(choices)
    raise AtError(f"'{text}' names no anchor: {hint}")


def _duration(written: str, text: str) -> float:
    match = _DURATION.match(written.strip())
    if match is None:
        raise AtError(f"'{text}': '{written.strip()}' is no duration; write 1200ms or 1.2s")
    if match["unit"] is None:
        number = match["number"]
        raise AtError(f"'{text}': {number} of what? Write {number}s or {number}ms")
    duration = float(match["number"]) * _UNIT_MS[match["unit"]]
    if duration > _MOST_MS:
        raise AtError(f"'{text}' is more than a day away")
    return duration


class Happenings:
    """What has happened in a call so far, for expressions to count from."""

    def __init__(self) -> None:
        """Begin at the connect, with nothing."""
        self._times: dict[str, list[float]] = {}

    def note(self, anchor: str, t_ms: float) -> None:
        """One more of ``anchor`` happened at ``t_ms``, ms since the connect."""
        self._times.setdefault(anchor, []).append(t_ms)

    def times(self, anchor: str) -> tuple[float, ...]:
        """When each of ``anchor`` happened, in the order in which they were told."""
        return tuple(self._times.get(anchor, ()))

    def due_ms(self, at: At, after_ms: float) -> float | None:
        """When ``at`` is; None while it is still unknown.

        Args:
            at: the expression.
            after_ms: end of the line before; an anchor without a number must lie after it.
        """
        if at.anchor is None:
            return at.offset_ms
        times = self._times.get(at.anchor, [])
        if at.nth is not None:
            return times[at.nth - 1] + at.offset_ms if len(times) >= at.nth else None
        return next((t + at.offset_ms for t in times if t >= after_ms), None)
