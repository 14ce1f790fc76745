"""The embedded engine: hibari, an English voice inside its wheel, at about 100 times real time.

Owns loading it, one job a sentence in a worker, the silence it puts around each sentence, and a
small cache of what is said again and again (fillers, greetings). It is imported only here, and only
when the first sentence or ``preload`` wants it. Nothing is ever downloaded: a voice that is not on
this machine is refused. Tones for tests are ``tts_scripted``.
"""

import asyncio
import logging
import zlib
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from runtime.errors import ProviderError
from voice.speaking.ports import SpokenPiece, TextToSpeech, TtsStream
from voice.workers import Worker

RATE_HZ: Final = 24_000
LANGUAGES: Final = ("en",)
"""Languages it speaks; others are spoken with an English mouth, and logged."""

_DEFAULT_VOICE: Final = "heart"
_CACHE_BYTES: Final = 8 * 1024 * 1024
"""About three minutes of sound."""
_MOST_CHARS: Final = 2000
"""Of one chunk; no sentence is so long."""
_QUIET: Final = 0.01
_LEAD_MS: Final = 20
_TAIL_MS: Final = 120
_BETWEEN_MS: Final = 150
"""Put before each sentence but the first: the engine's own 700 ms between two is too long."""
_PIECE_MS: Final = 400

_log = logging.getLogger(__name__)


class _Engine(Protocol):
    """What we use of hibari."""

    def __call__(
        self, text: str, speed: float = 1.0, seed: int | None = None
    ) -> NDArray[np.float32]: ...


def _load(voice: str) -> _Engine:
    """Load a voice that is on this machine.

    Raises:
        ProviderError: the voice is unknown, or would have to be downloaded.
    """
    import hibari  # over half a second with its tables: only when wanted
    from hibari import voices

    find = cast(
        "_VoicePath",
        voices.voice_path,  # pyright: ignore[reportUnknownMemberType]  # hibari has no hints
    )
    try:
        path = find(voice, download_missing=False)
    except (ValueError, FileNotFoundError):
        raise ProviderError(f"the local engine has no voice {voice!r} here") from None
    engine = hibari.Hibari(voice=voice, model=path)
    engine("Ready.", seed=0)
    return cast("_Engine", engine)


def voices_here() -> tuple[str, ...]:
    """Names of the voices that are on this machine."""
    from hibari import voices

    known = cast("dict[str, object]", voices.VOICES)
    find = cast(
        "_VoicePath",
        voices.voice_path,  # pyright: ignore[reportUnknownMemberType]  # hibari has no hints
    )

    def is_here(name: str) -> bool:
        try:
            find(name, download_missing=False)
        except FileNotFoundError:
            return False
        return True

    return tuple(filter(is_here, known))


class _VoicePath(Protocol):
    def __call__(self, name: str, download_missing: bool = True) -> str: ...


class HibariTts(TextToSpeech):
    """Speaks sentences in a worker; equal text, voice and seed give equal samples."""

    def __init__(self, worker: Worker, seed: int = 0) -> None:
        """Compute in ``worker``, which the caller owns and closes; ``seed`` fixes the noise."""
        self._worker = worker
        self._seed = seed
        self._engines: dict[str, _Engine] = {}
        self._cache: OrderedDict[tuple[str, str], NDArray[np.int16]] = OrderedDict()
        self._cache_bytes = 0
        self._foreign: set[str] = set()
        self.synthesized = 0
        """Sentences computed, not taken from the cache."""

    @property
    def rate_hz(self) -> int:
        """24 kHz."""
        return RATE_HZ

    def preload(self, voice: str | None = None) -> "asyncio.Future[None]":
        """Load a voice in the worker before the first call wants it.

        The future fails with ``ProviderError`` where it can't be loaded.
        """
        loaded: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done(result: "_Engine | Exception") -> None:
            if loaded.done():
                return
            if isinstance(result, Exception):
                loaded.set_exception(_as_provider_error(result))
            else:
                loaded.set_result(None)

        self._worker.submit(lambda: self._engine(voice or _DEFAULT_VOICE), done)
        return loaded

    def open(self, language: str, voice: str | None) -> TtsStream:
        """Start a say."""
        base = language.replace("_", "-").split("-")[0].lower()
        if base not in LANGUAGES and base not in self._foreign and len(self._foreign) < 64:
            self._foreign.add(base)
            _log.warning("local engine speaks English only", extra={"language": language[:20]})
        return _HibariStream(self, voice or _DEFAULT_VOICE)

    async def aclose(self) -> None:
        """Forget models and sounds; idempotent. The worker is closed by its owner."""
        self._engines.clear()
        self._cache.clear()
        self._cache_bytes = 0

    def sentence(
        self, text: str, voice: str, alive: "_HibariStream"
    ) -> "asyncio.Future[NDArray[np.int16]]":
        """Samples of one sentence without the silence around it; empty where nothing is said."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[NDArray[np.int16]] = loop.create_future()
        key = (voice, text)
        known = self._cache.get(key)
        if known is not None:
            self._cache.move_to_end(key)
            future.set_result(known)
            return future

        def job() -> NDArray[np.int16]:
            if alive.closed:
                return np.zeros(0, np.int16)
            return self._synthesize(text, voice)

        def done(result: "NDArray[np.int16] | Exception") -> None:
            if not isinstance(result, Exception) and not alive.closed:
                self._remember(key, result)
            if future.done():
                return
            if isinstance(result, Exception):
                future.set_exception(_as_provider_error(result))
            else:
                future.set_result(result)

        self._worker.submit(job, done)
        return future

    # ------------------------------------------------------------------------- in the worker

    def _engine(self, voice: str) -> _Engine:
        engine = self._engines.get(voice)
        if engine is None:
            engine = self._engines[voice] = _load(voice)
        return engine

    def _synthesize(self, text: str, voice: str) -> NDArray[np.int16]:
        self.synthesized += 1
        seed = zlib.crc32(text.encode("utf-8", "replace")) ^ (self._seed & 0xFFFFFFFF)
        sound = self._engine(voice)(text[:_MOST_CHARS], seed=seed)
        loud = np.flatnonzero(np.abs(sound) > _QUIET)
        if not loud.size:
            return np.zeros(0, np.int16)
        first = max(0, int(loud[0]) - _LEAD_MS * RATE_HZ // 1000)
        last = min(sound.size, int(loud[-1]) + _TAIL_MS * RATE_HZ // 1000)
        return (np.clip(sound[first:last], -1.0, 1.0) * 32767.0).astype(np.int16)

    # ------------------------------------------------------------------------------- cache

    def _remember(self, key: tuple[str, str], sound: NDArray[np.int16]) -> None:
        if key in self._cache or sound.nbytes > _CACHE_BYTES // 8:
            return
        self._cache[key] = sound
        self._cache_bytes += sound.nbytes
        while self._cache_bytes > _CACHE_BYTES:
            _, old = self._cache.popitem(last=False)
            self._cache_bytes -= old.nbytes


class _HibariStream(TtsStream):
    """One say: its chunks in order, each computed when the one before it was taken."""

    def __init__(self, tts: HibariTts, voice: str) -> None:
        self._tts = tts
        self._voice = voice
        self._chunks: asyncio.Queue[tuple[int, str] | None] = asyncio.Queue()
        self.closed = False

    def push(self, chunk: int, text: str) -> None:
        self._chunks.put_nowait((chunk, text))

    def finish(self) -> None:
        self._chunks.put_nowait(None)

    async def pieces(self) -> AsyncIterator[SpokenPiece]:
        size = _PIECE_MS * RATE_HZ // 1000
        while (item := await self._chunks.get()) is not None:
            chunk, text = item
            sound = await self._tts.sentence(text, self._voice, self)
            if chunk and sound.size:
                sound = np.concatenate((np.zeros(_BETWEEN_MS * RATE_HZ // 1000, np.int16), sound))
            starts = range(0, max(1, sound.size), size)
            for start in starts:
                # Resampling a long sentence at once would hold up other calls' frames.
                if start:
                    await asyncio.sleep(0)
                yield SpokenPiece(chunk, sound[start : start + size], last=start == starts[-1])

    async def aclose(self) -> None:
        self.closed = True
        self._chunks.put_nowait(None)


def _as_provider_error(error: Exception) -> ProviderError:
    """Name the failure without its text, which may quote what was to be said."""
    if isinstance(error, ProviderError):
        return error
    return ProviderError(f"the local speech engine failed ({type(error).__name__})")
