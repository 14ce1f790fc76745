"""What an author brings by module path: a model that obeys, and speech engines that fail."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

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
from voice.audio.format import AudioFormat
from voice.hearing.ports import Samples, SpeechToText, SttFact, SttHints, SttStream
from voice.hearing.stt_scripted import ScriptedLine, ScriptedStt
from voice.speaking.ports import TextToSpeech, TtsStream
from voice.speaking.tts_scripted import ScriptedTts, TtsFaults


class Obedient(ChatModel):
    """``call TOOL {…}`` calls it, ``say …`` says it, ``nothing`` is answered by nothing at all."""

    def __init__(self, model: str, options: dict[str, Json]) -> None:
        self._calls = 0

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
        elif said.startswith("say "):
            yield TextDelta(said.removeprefix("say "))
        elif said != "nothing":
            yield TextDelta("I heard you.")
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


class FaultyTts(TextToSpeech):
    """Speaks tones; a text with ``breaks`` in it meets the fault."""

    def __init__(self, fault: str) -> None:
        self._sound = ScriptedTts(ms_per_char=40)
        match fault:
            case "dies":
                faults = TtsFaults(dies_after_chunks=0)
            case "hangs":
                faults = TtsFaults(hangs=True)
            case "refuses":
                faults = TtsFaults(most_open=0)
            case _:
                raise ValueError(fault)
        self._faulty = ScriptedTts(ms_per_char=40, faults=faults)
        self._opened = 0

    @property
    def rate_hz(self) -> int:
        return self._sound.rate_hz

    def open(self, language: str, voice: str | None) -> TtsStream:
        self._opened += 1
        # the greeting is heard, the answer meets the fault, everything after is heard again
        return (self._faulty if self._opened == 2 else self._sound).open(language, voice)

    async def aclose(self) -> None:
        pass


class FaultyStt(SpeechToText):
    """Hears nothing: it hangs, or every stream raises."""

    def __init__(self, fault: str) -> None:
        self._fault = fault

    @property
    def strong(self) -> bool:
        return True

    @property
    def hears_all(self) -> bool:
        return False

    def open(self, fmt: AudioFormat, hints: SttHints, sink: Callable[[SttFact], None]) -> SttStream:
        return _FaultyStream(self._fault)

    async def aclose(self) -> None:
        pass


class _FaultyStream(SttStream):
    def __init__(self, fault: str) -> None:
        self._fault = fault

    def feed(self, frame: bytes, samples: Samples, end_ms: int, voiced: bool) -> None:
        if voiced and self._fault == "dies":
            raise ConnectionResetError

    def decode_now(self, audio_end_ms: int) -> None:
        if self._fault == "dies":
            raise ConnectionResetError

    def forget(self, audio_end_ms: int) -> None:
        pass

    async def aclose(self) -> None:
        if self._fault == "hangs":
            await asyncio.Event().wait()
