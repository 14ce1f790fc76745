"""The player at the far end: plays what it is sent in real time, answers marks, obeys a clear.

Owns the arithmetic of playout only: what is buffered, which marks were reached and when, and the
samples that were really heard on the call's timeline. It knows no network (delay, jitter and loss
are its caller's: the replay's far end, the call client) and reads no clock: every method takes
``t_ms``, the time on the *player's* side, ms since the call connected. A time before the latest
one seen counts as that latest one.
"""

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voice.audio.codec import to_linear
from voice.audio.format import AudioFormat


@dataclass(frozen=True, slots=True)
class Reached:
    """A mark whose sound has been played to its end."""

    name: str
    at_ms: float
    """When playback reached it; never later than the ``advance`` that reports it."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Sound heard without a gap, from ``start_ms`` to ``end_ms``."""

    start_ms: float
    end_ms: float


class Player:
    """One player of one call."""

    def __init__(self, fmt: AudioFormat) -> None:
        """Start at time 0 with nothing buffered; ``fmt`` is the format it is sent."""
        self._format = fmt
        self._now = 0.0
        self._end = 0
        """Sample index on the timeline where the buffered sound ends."""
        self._starts: list[int] = []
        self._sounds: list[bytearray] = []
        """Stretches of sound, beside the sample index where each starts; only the last can be
        partly unplayed, since a new one starts only when nothing is buffered.
        """
        self._marks: deque[tuple[str, float, int]] = deque()
        self._odd = b""
        self.received_bytes = 0
        """Bytes of sound received, played or not."""
        self.cleared_ms = 0.0
        """Sound that clears dropped, ms in all."""

    @property
    def format(self) -> AudioFormat:
        """The format it plays."""
        return self._format

    def receive_audio(self, payload: bytes, t_ms: float) -> None:
        """Buffer sound of any length; it plays after what is buffered, at once if nothing is."""
        now = self._sample(self._clock(t_ms))
        self.received_bytes += len(payload)
        data = self._odd + payload
        width = self._format.encoding.sample_bytes
        whole = len(data) - len(data) % width
        self._odd = data[whole:]
        if not whole:
            return
        if now > self._end or not self._sounds:
            self._end = max(now, self._end)
            self._starts.append(self._end)
            self._sounds.append(bytearray())
        self._sounds[-1] += data[:whole]
        self._end += whole // width

    def receive_mark(self, name: str, t_ms: float) -> None:
        """Queue a mark behind the sound buffered so far."""
        self._marks.append((name, self._clock(t_ms), self._end))

    def receive_clear(self, t_ms: float) -> tuple[str, ...]:
        """Drop what is not played yet; return the marks that were waiting, in order.

        Marks reached before ``t_ms`` but not collected by ``advance`` are kept for it: call
        ``advance(t_ms)`` first to answer everything in the order it happened.
        """
        now = self._clock(t_ms)
        cut = self._sample(now)
        reached = [mark for mark in self._marks if self._mark_ms(mark) <= now]
        dropped = tuple(mark[0] for mark in list(self._marks)[len(reached) :])
        self._marks = deque(reached)
        self._odd = b""
        if self._end > cut:
            width = self._format.encoding.sample_bytes
            self.cleared_ms += (self._end - cut) * 1000 / self._format.rate_hz
            del self._sounds[-1][max(0, cut - self._starts[-1]) * width :]
            self._end = cut
        return dropped

    def advance(self, t_ms: float) -> list[Reached]:
        """Play on to ``t_ms``; return the marks reached since the last call, in order."""
        now = self._clock(t_ms)
        reached: list[Reached] = []
        while self._marks and (at_ms := self._mark_ms(self._marks[0])) <= now:
            reached.append(Reached(self._marks.popleft()[0], at_ms))
        return reached

    def next_mark_ms(self) -> float | None:
        """When the next mark will be reached if nothing more happens; None without a mark."""
        return self._mark_ms(self._marks[0]) if self._marks else None

    def buffered_ms(self, t_ms: float) -> float:
        """Sound still to be played at ``t_ms``."""
        return max(0.0, self._end * 1000 / self._format.rate_hz - self._clock(t_ms))

    def is_audible(self, t_ms: float) -> bool:
        """Whether sound (be it silence that was sent) is playing at ``t_ms``; times past count."""
        at = self._sample(t_ms)
        place = bisect_right(self._starts, at) - 1
        if place < 0:
            return False
        width = self._format.encoding.sample_bytes
        return at < self._starts[place] + len(self._sounds[place]) // width

    def stretches(self) -> list[Stretch]:
        """What was played up to now, gap by gap; a gap is where the buffer ran empty."""
        rate = self._format.rate_hz
        now = self._sample(self._now)
        width = self._format.encoding.sample_bytes
        spans = [
            Stretch(start * 1000 / rate, min(now, start + len(sound) // width) * 1000 / rate)
            for start, sound in zip(self._starts, self._sounds, strict=True)
            if sound and start < now
        ]
        return spans

    def played(self) -> NDArray[np.int16]:
        """Linear samples heard from time 0 to now, silence where nothing played."""
        length = self._sample(self._now)
        heard = np.zeros(length, dtype=np.int16)
        for start, sound in zip(self._starts, self._sounds, strict=True):
            samples = to_linear(self._format, bytes(sound))[: max(0, length - start)]
            heard[start : start + len(samples)] = samples
        return heard

    def heard(self, from_ms: float, to_ms: float) -> NDArray[np.int16]:
        """Linear samples heard in a span that lies in the past, silence where nothing played.

        The part of the span before time 0 is silent; for the part after the latest ``t_ms`` seen,
        what is buffered now.
        """
        first, last = self._sample(from_ms), self._sample(to_ms)
        heard = np.zeros(last - first, dtype=np.int16)
        width = self._format.encoding.sample_bytes
        for place in range(len(self._starts) - 1, -1, -1):
            start, sound = self._starts[place], self._sounds[place]
            end = start + len(sound) // width
            low, high = max(first, start), min(last, end)
            if low < high:
                cut = bytes(sound[(low - start) * width : (high - start) * width])
                heard[low - first : high - first] = to_linear(self._format, cut)
            if start <= first:
                break
        return heard

    def _clock(self, t_ms: float) -> float:
        self._now = max(self._now, t_ms)
        return self._now

    def _sample(self, t_ms: float) -> int:
        return round(t_ms * self._format.rate_hz / 1000)

    def _mark_ms(self, mark: tuple[str, float, int]) -> float:
        _, received_ms, sample = mark
        return max(received_ms, sample * 1000 / self._format.rate_hz)
