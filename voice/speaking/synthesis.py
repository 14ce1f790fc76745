"""The engine's streams of one call: opened late, read with back-pressure, each closed once.

Owns which say's sound is being made, the task that reads it, the watchdog and the closing. One
stream for says and one for lines of the voice plane's own (a filler must not wait for a reply that
is still being written) are open at most, plus one that is closing: providers count open contexts.
What happens with the sound is ``mouth``'s.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from runtime.errors import ProviderError
from runtime.tasks import run_bounded
from voice.speaking.ports import SpokenPiece, TextToSpeech, TtsStream
from voice.speaking.utterance import Utterance

MOST_AHEAD_MS: Final = 30_000
"""Sound a say may have waiting before its synthesis is paused."""
_ROOM_AGAIN_MS: Final = 25_000
SILENT_ENGINE_MS: Final = 5_000
"""No sound for so long with text waiting: the say has failed."""
_CLOSE_WITHIN_S: Final = 2.0

_log = logging.getLogger(__name__)


class _Voicing:
    """One open stream: the say it speaks and how far the engine has come."""

    __slots__ = ("finished", "progress_ms", "pushed", "room", "stream", "task", "utterance")

    def __init__(self, utterance: Utterance, stream: TtsStream, now_ms: float) -> None:
        self.utterance = utterance
        self.stream = stream
        self.task: asyncio.Task[None] | None = None
        self.room = asyncio.Event()
        self.room.set()
        self.pushed = 0
        self.finished = False
        self.progress_ms = now_ms


class Synthesizer:
    """Makes the sound of one call's says, in order."""

    def __init__(
        self,
        tts: TextToSpeech,
        voice: str | None,
        *,
        clock: Callable[[], float],
        on_sound: Callable[[Utterance], None],
        on_end: Callable[[Utterance], None],
    ) -> None:
        """Prepare; ``on_sound`` follows each piece, ``on_end`` the last sound or the failure.

        Neither is called from inside a method of this class, but from the reading task.
        """
        self._tts = tts
        self.voice = voice
        """Voice of the streams opened from now on; an open one keeps its own."""
        self._clock = clock
        self._on_sound = on_sound
        self._on_end = on_end
        self._waiting: list[Utterance] = []
        self._open: dict[bool, _Voicing] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    def wants(self, utterance: Utterance) -> None:
        """Say that there is new text, or the end of the text, of a say."""
        voicing = self._open.get(utterance.say < 0)
        if utterance.failed:
            utterance.waiting.clear()
        elif voicing is not None and voicing.utterance is utterance:
            self._push(voicing)
        elif utterance.waiting:
            if utterance not in self._waiting:
                self._waiting.append(utterance)
            self._pump()
        elif utterance.script.ended and not utterance.sound.whole:
            # Its stream ended by itself, before the text did.
            utterance.finish_sound()
            asyncio.get_running_loop().call_soon(self._on_end, utterance)

    def forget(self, utterance: Utterance) -> None:
        """Close a say's stream, if it has one, and make no more sound of it."""
        if utterance in self._waiting:
            self._waiting.remove(utterance)
        voicing = self._open.get(utterance.say < 0)
        if voicing is not None and voicing.utterance is utterance:
            self._close(voicing)

    def tick(self, now_ms: float) -> None:
        """Let a paused stream go on, fail one whose engine is silent."""
        if not self._open:
            return
        for voicing in tuple(self._open.values()):
            utterance = voicing.utterance
            if not voicing.room.is_set():
                voicing.progress_ms = now_ms
                if utterance.ahead_ms < _ROOM_AGAIN_MS:
                    voicing.room.set()
            elif voicing.pushed <= utterance.whole_chunks:
                voicing.progress_ms = now_ms
            elif now_ms - voicing.progress_ms > SILENT_ENGINE_MS:
                self._end(voicing, "silent")

    async def aclose(self) -> None:
        """Close every stream; bounded, idempotent."""
        self._closed = True
        self._waiting.clear()
        for voicing in tuple(self._open.values()):
            self._close(voicing)
        if self._closing:
            await asyncio.wait(set(self._closing), timeout=3 * _CLOSE_WITHIN_S)

    # ------------------------------------------------------------------------------- streams

    def _pump(self) -> None:
        """Open the next stream where there is room for it."""
        for lane in (True, False):
            if self._closed or lane in self._open or len(self._closing) > 1:
                continue
            for utterance in self._waiting:
                if (utterance.say < 0) is lane:
                    self._waiting.remove(utterance)
                    self._start(utterance)
                    break

    def _start(self, utterance: Utterance) -> None:
        loop = asyncio.get_running_loop()
        try:
            stream = self._tts.open(utterance.language, self.voice)
        except Exception as error:  # an engine of an author's own may raise anything
            _log.warning("speech engine refused a stream", extra={"cause": type(error).__name__})
            utterance.fail(_cause_of(error))
            loop.call_soon(self._on_end, utterance)
            return
        voicing = _Voicing(utterance, stream, self._clock())
        self._open[utterance.say < 0] = voicing
        voicing.task = loop.create_task(self._read(voicing))
        self._push(voicing)

    def _push(self, voicing: _Voicing) -> None:
        utterance = voicing.utterance
        try:
            while utterance.waiting:
                if voicing.pushed <= utterance.whole_chunks:
                    voicing.progress_ms = self._clock()
                chunk = utterance.waiting.popleft()
                voicing.pushed = chunk.index + 1
                voicing.stream.push(chunk.index, chunk.text)
            if utterance.script.ended and not voicing.finished:
                voicing.finished = True
                voicing.stream.finish()
        except Exception as error:  # an engine of an author's own may raise anything
            self._end(voicing, _cause_of(error))
            return
        if self._is_done(voicing):
            self._end(voicing, "")

    async def _read(self, voicing: _Voicing) -> None:
        """Take the sound of one stream until it ends, fails or is closed."""
        cause = ""
        try:
            async with _closing(voicing.stream.pieces()) as pieces:
                async for piece in pieces:
                    self._take(voicing, piece)
                    if self._is_done(voicing):
                        break
                    if voicing.utterance.ahead_ms > MOST_AHEAD_MS:
                        voicing.room.clear()
                        await voicing.room.wait()
        except Exception as error:  # one failed reply must not stop the later ones
            _log.warning("speech engine failed", extra={"cause": type(error).__name__})
            cause = _cause_of(error)
        # A stream that ended too early has failed, unless all that was asked for has come.
        whole = voicing.pushed <= voicing.utterance.whole_chunks
        self._end(voicing, cause or ("" if whole or voicing.finished else "ended_early"))

    def _take(self, voicing: _Voicing, piece: SpokenPiece) -> None:
        utterance = voicing.utterance
        voicing.progress_ms = self._clock()
        utterance.add_piece(piece)
        self._on_sound(utterance)

    def _is_done(self, voicing: _Voicing) -> bool:
        """Whether all sound is here: the end of the stream need not be waited for."""
        return voicing.finished and voicing.pushed <= voicing.utterance.whole_chunks

    def _end(self, voicing: _Voicing, cause: str) -> None:
        """Finish a stream that came to its end by itself, or failed."""
        utterance = voicing.utterance
        if self._open.get(utterance.say < 0) is not voicing:
            return
        if cause:
            utterance.fail(cause)
        elif voicing.finished:
            if utterance.sound.length_ms > 0:
                utterance.finish_sound()
            else:
                utterance.fail("no_sound")
        self._close(voicing)
        asyncio.get_running_loop().call_soon(self._on_end, utterance)

    def _close(self, voicing: _Voicing) -> None:
        """Give the stream to a task that closes it; it is read no more."""
        del self._open[voicing.utterance.say < 0]
        task = asyncio.get_running_loop().create_task(self._aclose(voicing))
        self._closing.add(task)
        task.add_done_callback(self._closed_one)

    def _closed_one(self, task: asyncio.Task[None]) -> None:
        self._closing.discard(task)
        self._pump()

    async def _aclose(self, voicing: _Voicing) -> None:
        reader = voicing.task
        if reader is not None:
            reader.cancel()
            await asyncio.wait({reader}, timeout=_CLOSE_WITHIN_S)
        try:
            await run_bounded(voicing.stream.aclose(), _CLOSE_WITHIN_S)
        except Exception as error:  # closing is best effort; the provider may be gone
            _log.warning("speech stream not closed", extra={"cause": type(error).__name__})


@asynccontextmanager
async def _closing(
    pieces: AsyncIterator[SpokenPiece],
) -> AsyncGenerator[AsyncIterator[SpokenPiece], None]:
    """Close the iterator on leaving, where it is a generator: not at some later collection."""
    try:
        yield pieces
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()


def _cause_of(error: Exception) -> str:
    """A stable name of what went wrong; never a provider's text, which may quote the caller."""
    if isinstance(error, ProviderError):
        return "provider_retryable" if error.retryable else "provider"
    return "engine"
