"""An engine's stream that may raise, made one that does not: a broken STT ends no call.

Owns the fence around ``SttStream``. The first fault is logged and told as ``TranscriberFailed``;
from then on the engine is left alone. Engines that notice their own faults tell them themselves.
"""

import asyncio
import logging
from collections.abc import Callable

from voice.floor.events import TranscriberFailed
from voice.hearing.ports import Samples, SttFact, SttStream

_log = logging.getLogger(__name__)


class GuardedStt(SttStream):
    """One caller's stream behind a fence."""

    def __init__(self, stream: SttStream, sink: Callable[[SttFact], None]) -> None:
        """Pass everything on to ``stream``; tell ``sink`` when that fails."""
        self._stream = stream
        self._sink = sink
        self._broken = False

    def feed(self, frame: bytes, samples: Samples, end_ms: int, voiced: bool) -> None:
        """See ``SttStream.feed``; never raises."""
        self._try(lambda: self._stream.feed(frame, samples, end_ms, voiced))

    def decode_now(self, audio_end_ms: int) -> None:
        """See ``SttStream.decode_now``; never raises."""
        self._try(lambda: self._stream.decode_now(audio_end_ms))

    def forget(self, audio_end_ms: int) -> None:
        """See ``SttStream.forget``; never raises."""
        self._try(lambda: self._stream.forget(audio_end_ms))

    async def aclose(self) -> None:
        """Release the stream; a fault in that is logged."""
        try:
            await self._stream.aclose()
        except Exception:
            _log.exception("speech-to-text: the stream could not be closed")

    def _try(self, ask: Callable[[], None]) -> None:
        if self._broken:
            return
        try:
            ask()
        except Exception:
            self._broken = True
            _log.exception("speech-to-text: the engine raised; it is left alone from now on")
            fact = TranscriberFailed("the engine raised")
            asyncio.get_running_loop().call_soon(self._sink, fact)
