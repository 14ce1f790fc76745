"""A caller on a real socket, for tests that act on what happens instead of by a script.

Sends a frame every 20 ms (silence unless told to speak), plays what comes at its real pace, answers
the marks, and keeps what it saw with its times. ``place_call`` is the scripted one.
"""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from runtime.agent import Json
from runtime.tasks import cancel_and_settle
from voice.audio.codec import from_linear
from voice.audio.files import read_sound
from voice.audio.format import WIDE
from voice.replay.phones import ClearAsked, MarkSet, Sound, TwilioPhone, WebPhone
from voice.replay.player import Player

CLIPS = Path(__file__).resolve().parents[2] / "audio_fixtures" / "clips"
FRAME_S = 0.02

Event = Mapping[str, Json]


def clip(name: str, rate_hz: int = WIDE.rate_hz) -> NDArray[np.int16]:
    """A recorded utterance; ``en_quit`` and such."""
    return read_sound(CLIPS / f"{name}.wav", rate_hz).samples


def word(rate_hz: int = WIDE.rate_hz) -> NDArray[np.int16]:
    """100 ms of nothing, then 700 ms of clear voice that no detector finds a pause in."""
    voice = clip("en_brooklyn_bridge", rate_hz)[rate_hz * 80 // 1000 : rate_hz * 780 // 1000]
    return np.concatenate([np.zeros(rate_hz // 10, dtype=np.int16), voice])


class Caller:
    """One open call."""

    def __init__(self, ws: ClientConnection, phone: TwilioPhone | WebPhone) -> None:
        self.ws = ws
        self.phone = phone
        self.events: list[Event] = []
        self.notices: list[Event] = []
        """Everything the server said in JSON that is no event: started, error, ended."""
        self.sounds: list[float] = []
        """When each message with sound came."""
        self.clears: list[float] = []
        self.late: list[tuple[float, float]] = []
        """When this side's own clock was late, and by how much; seconds."""
        self.is_over = False
        self._loop = asyncio.get_running_loop()
        self._start_s = self._loop.time()
        self._player = Player(phone.format)
        self._voice: list[bytes] = []
        self._news = asyncio.Event()
        self._silence = from_linear(
            phone.format, np.zeros(phone.format.frame_samples, dtype=np.int16)
        )

    # ------------------------------------------------------------------ what it saw

    @property
    def now(self) -> float:
        return self._loop.time()

    def named(self, name: str, **fields: Json) -> list[Event]:
        """The events of this name with these values."""
        return [
            event
            for event in self.events
            if event["event"] == name and all(event.get(k) == v for k, v in fields.items())
        ]

    def heard(self) -> list[str]:
        """What of each message was heard, in the order in which they settled."""
        return [
            str(event["text"])[: int(str(event["heard_chars"]))]
            for event in self.named("agent_said")
            if event["state"] in ("heard", "cut") and event["heard_chars"]
        ]

    def gaps_ms(self, from_s: float, to_s: float) -> list[float]:
        """Pauses between messages with sound; those in which this side slept are left out."""
        inside = [t for t in self.sounds if from_s <= t <= to_s]
        return [
            (b - a) * 1000 - self._own_ms(a, b) for a, b in zip(inside, inside[1:], strict=False)
        ]

    def _own_ms(self, from_s: float, to_s: float) -> float:
        late = [by for at, by in self.late if from_s <= at <= to_s + FRAME_S]
        return max(late, default=0.0) * 1000

    async def until(self, condition: Callable[[], object], what: str, seconds: float = 8.0) -> None:
        """Wait until ``condition`` holds; fail with ``what`` when it does not in time."""
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            tail = [f"{e['t_ms']} {e['event']} {e.get('reason', '')}" for e in self.events[-20:]]
            raise AssertionError(f"not within {seconds} s: {what}; last: {tail}") from None

    async def until_event(
        self, name: str, seconds: float = 8.0, *, count: int = 1, **fields: Json
    ) -> Event:
        """Wait for the ``count``-th event of this name with these values."""
        what = f"{count} {name} {fields or ''}"
        await self.until(lambda: len(self.named(name, **fields)) >= count, what, seconds)
        return self.named(name, **fields)[count - 1]

    async def until_speaking(self, seconds: float = 8.0) -> None:
        """Wait until sound has come for three frames in a row from now on."""
        had = len(self.sounds)
        await self.until(lambda: len(self.sounds) >= had + 3, "the agent speaks", seconds)

    async def until_over(self, seconds: float = 10.0) -> None:
        """Wait until the server has closed the socket."""
        await self.until(lambda: self.is_over, "the call is over", seconds)

    # ------------------------------------------------------------------ what it does

    async def send(self, message: str | bytes) -> None:
        await self.ws.send(message)

    async def type(self, text: str) -> None:
        await self.send(json.dumps({"type": "text", "text": text}))

    def say(self, samples: NDArray[np.int16]) -> None:
        """Speak, from the next frame on."""
        size = self.phone.format.frame_samples
        whole = np.concatenate([samples, np.zeros(-len(samples) % size, dtype=np.int16)])
        frames = whole.reshape(-1, size)
        self._voice.extend(from_linear(self.phone.format, frame) for frame in frames)

    async def hang_up(self) -> None:
        await self.send(self.phone.stop())

    def vanish(self) -> None:
        """Cut the connection with a reset, whatever is under way."""
        plain = self.ws.transport.get_extra_info("socket")
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.ws.transport.abort()

    # ------------------------------------------------------------------ its tasks

    async def run(self, *, paced: bool = True) -> None:
        """Read until the socket closes; ``paced`` also sends frames and plays what comes."""
        async with asyncio.TaskGroup() as group:
            pacing = group.create_task(self._pace(), name="pace") if paced else None
            await self._read()
            if pacing is not None:
                pacing.cancel()

    async def _pace(self) -> None:
        due = self._loop.time()
        try:
            while True:
                due += FRAME_S
                await asyncio.sleep(due - self._loop.time())
                self.late.append((self._loop.time(), self._loop.time() - due))
                for reached in self._player.advance(self._ms()):
                    await self.send(self.phone.mark(reached.name, cleared=False))
                frame = self._voice.pop(0) if self._voice else self._silence
                await self.send(self.phone.audio(frame))
                self._news.set()
        except ConnectionClosed:
            pass

    async def _read(self) -> None:
        try:
            async for message in self.ws:
                await self._take(message)
                self._news.set()
        except ConnectionClosed:
            pass
        self.is_over = True
        self._news.set()

    async def _take(self, message: str | bytes) -> None:
        match self.phone.read(message):
            case Sound(payload):
                self.sounds.append(self._loop.time())
                self._player.receive_audio(payload, self._ms())
            case MarkSet(name):
                self._player.receive_mark(name, self._ms())
            case ClearAsked():
                self.clears.append(self._loop.time())
                for name in self._player.receive_clear(self._ms()):
                    await self.send(self.phone.mark(name, cleared=True))
            case _:
                said = json.loads(message)
                (self.events if said.get("type") == "event" else self.notices).append(said)

    def _ms(self) -> float:
        return (self._loop.time() - self._start_s) * 1000


@asynccontextmanager
async def calling(
    url: str, *, start: bool = True, paced: bool = True, token: str | None = None
) -> AsyncGenerator[Caller, None]:
    """Call ``url``; the call ends with the block, if it has not before.

    Without ``start`` the opening messages are left to the test, without ``paced`` the frames.
    """
    is_web = url.partition("?")[0].endswith("/v1/call")
    phone = WebPhone() if is_web else TwilioPhone()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with connect(
        url, additional_headers=headers, compression=None, proxy=None, max_size=None
    ) as ws:
        caller = Caller(ws, phone)
        if start:
            for message in phone.opening():
                await ws.send(message)
        running = asyncio.create_task(caller.run(paced=paced), name="caller")
        try:
            yield caller
        finally:
            await ws.close()
            await cancel_and_settle(running, grace=1.0)
