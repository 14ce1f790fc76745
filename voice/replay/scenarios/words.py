"""Speech-to-text that knows what the scenario's caller says, and hears it when they say it.

Owns when the words of a line are told: they are spread over the line's sound from the moment it
really begins, partials grow word by word, a final follows the question for it. It hears nothing in
the sound; noises have no words. The general scripted engine is ``voice.hearing.stt_scripted``,
whose lines must have times, or come one for each stretch of voice.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.agent import Word
from voice.audio.format import AudioFormat
from voice.floor.events import Transcribed
from voice.hearing.ports import Samples, SpeechToText, SttFact, SttHints, SttStream
from voice.hearing.word_times import spread_words
from voice.replay.at import Happenings

__all__ = ["CallerWords", "Utterance"]

_SLACK_MS: Final = 200
"""A word that ends so little after the asked audio is part of the answer."""
_UNASKED_MS: Final = 400
"""The words of a line that nobody asks for are told so long after it."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """The words of one line."""

    name: str
    """The line's anchor: its end is noted when it begins."""
    text: str
    length_ms: float
    """From the line's start to its last sound."""


class CallerWords(SpeechToText):
    """The engine of one call."""

    def __init__(self, utterances: Sequence[Utterance], *, latency_ms: int) -> None:
        """Know the lines; ``latency_ms`` lies between a question, or the sound, and the answer."""
        self._utterances = tuple(utterances)
        self._latency_s = latency_ms / 1000
        self._happenings = Happenings()

    def follow(self, happenings: Happenings) -> None:
        """Learn from ``happenings`` when each line begins; before the call starts."""
        self._happenings = happenings

    @property
    def strong(self) -> bool:
        """Its words are the truth."""
        return True

    @property
    def hears_all(self) -> bool:
        """The audio's clock tells where in a line the caller is, also in their pauses."""
        return True

    def open(self, fmt: AudioFormat, hints: SttHints, sink: Callable[[SttFact], None]) -> SttStream:
        """Start a stream; must be called on the event loop."""
        return _Stream(self._utterances, self._happenings, self._latency_s, sink)

    async def aclose(self) -> None:
        """Nothing to release."""


class _Stream(SttStream):
    def __init__(
        self,
        utterances: tuple[Utterance, ...],
        happenings: Happenings,
        latency_s: float,
        sink: Callable[[SttFact], None],
    ) -> None:
        self._waiting = list(utterances)
        self._happenings = happenings
        self._latency_s = latency_s
        self._sink = sink
        self._words: list[Word] = []
        """Not told in a final yet, by their ends."""
        self._line_ends: list[int] = []
        self._shown = 0
        """Words that the latest partial had."""
        self._asked_ms: int | None = None
        self._segment = 1
        self._closed = False

    def feed(self, frame: bytes, samples: Samples, end_ms: int, voiced: bool) -> None:
        """Let the audio's clock pass."""
        self._begin_lines()
        if voiced and self._asked_ms is not None and end_ms > self._asked_ms:
            self._asked_ms = None
        passed = self._passed(end_ms)
        if passed > self._shown:
            self._shown = passed
            self._later(self._partial, end_ms, self._segment)
        if self._asked_ms is None and passed and not voiced and self._is_overdue(end_ms):
            self.decode_now(end_ms)

    def decode_now(self, audio_end_ms: int) -> None:
        """Answer with the words up to there, unless fresh voice comes first."""
        self._asked_ms = audio_end_ms
        self._later(self._final, audio_end_ms, self._segment)

    def forget(self, audio_end_ms: int) -> None:
        """Leave out the words up to there."""
        self._drop(self._passed(audio_end_ms))
        self._asked_ms = None

    async def aclose(self) -> None:
        """Answer no more."""
        self._closed = True

    def _begin_lines(self) -> None:
        """Spread the words of the lines that have begun."""
        for utterance in list(self._waiting):
            ends = self._happenings.times(utterance.name)
            if not ends:
                continue
            self._waiting.remove(utterance)
            start, end = round(ends[0] - utterance.length_ms), round(ends[0])
            self._words.extend(spread_words(utterance.text, start, end))
            self._words.sort(key=lambda word: word.end_ms)
            self._line_ends.append(self._words[-1].end_ms if self._words else end)

    def _passed(self, until_ms: int) -> int:
        return sum(word.end_ms <= until_ms for word in self._words)

    def _is_overdue(self, end_ms: int) -> bool:
        last_ms = self._words[self._passed(end_ms) - 1].end_ms
        return last_ms in self._line_ends and end_ms >= last_ms + _UNASKED_MS

    def _later(self, tell: Callable[[int, int], None], end_ms: int, segment: int) -> None:
        asyncio.get_running_loop().call_later(self._latency_s, tell, end_ms, segment)

    def _partial(self, end_ms: int, segment: int) -> None:
        words = self._words[: self._passed(end_ms)]
        if words and segment == self._segment and not self._closed:
            self._sink(_fact(words, False, segment, words[-1].end_ms))

    def _final(self, asked_ms: int, segment: int) -> None:
        if self._closed or self._asked_ms != asked_ms:
            return
        self._asked_ms = None
        count = self._passed(asked_ms + _SLACK_MS)
        words = self._words[:count]
        self._drop(count)
        self._sink(_fact(words, True, self._segment, asked_ms))
        self._segment += 1

    def _drop(self, count: int) -> None:
        del self._words[:count]
        self._shown = max(0, self._shown - count)


def _fact(words: Sequence[Word], final: bool, segment: int, end_ms: int) -> Transcribed:
    first = words[0].start_ms if words else end_ms
    last = words[-1].end_ms if words else end_ms
    return Transcribed(
        text=" ".join(word.text for word in words),
        final=final,
        audio_start_ms=first,
        audio_end_ms=end_ms,
        voiced_ms=last - first,
        words=tuple(words),
        segment=segment,
    )
