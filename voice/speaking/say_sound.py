"""The sound of one say, ready to be sent: bytes in the line's own format.

Owns resampling and encoding once, when sound comes from the engine, so that feeding a frame is a
slice. Positions are ms of the say's sound from its start. When frames leave is ``mouth``; whose
words they carry is ``playback_text``.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from voice.audio.codec import from_linear, silence, to_linear
from voice.audio.format import AudioFormat
from voice.audio.resample import Resampler

KEEP_BEHIND_MS: Final = 15_000
"""Sound kept behind the feeding position, for going back after a hold."""
_TRIM_EVERY_MS: Final = 5_000
FADE_MS: Final = 10
_SEARCH_BACK_MS: Final = 140
_SEARCH_ON_MS: Final = 40
_WINDOW_MS: Final = 10


class SaySound:
    """A growing buffer of encoded sound with a bounded past."""

    def __init__(self, fmt: AudioFormat, engine_rate_hz: int) -> None:
        """Begin empty; the engine's samples have the rate ``engine_rate_hz``."""
        self._fmt = fmt
        self._resampler = Resampler(engine_rate_hz, fmt.rate_hz)
        self._bytes_per_ms = fmt.rate_hz * fmt.encoding.sample_bytes // 1000
        self._frame_bytes = fmt.frame_bytes
        self._data = bytearray()
        self._base_ms = 0
        self.whole = False
        """No more sound comes: the last frame may be padded."""

    @property
    def length_ms(self) -> float:
        """How much sound has come."""
        return self._base_ms + len(self._data) / self._bytes_per_ms

    def add(self, samples: NDArray[np.int16]) -> float:
        """Take linear samples of the engine's rate; give the ms of sound they became."""
        return self._append(self._resampler.push(samples))

    def finish(self) -> float:
        """Take the samples the resampler owes; nothing follows. Gives the ms they became."""
        added = 0.0 if self.whole else self._append(self._resampler.flush())
        self.whole = True
        return added

    def frame(self, at_ms: int) -> bytes | None:
        """20 ms from that position; None while they have not come, or past the end.

        The last frame of a whole sound is filled up with silence.
        """
        start = (at_ms - self._base_ms) * self._bytes_per_ms
        payload = self._data[start : start + self._frame_bytes]
        missing = self._frame_bytes - len(payload)
        if missing:
            if not self.whole or not payload:
                return None
            payload += silence(self._fmt, missing // self._fmt.encoding.sample_bytes)
        return bytes(payload)

    def faded(self, frame: bytes) -> bytes:
        """Raise the first 10 ms of a frame from silence, so that going on does not click."""
        samples = np.array(to_linear(self._fmt, frame), dtype=np.float32)
        count = self._fmt.rate_hz * FADE_MS // 1000
        samples[:count] *= np.linspace(0.0, 1.0, count, endpoint=False, dtype=np.float32)
        return from_linear(self._fmt, samples.astype(np.int16))

    def linear(self, at_ms: int) -> NDArray[np.int16] | None:
        """20 ms from that position as linear samples of the line's rate; None outside."""
        start = (at_ms - self._base_ms) * self._bytes_per_ms
        if start < 0:
            return None
        payload = bytes(self._data[start : start + self._frame_bytes])
        if len(payload) < self._frame_bytes:
            return None
        return to_linear(self._fmt, payload)

    def quiet_near(self, at_ms: float) -> int:
        """The quietest spot about a position that is only a guess, ms; a good place to cut."""
        first = max(self._base_ms, int(at_ms) - _SEARCH_BACK_MS)
        last = min(int(self.length_ms), int(at_ms) + _SEARCH_ON_MS)
        windows = (last - first) // _WINDOW_MS
        if windows < 2:
            return max(self._base_ms, min(int(at_ms), int(self.length_ms)))
        start = (first - self._base_ms) * self._bytes_per_ms
        data = bytes(self._data[start : start + windows * _WINDOW_MS * self._bytes_per_ms])
        samples = to_linear(self._fmt, data).astype(np.float32).reshape(windows, -1)
        energy = np.square(samples).mean(axis=1)
        return first + int(energy.argmin()) * _WINDOW_MS

    def trim(self, feed_ms: int) -> None:
        """Forget sound far behind the feeding position."""
        surplus = feed_ms - KEEP_BEHIND_MS - self._base_ms
        if surplus >= _TRIM_EVERY_MS:
            del self._data[: surplus * self._bytes_per_ms]
            self._base_ms += surplus

    def _append(self, samples: NDArray[np.int16]) -> float:
        data = from_linear(self._fmt, samples)
        self._data += data
        return len(data) / self._bytes_per_ms
