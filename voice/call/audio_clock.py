"""Where on the call's clock each 20 ms of the caller's audio lies.

Owns the mapping from frames, which come in bursts, late, or not at all, to ms of the call's clock.
Pure. Frames follow one another at 20 ms; a hole is seen when even the earliest frame of a while
lags, and the clock then steps over it, so that lost frames do not shift what comes after them. No
frame lies in the future: where a client's own clock is fast, or sound comes that can't have been
spoken in the time, steps are shorter. All that decides by these times relies on both.
"""

from typing import Final

from voice.audio.format import FRAME_MS

_WINDOW_FRAMES: Final = 50
"""Frames over which the smallest lag is taken: jitter is shorter than that, a hole is not."""
_HOLE_MS: Final = 60
_GAP_MS: Final = 1000
_MOST_AHEAD_MS: Final = FRAME_MS
"""So far a frame's end may be ahead of its arrival: jitter and rounding."""


class AudioClock:
    """Times of the caller's frames for one call."""

    def __init__(self) -> None:
        """Wait for the first frame."""
        self._end_ms: int | None = None
        self._arrived_ms = 0
        self._least_lag = 10**9
        self._frames = 0

    @property
    def end_ms(self) -> int | None:
        """End of the latest frame; None before the first."""
        return self._end_ms

    def begins_afresh(self, now_ms: int) -> bool:
        """Whether a frame that arrives now follows none: the first, or one after a stop."""
        return self._end_ms is None or self.stopped(now_ms)

    def begin(self, frames: int, now_ms: int) -> bool:
        """Place what begins afresh: so many frames had come by ``now_ms``, the first of a run.

        Returns:
            Whether audio is missing right before them.
        """
        hole = self._end_ms is not None
        self._end_ms = max(now_ms - frames * FRAME_MS, self._end_ms or 0)
        self._arrived_ms = now_ms
        self._restart_window()
        return hole

    def frame(self, now_ms: int) -> tuple[int, bool]:
        """Place the next frame, which arrived at ``now_ms``.

        Returns:
            The frame's end in ms, and whether audio is missing right before it.
        """
        hole = self.begin(1, now_ms) if self.begins_afresh(now_ms) else False
        end_ms = self._end_ms or 0
        early_ms = end_ms + FRAME_MS - now_ms - _MOST_AHEAD_MS
        end_ms += FRAME_MS if early_ms <= 0 else max(1, FRAME_MS - early_ms)
        self._least_lag = min(self._least_lag, now_ms - end_ms)
        self._frames += 1
        if self._frames >= _WINDOW_FRAMES:
            if self._least_lag >= _HOLE_MS:
                end_ms += self._least_lag
                hole = True
            self._restart_window()
        self._end_ms = end_ms
        self._arrived_ms = now_ms
        return end_ms, hole

    def stopped(self, now_ms: int) -> bool:
        """Whether frames have been missing for a second (the client muted or is gone)."""
        return self._end_ms is not None and now_ms - self._arrived_ms >= _GAP_MS

    def _restart_window(self) -> None:
        self._least_lag = 10**9
        self._frames = 0
