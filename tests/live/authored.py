"""What an author brings by module path: a model that obeys, and speech engines that fail."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from runtime.agent import Json
from runtime.models.ports import (
    CallAsked,
    ChatModel,
    ChatRequest,
    Finished,
    ModelEvent,
    RequestedCall,
    TextDelta,
)
from tests.live.projects import LONG
from voice.audio.format import AudioFormat
from voice.floor.events import TranscriberFailed
from voice.hearing.ports import Samples, SpeechToText, SttFact, SttHints, SttStream
from voice.hearing.stt_scripted import ScriptedLine, ScriptedStt
from voice.speaking.ports import SpokenPiece, TextToSpeech, TtsStream
from voice.speaking.tts_scripted import ScriptedTts, TtsFaults


class Obedient(ChatModel):
    """``call TOOL {…}`` calls it, ``say …`` says it; the model ``talkative`` answers at length."""

    def __init__(self, model: str, options: dict[str, Json]) -> None:
        self._calls = 0
        self._answer = LONG if model == "talkative" else "I heard you."

    async def stream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        _note_prompt(request)
        last = request.messages[-1]
        said = last.text.splitlines()[-1] if last.text else ""
        if last.role == "tool":
            yield TextDelta(f"Done: {last.text}")
        elif said.startswith("call "):
            _, name, arguments = said.split(" ", 2)
            self._calls += 1
            yield CallAsked(RequestedCall(f"{os.getpid()}-{self._calls}", name, arguments))
            yield Finished("calls")
            return
        elif said == "bye":
            yield TextDelta("Goodbye.")
            yield CallAsked(RequestedCall("bye", "hang_up", "{}"))
        elif said.endswith("the story"):
            yield TextDelta(LONG)
        elif said.endswith("take your time"):
            yield CallAsked(RequestedCall("slow", "wait", '{"seconds": 4}'))
            yield Finished("calls")
            return
        elif said.startswith("say "):
            yield TextDelta(said.removeprefix("say "))
        elif said != "nothing" and not any(
            m.role == "user" and m.text.endswith("never anything") for m in request.messages[-2:]
        ):
            yield TextDelta(self._answer)
        yield Finished("stop")

    async def aclose(self) -> None:
        pass


def _note_prompt(request: ChatRequest) -> None:
    prompt = [
        {"role": m.role, "text": m.text, "calls": [c.arguments for c in m.calls]}
        for m in request.messages
        if m.role != "system"
    ]
    with Path(os.environ["BARGEIN_TEST_NOTES"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"prompt": prompt}) + "\n")


def timed_stt(lines: Sequence[Sequence[object]], latency_ms: int = 80) -> SpeechToText:
    """Words at known places of the caller's audio: ``[[text, start_ms, end_ms], …]``."""
    script = [ScriptedLine(str(text), int(str(a)), int(str(b))) for text, a, b in lines]
    return ScriptedStt(script, latency_ms=latency_ms)


class RulerTts(ScriptedTts):
    """Each sample is as high as the place of its character: what was played can be read off.

    Texts are single sentences, or ``LONG``.
    """

    STEP: Final = 100
    BASE: Final = 1000

    def __init__(self) -> None:
        super().__init__(ms_per_char=40, delay_s=0.03, rate_hz=16000, word_times=True)

    def sound_of(self, text: str) -> NDArray[np.int16]:
        first = max(0, LONG.find(text))
        places = np.arange(first, first + len(text)) * self.STEP + self.BASE
        places[[at for at, char in enumerate(text) if char == " "]] = 0  # a rhythm like speech
        return np.repeat(places.astype(np.int16), self.ms_per_char * self.rate_hz // 1000)


class FaultyTts(TextToSpeech):
    """Speaks tones; a chunk that says it dies, hangs or is refused does so."""

    def __init__(self) -> None:
        self._sound = ScriptedTts(ms_per_char=15)
        self._faulty = {
            "dies": ScriptedTts(ms_per_char=15, faults=TtsFaults(dies_after_chunks=0)),
            "hangs": ScriptedTts(ms_per_char=15, faults=TtsFaults(hangs=True)),
        }

    @property
    def rate_hz(self) -> int:
        return self._sound.rate_hz

    def open(self, language: str, voice: str | None) -> TtsStream:
        return _FaultyVoice(self._choose)

    async def aclose(self) -> None:
        pass

    def _choose(self, text: str) -> TtsStream:
        engine = next((e for name, e in self._faulty.items() if name in text), self._sound)
        return engine.open("en", None)


class _FaultyVoice(TtsStream):
    """The engine behind it is chosen by the first chunk."""

    def __init__(self, choose: Callable[[str], TtsStream]) -> None:
        self._choose = choose
        self._inner: TtsStream | None = None
        self._begun = asyncio.Event()

    def push(self, chunk: int, text: str) -> None:
        if self._inner is None:
            self._inner = self._choose(text)
            self._begun.set()
        self._inner.push(chunk, text)

    def finish(self) -> None:
        if self._inner is not None:
            self._inner.finish()

    async def pieces(self) -> AsyncIterator[SpokenPiece]:
        await self._begun.wait()
        if self._inner is not None:
            async for piece in self._inner.pieces():
                yield piece

    async def aclose(self) -> None:
        if self._inner is not None:
            await self._inner.aclose()


class FaultyStt(SpeechToText):
    """The first three calls get streams that fail, hang and raise; those after, sound ones."""

    def __init__(self) -> None:
        self._sound = ScriptedStt(["say well heard"], cycle=True)
        self._faults = ["dies", "hangs", "raises"]

    @property
    def strong(self) -> bool:
        return True

    @property
    def hears_all(self) -> bool:
        return False

    def open(self, fmt: AudioFormat, hints: SttHints, sink: Callable[[SttFact], None]) -> SttStream:
        if self._faults:
            return _FaultyEar(self._faults.pop(0), sink)
        return self._sound.open(fmt, hints, sink)

    async def aclose(self) -> None:
        pass


class _FaultyEar(SttStream):
    def __init__(self, fault: str, sink: Callable[[SttFact], None]) -> None:
        self._fault = fault
        self._sink = sink
        self._told = False

    def feed(self, frame: bytes, samples: Samples, end_ms: int, voiced: bool) -> None:
        if self._fault == "raises":
            raise ConnectionResetError
        if self._fault == "dies" and not self._told:
            self._told = True
            asyncio.get_running_loop().call_soon(self._sink, TranscriberFailed("gone"))

    def decode_now(self, audio_end_ms: int) -> None:
        """No answer ever comes."""

    def forget(self, audio_end_ms: int) -> None:
        """Nothing is kept."""

    async def aclose(self) -> None:
        if self._fault == "hangs":
            await asyncio.Event().wait()
