"""The network between a call and the phone of the tests, in the loop.

Owns latency, jitter and a peer that reads slowly, in both directions. Order is kept, as a websocket
keeps it: a message never overtakes one sent before it. The live counterpart is the gateway's
socket and its writer.
"""

import asyncio
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from voice.call.ports import Outbound

Message = str | bytes

_MOST_QUEUED: Final = 500
"""Sound messages (and marks) kept for a peer that does not read; then the oldest go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """What lies between the ends, the same each way."""

    delay_ms: float = 0.0
    jitter_ms: float = 0.0
    """Added on top, evenly spread from 0 to this."""
    seed: int = 0
    unread_ms: tuple[tuple[float, float], ...] = ()
    """Spans of the phone's clock in which it reads nothing from its socket."""


class OneWay:
    """A direction of a connection: late, jittery, in order."""

    def __init__(self, network: Network, seed: int, deliver: Callable[[Message], None]) -> None:
        """Hand each message to ``deliver`` when it arrives."""
        self._loop = asyncio.get_running_loop()
        self._delay_s = network.delay_ms / 1000
        self._jitter_s = network.jitter_ms / 1000
        self._random = random.Random(seed)
        self._deliver = deliver
        self._last_s = 0.0
        self._cut = False

    def send(self, message: Message) -> None:
        """Put one message on its way."""
        self._loop.call_at(self._arrival_s(), self._arrive, message)

    def after_all(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` where a message sent now would arrive."""
        self._loop.call_at(self._arrival_s(), callback)

    def cut(self) -> None:
        """Lose everything that is on its way, and all that follows."""
        self._cut = True

    def _arrival_s(self) -> float:
        jitter = self._random.random() * self._jitter_s if self._jitter_s else 0.0
        self._last_s = max(self._last_s, self._loop.time() + self._delay_s + jitter)
        return self._last_s

    def _arrive(self, message: Message) -> None:
        if not self._cut:
            self._deliver(message)


class LoopLink(Outbound):
    """A call's way out to a phone in the same loop; what the gateway's writer is to a socket."""

    def __init__(
        self, way: OneWay, *, is_read: Callable[[], bool], closed: Callable[[int, str], None]
    ) -> None:
        """Send over ``way`` while ``is_read()``; tell ``closed`` when the server hung up."""
        self._way = way
        self._is_read = is_read
        self._on_closed = closed
        self._sound: deque[Message] = deque()
        self._control: deque[Message] = deque()
        self._closing: tuple[int, str] | None = None
        self._done = False
        self.lost_messages = 0
        """Sound messages dropped because the phone did not read."""

    def audio(self, message: Message) -> None:
        """Queue sound, or a mark behind it."""
        if self._closing is not None:
            return
        if len(self._sound) >= _MOST_QUEUED:
            self._sound.popleft()
            self.lost_messages += 1
        self._sound.append(message)
        self.pump()

    def control(self, message: Message) -> None:
        """Queue a notice, ahead of sound."""
        if self._closing is None:
            self._control.append(message)
            self.pump()

    def clear(self, message: Message | None) -> None:
        """Drop queued sound, then send the clear first."""
        if self._closing is not None:
            return
        self._sound.clear()
        if message is not None:
            self._control.appendleft(message)
        self.pump()

    def close(self, code: int, reason: str) -> None:
        """Send what control is queued, then hang up."""
        if self._closing is None:
            self._closing = (code, reason)
            self._sound.clear()
            self.pump()

    def pump(self) -> None:
        """Send what is queued, if the phone reads."""
        if not self._is_read():
            return
        while self._control:
            self._way.send(self._control.popleft())
        while self._sound:
            self._way.send(self._sound.popleft())
        if self._closing is not None and not self._done:
            self._done = True
            code, reason = self._closing
            self._way.after_all(lambda: self._on_closed(code, reason))
