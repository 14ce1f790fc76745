"""In-memory engines and sounds for the tests of hearing."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from voice.audio.format import AudioFormat
from voice.hearing.ports import (
    Samples,
    SpeechToText,
    SttFact,
    SttHints,
    SttStream,
    VoiceDetector,
    VoiceProbe,
)

RATE_HZ = 8000


def tone(ms: int, level_db: float, *, seed: int = 0) -> Samples:
    """Noise of a level, which WebRTC takes for voice when it is loud and buzzes."""
    count = ms * RATE_HZ // 1000
    rng = np.random.default_rng(seed)
    power = 10.0 ** (level_db / 20.0) * 32768.0
    return (rng.standard_normal(count) * power).clip(-32768, 32767).astype(np.int16)


def buzz(ms: int, level_db: float) -> Samples:
    """A vowel of a kind: a pulse train of 120 Hz through two resonances; WebRTC calls it voice."""
    count = ms * RATE_HZ // 1000
    at = np.arange(count) / RATE_HZ
    wave = sum(
        np.sin(2 * np.pi * 120 * n * at) / (1 + ((120 * n - 700) / 300) ** 2) for n in range(1, 28)
    )
    wave = np.asarray(wave) / np.sqrt(np.mean(np.square(wave)))
    return (wave * 10.0 ** (level_db / 20.0) * 32768.0).clip(-32768, 32767).astype(np.int16)


@dataclass
class FakeProbe(VoiceProbe):
    sink: Callable[[int, float], None]
    pushed: list[int] = field(default_factory=list)
    resets: int = 0
    closed: bool = False

    def push(self, samples: Samples, end_ms: int) -> None:
        self.pushed.append(end_ms)

    def reset(self) -> None:
        self.resets += 1

    def close(self) -> None:
        self.closed = True


class FakeDetector(VoiceDetector):
    """Opens probes; the test says what they score through ``score``."""

    def __init__(self) -> None:
        self.probes: list[FakeProbe] = []

    def open(self, rate_hz: int, sink: Callable[[int, float], None]) -> FakeProbe:
        self.probes.append(FakeProbe(sink))
        return self.probes[-1]

    def run(self) -> None:
        pass

    def score(self, end_ms: int, probability: float) -> None:
        self.probes[-1].sink(end_ms, probability)


@dataclass
class RecordingStt(SpeechToText, SttStream):
    """Keeps what it is given; one stream."""

    hears_everything: bool = False
    fed: list[tuple[int, bool]] = field(default_factory=list)
    payloads: list[bytes] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    forgotten: list[int] = field(default_factory=list)
    closed: int = 0

    @property
    def strong(self) -> bool:
        return True

    @property
    def hears_all(self) -> bool:
        return self.hears_everything

    def open(self, fmt: AudioFormat, hints: SttHints, sink: Callable[[SttFact], None]) -> SttStream:
        return self

    def feed(self, frame: bytes, samples: Samples, end_ms: int, voiced: bool) -> None:
        self.fed.append((end_ms, voiced))
        self.payloads.append(frame)

    def decode_now(self, audio_end_ms: int) -> None:
        self.asked.append(audio_end_ms)

    def forget(self, audio_end_ms: int) -> None:
        self.forgotten.append(audio_end_ms)

    async def aclose(self) -> None:
        self.closed += 1
