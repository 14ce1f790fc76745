"""Does the client send as much sound a second as its declared format says?

Owns that one comparison, for one call. Pure: bytes and times in, a finding out. A stream declared
at 16 kHz that carries 8 kHz gives models chipmunk speech and wrong turn ends, and nothing in a
single frame shows it. It corrects nothing: the finding is for the log and the client.

The first 100 ms are not measured (clients begin with what they buffered while connecting), and a
hole of more than 250 ms begins all over (a muted client is not a slow one, nor its backlog fast).
"""

from dataclasses import dataclass
from typing import Final

from voice.audio.format import AudioFormat

__all__ = ["RateMismatch", "RateMonitor"]

_SETTLE_MS: Final = 100.0
_FIRST_MS: Final = 800.0
_WINDOW_MS: Final = 2000.0
_HOLE_MS: Final = 250.0
_NEAR: Final = 0.12
"""How close to another standard rate a measured one must be, as a share of it."""
_STANDARD_HZ: Final = (8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000)


@dataclass(frozen=True, slots=True)
class RateMismatch:
    """The sound arrives as fast as another rate would."""

    declared_hz: int
    likely_hz: int
    """The standard rate that fits what arrived."""


class RateMonitor:
    """Watches the caller's sound of one call."""

    def __init__(self, fmt: AudioFormat) -> None:
        """Expect sound of ``fmt``."""
        self._format = fmt
        self._first_ms: float | None = None
        self._latest_ms = 0.0
        self._span_ms = 0.0
        self._bytes = 0
        self._window_ms = _FIRST_MS
        self._said_hz = fmt.rate_hz
        self._seen_hz: int | None = None

    def push(self, size: int, now_ms: float) -> RateMismatch | None:
        """Note a message of ``size`` bytes that arrived at ``now_ms``.

        Returns:
            A finding about 0.9 s after the first sound, and again when another rate seems to
            arrive later; otherwise None.
        """
        if self._first_ms is None:
            self._first_ms = self._latest_ms = now_ms
            return None
        step = now_ms - self._latest_ms
        self._latest_ms = now_ms
        if step > _HOLE_MS:
            # What the client kept back meanwhile comes in a burst now: measure afresh after it.
            self._first_ms, self._span_ms, self._bytes = now_ms, 0.0, 0
        if now_ms - self._first_ms <= _SETTLE_MS:
            return None
        self._span_ms += step
        self._bytes += size
        return self._judge() if self._span_ms >= self._window_ms else None

    def _judge(self) -> RateMismatch | None:
        sample_bytes = self._format.encoding.sample_bytes
        measured_hz = self._bytes / sample_bytes * 1000 / self._span_ms
        is_first = self._window_ms == _FIRST_MS
        self._span_ms = 0.0
        self._bytes = 0
        self._window_ms = _WINDOW_MS
        seen_hz, self._seen_hz = self._seen_hz, self._nearest_hz(measured_hz)
        # A window in which the rate changes measures neither; so two must agree, but the first.
        if self._seen_hz is None or not (is_first or self._seen_hz == seen_hz):
            return None
        if self._seen_hz == self._said_hz:
            return None
        self._said_hz = self._seen_hz
        declared_hz = self._format.rate_hz
        return None if self._said_hz == declared_hz else RateMismatch(declared_hz, self._said_hz)

    def _nearest_hz(self, measured_hz: float) -> int | None:
        """The declared rate if it fits, else the standard one that does; None for no rate."""
        declared_hz = self._format.rate_hz
        if abs(measured_hz - declared_hz) <= _NEAR * declared_hz:
            return declared_hz
        nearest_hz = min(_STANDARD_HZ, key=lambda hz: abs(measured_hz - hz) / hz)
        return nearest_hz if abs(measured_hz - nearest_hz) <= _NEAR * nearest_hz else None
