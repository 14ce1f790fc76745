"""The bounded queue before a socket, in virtual time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from starlette.types import Message

from voice.gateway.writer import SocketWriter, WriterLimits
from voice.replay.virtual_loop import run_virtual


class Socket:
    """Takes one message after another, each in ``take_s``."""

    def __init__(self, take_s: float = 0.0) -> None:
        self.take_s = take_s
        self.sent: list[str | bytes | tuple[int, str]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.is_gone = False
        self.aborted_at: list[float] = []
        self.stalled_at: list[float] = []
        self.lags: list[float] = []
        self.writer = SocketWriter(
            self._send,
            sound_ms=lambda message: len(message) if isinstance(message, bytes) else 0.0,
            abort=self._abort,
            stalled=lambda: self.stalled_at.append(asyncio.get_running_loop().time()),
            lag=self.lags.append,
            limits=WriterLimits(sound_ms=100, stall_s=5, close_s=2),
        )

    async def _send(self, message: Message) -> None:
        await self.open.wait()
        if self.take_s:
            await asyncio.sleep(self.take_s)
        if self.is_gone:
            raise ConnectionResetError
        if message["type"] == "websocket.close":
            self.sent.append((message["code"], message["reason"]))
        else:
            self.sent.append(message.get("bytes") or message["text"])

    def _abort(self) -> None:
        self.aborted_at.append(asyncio.get_running_loop().time())
        self.is_gone = True
        self.open.set()


def play(scenario: Callable[[Socket, SocketWriter], Coroutine[Any, Any, None]]) -> Socket:
    async def main() -> Socket:
        socket = Socket()
        task = asyncio.get_running_loop().create_task(socket.writer.run())
        async with asyncio.timeout(3600):
            await scenario(socket, socket.writer)
            socket.writer.abandon()
            socket.open.set()
            await task
        return socket

    return run_virtual(main())


def sound(number: int, ms: int = 20) -> bytes:
    return bytes([number]) * ms


def test_notices_overtake_sound_and_marks_stay_behind_it() -> None:
    """H05: control messages overtake audio."""

    async def scenario(socket: Socket, writer: SocketWriter) -> None:
        writer.audio(sound(1))
        writer.audio("mark 1")
        writer.audio(sound(2))
        writer.control("notice")
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    assert play(scenario).sent == ["notice", sound(1), "mark 1", sound(2)]


def test_a_clear_drops_sound_and_marks_and_goes_before_everything() -> None:
    """A01, H05: barge-in empties the queue."""

    async def scenario(socket: Socket, writer: SocketWriter) -> None:
        writer.control("notice")
        writer.audio(sound(1))
        writer.audio("mark 1")
        writer.clear("clear")
        assert writer.queued_ms == 0
        writer.audio(sound(2))
        await asyncio.sleep(0.1)

    assert play(scenario).sent == ["clear", "notice", sound(2)]


def test_a_clear_without_a_message_only_drops() -> None:
    async def scenario(socket: Socket, writer: SocketWriter) -> None:
        writer.audio(sound(1))
        writer.clear(None)
        await asyncio.sleep(0.1)

    assert play(scenario).sent == []


def test_beyond_the_bound_the_oldest_sound_goes_with_its_marks() -> None:
    """H05: a mark never confirms sound that was not sent."""

    async def scenario(socket: Socket, writer: SocketWriter) -> None:
        for number in range(8):
            writer.audio(sound(number))
            writer.audio(f"mark {number}")
        assert writer.queued_ms == 100
        assert writer.dropped_ms == 60
        await asyncio.sleep(0.1)

    expected: list[object] = []
    for number in range(3, 8):
        expected += [sound(number), f"mark {number}"]
    assert play(scenario).sent == expected


def test_closing_sends_the_notices_but_no_sound_and_happens_once() -> None:
    async def scenario(socket: Socket, writer: SocketWriter) -> None:
        writer.audio(sound(1))
        writer.control("ended")
        writer.close(1000, "agent")
        writer.close(1011, "again")
        writer.control("late")
        writer.audio(sound(2))
        writer.clear("late clear")
        await asyncio.sleep(0.1)

    assert play(scenario).sent == ["ended", (1000, "agent")]


def test_a_socket_that_is_gone_ends_the_writer_quietly() -> None:
    """H03"""

    async def scenario(socket: Socket, writer: SocketWriter) -> None:
        socket.is_gone = True
        writer.control("a")
        await asyncio.sleep(0.1)
        writer.control("b")
        writer.audio(sound(1))
        assert writer.queued_ms == 0

    assert play(scenario).sent == []


def test_a_client_that_takes_nothing_for_5_s_is_stalled_once() -> None:
    """H05: when the bound is hit for too long the call ends."""

    async def scenario(socket: Socket, writer: SocketWriter) -> None:
        socket.open.clear()
        writer.audio(sound(1))
        await asyncio.sleep(4.9)
        assert socket.stalled_at == []
        await asyncio.sleep(60)

    stalled = play(scenario).stalled_at
    assert len(stalled) == 1
    assert 5 <= stalled[0] <= 5.6


def test_a_client_that_takes_too_little_for_5_s_is_stalled() -> None:
    """H05: it reads, but slower than the sound comes."""

    async def scenario(socket: Socket, writer: SocketWriter) -> None:
        socket.take_s = 0.1
        for number in range(700):
            writer.audio(sound(number % 256))
            await asyncio.sleep(0.02)

    assert len(play(scenario).stalled_at) == 1


def test_a_client_that_catches_up_is_not_stalled() -> None:
    async def scenario(socket: Socket, writer: SocketWriter) -> None:
        for _ in range(10):
            for number in range(10):
                writer.audio(sound(number))
            await asyncio.sleep(4)

    socket = play(scenario)
    assert socket.stalled_at == []
    assert socket.writer.dropped_ms == 1000


def test_notices_are_never_dropped_so_a_client_that_takes_none_is_stalled() -> None:
    async def scenario(socket: Socket, writer: SocketWriter) -> None:
        socket.open.clear()
        for number in range(2100):
            writer.control(str(number))
        await asyncio.sleep(1)
        socket.open.set()
        await asyncio.sleep(0.1)

    socket = play(scenario)
    assert len(socket.stalled_at) == 1
    assert len(socket.sent) == 2100


def test_closing_does_not_wait_for_a_client_that_takes_nothing() -> None:
    """H12: the connection is cut instead."""

    async def scenario(socket: Socket, writer: SocketWriter) -> None:
        socket.open.clear()
        writer.control("ended")
        writer.close(1001, "going away")
        await asyncio.sleep(10)

    socket = play(scenario)
    assert 2 <= socket.aborted_at[0] <= 2.6


def test_the_longest_wait_in_the_queue_is_told() -> None:
    async def scenario(socket: Socket, writer: SocketWriter) -> None:
        socket.take_s = 0.03
        for number in range(4):
            writer.audio(sound(number))
        await asyncio.sleep(2)

    lags = play(scenario).lags
    assert len(lags) == 1
    assert abs(lags[0] - 0.09) < 1e-6


def test_a_client_that_was_behind_before_a_clear_is_not_ended_for_it() -> None:
    """H05: what was dropped on purpose is nothing that it still owes."""

    async def scenario(socket: Socket, writer: SocketWriter) -> None:
        socket.open.clear()
        for number in range(10):
            writer.audio(sound(number))
        await asyncio.sleep(0.1)
        socket.open.set()
        writer.clear("clear")
        await asyncio.sleep(10)
        writer.audio(sound(99))
        await asyncio.sleep(0.1)

    socket = play(scenario)
    assert socket.stalled_at == []
    assert socket.sent[-1] == sound(99)
