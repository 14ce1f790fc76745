"""The order and the rhythm of what is said: one line at a time, with the pause between.

Owns the queue of unsettled lines and when the next may play. The first of a turn plays at once;
later ones wait what remains of the pause since the earlier one was *heard* to its end. Whether the
caller has the floor is the caller of ``pump``'s to say; what a line sounds like is
``voice.speaking``'s.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal

from runtime.agent import CallSettings, Expect, SayKind
from voice.floor.actions import AllowSay, SpeakLine
from voice.floor.step import Step

LineKind = SayKind | Literal["filler"]
_FILLING: Final = ("filler", "beside_tool")
_KEPT_PIECES: Final = 400


class Stage(Enum):
    """How far a line has come."""

    QUEUED = "queued"
    ALLOWED = "allowed"
    """May play; its first sample was not heard yet."""
    HEARD = "heard"
    """Its first sample was heard: the agent is audible."""


@dataclass(slots=True)
class Line:
    """One line that isn't settled."""

    say: int
    """Negative: the voice plane's own."""
    kind: LineKind
    interruptible: bool = True
    stage: Stage = Stage.QUEUED
    ready: bool = False
    """Its first sound is synthesized."""
    expect: Expect | None = None
    """Known once its text is complete."""
    pieces: list[str] = field(default_factory=list[str])

    @property
    def begun(self) -> bool:
        """There is something to say: text, or sound already; or surely nothing (an empty line)."""
        return self.ready or bool(self.pieces) or self.expect is not None

    @property
    def own(self) -> bool:
        """Spoken by the voice plane itself, unknown to the runtime."""
        return self.say < 0

    def add(self, text: str) -> None:
        """Keep the next piece of text (bounded: only the echo test reads it)."""
        if len(self.pieces) < _KEPT_PIECES:
            self.pieces.append(text)


class Pacing:
    """The queue of lines of the running turn, head first."""

    __slots__ = ("_earlier_ms", "_earlier_was_filler", "_settings", "_step", "lines")

    def __init__(self, step: Step, settings: CallSettings) -> None:
        self._step = step
        self._settings = settings
        self.lines: list[Line] = []
        self._earlier_ms: int | None = None
        """When the earlier line of this turn was heard to its end."""
        self._earlier_was_filler = False

    def use(self, settings: CallSettings) -> None:
        """Take the call's resolved settings."""
        self._settings = settings

    @property
    def empty(self) -> bool:
        """Everything said was heard, failed or dropped."""
        return not self.lines

    @property
    def audible(self) -> Line | None:
        """The line that is being heard, or held in the middle."""
        if self.lines and self.lines[0].stage is Stage.HEARD:
            return self.lines[0]
        return None

    @property
    def head(self) -> Line | None:
        """The line that is being heard or is next."""
        return self.lines[0] if self.lines else None

    @property
    def about_to_speak(self) -> bool:
        """Something is heard, or there are words for it: no wait is felt as one."""
        return any(line.begun for line in self.lines)

    def find(self, say: int) -> Line | None:
        """The unsettled line with this id."""
        for line in self.lines:
            if line.say == say:
                return line
        return None

    def turn_started(self) -> None:
        """Nothing before a turn delays its first message."""
        self._earlier_ms = None
        self._earlier_was_filler = False
        self._step.disarm("pace")

    def add(self, line: Line, *, first: bool = False) -> None:
        """Queue a line; ``first`` = before all that isn't playing yet."""
        if first:
            begun = bool(self.lines) and self.lines[0].stage is not Stage.QUEUED
            self.lines.insert(1 if begun else 0, line)
        else:
            self.lines.append(line)

    def finished(self, line: Line, now: int) -> None:
        """The line was heard to its end."""
        self.lines.remove(line)
        self._earlier_ms = now
        self._earlier_was_filler = line.kind in _FILLING

    def remove(self, line: Line) -> None:
        """The line is settled otherwise."""
        self.lines.remove(line)

    def clear(self) -> tuple[Line, ...]:
        """All is settled at once (a flush)."""
        gone = tuple(self.lines)
        self.lines.clear()
        self._step.disarm("pace")
        return gone

    def pump(self, may_play: Callable[[Line], bool]) -> None:
        """Let the head of the queue play if its pause is over and the floor is free."""
        if not self.lines or self.lines[0].stage is not Stage.QUEUED:
            return
        line = self.lines[0]
        if not line.begun or not may_play(line):
            self._step.disarm("pace")
            return
        due = self._due(line)
        if due > self._step.now:
            self._step.arm("pace", due)
            return
        self._step.disarm("pace")
        line.stage = Stage.ALLOWED
        if line.kind == "filler" or (line.kind == "apology" and line.own):
            self._step.emit(SpeakLine(line.say, "".join(line.pieces), line.kind))
        else:
            self._step.emit(AllowSay(line.say))

    def _due(self, line: Line) -> int:
        if self._earlier_ms is None or line.kind == "filler":
            return 0
        if self._earlier_was_filler:
            return self._earlier_ms + self._settings.pause_after_filler_ms
        return self._earlier_ms + self._settings.pause_between_messages_ms
