"""The caller's sound on its way in: from messages of any size to 20 ms frames with their times.

Owns re-blocking, the audio clock, the check of the declared rate and the bound on how much sound a
client may send, for one call; not hearing.

What comes after a pause of the connection comes as a backlog, in one go: it was spoken before it
arrived. So the first frames of all, and those after a stop, wait one frame long for what comes with
them, and the last of them ends when it came.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from voice.audio.format import FRAME_MS, AudioFormat
from voice.audio.reblock import Reblocker
from voice.call.audio_clock import AudioClock
from voice.wire.rate_monitor import RateMonitor

_MOST_BACKLOG_MS: Final = 5000
"""Sound that may come at once, after a stall of the connection."""
_MOST_SPEED: Final = 1.25
"""Times real time that sound may come at for ever. What is over costs every other call."""


@dataclass(frozen=True, slots=True)
class CallerFrame:
    """20 ms of the line's own format."""

    payload: bytes
    end_ms: int
    follows_hole: bool
    """Audio is missing right before it."""


class InboundAudio:
    """One call's way in."""

    def __init__(self, fmt: AudioFormat, problem: Callable[[str, str], None]) -> None:
        """Expect sound of ``fmt``; ``problem(code, detail)`` is told when something else comes."""
        self._reblock = Reblocker(fmt)
        self._rate = RateMonitor(fmt)
        self._clock = AudioClock()
        self._problem = problem
        self._has_stopped = False
        self._waiting: list[bytes] = []
        """Frames that begin afresh, until it is known how many came together."""
        self._waiting_since_ms = 0
        self._waiting_ms = 0
        """When the latest of them came."""
        self._room_ms = float(_MOST_BACKLOG_MS)
        self._room_at_ms = 0
        self.dropped_ms = 0
        """Sound that came too fast to be heard."""

    def push(self, payload: bytes, now_ms: int) -> list[CallerFrame]:
        """Take one message's sound; the frames that can be placed now."""
        mismatch = self._rate.push(len(payload), now_ms)
        if mismatch is not None:
            detail = f"declared {mismatch.declared_hz} Hz, arrives like {mismatch.likely_hz} Hz"
            self._problem("rate_mismatch", detail)
        placed = self.settled(now_ms)
        frames = self._admitted(self._reblock.push(payload), now_ms)
        if frames and (self._waiting or self._clock.begins_afresh(now_ms)):
            if not self._waiting:
                self._waiting_since_ms = now_ms
            self._waiting += frames
            self._waiting_ms = now_ms
            return placed
        return placed + [self._placed(frame, now_ms) for frame in frames]

    def settled(self, now_ms: int) -> list[CallerFrame]:
        """Place what had to wait, once nothing more comes with it; asked at each tick."""
        if not self._waiting or now_ms - self._waiting_since_ms < FRAME_MS:
            return []
        waiting, self._waiting = self._waiting, []
        hole = self._clock.begin(len(waiting), self._waiting_ms)
        first, *rest = (self._placed(frame, self._waiting_ms) for frame in waiting)
        return [CallerFrame(first.payload, first.end_ms, hole), *rest]

    def stopped(self, now_ms: int) -> int | None:
        """Say once that no frame has come for a second; where the audio ended."""
        if self._waiting or self._has_stopped or not self._clock.stopped(now_ms):
            return None
        self._has_stopped = True
        return self._clock.end_ms

    def _placed(self, frame: bytes, now_ms: int) -> CallerFrame:
        self._has_stopped = False
        return CallerFrame(frame, *self._clock.frame(now_ms))

    def _admitted(self, frames: list[bytes], now_ms: int) -> list[bytes]:
        """Leave out what nobody can have spoken in the time."""
        passed_ms = max(0, now_ms - self._room_at_ms)
        self._room_at_ms = now_ms
        self._room_ms = min(_MOST_BACKLOG_MS, self._room_ms + passed_ms * _MOST_SPEED)
        fit = int(self._room_ms // FRAME_MS)
        if len(frames) > fit:
            if not self.dropped_ms:
                self._problem("too_fast", "sound came faster than real time, some was dropped")
            self.dropped_ms += (len(frames) - fit) * FRAME_MS
            frames = frames[:fit]
        self._room_ms -= len(frames) * FRAME_MS
        return frames
