"""A session's reader against clients that send without end, in virtual time."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.types import Message

from runtime.agent import CloseCause
from voice.call.ports import Outbound
from voice.gateway.metrics import Metrics
from voice.gateway.session import Session
from voice.gateway.writer import WriterLimits
from voice.replay.virtual_loop import run_virtual
from voice.wire.bargein_v1 import BargeinProtocol
from voice.wire.events import WireProtocol


class CountingCall:
    """Counts what it gets."""

    def __init__(self, out: Outbound) -> None:
        self.out = out
        self.count = 0
        self.causes: list[CloseCause] = []

    def received(self, message: str | bytes) -> None:
        self.count += 1

    def lost(self, cause: CloseCause) -> None:
        self.causes.append(cause)

    async def wait_closed(self) -> None:
        """Nothing was started."""


class Socket:
    """A websocket whose client sends ``per_second`` messages a second, or as fast as it is read."""

    def __init__(self, per_second: float | None, most: int, data: bytes = b"x") -> None:
        self.data = data
        self.step_s = None if per_second is None else 1 / per_second
        self.left = most
        self.sent: list[Message] = []
        self.closed = asyncio.Event()
        self.calls: list[CountingCall] = []
        self.session = Session(
            1,
            BargeinProtocol("1"),
            channel="web",
            send=self.send,
            abort=self.closed.set,
            factory=self.make,
            metrics=Metrics(),
            limits=WriterLimits(),
        )

    def make(self, call: int, protocol: WireProtocol, out: Outbound, channel: str) -> CountingCall:
        self.calls.append(CountingCall(out))
        return self.calls[-1]

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        if message["type"] == "websocket.close":
            self.closed.set()

    async def receive(self) -> Message:
        if self.closed.is_set() or not self.left:
            return {"type": "websocket.disconnect", "code": 1000}
        if self.step_s is not None:
            await asyncio.sleep(self.step_s)
        self.left -= 1
        return {"type": "websocket.receive", "bytes": self.data}


def run(main: Coroutine[Any, Any, None]) -> None:
    run_virtual(main)


def test_a_client_that_floods_lets_others_in_between_and_is_ended() -> None:
    """H05, H13: messages that are there already are taken without a wait, by the thousand."""

    async def main() -> None:
        socket = Socket(None, 100_000)
        turns = 0
        most_at_once = 0
        seen = 0

        async def other() -> None:
            nonlocal turns, most_at_once, seen
            while not (socket.closed.is_set() or socket.left == 0):
                count = socket.calls[0].count
                most_at_once, seen = max(most_at_once, count - seen), count
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.ensure_future(other())
        await socket.session.run(socket.receive)
        await task
        assert most_at_once <= 64
        assert socket.calls[0].count <= 3000
        assert {"type": "websocket.close", "code": 1008, "reason": "too_many_messages"} in (
            socket.sent
        )
        assert socket.calls[0].causes[0] == "lost"

    run(main())


def test_a_client_with_small_frames_and_many_marks_is_served_to_the_end() -> None:
    async def main() -> None:
        socket = Socket(200, 20_000)
        await socket.session.run(socket.receive)
        assert socket.calls[0].count == 20_000
        assert socket.calls[0].causes[0] == "caller"

    run(main())


def test_large_messages_count_for_what_they_cost() -> None:
    """H13: a megabyte of JSON takes as long to read as hundreds of frames."""

    async def main() -> None:
        socket = Socket(50, 2000, bytes(1_000_000))
        await socket.session.run(socket.receive)
        assert socket.calls[0].count <= 12
        assert socket.closed.is_set()

    run(main())
