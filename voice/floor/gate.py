"""The output gate: hold at the first sound, then commit on words or release on none.

Owns the stages of a hold, its limits and what false alarms teach. A hold costs nothing but a pause:
nothing is cancelled while it lasts. It is short where it can't be justified:

- *provisional*: the cheap detector fired; the sure one confirms within ``confirm_ms``, else it
  opens;
- *held*: speech for sure; ``hold_max_ms`` of it without trusted words was noise;
- *waiting*: the voice has ended; the gate opens when the STT has answered without words that count,
  ``resume_ms`` after the last voice, or ``stt_wait_ms`` later without any answer;
- *taken*: words counted, the floor is the caller's until the turn starts.

Two unconfirmed holds in ten seconds: the sure detector goes first for ten. Two false ones: no hold
without words for ten. Pauses inside one line of the agent stay within ``pause_budget_ms`` in all.
Which words count is ``words``; what they do to a turn is ``floor``.
"""

from collections import deque
from enum import Enum
from typing import Final

from runtime.agent import InterruptionSettings
from voice.floor.actions import HoldOutput, RaiseNoiseFloor, ReleaseOutput
from voice.floor.step import Step

_WINDOW_MS: Final = 10_000
_ALARMS: Final = 2
_IDLE_NOISE_MS: Final = 8000
"""Voice without any word for so long, while nobody else speaks, is noise as well."""
_NOISE_FLOOR_MS: Final = 10_000
_REFEED_MS: Final = 60
"""A pause is heard so much longer than the gate was closed: the sound is on its way again."""


class GateState(Enum):
    """Stages of a hold."""

    OPEN = "open"
    PROVISIONAL = "provisional"
    HELD = "held"
    WAITING = "waiting"
    TAKEN = "taken"


class Gate:
    """One call's output gate."""

    __slots__ = (
        "_answer_by",
        "_answered_due",
        "_false",
        "_line",
        "_paused_line",
        "_paused_ms",
        "_running_turn",
        "_settings",
        "_since",
        "_step",
        "_unconfirmed",
        "_words_first_until",
        "_sure_first_until",
        "state",
    )

    def __init__(self, step: Step, settings: InterruptionSettings) -> None:
        self._step = step
        self._settings = settings
        self.state = GateState.OPEN
        self._since = 0
        self._line: int | None = None
        """The line that this hold pauses."""
        self._running_turn = False
        """Whether this hold keeps the agent from anything."""
        self._paused_line: int | None = None
        self._paused_ms = 0
        """What earlier holds have cost that line."""
        self._unconfirmed: deque[int] = deque(maxlen=_ALARMS)
        self._false: deque[int] = deque(maxlen=_ALARMS)
        self._sure_first_until = 0
        self._words_first_until = 0
        self._answered_due = 0
        self._answer_by = 0

    def use(self, settings: InterruptionSettings) -> None:
        """Take the call's resolved settings."""
        self._settings = settings

    @property
    def closed(self) -> bool:
        """Nothing plays."""
        return self.state is not GateState.OPEN

    @property
    def taken(self) -> bool:
        """Closed for words that will be a turn."""
        return self.state is GateState.TAKEN

    def may_hold(self, line: int | None, *, turn_runs: bool) -> bool:
        """Whether voice alone may still hold, or only words can."""
        if not turn_runs:
            return True
        if self._step.now < self._words_first_until:
            return False
        return line is None or self._left_ms(line) >= self._settings.confirm_ms

    def voice_started(self, voice_ms: int, line: int | None, *, turn_runs: bool) -> None:
        """The cheap detector fired, and a hold is allowed."""
        if self.state is GateState.OPEN:
            if turn_runs and self._step.now < self._sure_first_until:
                return
            self._close(GateState.PROVISIONAL, "voice", voice_ms, line, turn_runs)

    def voice_confirmed(self, voice_ms: int, line: int | None, *, turn_runs: bool) -> None:
        """The sure detector agrees, and a hold is allowed."""
        match self.state:
            case GateState.OPEN:
                self._close(GateState.HELD, "speech", voice_ms, line, turn_runs)
            case GateState.PROVISIONAL | GateState.WAITING:
                self.state = GateState.HELD
                self._step.disarm("release")
                self._arm_limit()
            case GateState.HELD | GateState.TAKEN:
                pass

    def not_confirmed(self) -> bool:
        """The sure detector did not agree; True if that opened the gate."""
        if self.state is GateState.WAITING:
            self._arm_release()
            return False
        if self.state is not GateState.PROVISIONAL:
            return False
        if self._running_turn:
            self._sure_first_until = self._alarm(self._unconfirmed, self._sure_first_until)
        self._open("not_confirmed", None)
        return True

    def voice_ended(self, last_voiced_ms: int, *, answered: bool, stt_down: bool) -> None:
        """Confirmed voice is over: wait for the words."""
        if self.state not in (GateState.HELD, GateState.WAITING):
            return
        self.state = GateState.WAITING
        self._answered_due = last_voiced_ms + self._settings.resume_ms
        wait = 0 if stt_down else self._settings.stt_wait_ms
        self._answer_by = self._answered_due + wait
        if answered:
            self._answer_by = self._answered_due
        self._arm_limit()
        self._arm_release()

    def answered(self) -> None:
        """The STT has answered for all of the voice, and its words don't count."""
        if self.state is GateState.WAITING:
            self._answer_by = self._answered_due
            self._arm_release()

    def release_is_due(self) -> bool:
        """Whether the wait for words is over (the timer may find that it was prolonged)."""
        return self.state is GateState.WAITING and self._step.now >= self._answer_by

    def release(self, reason: str, text: str | None) -> None:
        """Open after a false alarm: the agent goes on from what was heard."""
        if not self.closed:
            return
        if self._running_turn:
            self._words_first_until = self._alarm(self._false, self._words_first_until)
        self._open(reason, text)

    def limit_reached(self, *, voice_runs: bool) -> bool:
        """Sound without trusted words has held for too long; True if the gate was opened."""
        if self.state not in (GateState.PROVISIONAL, GateState.HELD, GateState.WAITING):
            return False
        if self._step.now < self._limit_due():
            self._arm_limit()
            return False
        longest = self._settings.hold_max_ms if self._running_turn else _IDLE_NOISE_MS
        noise = voice_runs and self._step.now - self._since >= longest
        self.release("noise" if noise else "pause_budget", None)
        if noise:
            self._step.emit(RaiseNoiseFloor(_NOISE_FLOOR_MS))
        return True

    def take(self) -> None:
        """Words count: the floor is the caller's until their turn starts."""
        if self.state is GateState.OPEN:
            self._step.emit(HoldOutput())
        self.state = GateState.TAKEN
        self._step.disarm("release")
        self._step.disarm("hold")

    def committed(self) -> None:
        """The turn this hold paused is no more: the pause has no cost and no budget."""
        self._line = None
        self._running_turn = False
        if self.closed and self.state is not GateState.TAKEN:
            self._arm_limit()

    def give(self) -> None:
        """The caller's floor is over: a turn starts, or the words came to nothing."""
        if self.closed:
            self.state = GateState.OPEN
            self._step.disarm("release")
            self._step.disarm("hold")
            self._step.emit(ReleaseOutput())

    def _close(
        self, state: GateState, reason: str, voice_ms: int, line: int | None, turn_runs: bool
    ) -> None:
        self.state = state
        self._since = self._step.now
        self._line = line
        self._running_turn = turn_runs
        self._step.emit(HoldOutput())
        self._step.record("hold", reason, voice_ms=voice_ms, audible=line is not None)
        self._arm_limit()

    def _open(self, reason: str, text: str | None) -> None:
        pause = self._step.now - self._since
        if self._line is not None:
            if self._line != self._paused_line:
                self._paused_line, self._paused_ms = self._line, 0
            self._paused_ms += pause + _REFEED_MS
        self.state = GateState.OPEN
        self._step.disarm("release")
        self._step.disarm("hold")
        self._step.emit(ReleaseOutput())
        self._step.record("release", reason, text, pause_ms=pause, audible=self._line is not None)

    def _left_ms(self, line: int) -> int:
        spent = self._paused_ms if line == self._paused_line else 0
        return self._settings.pause_budget_ms - spent - _REFEED_MS

    def _limit_due(self) -> int:
        due = self._since + _IDLE_NOISE_MS
        if self._running_turn and self.state is not GateState.WAITING:
            due = self._since + self._settings.hold_max_ms
        if self._line is not None:
            due = min(due, self._since + self._left_ms(self._line))
        return due

    def _arm_limit(self) -> None:
        self._step.arm("hold", self._limit_due())

    def _arm_release(self) -> None:
        self._step.arm("release", self._answer_by)

    def _alarm(self, alarms: deque[int], until: int) -> int:
        """Note a false alarm; return until when the stricter rule holds."""
        now = self._step.now
        alarms.append(now)
        if len(alarms) == _ALARMS and now - alarms[0] <= _WINDOW_MS:
            return now + _WINDOW_MS
        return until
