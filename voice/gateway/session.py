"""One client's socket and its call: who reads, who writes, who ends what.

Owns the two tasks of a socket. The reader (the ASGI task itself) only receives and posts to the
call; the writer owns sending. However the socket ends, the call is told once, both tasks end, and
the session is over when the call has settled what it had open.

=====================  ==================================  =====================================
acquired               by                                  released
=====================  ==================================  =====================================
a place of max_calls   ``Gateway`` before the upgrade      by ``Gateway`` when ``run`` returns
the call               ``factory``, after the upgrade      ``call.lost``, then ``wait_closed``
the writer's task      the task group in ``run``           ``writer.abandon``, then the group
the connection         uvicorn                             uvicorn; ``abort`` if it lingers
=====================  ==================================  =====================================
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias

from starlette.types import Message, Receive, Send

from runtime.agent import CloseCause
from voice.call.ports import Outbound
from voice.gateway.metrics import Metrics
from voice.gateway.writer import SocketWriter, WriterLimits
from voice.wire.events import WireProtocol

__all__ = ["CallFactory", "CallLike", "ClientProtocol", "Session"]

_log = logging.getLogger(__name__)

_SETTLE_S: Final = 10.0
"""How long a call may take to settle after its socket is gone; its own bounds are shorter."""
_TAKEN_AT_ONCE: Final = 32
_MOST_A_SECOND: Final = 400
"""Messages; frames of 5 ms, and a mark for each."""
_COSTS_ONE_MORE: Final = 4096
"""Bytes or characters of one message that count as another."""
_MOST_AT_ONCE: Final = 2000
_BY_CALLER: Final = frozenset({1000, 1001, 1005})
"""Close codes of a client that meant to end: done, leaving the page, none given."""


class CallLike(Protocol):
    """What a session needs of a call."""

    def received(self, message: str | bytes) -> None:
        """Take one websocket message; never raises, never waits."""
        ...

    def lost(self, cause: CloseCause) -> None:
        """The socket is gone, or the server drains; idempotent."""
        ...

    async def wait_closed(self) -> None:
        """Wait until everything the call started has ended."""
        ...


CallFactory: TypeAlias = Callable[[int, WireProtocol, Outbound, str], CallLike]
"""Makes a call from its id, its codec, its way out and its channel's name."""


class ClientProtocol(WireProtocol, Protocol):
    """A codec that can also tell how long queued sound is."""

    ignored: Counter[str]

    def sound_ms(self, message: str | bytes) -> float:
        """Playing time of a message of ``audio``; 0 for marks."""
        ...


class Session:
    """One accepted websocket."""

    def __init__(
        self,
        call_id: int,
        protocol: ClientProtocol,
        *,
        channel: str,
        send: Send,
        abort: Callable[[], None],
        factory: CallFactory,
        metrics: Metrics,
        limits: WriterLimits,
    ) -> None:
        """Make the writer and the call; ``abort`` cuts the connection without waiting."""
        self._protocol = protocol
        self._call_id = call_id
        self._metrics = metrics
        self._cause: CloseCause = "lost"
        self._writer = SocketWriter(
            send,
            sound_ms=protocol.sound_ms,
            abort=abort,
            stalled=self._stalled,
            lag=metrics.send_lag.observe,
            limits=limits,
        )
        self._call = factory(call_id, protocol, self._writer, channel)

    async def run(self, receive: Receive) -> None:
        """Serve the socket until it and the call are over."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._writer.run(), name=f"writer {self._call_id}")
                self._cause = await self._read(receive)
                self._end()
                await self._settled()
        finally:
            # Also when the server cancels what has not ended by itself.
            self._end()
            for kind, count in self._protocol.ignored.items():
                self._metrics.ignored.labels(kind).inc(count)
            if self._writer.dropped_ms:
                self._metrics.dropped_ms.inc(self._writer.dropped_ms)

    def drain(self) -> None:
        """End the call because the server stops; the client is told that it goes away."""
        self._cause = "drain"
        self._leave("drain", 1001, "going away")

    async def _read(self, receive: Receive) -> CloseCause:
        loop = asyncio.get_running_loop()
        began_s, cost, unbroken, is_flood = loop.time(), 0, 0, False
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return self._cause_of(message)
            text: str | None = message.get("text")
            data = message["bytes"] if text is None else text
            if not is_flood:
                self._call.received(data)
            step = 1 + len(data) // _COSTS_ONE_MORE
            cost, unbroken = cost + step, unbroken + step
            if unbroken >= _TAKEN_AT_ONCE:
                # What waits already is received without waiting: the other calls' turn.
                unbroken = 0
                await asyncio.sleep(0)
                allowed = _MOST_AT_ONCE + (loop.time() - began_s) * _MOST_A_SECOND
                if cost > allowed and not is_flood:
                    is_flood = True
                    self._flooded()

    def _cause_of(self, message: Message) -> CloseCause:
        if self._cause == "drain":
            return "drain"
        return "caller" if message.get("code") in _BY_CALLER else "lost"

    def _end(self) -> None:
        self._call.lost(self._cause)
        self._writer.abandon()

    async def _settled(self) -> None:
        try:
            async with asyncio.timeout(_SETTLE_S):
                await self._call.wait_closed()
        except TimeoutError:
            _log.error("a call did not settle in time", extra={"call": self._call_id})

    def _stalled(self) -> None:
        _log.warning("a client does not read: call ended", extra={"call": self._call_id})
        self._metrics.slow_clients.inc()
        self._leave("lost", 1008, "slow_client")

    def _flooded(self) -> None:
        _log.warning("a client sends too many messages: call ended", extra={"call": self._call_id})
        self._leave("lost", 1008, "too_many_messages")

    def _leave(self, cause: CloseCause, code: int, reason: str) -> None:
        goodbye = self._protocol.goodbye(reason if reason == "slow_client" else cause)
        if goodbye is not None:
            self._writer.control(goodbye)
        # Closed first, since the call closes with a code of its own and the first close counts.
        self._writer.close(code, reason)
        self._call.lost(cause)
