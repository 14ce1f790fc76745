"""The embedded speech-to-text: a small recognizer made to answer like a streaming one.

Owns one stream a call: when a growing stretch is decoded again, when its answer is final, and what
a failure means. The sound is kept by ``utterance``, decoded by ``decoder`` in the worker, in the
order of ``decode_queue``, and judged by ``believe``. It hears English; a hosted engine is the
alternative for other languages, and for words that need no second look.

Rules:

1. The first partial comes after 300 ms of voice, the next after 300 ms of sound or five times what
   the last decoding took, whichever is longer. Words that two partials running agree on carry the
   text's confidence, later ones half of it.
2. ``decode_now`` is answered by exactly one final, with no words where there was no voice, unless
   fresh voice comes first: then what was decoded is a partial like any other.
3. A final closes its segment; later frames begin the next. A segment longer than 4 s is closed at a
   dip of 200 ms, one of 11 s at its softest place. One whose final held no words that count is
   joined by a stretch that begins within 600 ms, and both are transcribed as one.
4. A decoding that raises is told once; its final is tried again once, then answered without words.
"""

import asyncio
import logging
import math
from collections.abc import Callable
from typing import Final

from voice.audio.format import FRAME_MS, AudioFormat
from voice.floor.events import Transcribed, TranscriberBack, TranscriberFailed
from voice.hearing.believe import Believed, believe_final, believe_partial
from voice.hearing.decode_queue import DecodeQueue, Job
from voice.hearing.decoder import Decoded, Decoder, MoonshineDecoder
from voice.hearing.ports import Samples, SpeechToText, SttFact, SttHints, SttStream
from voice.hearing.utterance import Stretch, Utterance
from voice.hearing.word_times import spread_words
from voice.workers import Worker

__all__ = ["LocalStt"]

_log = logging.getLogger(__name__)

_FIRST_PARTIAL_MS: Final = 300
_PARTIAL_EVERY_MS: Final = 300
_DECODES_APART: Final = 5
_LEAST_VOICED_MS: Final = 60
"""Less voice than this carries no word; the model would invent one."""


class LocalStt(SpeechToText):
    """The engine; one for the process."""

    def __init__(self, worker: Worker, decoder: Decoder | None = None) -> None:
        """Load the model unless a decoder is given; ``aclose`` closes the worker as well.

        Raises:
            ProviderError: the model's files are missing or not the expected ones.
        """
        self._worker = worker
        self._decoder = decoder if decoder is not None else MoonshineDecoder()
        self._queue: DecodeQueue[Decoded] = DecodeQueue(worker)

    @property
    def strong(self) -> bool:
        """Its single words must be believed first."""
        return False

    @property
    def hears_all(self) -> bool:
        """It hears voice only: on silence it would invent words."""
        return False

    def open(self, fmt: AudioFormat, hints: SttHints, sink: Callable[[SttFact], None]) -> SttStream:
        """Start a stream; the model takes no hints. Must be called on the event loop."""
        return _LocalStream(self._queue, self._decoder, fmt.rate_hz, sink)

    async def aclose(self) -> None:
        """Close the worker; idempotent."""
        await self._worker.aclose()


class _LocalStream(SttStream):
    """One caller's speech. Everything happens on the loop but ``Decoder.decode``."""

    def __init__(
        self,
        queue: DecodeQueue[Decoded],
        decoder: Decoder,
        rate_hz: int,
        sink: Callable[[SttFact], None],
    ) -> None:
        self._queue = queue
        self._decoder = decoder
        self._rate_hz = rate_hz
        self._sink = sink
        self._utterance = Utterance()
        self._asked_ms: int | None = None
        """End of the audio that a final is owed for."""
        self._stamp = 0
        """Raised whenever decodings under way stop being answers."""
        self._partial_open = False
        self._partial_ms = 0
        self._partial_words: tuple[str, ...] = ()
        self._failed = False
        self._closed = False

    def feed(self, frame: bytes, samples: Samples, end_ms: int, voiced: bool) -> None:
        """Take 20 ms; see ``SttStream.feed``."""
        if self._closed:
            return
        if voiced and self._asked_ms is not None and end_ms > self._asked_ms:
            self._asked_ms = None
        if self._asked_ms is None and self._utterance.skipped_to(end_ms):
            # Nobody asked for what was left there: the last of a voice that had ended, not the
            # beginning of this one.
            self._restart(end_ms - FRAME_MS)
        self._utterance.push(samples, end_ms, voiced)
        if self._asked_ms is None:
            if (cut_ms := self._utterance.cut_ms()) is not None:
                self._cut(cut_ms)
            elif voiced and self._partial_is_due(end_ms):
                self._ask_partial()

    def decode_now(self, audio_end_ms: int) -> None:
        """Owe a final for the audio up to there; see ``SttStream.decode_now``."""
        if self._closed or self._asked_ms == audio_end_ms:
            return
        stretch = self._utterance.take(audio_end_ms)
        if stretch is None or stretch.voiced_ms < _LEAST_VOICED_MS:
            segment = self._utterance.segment
            self._restart(audio_end_ms)
            self._say_soon(_nothing(segment, audio_end_ms, audio_end_ms))
            return
        self._asked_ms = audio_end_ms
        self._ask_final(stretch, audio_end_ms, again=False)

    def forget(self, audio_end_ms: int) -> None:
        """Drop the audio up to there, and the answers still owed for it."""
        self._utterance.forget(audio_end_ms)
        self._stamp += 1
        self._asked_ms = None
        self._partial_words = ()
        self._queue.drop(self)
        self._partial_open = False

    async def aclose(self) -> None:
        """Answer no more; idempotent."""
        self._closed = True
        self._queue.drop(self)

    def _partial_is_due(self, end_ms: int) -> bool:
        if self._partial_open or self._utterance.voiced_ms < _FIRST_PARTIAL_MS:
            return False
        apart_ms = _DECODES_APART * self._queue.last_decode_s * 1000.0
        return end_ms - self._partial_ms >= max(_PARTIAL_EVERY_MS, apart_ms)

    def _ask_partial(self) -> None:
        stretch = self._utterance.take()
        if stretch is None:
            return
        stamp = self._stamp

        def done(result: Decoded | Exception) -> None:
            self._partial_open = False
            if stamp != self._stamp or self._utterance.segment != stretch.segment:
                return
            if isinstance(result, Exception):
                self._tell_failed(result)
                return
            self._tell_back()
            self._say_partial(stretch, result)

        self._partial_ms = stretch.end_ms
        self._partial_open = self._ask(stretch, final=False, done=done)

    def _ask_final(self, stretch: Stretch, audio_end_ms: int, *, again: bool) -> None:
        stamp = self._stamp

        def done(result: Decoded | Exception) -> None:
            if stamp != self._stamp:
                return
            closed = self._utterance.segment != stretch.segment
            if not closed and self._asked_ms != audio_end_ms:
                # Fresh voice came: the segment goes on, and this is what it held so far.
                if not isinstance(result, Exception):
                    self._tell_back()
                    self._say_partial(stretch, result)
                return
            if isinstance(result, Exception):
                self._tell_failed(result)
                if not again:
                    self._ask_final(stretch, audio_end_ms, again=True)
                    return
                believed, logprob = Believed("", uncertain=True), 0.0
            else:
                self._tell_back()
                logprob = result.logprob
                believed = believe_final(result.text, logprob, stretch.voiced_ms, result.weighed)
            if not closed:
                counts = bool(believed.text) and believed.verdict == "words"
                self._restart(audio_end_ms, wordless=not counts)
            self._say(_transcribed(stretch, audio_end_ms, believed, logprob, 0))

        if not self._ask(stretch, final=True, done=done):
            if self._utterance.segment == stretch.segment:
                self._restart(audio_end_ms)
            self._say_soon(_nothing(stretch.segment, stretch.start_ms, audio_end_ms))

    def _ask(
        self, stretch: Stretch, *, final: bool, done: Callable[[Decoded | Exception], None]
    ) -> bool:
        decoder, rate_hz = self._decoder, self._rate_hz
        now_s = asyncio.get_running_loop().time()
        job: Job[Decoded] = Job(self, final, lambda: decoder.decode(stretch, rate_hz), done, now_s)
        if final:
            self._partial_open = False
        return self._queue.ask(job)

    def _cut(self, cut_ms: int) -> None:
        stretch = self._utterance.take(cut_ms)
        self._restart(cut_ms)
        if stretch is not None:
            self._ask_final(stretch, cut_ms, again=False)

    def _restart(self, until_ms: int, *, wordless: bool = False) -> None:
        self._utterance.close(until_ms, wordless=wordless)
        self._asked_ms = None
        self._partial_words = ()

    def _say_partial(self, stretch: Stretch, decoded: Decoded) -> None:
        believed = believe_partial(
            decoded.text, decoded.logprob, stretch.voiced_ms, decoded.weighed
        )
        if not believed.text:
            return
        words = tuple(word.strip(".,!?").lower() for word in believed.text.split())
        agreed = 0
        for before, now in zip(self._partial_words, words, strict=False):
            if before != now:
                break
            agreed += 1
        self._partial_words = words
        loose = len(words) - agreed
        self._say(
            _transcribed(stretch, stretch.end_ms, believed, decoded.logprob, loose, final=False)
        )

    def _say(self, fact: SttFact) -> None:
        if not self._closed:
            self._sink(fact)

    def _say_soon(self, fact: SttFact) -> None:
        asyncio.get_running_loop().call_soon(self._say, fact)

    def _tell_failed(self, error: Exception) -> None:
        _log.error("speech-to-text: decoding failed", exc_info=error)
        if not self._failed:
            self._failed = True
            self._say(TranscriberFailed("decoding failed"))

    def _tell_back(self) -> None:
        if self._failed:
            self._failed = False
            self._say(TranscriberBack())


def _nothing(segment: int, start_ms: int, end_ms: int) -> Transcribed:
    return Transcribed(
        text="",
        final=True,
        audio_start_ms=start_ms,
        audio_end_ms=end_ms,
        voiced_ms=0,
        segment=segment,
    )


def _transcribed(
    stretch: Stretch,
    end_ms: int,
    believed: Believed,
    logprob: float,
    loose: int,
    *,
    final: bool = True,
) -> Transcribed:
    return Transcribed(
        text=believed.text,
        final=final,
        audio_start_ms=stretch.start_ms,
        audio_end_ms=end_ms,
        voiced_ms=stretch.voiced_ms,
        logprob=logprob,
        words=spread_words(
            believed.text,
            stretch.start_ms,
            stretch.voice_end_ms,
            confidence=math.exp(min(0.0, logprob)),
            loose=loose,
        ),
        verdict=believed.verdict,
        segment=stretch.segment,
        uncertain=believed.uncertain,
    )
