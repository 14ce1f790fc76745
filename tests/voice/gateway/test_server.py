"""Starting, draining, stopping."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.voice.gateway.echo import run, running, settings
from tests.voice.gateway.test_sockets import close_code, reset, started
from tests.voice.wire.test_twilio import start
from voice.gateway.config import GatewayConfigError


def test_a_draining_server_lets_calls_end_by_themselves() -> None:
    """H12"""

    async def scenario() -> None:
        async with running(settings(drain_s=10)) as server:
            async with connect(server.ws("/v1/call")) as ws:
                await started(ws)
                server.stop.set()
                while not server.gateway.is_draining:  # noqa: ASYNC110  # polled by uvicorn too
                    await asyncio.sleep(0.01)
                with pytest.raises(InvalidStatus) as refused:
                    await connect(server.ws("/v1/call"))
                assert refused.value.response.status_code == 503
                assert (await server.http("GET", "/readyz"))[0] == 503
                await ws.send(b"\x01\x02")
                assert await ws.recv() == b"\x01\x02"
            await server.task
            assert server.calls[0].causes == ["caller"]

    run(scenario())


def test_when_the_time_is_over_survivors_are_told_and_the_gone_are_not_waited_for() -> None:
    """H12: 20 calls, half of whose peers are gone."""

    async def scenario() -> None:
        async with running(settings(drain_s=0.3)) as server:
            clients = [await connect(server.ws("/v1/call")) for _ in range(16)]
            for ws in clients:
                await started(ws)
            phones = [await connect(server.ws("/twilio/stream")) for _ in range(4)]
            for ws in phones:
                await ws.send(start())
            for ws in clients[::2]:
                reset(ws)
            async with asyncio.timeout(4):
                await server.stopped()
            for ws in clients[1::2]:
                assert json.loads(await ws.recv()) == {"type": "ended", "reason": "drain"}
                assert await close_code(ws) == 1001
            for ws in phones:
                assert await close_code(ws) == 1001
            assert sorted(call.causes[0] for call in server.calls) == ["drain"] * 12 + ["lost"] * 8
            assert all(call.is_closed for call in server.calls)

    run(scenario())


def test_a_call_that_settles_slowly_is_waited_for() -> None:
    """H07: what was running gets its grace after the socket is gone."""

    async def scenario() -> None:
        async with running(settle_s=0.5) as server:
            async with connect(server.ws("/v1/call")) as ws:
                await started(ws)
            await server.stopped()
            assert server.calls[0].is_closed

    run(scenario())


def test_what_must_not_listen_does_not() -> None:
    async def scenario() -> None:
        with pytest.raises(GatewayConfigError):
            async with running(settings(host="0.0.0.0")):
                pass

    run(scenario())


def test_an_address_in_use_is_an_error_of_its_own() -> None:
    async def scenario() -> None:
        async with running() as server:
            with pytest.raises(OSError, match="in use"):
                async with running(settings(port=server.port)):
                    pass

    run(scenario())


PROGRAM = textwrap.dedent(
    """
    import asyncio, sys
    from tests.voice.gateway.echo import EchoCall, settings
    from voice.gateway.app import build_app
    from voice.gateway.metrics import Metrics
    from voice.gateway.server import serve

    config = settings(drain_s=float(sys.argv[1]))
    app = build_app(config, EchoCall, Metrics())
    asyncio.run(serve(app, config, lambda host, port: print(port, flush=True)))
    """
)


@pytest.mark.parametrize(("drain_s", "signals"), [("0", 1), ("60", 2)])
def test_signals_drain_then_end_and_the_process_leaves_with_0(drain_s: str, signals: int) -> None:
    """H12: the first signal drains, the second does not wait."""

    async def talk(port: int, pid: int) -> None:
        async with connect(f"ws://127.0.0.1:{port}/v1/call") as ws:
            await started(ws)
            for _ in range(signals):
                os.kill(pid, signal.SIGTERM)
                await asyncio.sleep(0.3)
            try:
                assert json.loads(await ws.recv()) == {"type": "ended", "reason": "drain"}
                await ws.recv()
            except ConnectionClosed as closed:
                assert closed.rcvd is not None
                assert closed.rcvd.code == 1001

    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, drain_s], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        run(talk(int(process.stdout.readline()), process.pid))
        assert process.wait(10) == 0
