"""A server on a real loopback socket, with calls that echo."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime.agent import CloseCause
from voice.call.ports import Outbound
from voice.gateway.admission import Gateway
from voice.gateway.app import build_app, gateway_of
from voice.gateway.config import GatewayConfig
from voice.gateway.metrics import Metrics
from voice.gateway.server import serve
from voice.gateway.writer import WriterLimits
from voice.wire.events import (
    BadMessage,
    CallerAudio,
    CallerKey,
    CallStarted,
    CallStopped,
    WireProtocol,
)


class EchoCall:
    """Sends back what it hears; keys make it do things."""

    def __init__(self, call_id: int, protocol: WireProtocol, out: Outbound, channel: str) -> None:
        self.call_id = call_id
        self.channel = channel
        self.protocol = protocol
        self.out = out
        self.started: CallStarted | None = None
        self.causes: list[CloseCause] = []
        self.heard = 0
        self.settle_s = 0.0
        self._closed = asyncio.Event()

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    def received(self, message: str | bytes) -> None:
        if self.causes:
            return
        for event in self.protocol.decode(message):
            match event:
                case CallStarted():
                    self.started = event
                    self._control(self.protocol.event("call_started", {"t_ms": 0}))
                case CallerAudio(payload):
                    self.heard += len(payload)
                    self.out.audio(self.protocol.audio(payload))
                case CallerKey("9"):  # talk for 4 s, all at once, with marks
                    for second in range(200):
                        self.out.audio(self.protocol.audio(b"\xff" * 160))
                        self.out.audio(self.protocol.mark(f"m{second}"))
                case CallerKey("0"):
                    self.out.clear(self.protocol.clear())
                case CallerKey("*"):  # the agent hangs up, twice
                    self.out.close(1000, "agent")
                    self.out.close(1011, "again")
                case CallerKey("#"):
                    raise RuntimeError("a fault of ours")
                case BadMessage():
                    self._control(self.protocol.problem(event))
                case CallStopped():
                    self.lost("caller")
                case _:
                    pass

    def lost(self, cause: CloseCause) -> None:
        if self.causes:
            return
        self.causes.append(cause)
        self._control(self.protocol.goodbye(cause))
        self.out.close(1000, cause)
        asyncio.get_running_loop().call_later(self.settle_s, self._closed.set)

    async def wait_closed(self) -> None:
        await self._closed.wait()

    def _control(self, message: str | bytes | None) -> None:
        if message is not None:
            self.out.control(message)


@dataclass
class Running:
    """A gateway that listens."""

    port: int
    gateway: Gateway
    metrics: Metrics
    stop: asyncio.Event
    task: asyncio.Task[None]
    calls: list[EchoCall] = field(default_factory=list)

    def ws(self, path: str) -> str:
        return f"ws://127.0.0.1:{self.port}{path}"

    async def http(
        self, method: str, path: str, body: bytes = b"", **headers: str
    ) -> tuple[int, dict[str, str], str]:
        """Ask over a connection of its own; header names are written with ``_`` for ``-``."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        lines = {"host": f"127.0.0.1:{self.port}", "connection": "close", **headers}
        lines["content-length"] = str(len(body))
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
        writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        answer = (await reader.read()).decode()
        writer.close()
        await writer.wait_closed()
        head, _, text = answer.partition("\r\n\r\n")
        status, *rest = head.split("\r\n")
        found = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
        return int(status.split()[1]), found, text

    async def stopped(self) -> None:
        self.stop.set()
        await self.task

    async def until_empty(self) -> None:
        assert await self.gateway.wait_empty(3)


@asynccontextmanager
async def running(
    config: GatewayConfig | None = None, *, limits: WriterLimits | None = None, settle_s: float = 0
) -> AsyncIterator[Running]:
    calls: list[EchoCall] = []

    def factory(call_id: int, protocol: WireProtocol, out: Outbound, channel: str) -> EchoCall:
        call = EchoCall(call_id, protocol, out, channel)
        call.settle_s = settle_s
        calls.append(call)
        return call

    config = config or settings()
    metrics = Metrics()
    app = build_app(config, factory, metrics, limits=limits)
    stop = asyncio.Event()
    listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def on_listening(_host: str, port: int) -> None:
        listening.set_result(port)

    task = asyncio.get_running_loop().create_task(serve(app, config, on_listening, stop=stop))
    try:
        await asyncio.wait({task, listening}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        yield Running(await listening, gateway_of(app), metrics, stop, task, calls)
    finally:
        stop.set()
        await task


def settings(**changes: Any) -> GatewayConfig:
    given: dict[str, Any] = {"port": 0, "drain_s": 0, "page_dir": Path("/nonexistent")}
    return GatewayConfig(**{**given, **changes})


def run(coro: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await coro

    asyncio.run(bounded())
