"""The phone of the tests: a caller with a recorded voice, in memory, on the loop's clock.

Owns one client of one call: it sends a frame of the caller's sound every 20 ms, plays what the call
sends, answers marks, hears itself when there is an echo path, presses keys and hangs up. What was
really heard, sample by sample, is its ``recording``. It speaks the wire protocols themselves, so
that all of the server's code but the socket runs.

Times are ms since the connect. With ``Network.delay_ms`` both directions are that late, as live.
The live counterpart is ``bargein call``; the playout arithmetic they share is ``player``.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from runtime.agent import CloseCause, Fields
from voice.audio.codec import from_linear
from voice.audio.format import FRAME_MS
from voice.replay.at import Happenings
from voice.replay.link import LoopLink, Network, OneWay
from voice.replay.phones import ClearAsked, MarkSet, Notice, Phone, Sound
from voice.replay.player import Player
from voice.replay.script import CallerLine, HangUp, Keys, Script, Speech, Started, Tap, Typed
from voice.replay.watch import AgentWatch

Samples: TypeAlias = NDArray[np.int16]

_AFTER_MARK_MS: Final = 0.001
"""How long after a mark's last sample the phone looks: no rounding makes it look too early."""


class CallSide(Protocol):
    """The server's side of the connection: what a socket's reader feeds (``voice.call.Call``)."""

    def received(self, message: str | bytes) -> None:
        """Take one websocket message."""
        ...

    def lost(self, cause: CloseCause) -> None:
        """The socket is closed."""
        ...


@dataclass(frozen=True, slots=True)
class Echo:
    """The agent's sound on its way from the phone's loudspeaker into its microphone."""

    down_db: float = 22.0
    """How much softer it comes back."""
    delay_ms: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkFaults:
    """A client that is bad at marks; every n-th is treated so, 0 = none, 1 = each."""

    lose_every: int = 0
    repeat_every: int = 0
    late_every: int = 0
    late_by_ms: float = 700.0
    rename_every: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """How good the line, the phone and the room are, and when the caller gives up."""

    network: Network = Network()
    echo: Echo | None = None
    marks: MarkFaults = MarkFaults()
    muted_ms: tuple[tuple[float, float], ...] = ()
    """Spans in which the phone sends no frames at all."""
    linger_ms: float = 3000.0
    """How long all must be quiet, after the caller's last line, before the caller hangs up."""
    most_ms: float = 120_000.0
    """The caller hangs up here at the latest."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Both sides as the phone had them, from the connect on, at one rate."""

    microphone: Samples
    """What the phone sent (or, muted, would have sent): the caller and the echo."""
    caller: Samples
    """The caller alone."""
    heard: Samples
    """What the loudspeaker really played."""
    rate_hz: int
    lines: tuple[Started, ...]
    unstarted: tuple[CallerLine, ...]
    """Lines whose moment never came."""
    ended_by: str
    """``caller``, ``agent``, ``vanished`` or ``time``."""


class FarEnd:
    """One phone with its caller."""

    def __init__(
        self, phone: Phone, caller: tuple[CallerLine, ...], conditions: Conditions | None = None
    ) -> None:
        """Pick up the phone; must be called in the loop that will carry the call."""
        self._phone = phone
        self._conditions = conditions or Conditions()
        self._loop = asyncio.get_running_loop()
        self._start_s = self._loop.time()
        self._player = Player(phone.format)
        self._happenings = Happenings()
        self._watch = AgentWatch(self._happenings)
        self._script = Script(caller, self._happenings)
        self._call: CallSide | None = None
        self._ended_by = ""
        self._over = asyncio.Event()
        self._mark_timer: asyncio.TimerHandle | None = None
        self._next_mark_ms: float | None = None
        """The mark that the timer waits for."""
        self._marks_seen = 0
        self._microphone: list[Samples] = []
        self._voice: list[Samples] = []
        network = self._conditions.network
        self._up = OneWay(network, network.seed * 2, self._deliver)
        self._down = OneWay(network, network.seed * 2 + 1, self._from_server)
        self.link = LoopLink(self._down, is_read=self._is_reading, closed=self._hung_up)
        """The ``Outbound`` to make the call with."""

    # ------------------------------------------------------------------ for the one who replays

    @property
    def now_ms(self) -> float:
        """Ms since the connect."""
        return round((self._loop.time() - self._start_s) * 1000, 6)

    @property
    def happenings(self) -> Happenings:
        """The anchors so far."""
        return self._happenings

    def observe(self, name: str, fields: Fields, t_ms: float) -> None:
        """Take one of the call's events, so that lines can start relative to it."""
        self._watch.event(name, fields, t_ms)

    async def run(self, call: CallSide, progress: Callable[[float], None] | None = None) -> None:
        """Carry the call until one side has hung up.

        Args:
            call: the server's side, made with ``link``.
            progress: called about once a second with the ms gone by.
        """
        self._call = call
        for message in self._phone.opening():
            self._up.send(message)
        frame = 0
        while not self._over.is_set():
            frame += 1
            await asyncio.sleep(self._start_s + frame * FRAME_MS / 1000 - self._loop.time())
            if not self._over.is_set():
                self._tick((frame - 1) * FRAME_MS, frame * FRAME_MS)
            if progress is not None and frame % 50 == 0:
                progress(self.now_ms)

    def hang_up(self, how: HangUp | None = None, *, because: str = "caller") -> None:
        """End the call from this side, now; what is on its way is not waited for."""
        if self._ended_by:
            return
        if how is not None and how.how == "vanish":
            self._ended_by = "vanished"
            self._up.cut()
            self._down.cut()
            self._up.after_all(lambda: self._drop("lost"))
            self._over.set()
            return
        self._ended_by = because
        self._up.send(self._phone.stop())
        self._up.after_all(lambda: self._drop("caller"))
        self._over.set()

    def recording(self) -> Recording:
        """Return what both sides sounded like, up to now."""
        silent = np.zeros(0, dtype=np.int16)
        microphone = np.concatenate(self._microphone) if self._microphone else silent
        caller = np.concatenate(self._voice) if self._voice else silent
        self._player.advance(self.now_ms)
        heard = np.zeros(len(microphone), dtype=np.int16)
        played = self._player.played()[: len(heard)]
        heard[: len(played)] = played
        return Recording(
            microphone,
            caller,
            heard,
            self._phone.format.rate_hz,
            self._script.started,
            self._script.waiting,
            self._ended_by or "time",
        )

    # ------------------------------------------------------------------ 20 ms of the caller

    def _tick(self, from_ms: float, to_ms: float) -> None:
        self._collect_marks()
        rate = self._phone.format.rate_hz
        self._watch.heard(self._player.heard(from_ms, to_ms), from_ms, rate)
        for started in self._script.begin(from_ms, to_ms):
            self._begin(started)
        voice = self._script.voice(from_ms, to_ms, rate)
        microphone = self._with_echo(voice, from_ms, to_ms)
        self._voice.append(voice)
        self._microphone.append(microphone)
        if self._ended_by:
            return
        if not _inside(self._conditions.muted_ms, from_ms):
            self._up.send(self._phone.audio(from_linear(self._phone.format, microphone)))
        self.link.pump()
        if to_ms >= self._conditions.most_ms:
            self.hang_up(because="time")
        elif self._script.is_over(to_ms) and self._watch.is_idle:
            quiet_from = max(
                self._watch.last_sound_ms, *(line.end_ms for line in self._script.started), 0.0
            )
            if to_ms - quiet_from >= self._conditions.linger_ms:
                self.hang_up()

    def _with_echo(self, voice: Samples, from_ms: float, to_ms: float) -> Samples:
        echo = self._conditions.echo
        if echo is None:
            return voice
        heard = self._player.heard(from_ms - echo.delay_ms, to_ms - echo.delay_ms)
        mixed = voice + heard * 10 ** (-echo.down_db / 20)
        return np.clip(np.rint(mixed), -32768, 32767).astype(np.int16)

    def _begin(self, started: Started) -> None:
        match started.line.what:
            case Speech():
                pass
            case Keys(keys, every_ms):
                for index, key in enumerate(keys):
                    at_s = self._start_s + (started.start_ms + index * every_ms) / 1000
                    self._loop.call_at(max(at_s, self._loop.time()), self._press, key)
            case Typed(text):
                self._send_if_any(self._phone.text(text))
            case Tap(payload):
                self._send_if_any(self._phone.tap(payload))
            case HangUp() as how:
                self.hang_up(how)

    def _send_if_any(self, message: str | bytes | None) -> None:
        if message is not None:
            self._up.send(message)

    def _press(self, key: str) -> None:
        if not self._ended_by:
            self._up.send(self._phone.key(key))

    # ------------------------------------------------------------------ from the server

    def _is_reading(self) -> bool:
        return not _inside(self._conditions.network.unread_ms, self.now_ms)

    def _from_server(self, message: str | bytes) -> None:
        if self._ended_by:
            return
        match self._phone.read(message):
            case Sound(payload):
                self._collect_marks()
                self._player.receive_audio(payload, self.now_ms)
            case MarkSet(name):
                self._player.receive_mark(name, self.now_ms)
                self._collect_marks()
            case ClearAsked():
                self._collect_marks()
                for name in self._player.receive_clear(self.now_ms):
                    self._answer_mark(name, cleared=True)
            case Notice():
                pass

    def _collect_marks(self) -> None:
        """Answer the marks that playback has reached, and wake up at the next."""
        for reached in self._player.advance(self.now_ms):
            self._answer_mark(reached.name, cleared=False)
        next_ms = None if self._ended_by else self._player.next_mark_ms()
        if next_ms == self._next_mark_ms:
            return
        if self._mark_timer is not None:
            self._mark_timer.cancel()
        self._next_mark_ms = next_ms
        if next_ms is not None:
            due_s = self._start_s + (next_ms + _AFTER_MARK_MS) / 1000
            self._mark_timer = self._loop.call_at(due_s, self._collect_marks)

    def _answer_mark(self, name: str, *, cleared: bool) -> None:
        if self._ended_by:
            return
        self._marks_seen += 1
        faults, number = self._conditions.marks, self._marks_seen
        if _each(faults.lose_every, number):
            return
        if _each(faults.rename_every, number):
            name = f"{name}?"
        message = self._phone.mark(name, cleared=cleared)
        if _each(faults.late_every, number):
            self._loop.call_later(faults.late_by_ms / 1000, self._up.send, message)
            return
        self._up.send(message)
        if _each(faults.repeat_every, number):
            self._up.send(self._phone.mark(name, cleared=cleared))

    def _hung_up(self, code: int, reason: str) -> None:
        """The server closed the socket."""
        if not self._ended_by:
            self._ended_by = "agent"
        self._over.set()
        self._drop("caller")

    # ------------------------------------------------------------------ to the server

    def _deliver(self, message: str | bytes) -> None:
        if self._call is not None:
            self._call.received(message)

    def _drop(self, cause: CloseCause) -> None:
        call, self._call = self._call, None
        if call is not None:
            call.lost(cause)


def _inside(spans: tuple[tuple[float, float], ...], t_ms: float) -> bool:
    return any(start <= t_ms < end for start, end in spans)


def _each(every: int, number: int) -> bool:
    return every > 0 and number % every == 0
