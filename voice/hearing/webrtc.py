"""WebRTC's voice detector, the cheap gate: 4 µs a frame, early on soft onsets, fooled by noise.

Owns one caller's detector object and the rate it wants. It hears a voice in most sounds, so alone
it decides nothing: ``onset`` adds loudness over the noise floor, and ``silero`` confirms.
"""

from typing import Any, Final, cast

import webrtcvad

from voice.audio.resample import Resampler
from voice.hearing.ports import Samples

__all__ = ["WebRtcGate"]

_MODE: Final = 2
"""0 lets most through, 3 least; 2 lost the fewest soft onsets at the same false alarms."""
_OWN_RATES_HZ: Final = (8000, 16000, 32000, 48000)


class WebRtcGate:
    """One caller's cheap detector; it adapts to the line, so it is never shared."""

    def __init__(self, rate_hz: int) -> None:
        """Prepare for 20 ms frames of that rate; rates it doesn't know are brought to 8 kHz.

        Raises:
            AudioError: a rate the live path does not work in.
        """
        own = rate_hz in _OWN_RATES_HZ
        self._rate_hz = rate_hz if own else 8000
        self._resampler = None if own else Resampler(rate_hz, 8000)
        self._vad = cast("Any", webrtcvad).Vad(_MODE)

    def is_voiced(self, samples: Samples) -> bool:
        """Judge 20 ms of linear samples; a frame of another length counts as unvoiced."""
        if self._resampler is not None:
            samples = self._resampler.push(samples)
        if samples.size * 50 != self._rate_hz:
            return False
        return bool(self._vad.is_speech(samples.tobytes(), self._rate_hz))
