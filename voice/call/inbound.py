"""The caller's sound on its way in: from messages of any size to 20 ms frames with their times.

Owns re-blocking, the audio clock and the check of the declared rate, for one call; not hearing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from voice.audio.format import AudioFormat
from voice.audio.reblock import Reblocker
from voice.call.audio_clock import AudioClock
from voice.wire.rate_monitor import RateMonitor


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

    def push(self, payload: bytes, now_ms: int) -> list[CallerFrame]:
        """Take one message's sound; the frames it completes."""
        mismatch = self._rate.push(len(payload), now_ms)
        if mismatch is not None:
            detail = f"declared {mismatch.declared_hz} Hz, arrives like {mismatch.likely_hz} Hz"
            self._problem("rate_mismatch", detail)
        frames: list[CallerFrame] = []
        for frame in self._reblock.push(payload):
            self._has_stopped = False
            frames.append(CallerFrame(frame, *self._clock.frame(now_ms)))
        return frames

    def stopped(self, now_ms: int) -> int | None:
        """Say once that no frame has come for a second; where the audio ended."""
        if self._has_stopped or not self._clock.stopped(now_ms):
            return None
        self._has_stopped = True
        return self._clock.end_ms
