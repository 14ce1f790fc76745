"""The echo gate: does what comes in only follow what goes out?

Owns the comparison of the two loudness envelopes of one call; pure. An agent's own voice, coming
back 22 dB down, is speech to every detector, so this must hold before words can tell. It is no
canceller: nothing is subtracted, the caller's audio goes to the recognizer as it came.

The levels of both directions, one a 20 ms frame, are kept for 3 s. Every 200 ms, while the agent
was audible, they are correlated at lags of 0-400 ms. Where the best correlation is over 0.6, holds
in both halves of the window, and is found again 200 ms later at the same lag, the gate closes:
voice must exceed the outbound sound of that moment, less the measured coupling, by 6 dB. Crowd
noise correlates by chance now and then, but not in both halves at one lag twice; and each
comparison that fails opens the gate by a fourth, so it is fully open after 0.8 s of agent speech
without echo. The time in which the agent is silent proves nothing, and changes nothing.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from voice.audio.format import FRAME_MS

__all__ = ["EchoGate"]

_FRAMES: Final = 150
_LAGS: Final = 21
_KEPT: Final = 256
"""Ring of outbound and inbound levels; a power of two over ``_FRAMES + _LAGS``."""
_EVERY_FRAMES: Final = 10
_AGREE: Final = 0.6
_HALF_AGREE: Final = 0.4
_SAME_LAG_FRAMES: Final = 1
_OVER_DB: Final = 6.0
_AUDIBLE_DBFS: Final = -50.0
_MOST_COUPLED_DB: Final = 6.0
_OPEN_A_MISS: Final = 0.25
_MIN_ACTIVE_FRAMES: Final = 50
"""An envelope of less than 1 s of agent speech matches too much."""
_SILENCE_DBFS: Final = -100.0


class EchoGate:
    """One call's envelopes and what they say."""

    def __init__(self) -> None:
        """Start open."""
        self._out_db = np.full(_KEPT, _SILENCE_DBFS, np.float32)
        self._in_db = np.full(_KEPT, _SILENCE_DBFS, np.float32)
        self._out_index = -1
        self._in_index = -1
        self._audible_index = -_KEPT
        self._compared_index = 0
        self._agreed_lag: int | None = None
        self._lag = 0
        self._coupling_db = _SILENCE_DBFS
        self._closed = 0.0
        self.has_just_closed = False
        """The latest frame is the one that proved the echo."""

    @property
    def closed(self) -> float:
        """0 = open, 1 = the last comparisons were all echo."""
        return self._closed

    @property
    def coupling_db(self) -> float:
        """How loud the echo is against the sound sent, dB; meaningful while the gate is closed."""
        return self._coupling_db

    @property
    def lag_ms(self) -> int:
        """How long the echo takes; meaningful while the gate is closed."""
        return self._lag * FRAME_MS

    def outbound(self, level_db: float, at_ms: int) -> None:
        """The far end hears 20 ms of ours at that level about now."""
        index = at_ms // FRAME_MS
        _fill(self._out_db, self._out_index, index, level_db)
        self._out_index = max(self._out_index, index)
        if level_db > _AUDIBLE_DBFS:
            self._audible_index = index

    def inbound(self, level_db: float, end_ms: int) -> None:
        """The caller's line carried 20 ms at that level, ending at ``end_ms``."""
        index = end_ms // FRAME_MS
        _fill(self._in_db, self._in_index, index, level_db)
        self._in_index = max(self._in_index, index)
        self.has_just_closed = False
        if index - self._compared_index < _EVERY_FRAMES:
            return
        self._compared_index = index
        if index - self._audible_index <= _EVERY_FRAMES + _LAGS:
            self._compare(index)

    def allows(self, level_db: float, end_ms: int) -> bool:
        """Whether a frame of that level can be more than echo."""
        if self._closed <= 0.0:
            return True
        sent = end_ms // FRAME_MS - self._lag
        loudest = max(float(self._out_db[(sent + near) % _KEPT]) for near in (-2, -1, 0, 1, 2))
        if loudest <= _AUDIBLE_DBFS:
            return True
        return level_db >= loudest + self._coupling_db + _OVER_DB * self._closed

    def _compare(self, index: int) -> None:
        heard = self._window(self._in_db, index, _FRAMES)
        sent = self._window(self._out_db, index, _FRAMES + _LAGS - 1)
        if int(np.count_nonzero(sent > _AUDIBLE_DBFS)) < _MIN_ACTIVE_FRAMES:
            return
        heard_amplitude, sent_amplitude = _linear(heard), _linear(sent)
        # Row r of the view begins r frames after the earliest: lag = _LAGS - 1 - r.
        shifted = np.lib.stride_tricks.sliding_window_view(sent_amplitude, _FRAMES)
        scores = _correlate(shifted, heard_amplitude)
        row = int(scores.argmax())
        lag = _LAGS - 1 - row
        half = _FRAMES // 2
        agrees = float(scores[row]) > _AGREE and all(
            float(_correlate(shifted[row : row + 1, part], heard_amplitude[part])[0]) > _HALF_AGREE
            for part in (slice(0, half), slice(half, None))
        )
        again = self._agreed_lag is not None and abs(lag - self._agreed_lag) <= _SAME_LAG_FRAMES
        self._agreed_lag = lag if agrees else None
        if agrees and again:
            self.has_just_closed = self._closed < 1.0
            self._closed = 1.0
            self._lag = lag
            active = sent[row : row + _FRAMES] > _AUDIBLE_DBFS
            coupling = float(np.median(heard[active] - sent[row : row + _FRAMES][active]))
            self._coupling_db = min(_MOST_COUPLED_DB, coupling)
        elif not agrees:
            self._closed = max(0.0, self._closed - _OPEN_A_MISS)

    def _window(self, ring: NDArray[np.float32], index: int, frames: int) -> NDArray[np.float32]:
        return ring[np.arange(index - frames + 1, index + 1) % _KEPT]


def _fill(ring: NDArray[np.float32], last: int, index: int, level_db: float) -> None:
    """Write at ``index``; frames that were left out since ``last`` were silent."""
    for missed in range(max(last + 1, index - _KEPT + 1), index):
        ring[missed % _KEPT] = _SILENCE_DBFS
    ring[index % _KEPT] = level_db


def _linear(levels_db: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.power(np.float32(10.0), levels_db * np.float32(0.05))


def _correlate(rows: NDArray[np.float32], target: NDArray[np.float32]) -> NDArray[np.float32]:
    """Pearson's r of each row with ``target``; 0 where either is constant."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    goal = target - target.mean()
    scale = np.sqrt((centred * centred).sum(axis=1) * (goal * goal).sum())
    return np.where(scale > 1e-9, (centred @ goal) / np.maximum(scale, 1e-9), 0.0).astype(
        np.float32
    )
