"""Voices of the agent that a test can read back, and that fail on order.

``LegibleTts`` speaks so that a lossless recording tells which character was played when, however
often it was held and taken up again; ``PlannedTts`` is one whose streams hang or die by number.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from runtime.errors import ProviderError
from voice.audio.format import WIDE
from voice.speaking.ports import SpokenPiece, TtsStream
from voice.speaking.tts_scripted import ScriptedTts, TtsFaults

Samples = NDArray[np.int16]


class LegibleTts(ScriptedTts):
    """Speaks so that the recording tells which character was played when.

    Each character is a square wave of an amplitude of its own, so many in the order of asking.
    """

    FIRST: Final = 1000
    STEP: Final = 6
    MOST: Final = 5200

    def __init__(
        self, ms_per_char: int = 65, delay_s: float = 0.0, *, faults: TtsFaults | None = None
    ) -> None:
        super().__init__(ms_per_char, delay_s, WIDE.rate_hz, faults=faults)
        self._places: dict[str, int] = {}
        self._next = 0

    def sound_of(self, text: str) -> Samples:
        if text not in self._places:
            self._places[text] = self._next
            self._next = (self._next + len(text)) % self.MOST
        width = self.ms_per_char * self.rate_hz // 1000
        first = self._places[text]
        numbers = (np.arange(first, first + len(text)) % self.MOST) * self.STEP + self.FIRST
        wave = np.resize(np.repeat(np.array([1, -1]), 8), width)
        return (numbers[:, None] * wave[None, :]).reshape(-1).astype(np.int16)

    def played(self, text: str, heard: Samples) -> int:
        """How many characters of ``text`` were played, as far as the last one of them."""
        first = self._places.get(text)
        if first is None:
            return 0
        width = self.ms_per_char * self.rate_hz // 1000
        loud = np.abs(heard.astype(np.int32))
        played = 0
        for place in range(len(text)):
            level = (first + place) % self.MOST * self.STEP + self.FIRST
            if np.count_nonzero(loud == level) >= 0.5 * width:
                played = place + 1
        return played


class PlannedTts(LegibleTts):
    """Does something to some of its streams, by their number from 1."""

    def __init__(
        self,
        *,
        hangs: Sequence[int] = (),
        dies: Sequence[int] = (),
        delay_s: float = 0.0,
        most_open: int | None = None,
    ) -> None:
        """``hangs``: no sound ever comes; ``dies``: fails after the first 500 ms of sound."""
        super().__init__(delay_s=delay_s, faults=TtsFaults(most_open=most_open))
        self.hangs = hangs
        self.dies = dies

    def open(self, language: str, voice: str | None) -> TtsStream:
        stream = super().open(language, voice)
        if self.opened in self.hangs:
            return _Silent(stream)
        return _Dying(stream) if self.opened in self.dies else stream


class _Silent(TtsStream):
    def __init__(self, stream: TtsStream) -> None:
        self.stream = stream

    def push(self, chunk: int, text: str) -> None:
        self.stream.push(chunk, text)

    def finish(self) -> None:
        self.stream.finish()

    async def pieces(self) -> AsyncIterator[SpokenPiece]:
        await asyncio.Event().wait()
        yield SpokenPiece(0, np.zeros(0, np.int16))

    async def aclose(self) -> None:
        await self.stream.aclose()


class _Dying(_Silent):
    async def pieces(self) -> AsyncIterator[SpokenPiece]:
        async for piece in self.stream.pieces():
            yield replace(piece, last=False)
            raise ProviderError("the engine died", retryable=False)


def played_chars(tts: LegibleTts, text: str, heard: Samples) -> int:
    """How far a text was played: its sentences one by one."""
    played = 0
    for chunk in tts.requests:
        place = text.find(chunk)
        if place >= 0 and (count := tts.played(chunk, heard)):
            played = max(played, place + count)
    # the space behind a sentence has no sound
    return len(text) if played >= len(text.rstrip()) else played
