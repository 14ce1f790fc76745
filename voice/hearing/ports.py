"""What an engine that hears must offer.

Owns the ports of voice detectors and speech-to-text. ``ear`` composes them for one call. Engines
are chosen by name or module path in the composition root and imported only when named.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voice.audio.format import AudioFormat
from voice.floor.events import (
    SpeakerFinished,
    SpeakerResumed,
    Transcribed,
    TranscriberBack,
    TranscriberFailed,
)

Samples: TypeAlias = NDArray[np.int16]
"""Linear mono samples, shape ``(n,)``."""

SttFact: TypeAlias = (
    Transcribed | SpeakerFinished | SpeakerResumed | TranscriberFailed | TranscriberBack
)


@dataclass(frozen=True, slots=True)
class SttHints:
    """What helps the engine: language and the phrases that are likely now."""

    language: str = "en"
    phrases: tuple[str, ...] = ()


class SttStream(Protocol):
    """One caller's speech on its way to words. All methods return at once."""

    def feed(self, frame: bytes, samples: Samples, end_ms: int, voiced: bool) -> None:
        """Take 20 ms: the line's own bytes, the same linear, its end on the caller's audio clock.

        Called only from speech onset (with 300 ms of pre-roll) to a little past its end, unless the
        engine sets ``hears_all``.
        """
        ...

    def decode_now(self, audio_end_ms: int) -> None:
        """Answer with a final for the audio fed so far; fresh voice before that voids it."""
        ...

    def forget(self, audio_end_ms: int) -> None:
        """Drop audio up to there: it was noise, or its words are used."""
        ...

    async def aclose(self) -> None:
        """Release the stream; idempotent."""
        ...


class SpeechToText(Protocol):
    """An engine that turns speech into words; one for the process, one stream a call."""

    @property
    def strong(self) -> bool:
        """Whether single words of it can be trusted (hosted engines), or must be believed first."""
        ...

    @property
    def hears_all(self) -> bool:
        """Whether it wants every frame, silence too (engines with their own end of turn)."""
        ...

    def open(self, fmt: AudioFormat, hints: SttHints, sink: Callable[[SttFact], None]) -> SttStream:
        """Start a stream; facts come through ``sink``, on the event loop, never from inside a
        call.
        """
        ...

    async def aclose(self) -> None:
        """Release models and workers; idempotent."""
        ...


class VoiceProbe(Protocol):
    """The sure detector's state for one caller."""

    def push(self, samples: Samples, end_ms: int) -> None:
        """Take 20 ms of linear samples; probabilities follow through the sink given at ``open``."""
        ...

    def reset(self) -> None:
        """Forget what came before (a gap in the audio)."""
        ...

    def close(self) -> None:
        """Release the state row; idempotent."""
        ...


class VoiceDetector(Protocol):
    """The sure detector (Silero): one model for the process, states batched over calls."""

    def open(self, rate_hz: int, sink: Callable[[int, float], None]) -> VoiceProbe:
        """Start a caller; ``sink(window_end_ms, probability)`` is called from ``run``."""
        ...

    def run(self) -> None:
        """Score every window that is waiting, all calls in one batch; the ticker calls it each
        tick.
        """
        ...
