"""One simulated caller over Twilio Media Streams: speaks, listens, interrupts, and keeps time.

Owns a caller's side of one call: frames out on an absolute 20 ms grid, a player that echoes marks
when it reaches them and all pending ones at once on a clear, and the stopwatch on what was heard.
Times are seconds of the load generator's loop. Works against any server that speaks the protocol.
"""

import asyncio
import base64
import json
import math
from dataclasses import dataclass, field
from typing import Any, Final

import websockets
from websockets.asyncio.client import ClientConnection

from bench.sounds import Utterance

FRAME_S: Final = 0.020
_SILENCE: Final = b"\xff\x7f\xfe\x7e"
"""Mu-law bytes that nobody hears."""
_STRAGGLER_S: Final = 0.1
_NEW_REPLY_S: Final = 1.0
"""A pause longer than this between frames is a pause of the conversation, not a gap."""


@dataclass(slots=True)
class Tally:
    """What all callers of a run measured, ms unless named otherwise."""

    window: tuple[float, float] = (0.0, 0.0)
    response: list[float] = field(default_factory=list[float])
    response_after_barge: list[float] = field(default_factory=list[float])
    heard_stop: list[float] = field(default_factory=list[float])
    clear: list[float] = field(default_factory=list[float])
    gap: list[float] = field(default_factory=list[float])
    underrun: list[float] = field(default_factory=list[float])
    buffered: list[float] = field(default_factory=list[float])
    send_lag: list[float] = field(default_factory=list[float])
    errors: list[str] = field(default_factory=list[str])
    turns: int = 0
    no_answer: int = 0
    barges: int = 0
    barges_without_clear: int = 0
    barges_too_late: int = 0
    stragglers: int = 0


@dataclass(slots=True)
class _Barge:
    """One interruption under way."""

    speech_start: float
    speech_end: float
    play_end_before: float
    last_old_media: float
    cleared: float | None = None
    stopped: float = 0.0
    stragglers: int = 0


class Caller:
    """One call, from connect to hang-up."""

    def __init__(
        self,
        number: int,
        tally: Tally,
        turn: Utterance,
        barge: Utterance,
        noise: tuple[str, ...],
        *,
        url: str,
        barge_in_at_s: float,
        answer_timeout_s: float,
    ) -> None:
        """Prepare; ``barge_in_at_s`` counts from the agent's first sound, 0 = never interrupt."""
        self._number = number
        self._tally = tally
        self._turn = turn
        self._barge_clip = barge
        self._noise = noise
        self._url = url
        self._barge_in_at_s = barge_in_at_s
        self._answer_timeout_s = answer_timeout_s
        self._sid = f"MZ{number:032x}"
        self._loop = asyncio.get_running_loop()
        self._socket: ClientConnection | None = None
        self._started = 0.0
        self._sent_frames = 0
        self._speaking: tuple[Utterance, int] | None = None
        self._answered = asyncio.Event()
        self._answer_at = 0.0
        self._awaited_from: float | None = None
        self._play_end = 0.0
        self._last_media = 0.0
        self._last_any = 0.0
        self._marks: list[tuple[str, asyncio.TimerHandle]] = []
        self._barge: _Barge | None = None
        self._out: asyncio.Queue[str] = asyncio.Queue(maxsize=200)

    async def run(self, delay_s: float) -> None:
        """Call, talk until the window ends, hang up. Faults end in the tally."""
        await asyncio.sleep(delay_s)
        try:
            async with websockets.connect(
                self._url, compression=None, max_size=None, ping_interval=None, open_timeout=60
            ) as socket:
                self._socket = socket
                await self._say_hello(socket)
                self._started = self._loop.time()
                tasks = [
                    asyncio.create_task(part()) for part in (self._write, self._read, self._talk)
                ]
                done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in rest:
                    task.cancel()
                await asyncio.wait(tasks)
                for task in done:
                    task.result()
                if tasks[2] not in done:
                    self._tally.errors.append("the server ended the call")
        except (OSError, websockets.WebSocketException) as error:
            self._tally.errors.append(type(error).__name__)
        finally:
            self._socket = None

    def tick(self) -> None:
        """Queue the frames that are due; the run's one ticker calls it."""
        if self._socket is None or not self._started:
            return
        now = self._loop.time()
        while self._started + (self._sent_frames + 1) * FRAME_S <= now:
            if self._measuring(now):
                due = self._started + (self._sent_frames + 1) * FRAME_S
                self._tally.send_lag.append((now - due) * 1000)
            self._queue(self._media(self._next_frame()))
            self._sent_frames += 1

    def _queue(self, message: str) -> None:
        try:
            self._out.put_nowait(message)
        except asyncio.QueueFull:
            self._tally.errors.append("the server does not read")

    async def _say_hello(self, socket: ClientConnection) -> None:
        hello = {"event": "connected", "protocol": "Call", "version": "1.0.0"}
        start = {
            "event": "start",
            "sequenceNumber": "1",
            "streamSid": self._sid,
            "start": {
                "accountSid": "AC" + "0" * 32,
                "streamSid": self._sid,
                "callSid": f"CA{self._number:032x}",
                "tracks": ["inbound"],
                "customParameters": {},
                "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
            },
        }
        await socket.send(json.dumps(hello))
        await socket.send(json.dumps(start))

    def _next_frame(self) -> str:
        if self._speaking is not None:
            clip, first = self._speaking
            index = self._sent_frames - first
            if 0 <= index < len(clip.frames):
                return clip.frames[index]
            if index >= len(clip.frames):
                self._speaking = None
        return self._noise[(self._sent_frames + self._number) % len(self._noise)]

    def _media(self, payload: str) -> str:
        n = self._sent_frames
        return (
            f'{{"event":"media","sequenceNumber":"{n + 2}","media":{{"track":"inbound",'
            f'"chunk":"{n + 1}","timestamp":"{n * 20}","payload":"{payload}"}},'
            f'"streamSid":"{self._sid}"}}'
        )

    async def _write(self) -> None:
        socket = self._socket
        assert socket is not None
        while True:
            await socket.send(await self._out.get())

    async def _read(self) -> None:
        socket = self._socket
        assert socket is not None
        async for raw in socket:
            message: dict[str, Any] = json.loads(raw)
            match message.get("event"):
                case "media":
                    self._heard(base64.b64decode(message["media"]["payload"]))
                case "clear":
                    self._clear()
                case "mark":
                    self._mark(str(message["mark"]["name"]))
                case _:
                    pass

    # ------------------------------------------------------------------ the player

    def _heard(self, sound: bytes) -> None:
        now = self._loop.time()
        seconds = len(sound) / 8000
        if self._measuring(now):
            if self._last_any and now - self._last_any < _NEW_REPLY_S:
                self._tally.gap.append((now - self._last_any) * 1000)
                if now > self._play_end:
                    self._tally.underrun.append((now - self._play_end) * 1000)
            self._tally.buffered.append(max(0.0, self._play_end - now) * 1000)
        self._last_any = now
        self._play_end = max(self._play_end, now) + seconds
        if sound.strip(_SILENCE):
            self._audible(now)

    def _audible(self, now: float) -> None:
        barge = self._barge
        if barge is not None and now < barge.speech_end:
            if barge.cleared is None:
                barge.last_old_media = now
            elif now - barge.cleared < _STRAGGLER_S:
                barge.stragglers += 1
        self._last_media = now
        awaited = self._awaited_from is not None and now >= self._awaited_from
        is_new = barge is None or barge.cleared is not None or now - barge.last_old_media > 0.2
        if awaited and is_new:
            self._awaited_from = None
            self._answer_at = now
            self._answered.set()

    def _clear(self) -> None:
        now = self._loop.time()
        barge = self._barge
        if barge is not None and barge.cleared is None and now >= barge.speech_start:
            barge.cleared = now
            barge.stopped = min(now, self._play_end) if self._play_end > 0 else now
        self._play_end = min(self._play_end, now)
        self._last_any = 0.0
        for name, handle in self._marks:
            handle.cancel()
            self._echo(name)
        self._marks.clear()

    def _mark(self, name: str) -> None:
        wait = max(0.0, self._play_end - self._loop.time())
        self._marks.append((name, self._loop.call_later(wait, self._mark_due, name)))

    def _mark_due(self, name: str) -> None:
        self._marks = [pair for pair in self._marks if pair[0] != name]
        self._echo(name)

    def _echo(self, name: str) -> None:
        mark = {"event": "mark", "streamSid": self._sid, "mark": {"name": name}}
        self._queue(json.dumps(mark))

    def _measuring(self, now: float) -> bool:
        start, end = self._tally.window
        return start <= now < end

    # ------------------------------------------------------------------ the conversation

    async def _talk(self) -> None:
        end = self._tally.window[1]
        await asyncio.sleep(1.0)
        clip, is_barge, at = self._turn, False, self._loop.time() + 0.1
        while self._loop.time() < end:
            start_at, end_at = self._say(clip, at)
            await asyncio.sleep(max(0.0, start_at - self._loop.time()))
            if is_barge:
                self._barge = _Barge(start_at, end_at, self._play_end, self._last_media)
            else:
                self._last_any = 0.0
            answer = await self._wait_answer(end_at)
            if self._barge is not None:
                self._count_barge(self._barge)
                self._barge = None
            self._count_turn(start_at, end_at, answer, is_barge=is_barge)
            if answer is None:
                clip, is_barge, at = self._turn, False, self._loop.time() + 0.5
            elif self._barge_in_at_s > 0:
                clip, is_barge, at = self._barge_clip, True, answer + self._barge_in_at_s
            else:
                await self._hear_out(end)
                clip, is_barge, at = self._turn, False, self._loop.time() + 0.1

    def _say(self, clip: Utterance, at: float) -> tuple[float, float]:
        """Speak so that the first speech sample falls at or after ``at``; its real times."""
        first = math.ceil((at - clip.speech_start_s - self._started) / FRAME_S)
        first = max(self._sent_frames + 1, first)
        self._speaking = (clip, first)
        base = self._started + first * FRAME_S
        return base + clip.speech_start_s, base + clip.speech_end_s

    async def _wait_answer(self, after: float) -> float | None:
        self._answered.clear()
        self._awaited_from = after
        wait = max(0.0, after - self._loop.time()) + self._answer_timeout_s
        try:
            async with asyncio.timeout(wait):
                await self._answered.wait()
        except TimeoutError:
            self._awaited_from = None
            return None
        return self._answer_at

    async def _hear_out(self, end: float) -> None:
        # Playback has no event to wait for: its end moves with each frame that comes.
        while self._loop.time() < min(end, max(self._play_end, self._last_media) + 1.0):  # noqa: ASYNC110
            await asyncio.sleep(0.05)

    def _count_turn(
        self, start_at: float, end_at: float, answer: float | None, *, is_barge: bool
    ) -> None:
        window = self._tally.window
        if not (window[0] <= start_at and end_at < window[1]):
            return
        self._tally.turns += 1
        if answer is None:
            self._tally.no_answer += 1
            return
        ms = (answer - end_at) * 1000
        (self._tally.response_after_barge if is_barge else self._tally.response).append(ms)

    def _count_barge(self, barge: _Barge) -> None:
        window = self._tally.window
        if not (window[0] <= barge.speech_start and barge.speech_end < window[1]):
            return
        if barge.play_end_before < barge.speech_start - 0.15:
            self._tally.barges_too_late += 1  # the agent was silent: nothing to interrupt
            return
        self._tally.barges += 1
        self._tally.stragglers += barge.stragglers
        if barge.cleared is None:
            self._tally.barges_without_clear += 1
            return
        self._tally.clear.append((barge.cleared - barge.speech_start) * 1000)
        self._tally.heard_stop.append((barge.stopped - barge.speech_start) * 1000)
