"""An in-memory far end that plays in real time on the loop's clock, and an engine whose sound says
where it comes from.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from runtime.agent import Say, SayEnd, SaySettled, SayText
from voice.audio.format import AudioFormat, Encoding
from voice.floor.events import FloorEvent, SayFailed, SayFinished, SayReady, SayStarted
from voice.speaking.mouth import Mouth
from voice.speaking.pacer import Ticker
from voice.speaking.ports import SpokenPiece, TextToSpeech, TtsStream, WordTime
from voice.speaking.tts_scripted import ScriptedTts

LINEAR_8K = AudioFormat(Encoding.PCM16, 8000)
MS_PER_CHAR = 60


class NumberedTts(TextToSpeech):
    """Each sample holds 1 + the ms of its stream's sound it belongs to, so that the far end can
    tell what it plays. Streams after the first begin at 10 000, 20 000.
    """

    def __init__(self, *, words: bool = False, delay_s: float = 0.0) -> None:
        self.rate = 8000
        self.words = words
        self.delay_s = delay_s
        self.streams = 0

    @property
    def rate_hz(self) -> int:
        return self.rate

    def open(self, language: str, voice: str | None) -> TtsStream:
        self.streams += 1
        return _NumberedStream(self, (self.streams - 1) * 10_000)

    async def aclose(self) -> None:
        """Nothing to release."""


class _NumberedStream(TtsStream):
    def __init__(self, tts: NumberedTts, base: int) -> None:
        self._tts, self._base, self._ms = tts, base, 0
        self._chunks: asyncio.Queue[tuple[int, str] | None] = asyncio.Queue()

    def push(self, chunk: int, text: str) -> None:
        self._chunks.put_nowait((chunk, text))

    def finish(self) -> None:
        self._chunks.put_nowait(None)

    async def pieces(self) -> AsyncIterator[SpokenPiece]:
        scripted = ScriptedTts(MS_PER_CHAR)
        while (item := await self._chunks.get()) is not None:
            chunk, text = item
            if self._tts.delay_s:
                await asyncio.sleep(self._tts.delay_s)
            length = len(text) * MS_PER_CHAR
            ms = np.arange(self._base + self._ms + 1, self._base + self._ms + length + 1)
            self._ms += length
            words: tuple[WordTime, ...] = scripted.words_of(text) if self._tts.words else ()
            yield SpokenPiece(chunk, np.repeat(ms, 8).astype(np.int16), words, last=True)

    async def aclose(self) -> None:
        self._chunks.put_nowait(None)


@dataclass
class FarEnd:
    """Plays what it gets; marks come back when their sound was played."""

    out_s: float = 0.0
    in_s: float = 0.0
    marks: Literal["echo", "at_once", "none"] = "echo"
    """``at_once``: when they are received, as careless clients do."""
    on_clear: Literal["echo", "drop"] = "echo"
    mouth: Mouth | None = None
    frames: list[tuple[float, bytes]] = field(default_factory=list)
    """When each frame was sent to it."""
    clears: list[float] = field(default_factory=list)
    marks_sent: list[str] = field(default_factory=list)
    ledger: list[tuple[float, bytes]] = field(default_factory=list)
    """When each frame begins to be played."""
    stalled_until: float = 0.0
    _end: float = 0.0
    _waiting: list[tuple[float, str]] = field(default_factory=list)

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def audio(self, payload: bytes) -> None:
        self.frames.append((self.now, payload))
        self._later(self.out_s, self._arrived, payload)

    def mark(self, name: str) -> None:
        self.marks_sent.append(name)
        assert len(name.encode()) <= 24
        if self.marks == "echo":
            self._later(self.out_s, self._mark_arrived, name)
        elif self.marks == "at_once":
            self._later(self.out_s + self.in_s, self._answer, name)

    def clear(self) -> None:
        self.clears.append(self.now)
        self._later(self.out_s, self._cleared)

    def _later(self, delay_s: float, call: object, *args: object) -> None:
        asyncio.get_running_loop().call_later(delay_s, call, *args)  # type: ignore[arg-type]

    def _arrived(self, payload: bytes) -> None:
        start = max(self.now, self._end, self.stalled_until)
        self.ledger.append((start, payload))
        self._end = start + len(payload) / 16_000

    def _mark_arrived(self, name: str) -> None:
        self._waiting.append((self._end, name))
        self._later(max(0.0, self._end - self.now), self._mark_played, name)

    def _mark_played(self, name: str) -> None:
        if name in [n for _, n in self._waiting]:
            self._waiting = [w for w in self._waiting if w[1] != name]
            self._later(self.in_s, self._answer, name)

    def _answer(self, name: str) -> None:
        assert self.mouth is not None
        self.mouth.mark_reached(name)

    def _cleared(self) -> None:
        kept: list[tuple[float, bytes]] = []
        for start, payload in self.ledger:
            left = round((self.now - start) * 8000) * 2
            if left > 0:
                kept.append((start, payload[:left] if left < len(payload) else payload))
        self.ledger = kept
        self._end = self.now
        waiting, self._waiting = self._waiting, []
        for _, name in waiting if self.on_clear == "echo" else ():
            self._later(self.in_s, self._answer, name)

    def played(self, until: float | None = None) -> list[int]:
        """The ms numbers played so far, one for each ms; 0 is silence."""
        until = self.now if until is None else until
        out: list[int] = []
        for start, payload in self.ledger:
            count = min(len(payload) // 2, max(0, round((until - start) * 8000)))
            samples = np.frombuffer(payload, "<i2")[:count]
            # the middle of each ms: fading in changes values, not these
            out.extend(int(v) for v in samples[7::8])
        return out


class Rig:
    """A mouth with its far end, ticking on the running (virtual) loop."""

    def __init__(
        self,
        tts: TextToSpeech | None = None,
        far: FarEnd | None = None,
        *,
        fmt: AudioFormat = LINEAR_8K,
        can_clear: bool = True,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.far = far or FarEnd()
        self.events: list[tuple[int, FloorEvent]] = []
        self.settled: list[SaySettled] = []
        self.on_event: Callable[[FloorEvent], None] | None = None
        """What the driver does while it is told of an event."""
        self.tts = tts or NumberedTts()
        self.mouth = Mouth(
            fmt,
            tts=self.tts,
            voice=None,
            line=self.far,
            sink=self._take,
            settled=self.settled.append,
            call=1,
            can_clear=can_clear,
            clock=lambda: self.loop.time() * 1000,
        )
        self.far.mouth = self.mouth
        self.ticker = Ticker()
        self.ticker.add(self.mouth.tick)
        self._task = asyncio.ensure_future(self.ticker.run())

    @property
    def now_ms(self) -> int:
        return round(self.loop.time() * 1000)

    def _take(self, event: FloorEvent) -> None:
        self.events.append((self.now_ms, event))
        if self.on_event is not None:
            self.on_event(event)

    async def __aenter__(self) -> "Rig":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.mouth.aclose()
        self._task.cancel()
        await asyncio.wait({self._task})

    def speak(self, say: int, *texts: str, allow: bool = True, end: bool = True) -> None:
        """Give a say with its text in one or more pieces."""
        self.mouth.say(Say(1, 1, say, "reply"))
        for text in texts:
            self.mouth.text(SayText(1, 1, say, text))
        if end:
            self.mouth.end(SayEnd(1, 1, say))
        if allow:
            self.mouth.allow(say)

    async def until(self, second: float) -> None:
        """Wait until the loop's clock shows that second."""
        await asyncio.sleep(max(0.0, second - self.loop.time()))

    def of(self, kind: type[FloorEvent]) -> list[FloorEvent]:
        """Events of one kind."""
        return [e for _, e in self.events if isinstance(e, kind)]  # type: ignore[arg-type]

    def kinds(self, say: int) -> list[str]:
        """Names of the events of a say, in order."""
        about = (SayReady, SayStarted, SayFinished, SayFailed)
        return [type(e).__name__ for _, e in self.events if isinstance(e, about) and e.say == say]
