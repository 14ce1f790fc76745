"""An engine that speaks tones: for tests and replays, at any speed, with faults on order.

Owns nothing a caller should hear. Sound is a function of the text alone, so equal inputs give equal
bytes. The real local engine is ``tts_local``.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from runtime.errors import ProviderError
from voice.speaking.ports import SpokenPiece, TextToSpeech, TtsStream, WordTime

_TONE_HZ: Final = 220
_LEVEL: Final = 6000


@dataclass(frozen=True, slots=True, kw_only=True)
class TtsFaults:
    """What goes wrong with every stream."""

    hangs: bool = False
    """No sound ever comes."""
    dies_after_chunks: int | None = None
    """Raises after so many whole chunks, in the middle of the next."""
    merges_chunks: bool = False
    """All sound comes under the first chunk's number, without ends of the others."""
    late_pieces_after_close: int = 0
    """Pieces that the stream still yields after it was closed."""
    close_s: float = 0.0
    """How long closing takes."""
    most_open: int | None = None
    """Refuses to open more streams than this."""


class ScriptedTts(TextToSpeech):
    """Speaks ``ms_per_char`` of tone for each character, ``delay_s`` after it was asked."""

    def __init__(
        self,
        ms_per_char: int = 60,
        delay_s: float = 0.0,
        rate_hz: int = 8000,
        *,
        piece_ms: int = 500,
        word_times: bool = False,
        faults: TtsFaults | None = None,
    ) -> None:
        """Set the speed, the latency before each chunk's sound, and the faults."""
        self.ms_per_char = ms_per_char
        self.delay_s = delay_s
        self.piece_ms = piece_ms
        self.word_times = word_times
        self.faults = faults or TtsFaults()
        self._rate_hz = rate_hz
        self.opened = 0
        self.open_now = 0
        self.most_open = 0
        """Most streams that were open at one time."""
        self.closed = 0
        """Closings in all; equal to ``opened`` when every stream was closed once."""
        self.requests: list[str] = []
        """Spoken texts that were asked for, in order."""
        self.voices: list[str | None] = []
        """Voices of the streams, in order."""
        self.late_pieces = 0

    @property
    def rate_hz(self) -> int:
        """Rate of the tones."""
        return self._rate_hz

    def open(self, language: str, voice: str | None) -> TtsStream:
        """Start a say."""
        most = self.faults.most_open
        if most is not None and self.open_now >= most:
            raise ProviderError("too many open contexts", retryable=True)
        self.opened += 1
        self.voices.append(voice)
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        return _ScriptedStream(self)

    async def aclose(self) -> None:
        """Nothing to release."""

    def sound_of(self, text: str) -> NDArray[np.int16]:
        """The tone for a text."""
        count = len(text) * self.ms_per_char * self._rate_hz // 1000
        at = np.arange(count) / self._rate_hz
        return (np.sin(2 * np.pi * _TONE_HZ * at) * _LEVEL).astype(np.int16)

    def words_of(self, text: str) -> tuple[WordTime, ...]:
        """Word times of a text."""
        words: list[WordTime] = []
        start = 0
        for word in text.split(" "):
            end = start + len(word)
            words.append(WordTime(start, end, end * self.ms_per_char))
            start = end + 1
        return tuple(words)


class _ScriptedStream(TtsStream):
    def __init__(self, tts: ScriptedTts) -> None:
        self._tts = tts
        self._chunks: asyncio.Queue[tuple[int, str] | None] = asyncio.Queue()
        self._closed = False
        self._first = 0

    def push(self, chunk: int, text: str) -> None:
        self._tts.requests.append(text)
        self._chunks.put_nowait((chunk, text))

    def finish(self) -> None:
        self._chunks.put_nowait(None)

    async def pieces(self) -> AsyncIterator[SpokenPiece]:
        faults = self._tts.faults
        done = 0
        while (item := await self._chunks.get()) is not None:
            chunk, text = item
            if faults.hangs:
                await asyncio.Event().wait()
            if self._tts.delay_s:
                await asyncio.sleep(self._tts.delay_s)
            dies = faults.dies_after_chunks is not None and done >= faults.dies_after_chunks
            for piece in self._cut(chunk, text, half=dies):
                yield piece
            if dies:
                raise ProviderError("the scripted engine died", retryable=True)
            done += 1
        for _ in range(faults.late_pieces_after_close if self._closed else 0):
            self._tts.late_pieces += 1
            yield SpokenPiece(0, self._tts.sound_of("late"), last=False)

    async def aclose(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._chunks.put_nowait(None)
        if self._tts.faults.close_s:
            await asyncio.sleep(self._tts.faults.close_s)
        self._tts.open_now -= 1
        self._tts.closed += 1

    def _cut(self, chunk: int, text: str, *, half: bool) -> list[SpokenPiece]:
        tts = self._tts
        sound = tts.sound_of(text)
        if half:
            sound = sound[: len(sound) // 2]
        size = max(1, tts.piece_ms * tts.rate_hz // 1000)
        starts = range(0, max(len(sound), 1), size)
        number = 0 if tts.faults.merges_chunks else chunk
        return [
            SpokenPiece(
                number,
                sound[start : start + size],
                words=tts.words_of(text) if tts.word_times and start == 0 else (),
                last=not half and not tts.faults.merges_chunks and start == starts[-1],
            )
            for start in starts
        ]
