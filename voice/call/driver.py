"""One connected caller: ties hearing, floor, speaking and the wire together.

Owns the order of things in a call. Every input (a websocket message, a fact of the ear, a tick, a
fired timer, a message of the runtime) is handled here synchronously and to its end before the next,
on the event loop: ``received`` and the callbacks post to one queue that is drained at once, so the
floor sees one event at a time, nothing in here awaits, and no lock is needed. What waits (TTS
streams, STT workers, the socket's writer) lives in the rooms around it and only posts back.

Life: made when a socket opens → ``CallStarted`` on the wire → ``OpenCall`` to the runtime →
``CallReady`` → talking → ``EndCall`` by the floor, or ``lost`` → closed once everything it started
has ended. The server side of the socket is not here (``voice.gateway``), nor is virtual time
(``voice.replay``).
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, assert_never

from runtime.agent import (
    AgentLost,
    AgentPlane,
    AskTurn,
    CallReady,
    CallRefused,
    CloseCall,
    CloseCause,
    ConfirmTurn,
    FromRuntime,
    HangUp,
    Happened,
    Input,
    InterruptTurn,
    Listen,
    OpenCall,
    RetractTurn,
    Say,
    SayEnd,
    SaySettled,
    SayText,
    StartTurn,
    Transfer,
    TurnEnded,
    Working,
)
from runtime.tasks import cancel_and_settle
from voice.audio.format import AudioFormat
from voice.call.events import CallEvent
from voice.call.inbound import CallerFrame, InboundAudio
from voice.call.journal import Journal
from voice.call.line import ClientLine
from voice.call.ports import Engines, Outbound
from voice.call.timers import Timers
from voice.floor import actions as order
from voice.floor import events as fact
from voice.floor.floor import Floor
from voice.hearing.ear import Ear
from voice.hearing.ports import SttHints
from voice.speaking.mouth import Mouth
from voice.speaking.pacer import Ticker, TickHandle
from voice.wire import events as wire

_log = logging.getLogger(__name__)

_READY_S: Final = 15.0
"""How long the agent plane may take to accept a call."""
_CLOSE_S: Final = 2.0
_EARLY_FRAMES: Final = 150
"""Caller frames kept while the agent plane is not ready: 3 s, the oldest go first."""
_MOST_EARLY_INPUTS: Final = 64
"""Keys and texts kept while the agent plane is not ready."""
_MOST_BAD: Final = 50
"""Unusable messages after which the socket is closed."""


class Call:
    """One caller, from the socket's opening to the last thing settled."""

    def __init__(
        self,
        call_id: int,
        *,
        protocol: wire.WireProtocol,
        out: Outbound,
        engines: Engines,
        agent: AgentPlane,
        ticker: Ticker,
        channel: str,
        wall_start: float,
        on_event: Callable[[CallEvent], None] | None = None,
    ) -> None:
        """Wait for the client's start message; ``wall_start`` is the Unix time at this moment."""
        self.call_id = call_id
        self._protocol = protocol
        self._out = out
        self._engines = engines
        self._agent = agent
        self._ticker = ticker
        self._channel = channel
        self._wall_start = wall_start
        self._loop = asyncio.get_running_loop()
        self._opened_s = self._loop.time()
        self._journal = Journal(call_id, protocol, out, self._now, on_event)
        self._inbox: deque[fact.FloorEvent] = deque()
        self._draining = False
        self._timers = Timers(self._opened_s, self._timer_fired)
        self._early: deque[CallerFrame] = deque(maxlen=_EARLY_FRAMES)
        self._bad = 0
        self._flushed: list[SaySettled] = []
        self._format: AudioFormat | None = None
        self._inbound: InboundAudio | None = None
        self._floor: Floor | None = None
        self._ear: Ear | None = None
        self._mouth: Mouth | None = None
        self._tick_handle: TickHandle | None = None
        self._attached = False
        self._language = "en"
        self._closing: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()
        self._ready_timer = self._loop.call_later(_READY_S, self._never_ready)

    def received(self, message: str | bytes) -> None:
        """Take one websocket message. Never raises."""
        if self._closing is not None:
            return
        try:
            for event in self._protocol.decode(message):
                self._wire_event(event)
        except Exception:
            self._broken("message")

    def lost(self, cause: CloseCause) -> None:
        """The socket is gone (``caller``, ``lost``) or the server drains: end the call."""
        if self._closing is not None:
            return
        if cause == "agent" or self._floor is None:
            self._close(cause)
            return
        self._post(fact.CallerGone(cause))
        # The floor answers with EndCall; a floor that does not must not keep the call alive.
        if not self.is_closing:
            self._close(cause)

    @property
    def is_closing(self) -> bool:
        """Whether the end has begun."""
        return self._closing is not None

    async def wait_closed(self) -> None:
        """Wait until everything this call started has ended."""
        await self._closed.wait()

    def _wire_event(self, event: wire.WireEvent) -> None:
        match event:
            case wire.CallerAudio(payload):
                self._caller_audio(payload)
            case wire.MarkReached(name):
                if self._mouth is not None:
                    self._mouth.mark_reached(name)
            case wire.CallerKey(key):
                self._given(fact.KeyPressed(key))
            case wire.CallerTyped(text):
                self._journal.caller_typed(text)
                self._given(fact.TextTyped(text))
            case wire.CallerTapped(payload):
                self._given(fact.ButtonTapped(payload))
            case wire.CallStarted():
                self._start(event)
            case wire.CallStopped():
                self.lost("caller")
            case wire.BadMessage():
                self._refuse(event)
            case wire.Connected() | wire.Ignored():
                pass
            case _:
                assert_never(event)

    def _given(self, given: fact.KeyPressed | fact.TextTyped | fact.ButtonTapped) -> None:
        if self._floor is None and len(self._inbox) >= _MOST_EARLY_INPUTS:
            self._refuse(wire.BadMessage("too_early", "more than the agent can be given later"))
        else:
            self._post(given)

    def _refuse(self, bad: wire.BadMessage) -> None:
        self._bad += 1
        self._journal.problem(bad.code, bad.detail)
        answer = self._protocol.problem(bad)
        if answer is not None:
            self._out.control(answer)
        if bad.fatal or self._bad > _MOST_BAD:
            _log.warning(
                "closing a call over unusable messages",
                extra={"call": self.call_id, "code": bad.code, "count": self._bad},
            )
            self._close("lost", code=1008 if bad.fatal else 1003, reason=bad.code)

    def _start(self, started: wire.CallStarted) -> None:
        self._format = started.format
        self._inbound = InboundAudio(started.format, self._journal.problem)
        self._language = started.language or "en"
        slot = self._agent.attach(self.call_id, self._from_runtime)
        self._attached = True
        self._journal.call_started(self._channel, started.format)
        self._agent.send(
            OpenCall(
                self.call_id,
                started.conversation,
                self._channel,
                self._language,
                started.metadata,
                self._wall_start,
                slot,
            )
        )

    def _caller_audio(self, payload: bytes) -> None:
        if self._inbound is None:
            return
        self._hear(self._inbound.push(payload, self._now()))

    def _hear(self, frames: Iterable[CallerFrame]) -> None:
        ear = self._ear
        if ear is None:
            self._early.extend(frames)
            return
        for frame in frames:
            if self._closing is not None:
                return
            if frame.follows_hole:
                ear.gap(frame.end_ms)
            ear.frame(frame.payload, frame.end_ms)

    def _from_runtime(self, message: FromRuntime) -> None:
        if self._closing is not None:
            return
        try:
            self._runtime_message(message)
        except Exception:
            self._broken("runtime message")

    def _runtime_message(self, message: FromRuntime) -> None:
        match message:
            case CallReady():
                self._ready(message)
            case CallRefused():
                self._journal.problem("agent_refused", message.cause)
                self._close("agent", code=1011, reason="agent_refused")
            case Happened():
                self._journal.write(message.event, message.fields, at_ms=message.at_ms)
            case Say() | SayText() | SayEnd():
                self._hand_to_mouth(message)
                self._post(message)
            case (
                TurnEnded() | Working() | Listen() | AskTurn() | HangUp() | Transfer() | AgentLost()
            ):
                self._post(message)
            case _:
                assert_never(message)

    def _ready(self, ready: CallReady) -> None:
        if self._floor is not None or self._format is None:
            return  # the agent plane came back after a crash: the call goes on as it is
        self._ready_timer.cancel()
        settings = ready.settings
        self._language = settings.language
        self._floor = Floor(self.call_id, settings, strong_stt=self._engines.stt.strong)
        self._ear = Ear(
            self._format,
            detector=self._engines.detector,
            stt=self._engines.stt,
            hints=SttHints(language=settings.language),
            settings=settings.interruptions,
            sink=self._post,
        )
        self._mouth = Mouth(
            self._format,
            tts=self._engines.tts,
            voice=self._engines.tts_voice,
            line=ClientLine(self._protocol, self._out),
            sink=self._post,
            settled=self._say_settled,
            call=self.call_id,
            can_clear=self._protocol.can_clear,
            clock=self._now_exact,
        )
        self._tick_handle = self._ticker.add(self._tick)
        # Keys and texts may have come first; to the floor the call begins with this.
        self._inbox.appendleft(ready)
        self._drain()
        self._hear(self._early)
        self._early.clear()

    def _hand_to_mouth(self, message: Say | SayText | SayEnd) -> None:
        mouth = self._mouth
        if mouth is None:
            return
        match message:
            case Say():
                self._journal.say_opened(message.say)
                mouth.say(message)
            case SayText():
                self._journal.say_text(message.say, message.text)
                mouth.text(message)
            case SayEnd():
                mouth.end(message)
                self._journal.say_written(message.say)

    def _post(self, event: fact.FloorEvent) -> None:
        """Queue a fact and, unless already at it, handle all that are queued."""
        self._inbox.append(event)
        if not self._draining:
            self._drain()

    def _drain(self) -> None:
        if self._floor is None:
            return
        self._draining = True
        try:
            while self._inbox and self._closing is None:
                self._handle(self._floor, self._inbox.popleft())
        except Exception:
            self._broken("floor")
        finally:
            self._draining = False

    def _handle(self, floor: Floor, event: fact.FloorEvent) -> None:
        self._journal.noticed(event)
        for action in floor.handle(event, self._now()):
            self._perform(action)
        # Says that a flush settled without an interruption behind it (a dropped line).
        for settled in self._flushed:
            self._agent.send(settled)
        self._flushed.clear()

    def _perform(self, action: order.FloorAction) -> None:
        ear, mouth = self._ear, self._mouth
        if ear is None or mouth is None:
            return
        match action:
            case order.HoldOutput():
                mouth.hold()
            case order.ReleaseOutput():
                mouth.release()
            case order.FlushOutput(keep):
                for settled in mouth.flush(keep):
                    self._journal.say_settled(settled)
                    if settled.say >= 0:
                        self._flushed.append(settled)
            case order.AllowSay(say):
                mouth.allow(say)
            case order.DropSay(say):
                mouth.drop(say)
            case order.SpeakLine(say, text, kind):
                self._journal.say_opened(say, text)
                if kind == "apology":  # the floor records its fillers itself, with the reason
                    self._journal.write("apology", (("say", say),))
                mouth.speak_line(say, text, self._language)
            case order.DecodeNow(end_ms):
                ear.decode_now(end_ms)
            case order.DropTranscript(end_ms):
                ear.forget(end_ms)
            case order.RaiseNoiseFloor(for_ms):
                ear.raise_noise_floor(self._now(), for_ms)
            case order.LearnCallerLevel(onset_ms, end_ms):
                ear.learn_level(onset_ms, end_ms)
            case order.ArmTimer(key, stamp, due_ms):
                self._timers.arm(key, stamp, due_ms)
            case order.Record(name, fields):
                self._journal.write(name, fields)
            case order.EndCall(cause, transfer_to):
                if transfer_to is not None:
                    self._journal.write("transfer", (("target", transfer_to),))
                self._close(cause)
            case StartTurn():
                self._agent.send(replace(action, input=self._with_heard(action.input)))
            case ConfirmTurn():
                heard = self._with_heard(action.input)
                self._agent.send(replace(action, input=heard or action.input))
            case InterruptTurn():
                self._agent.send(replace(action, settled=tuple(self._flushed)))
                self._flushed.clear()
            case RetractTurn():
                self._agent.send(action)
            case _:
                assert_never(action)

    def _with_heard(self, given: Input | None) -> Input | None:
        """Add what the caller had heard when they began: only the ledger knows."""
        if given is None or self._mouth is None:
            return given
        return replace(given, heard_at_onset=self._mouth.heard_at(given.onset_ms))

    def _timer_fired(self, key: str, stamp: int) -> None:
        self._post(fact.TimerFired(key, stamp))

    def _now(self) -> int:
        """Ms of the call's clock; rounded, so that a timer never fires a ms before its due time."""
        return round((self._loop.time() - self._opened_s) * 1000)

    def _now_exact(self) -> float:
        return (self._loop.time() - self._opened_s) * 1000

    def _tick(self, loop_ms: float) -> None:
        try:
            self._move(loop_ms - self._opened_s * 1000)
        except Exception:
            self._broken("tick")

    def _move(self, now: float) -> None:
        """20 ms of the call: frames go out, what was heard is followed."""
        ear, mouth, fmt, inbound = self._ear, self._mouth, self._format, self._inbound
        if ear is None or mouth is None or fmt is None or inbound is None or self.is_closing:
            return
        # Facts of the tick wait until it is over, so that a say has settled (and the runtime knows)
        # before the floor draws what follows from its end.
        self._draining = True
        try:
            mouth.tick(now)
        finally:
            self._draining = False
        self._drain()
        if self.is_closing:
            return
        ear.spoke(mouth.playing(now), fmt.rate_hz, round(now))
        self._hear(inbound.settled(round(now)))
        stopped_ms = inbound.stopped(round(now))
        if stopped_ms is not None:
            ear.gap(round(now))
            self._post(fact.FramesStopped(stopped_ms))

    def _say_settled(self, settled: SaySettled) -> None:
        try:
            self._journal.say_settled(settled)
            if settled.say >= 0:
                self._agent.send(settled)
        except Exception:
            self._broken("say settled")

    # ------------------------------------------------------------------ the end

    def _never_ready(self) -> None:
        _log.error("a call was never accepted by the agent", extra={"call": self.call_id})
        self._close("lost", code=1011, reason="not_ready")

    def _broken(self, where: str) -> None:
        """A fault of ours: this call ends, no other notices."""
        _log.exception("a call failed", extra={"call": self.call_id, "where": where})
        self._close("lost", code=1011, reason="internal", fault=where)

    def _close(
        self, cause: CloseCause, code: int = 1000, reason: str = "", fault: str | None = None
    ) -> None:
        if self._closing is not None:
            return
        # no await below: timers, ticker and sink go in one step, so nothing posts to a dead call
        self._closing = self._loop.create_task(self._release(), name=f"close call {self.call_id}")
        self._ready_timer.cancel()
        self._timers.cancel_all()
        if self._tick_handle is not None:
            self._ticker.remove(self._tick_handle)
        for tell in (self._tell_agent, self._tell_watchers):
            try:
                tell(cause, fault)
            except Exception:  # what failed may fail again; the others are told all the same
                _log.exception("the end of a call was not told", extra={"call": self.call_id})
        goodbye = self._protocol.goodbye(cause)
        if goodbye is not None:
            self._out.control(goodbye)
        self._out.close(code, reason or cause)

    def _tell_agent(self, cause: CloseCause, _: str | None) -> None:
        """Settle what the floor flushed and what it left open, each once; then close."""
        for settled in self._flushed:
            self._agent.send(settled)
        self._flushed.clear()
        if self._mouth is not None:
            self._mouth.settle()
        if self._attached:
            self._agent.send(CloseCall(self.call_id, cause, self._now()))

    def _tell_watchers(self, cause: CloseCause, fault: str | None) -> None:
        if fault is not None:
            self._journal.problem("internal", fault)
        self._journal.call_ended(cause)

    async def _release(self) -> None:
        """Close ear and mouth within a bound, then let go of the agent plane."""
        rooms = [self._loop.create_task(room.aclose()) for room in (self._ear, self._mouth) if room]
        try:
            if rooms:
                await asyncio.wait(rooms, timeout=_CLOSE_S)
                for room in await cancel_and_settle(*rooms, grace=_CLOSE_S):
                    _log.error("a call could not be released", extra={"task": room.get_name()})
        finally:
            if self._attached:
                self._agent.detach(self.call_id)
            self._closed.set()
