"""One call in memory: a driver between a client that records and an agent played by hand."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from runtime.agent import (
    AgentPlane,
    CallReady,
    CallSettings,
    FromRuntime,
    Say,
    SayEnd,
    SayText,
    ToRuntime,
)
from runtime.tasks import cancel_and_settle
from tests.voice.hearing.fakes import RecordingStt
from voice.call.driver import Call
from voice.call.events import CallEvent
from voice.call.ports import Engines, Outbound
from voice.hearing.ports import SpeechToText, VoiceDetector
from voice.speaking.pacer import Ticker
from voice.speaking.ports import TextToSpeech
from voice.speaking.tts_scripted import ScriptedTts
from voice.wire.bargein_v1 import BargeinProtocol

START = '{"type":"start","format":{"encoding":"pcm16","rate_hz":8000}}'
FRAME = bytes(320)


@dataclass
class HandPlane(AgentPlane):
    """An agent plane that says only what the test says."""

    sent: list[ToRuntime] = field(default_factory=list[ToRuntime])
    sinks: dict[int, Callable[[FromRuntime], None]] = field(
        default_factory=dict[int, Callable[[FromRuntime], None]]
    )
    broken: bool = False

    def attach(self, call: int, sink: Callable[[FromRuntime], None]) -> int:
        self.sinks[call] = sink
        return 0

    def send(self, message: ToRuntime) -> None:
        if self.broken:
            raise BrokenPipeError
        self.sent.append(message)

    def detach(self, call: int) -> None:
        self.sinks.pop(call, None)

    async def aclose(self) -> None:
        """Nothing to end."""

    def tell(self, *messages: FromRuntime) -> None:
        for message in messages:
            self.sinks[message.call](message)

    def ready(self, settings: CallSettings | None = None) -> None:
        self.tell(CallReady(1, "c", settings or CallSettings()))

    def say(self, say: int, text: str, *, turn: int = 1) -> None:
        self.tell(Say(1, turn, say, "reply"), SayText(1, turn, say, text), SayEnd(1, turn, say))


@dataclass
class RecordingOut(Outbound):
    """What the client would get."""

    sound: list[str | bytes] = field(default_factory=list[str | bytes])
    notices: list[str | bytes] = field(default_factory=list[str | bytes])
    closed: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def audio(self, message: str | bytes) -> None:
        self.sound.append(message)

    def control(self, message: str | bytes) -> None:
        self.notices.append(message)

    def clear(self, message: str | bytes | None) -> None:
        pass

    def close(self, code: int, reason: str) -> None:
        self.closed.append((code, reason))


class Line:
    """A call and both of its sides."""

    def __init__(
        self,
        *,
        stt: SpeechToText | None = None,
        tts: TextToSpeech | None = None,
        detector: VoiceDetector | None = None,
        watch: Callable[[CallEvent], None] | None = None,
    ) -> None:
        self.agent = HandPlane()
        self.out = RecordingOut()
        self.events: list[CallEvent] = []
        self.ticker = Ticker(phases=1)
        engines = Engines(stt or RecordingStt(), tts or ScriptedTts(), detector)
        self.call = Call(
            1,
            protocol=BargeinProtocol("1"),
            out=self.out,
            engines=engines,
            agent=self.agent,
            ticker=self.ticker,
            channel="web",
            wall_start=0.0,
            on_event=watch or self.events.append,
        )

    def names(self) -> list[str]:
        return [event.event for event in self.events]

    def problems(self) -> list[str]:
        return [str(dict(e.fields)["code"]) for e in self.events if e.event == "problem"]

    async def send(self, *frames: bytes) -> None:
        """Send frames as a live client does, one each 20 ms."""
        for frame in frames:
            self.call.received(frame)
            await asyncio.sleep(0.02)


@asynccontextmanager
async def line(
    *,
    started: bool = True,
    stt: SpeechToText | None = None,
    tts: TextToSpeech | None = None,
    detector: VoiceDetector | None = None,
    watch: Callable[[CallEvent], None] | None = None,
) -> AsyncGenerator[Line]:
    """A call that ticks, ``started`` and accepted by the agent; hung up at the end."""
    it = Line(stt=stt, tts=tts, detector=detector, watch=watch)
    ticking = asyncio.ensure_future(it.ticker.run())
    try:
        if started:
            it.call.received(START)
            it.agent.ready()
        yield it
        it.call.lost("caller")
        async with asyncio.timeout(30):
            await it.call.wait_closed()
    finally:
        await cancel_and_settle(ticking)
