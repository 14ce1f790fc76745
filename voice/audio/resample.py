"""Streaming change of sample rate among 8, 16, 24 and 48 kHz, with little delay.

Owns the live path's filter: a windowed-sinc FIR of 48 taps at twice the slower rate (24 taps an
output phase, and in proportion for 3:1 and 6:1), so it delays by 1.5 ms at 8 kHz. Libraries made
for files hold 80-120 ms back before the first sample comes; whole files, and other rates, are
``files``' matter.

How it works. For a ratio L/M a block of M input samples makes L output samples. All L filter
phases, each shifted to where its output falls in the block, are the columns of one matrix; rows of
overlapping input windows times that matrix give the output in order. So every ratio is one matrix
product a push, and the state is the last few input samples.
"""

import functools
import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from runtime.errors import AudioError
from voice.audio.codec import Samples

__all__ = ["RATES_HZ", "Resampler"]

RATES_HZ: Final = (8000, 16000, 24000, 48000)
"""Rates the live path works in."""

_TAPS_PER_RATIO: Final = 24
"""Taps for each step of the larger of L and M: 48 for 1:2 and 2:1."""
_CUTOFF: Final = 0.93
"""Half-gain point, as a part of the slower rate's half: keeps the phone band to 3.4 kHz."""
_KAISER_BETA: Final = 5.0


@functools.cache
def _kernel(up: int, down: int) -> tuple[NDArray[np.float32], int]:
    """Matrix of one ratio, shape ``(window, up)``, and its taps per phase."""
    wider = max(up, down)
    taps = _TAPS_PER_RATIO * wider
    at = np.arange(taps) - (taps - 1) / 2
    low_pass = np.sinc(at * _CUTOFF / wider) * np.kaiser(taps, _KAISER_BETA)
    per_phase = taps // up
    matrix = np.zeros((per_phase + (up - 1) * down // up, up))
    for output in range(up):
        start, phase = divmod(output * down, up)
        weights = low_pass[phase::up]
        # each phase sums to 1: a constant stays one, without a ripple at the output rate
        matrix[start : start + per_phase, output] = weights[::-1] / weights.sum()
    return matrix.astype(np.float32), per_phase


class Resampler:
    """One stream's change of rate. State belongs to the stream: never share an object."""

    def __init__(self, from_hz: int, to_hz: int) -> None:
        """Prepare the filter; equal rates pass samples through untouched.

        Raises:
            AudioError: a rate that is not one of ``RATES_HZ``.
        """
        for field, rate in (("from_hz", from_hz), ("to_hz", to_hz)):
            if rate not in RATES_HZ:
                raise AudioError(f"{field} = {rate}: the live path knows {RATES_HZ}")
        common = math.gcd(from_hz, to_hz)
        self._up, self._down = to_hz // common, from_hz // common
        self._same = from_hz == to_hz
        self._matrix, per_phase = _kernel(self._up, self._down)
        self._fresh = np.zeros(per_phase - 1, np.float32)
        self._held = self._fresh
        self.delay_ms = (
            0.0 if self._same else (per_phase * self._up - 1) / 2 / (from_hz * self._up) * 1000
        )
        """How much later a sound comes out than it went in."""

    def push(self, samples: Samples) -> Samples:
        """Take the next samples; return what they complete.

        Where the count is a multiple of M of the ratio L/M (20 ms always is), exactly L/M times as
        many come back; else up to M - 1 input samples wait for the next push.
        """
        if self._same:
            return samples
        line = np.concatenate((self._held, samples), dtype=np.float32)
        blocks = (line.size - self._fresh.size) // self._down
        self._held = line[blocks * self._down :].copy()
        return self._filtered(line, blocks)

    def flush(self) -> Samples:
        """End the stream: return the samples still owed, and begin anew.

        Over the whole stream the output is the input's length times the ratio, rounded up. The
        last ``delay_ms`` stays in the filter.
        """
        waiting = self._held.size - self._fresh.size
        if self._same or waiting == 0:
            self._held = self._fresh
            return np.zeros(0, np.int16)
        owed = -(-waiting * self._up // self._down)
        line = np.concatenate((self._held, np.zeros(self._down - waiting, np.float32)))
        self._held = self._fresh
        return self._filtered(line, 1)[:owed]

    def _filtered(self, line: NDArray[np.float32], blocks: int) -> Samples:
        """Outputs of so many blocks; ``line`` begins with the state before the first."""
        if blocks == 0:
            return np.zeros(0, np.int16)
        # overlapping rows over one buffer: the plain constructor costs a tenth of as_strided
        windows: NDArray[np.float32] = np.ndarray(
            (blocks, self._matrix.shape[0]),
            np.float32,
            line,
            strides=(line.itemsize * self._down, line.itemsize),
        )
        out = windows @ self._matrix
        np.rint(out, out)
        np.clip(out, -32768, 32767, out)
        return out.astype(np.int16).reshape(-1)
