"""Speech-to-text that knows beforehand what is said: for tests, replays and the bench.

Owns turning a script into the facts a real engine would give, at the times it would give them. It
hears nothing in the sound; two kinds of script exist. Lines with times are words said at known
places of the caller's audio: partials grow word by word as the audio passes, and the final follows
``decode_now``, or comes by itself 400 ms after the line where nobody asks. Texts without times are
dealt out in order, one for each stretch of voice that is asked for. Same calls, same facts, in
virtual and in real time.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.agent import Word
from voice.audio.format import FRAME_MS, AudioFormat
from voice.floor.events import Transcribed
from voice.hearing.ports import Samples, SpeechToText, SttFact, SttHints, SttStream
from voice.hearing.word_times import spread_words

__all__ = ["ScriptedLine", "ScriptedStt"]

_SLACK_MS: Final = 200
"""A word that ends so little after the asked audio is part of the answer."""
_UNASKED_MS: Final = 400
_FIRST_PARTIAL_MS: Final = 300
_WORD_MS: Final = 300
_LEAST_VOICED_MS: Final = 60


@dataclass(frozen=True, slots=True)
class ScriptedLine:
    """Words the caller says; with both times, at that place of their audio."""

    text: str
    start_ms: int | None = None
    end_ms: int | None = None


class ScriptedStt(SpeechToText):
    """The engine: every stream it opens plays the whole script from its beginning."""

    def __init__(
        self,
        lines: Sequence[ScriptedLine | str],
        *,
        latency_ms: int = 80,
        partials: bool = True,
        cycle: bool = False,
    ) -> None:
        """Take the script: either all lines have times, or none has.

        ``latency_ms`` lies between the audio, or the question, and the answer. ``cycle`` begins
        again when the texts are used up; without it, later stretches have no words.

        Raises:
            ValueError: some lines have times and some have none.
        """
        script = [ScriptedLine(line) if isinstance(line, str) else line for line in lines]
        timed = [line for line in script if line.start_ms is not None and line.end_ms is not None]
        if timed and len(timed) != len(script):
            raise ValueError("either all lines of a script have times, or none has")
        self._timed = bool(timed)
        self._script = script
        self._latency_s = latency_ms / 1000.0
        self._partials = partials
        self._cycle = cycle

    @property
    def strong(self) -> bool:
        """Its words are the truth."""
        return True

    @property
    def hears_all(self) -> bool:
        """Lines with times need the audio's clock also while nobody speaks."""
        return self._timed

    def open(self, fmt: AudioFormat, hints: SttHints, sink: Callable[[SttFact], None]) -> SttStream:
        """Start a stream; must be called on the event loop."""
        if self._timed:
            return _TimedStream(self._script, self._latency_s, self._partials, sink)
        texts = [line.text for line in self._script]
        return _DealtStream(texts, self._latency_s, self._partials, self._cycle, sink)

    async def aclose(self) -> None:
        """Nothing to release."""


class _Teller:
    """Says facts ``latency_s`` later, until it is closed."""

    def __init__(self, latency_s: float, sink: Callable[[SttFact], None]) -> None:
        self._latency_s = latency_s
        self._sink = sink
        self.closed = False

    def tell(self, make: Callable[[], SttFact | None]) -> None:
        """Make the fact when it is due; None = it is void by then."""
        asyncio.get_running_loop().call_later(self._latency_s, self._due, make)

    def _due(self, make: Callable[[], SttFact | None]) -> None:
        if not self.closed and (fact := make()) is not None:
            self._sink(fact)


class _TimedStream(SttStream):
    """Words at known times; the audio's clock is that of the frames."""

    def __init__(
        self,
        script: Sequence[ScriptedLine],
        latency_s: float,
        partials: bool,
        sink: Callable[[SttFact], None],
    ) -> None:
        self._teller = _Teller(latency_s, sink)
        self._partials = partials
        self._words = [word for line in script for word in _spread(line)]
        self._line_ends = sorted(line.end_ms or 0 for line in script)
        self._used = 0
        """Words that a final has carried, or that were forgotten."""
        self._shown = 0
        """Words that a partial has carried."""
        self._asked_ms: int | None = None
        self._segment = 1

    def feed(self, frame: bytes, samples: Samples, end_ms: int, voiced: bool) -> None:
        """Let the audio's clock pass."""
        if voiced and self._asked_ms is not None and end_ms > self._asked_ms:
            self._asked_ms = None
        passed = self._count(end_ms)
        if self._partials and passed > max(self._shown, self._used):
            self._shown = passed
            self._teller.tell(lambda: self._partial(passed))
        if (
            self._asked_ms is None
            and self._used < passed
            and any(end == self._words[passed - 1].end_ms for end in self._line_ends)
            and end_ms >= self._words[passed - 1].end_ms + _UNASKED_MS
            and not voiced
        ):
            self.decode_now(end_ms)

    def decode_now(self, audio_end_ms: int) -> None:
        """Answer with the words up to there, unless fresh voice comes first."""
        self._asked_ms = audio_end_ms
        self._teller.tell(lambda: self._final(audio_end_ms))

    def forget(self, audio_end_ms: int) -> None:
        """Leave out the words up to there."""
        self._used = max(self._used, self._count(audio_end_ms))
        self._asked_ms = None

    async def aclose(self) -> None:
        """Answer no more."""
        self._teller.closed = True

    def _count(self, until_ms: int) -> int:
        return sum(word.end_ms <= until_ms for word in self._words)

    def _partial(self, passed: int) -> Transcribed | None:
        if passed <= self._used:
            return None
        return _fact(self._words[self._used : passed], False, self._segment)

    def _final(self, audio_end_ms: int) -> Transcribed | None:
        if self._asked_ms != audio_end_ms:
            return None
        self._asked_ms = None
        until = max(self._used, self._count(audio_end_ms + _SLACK_MS))
        words, self._used = self._words[self._used : until], until
        fact = _fact(words, True, self._segment, audio_end_ms)
        self._segment += 1
        return fact


class _DealtStream(SttStream):
    """Texts in order, one for each stretch of voice."""

    def __init__(
        self,
        texts: Sequence[str],
        latency_s: float,
        partials: bool,
        cycle: bool,
        sink: Callable[[SttFact], None],
    ) -> None:
        self._teller = _Teller(latency_s, sink)
        self._texts = texts
        self._partials = partials
        self._cycle = cycle
        self._place = 0
        self._segment = 1
        self._start_ms = 0
        self._end_ms = 0
        self._voiced_ms = 0
        self._shown = 0
        self._asked_ms: int | None = None

    def feed(self, frame: bytes, samples: Samples, end_ms: int, voiced: bool) -> None:
        """Count the voice of the stretch that is running."""
        if not voiced:
            return
        if self._asked_ms is not None and end_ms > self._asked_ms:
            self._asked_ms = None
        if self._voiced_ms == 0:
            self._start_ms = end_ms - FRAME_MS
        self._voiced_ms += FRAME_MS
        self._end_ms = end_ms
        words = self._text().split()
        spoken = min(len(words) - 1, 1 + (self._voiced_ms - _FIRST_PARTIAL_MS) // _WORD_MS)
        if self._partials and self._voiced_ms >= _FIRST_PARTIAL_MS and spoken > self._shown:
            self._shown = spoken
            segment, text, voiced_ms = self._segment, " ".join(words[:spoken]), self._voiced_ms
            self._teller.tell(lambda: self._partial(segment, text, end_ms, voiced_ms))

    def decode_now(self, audio_end_ms: int) -> None:
        """Answer with the stretch's text, unless fresh voice comes first."""
        self._asked_ms = audio_end_ms
        self._teller.tell(lambda: self._final(audio_end_ms))

    def forget(self, audio_end_ms: int) -> None:
        """The stretch was noise: its text is kept for the next one."""
        if self._end_ms <= audio_end_ms:
            self._begin_next()

    async def aclose(self) -> None:
        """Answer no more."""
        self._teller.closed = True

    def _text(self) -> str:
        if not self._texts or (self._place >= len(self._texts) and not self._cycle):
            return ""
        return self._texts[self._place % len(self._texts)]

    def _partial(self, segment: int, text: str, end_ms: int, voiced_ms: int) -> Transcribed | None:
        if segment != self._segment:
            return None
        line = ScriptedLine(text, self._start_ms, end_ms)
        return _fact(_spread(line), False, segment, end_ms, voiced_ms)

    def _final(self, audio_end_ms: int) -> Transcribed | None:
        if self._asked_ms != audio_end_ms:
            return None
        text = ""
        if self._voiced_ms >= _LEAST_VOICED_MS:
            text = self._text()
            self._place += 1
        line = ScriptedLine(text, self._start_ms, self._end_ms)
        fact = _fact(_spread(line), True, self._segment, audio_end_ms, self._voiced_ms)
        self._begin_next()
        return fact

    def _begin_next(self) -> None:
        self._segment += 1
        self._voiced_ms = self._shown = 0
        self._asked_ms = None


def _spread(line: ScriptedLine) -> tuple[Word, ...]:
    return spread_words(line.text, line.start_ms or 0, line.end_ms or 0)


def _fact(
    words: Sequence[Word],
    final: bool,
    segment: int,
    end_ms: int | None = None,
    voiced_ms: int | None = None,
) -> Transcribed:
    first_ms = words[0].start_ms if words else (end_ms or 0)
    last_ms = words[-1].end_ms if words else (end_ms or 0)
    return Transcribed(
        text=" ".join(word.text for word in words),
        final=final,
        audio_start_ms=first_ms,
        audio_end_ms=end_ms if end_ms is not None else last_ms,
        voiced_ms=voiced_ms if voiced_ms is not None else last_ms - first_ms,
        words=tuple(words),
        segment=segment,
    )
