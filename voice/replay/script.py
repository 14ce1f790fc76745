"""What the caller does, and when: speaks, presses keys, types, taps buttons, hangs up.

Owns the caller's lines, their starts, and the samples that their voice adds up to. Pure; anchors
are resolved by ``at``, the phone that carries it all is ``far_end``.
"""

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voice.replay.at import At, Happenings

Samples: TypeAlias = NDArray[np.int16]

_QUIET: Final = 104
"""Largest sample of the silence around a recorded line: -50 dBFS."""


@dataclass(frozen=True, slots=True)
class Speech:
    """Recorded sound, at the rate of the phone's line."""

    samples: Samples
    rate_hz: int

    @property
    def duration_ms(self) -> float:
        """Length of the recording."""
        return len(self.samples) * 1000 / self.rate_hz

    @property
    def last_sound_ms(self) -> float:
        """Where its last sound over -50 dBFS ends: recordings have silence behind the words."""
        loud = np.flatnonzero(np.abs(self.samples.astype(np.int32)) > _QUIET)
        return (int(loud[-1]) + 1) * 1000 / self.rate_hz if loud.size else self.duration_ms


@dataclass(frozen=True, slots=True)
class Keys:
    """Keypad keys, one after the other."""

    keys: str
    every_ms: float = 200.0


@dataclass(frozen=True, slots=True)
class Typed:
    """Typed text, where the protocol carries it."""

    text: str


@dataclass(frozen=True, slots=True)
class Tap:
    """A tapped button, where the protocol has buttons."""

    payload: str
    """What the button carries."""


@dataclass(frozen=True, slots=True)
class HangUp:
    """The end: a proper ``stop``, or a line that just goes dead."""

    how: Literal["stop", "vanish"] = "stop"


Doing: TypeAlias = Speech | Keys | Typed | Tap | HangUp


@dataclass(frozen=True, slots=True)
class CallerLine:
    """One thing the caller does."""

    what: Doing
    at: At = field(default_factory=lambda: At(None))
    name: str = ""
    """Other lines may start relative to its end by this name."""


@dataclass(frozen=True, slots=True)
class Started:
    """A line that has begun."""

    line: CallerLine
    start_ms: float
    end_ms: float
    """End of the recording, silence included; of other lines, their last act."""
    last_sound_ms: float
    """End of the words, without the silence behind them."""


def _started(line: CallerLine, start_ms: float) -> Started:
    match line.what:
        case Speech() as speech:
            end = start_ms + speech.duration_ms
            return Started(line, start_ms, end, start_ms + speech.last_sound_ms)
        case Keys(keys, every_ms):
            end = start_ms + max(0, len(keys) - 1) * every_ms
            return Started(line, start_ms, end, end)
        case Typed() | Tap() | HangUp():
            return Started(line, start_ms, start_ms, start_ms)


class Script:
    """The caller's part in one call."""

    def __init__(self, lines: tuple[CallerLine, ...], happenings: Happenings) -> None:
        """Resolve the lines' starts against ``happenings``, which others fill."""
        self._lines = lines
        self._happenings = happenings
        self._started: dict[int, Started] = {}

    @property
    def started(self) -> tuple[Started, ...]:
        """The lines that have begun, in the order in which they were written."""
        return tuple(self._started[index] for index in sorted(self._started))

    @property
    def waiting(self) -> tuple[CallerLine, ...]:
        """The lines that have not begun."""
        return tuple(line for i, line in enumerate(self._lines) if i not in self._started)

    def is_over(self, now_ms: float) -> bool:
        """Whether every line has begun and is at its end."""
        return not self.waiting and all(s.end_ms <= now_ms for s in self._started.values())

    def begin(self, from_ms: float, to_ms: float) -> list[Started]:
        """Begin the lines that are due before ``to_ms``, none earlier than ``from_ms``."""
        begun: list[Started] = []
        for index, line in enumerate(self._lines):
            if index in self._started:
                continue
            due = self._due_ms(index, line)
            if due is not None and due < to_ms:
                started = _started(line, max(due, from_ms))
                self._started[index] = started
                begun.append(started)
                if line.name:
                    self._happenings.note(line.name, started.last_sound_ms)
        return begun

    def voice(self, from_ms: float, to_ms: float, rate_hz: int) -> Samples:
        """Mix the caller's samples of a span; lines that overlap are added, and clipped."""
        first, last = round(from_ms * rate_hz / 1000), round(to_ms * rate_hz / 1000)
        mixed = np.zeros(last - first, dtype=np.int32)
        for started in self._started.values():
            if not isinstance(started.line.what, Speech) or started.end_ms <= from_ms:
                continue
            samples = started.line.what.samples
            offset = round(started.start_ms * rate_hz / 1000) - first
            piece = samples[max(0, -offset) : max(0, len(mixed) - offset)]
            place = max(0, offset)
            mixed[place : place + len(piece)] += piece
        return np.clip(mixed, -32768, 32767).astype(np.int16)

    def _due_ms(self, index: int, line: CallerLine) -> float | None:
        if line.at.anchor is None or line.at.nth is not None or index == 0:
            return self._happenings.due_ms(line.at, 0.0)
        before = self._started.get(index - 1)
        if before is None:
            return None
        return self._happenings.due_ms(line.at, before.last_sound_ms)
