"""Calls over real loopback sockets."""

import asyncio
import base64
import gc
import json
import socket
import struct

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.voice.gateway.echo import Running, run, running, settings
from tests.voice.wire.test_twilio import CONNECTED, STOP, dtmf, media, start
from voice.gateway.writer import WriterLimits

START = '{"type":"start"}'


async def started(ws: ClientConnection) -> dict[str, object]:
    await ws.send(START)
    message: dict[str, object] = json.loads(await ws.recv())
    return message


async def close_code(ws: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed):
        while True:
            await ws.recv()
    return ws.close_code or 0


def reset(ws: ClientConnection) -> None:
    """Cut the connection with a TCP reset, as a crashed phone does."""
    raw = ws.transport.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    ws.transport.abort()


def metric(server: Running, line: str) -> bool:
    return line in server.metrics.exposition().decode().splitlines()


# ---------------------------------------------------------------------- ordinary calls


def test_an_app_talks_and_hears_its_own_sound() -> None:
    async def scenario() -> None:
        async with running() as server:
            async with connect(server.ws("/v1/call"), subprotocols=["bargein.v1"]) as ws:  # type: ignore[list-item]
                assert ws.subprotocol == "bargein.v1"
                fmt = {"encoding": "pcm16", "rate_hz": 16000}
                assert await started(ws) == {"type": "started", "call": "1", "format": fmt}
                await ws.send(b"\x01\x02" * 320)
                assert await ws.recv() == b"\x01\x02" * 320
            await server.until_empty()
            assert server.calls[0].causes == ["caller"]
            assert server.calls[0].channel == "web"

    run(scenario())


def test_the_sub_protocol_need_not_be_named() -> None:
    async def scenario() -> None:
        async with running() as server, connect(server.ws("/v1/call")) as ws:
            assert ws.subprotocol is None
            assert (await started(ws))["type"] == "started"

    run(scenario())


def test_a_telephone_stream_talks_and_hears_its_own_sound() -> None:
    async def scenario() -> None:
        async with running() as server:
            async with connect(server.ws("/twilio/stream")) as ws:
                for message in (CONNECTED, start(), media(b"\x01" * 160)):
                    await ws.send(message)
                heard = json.loads(await ws.recv())
                assert heard["streamSid"] == "MZ11"
                assert base64.b64decode(heard["media"]["payload"]) == b"\x01" * 160
                await ws.send(STOP)
                assert await close_code(ws) == 1000
            await server.until_empty()
            assert server.calls[0].channel == "phone"
            assert server.calls[0].causes == ["caller"]

    run(scenario())


def test_a_clear_overtakes_the_sound_that_is_queued() -> None:
    """A01: after the clear nothing of the old reply is sent."""

    async def scenario() -> None:
        async with running() as server, connect(server.ws("/twilio/stream")) as ws:
            await ws.send(start())
            await ws.send(dtmf("9"))
            await ws.send(dtmf("0"))
            await ws.send(media(b"\x07"))
            events: list[dict[str, dict[str, str]]] = []
            while not events or events[-1].get("media", {}).get("payload") != "Bw==":
                events.append(json.loads(await ws.recv()))
            names = [str(event["event"]) for event in events]
            assert names[-2:] == ["clear", "media"]
            assert names.count("clear") == 1

    run(scenario())


def test_the_agent_can_hang_up_and_closing_twice_is_closing_once() -> None:
    """N02: the call closes its own socket from inside a message."""

    async def scenario() -> None:
        async with running() as server:
            async with connect(server.ws("/twilio/stream")) as ws:
                await ws.send(start())
                await ws.send(dtmf("*"))
                assert await close_code(ws) == 1000
                assert ws.close_reason == "agent"
            await server.until_empty()

    run(scenario())


# ---------------------------------------------------------------------- hostile clients


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("hello", "not_json"),
        ("", "not_json"),
        (" ", "not_json"),
        ("null", "not_object"),
        ("[]", "not_object"),
        ("{}", "no_type"),
        ('{"type":"start"}', "second_start"),
        ('{"a":' * 40_000 + "1" + "}" * 40_000, "too_deep"),
    ],
)
def test_a_message_that_can_not_be_read_is_answered_and_the_call_goes_on(
    message: str, code: str
) -> None:
    """H01, H02, H11, H13."""

    async def scenario() -> None:
        async with running() as server, connect(server.ws("/v1/call")) as ws:
            await started(ws)
            await ws.send(message)
            assert json.loads(await ws.recv())["code"] == code
            await ws.send(b"")
            await ws.send(b"\x05\x06")
            assert await ws.recv() == b"\x05\x06"

    run(scenario())


def test_a_binary_frame_on_a_text_protocol_reaches_no_codec() -> None:
    """H01"""

    async def scenario() -> None:
        async with running() as server, connect(server.ws("/twilio/stream")) as ws:
            await ws.send(start())
            await ws.send(b"\xff" * 640)
            await ws.send(media(b"\x01"))
            assert json.loads(await ws.recv())["media"]["payload"] == "AQ=="
            assert server.calls[0].heard == 1

    run(scenario())


def test_a_message_over_the_limit_ends_only_its_own_call() -> None:
    """H13: 20 MB are refused by their length, before they are read."""

    async def scenario() -> None:
        async with (
            running() as server,
            connect(server.ws("/v1/call")) as other,
            connect(server.ws("/v1/call")) as ws,
        ):
            await started(other)
            await started(ws)
            try:
                await ws.send("x" * 20_000_000)
            except ConnectionClosed:
                pass
            assert await close_code(ws) in (1009, 1006)
            await other.send(b"\x01\x02")
            assert await other.recv() == b"\x01\x02"
            await until_open(server, 1)

    run(scenario())


def test_a_message_in_endless_pieces_is_refused() -> None:
    """H13: empty fragments never reach the limit on size."""

    async def scenario() -> None:
        async with running() as server, connect(server.ws("/v1/call")) as ws:
            await started(ws)

            def pieces() -> list[bytes]:
                return [b"\x00"] * 3000

            try:
                await ws.send(pieces())
            except ConnectionClosed:
                pass
            assert await close_code(ws) == 1009

    run(scenario())


def test_a_fault_in_one_call_ends_that_call_and_no_other() -> None:
    async def scenario() -> None:
        async with (
            running() as server,
            connect(server.ws("/twilio/stream")) as ws,
            connect(server.ws("/v1/call")) as other,
        ):
            await started(other)
            await ws.send(start())
            await ws.send(dtmf("#"))
            await close_code(ws)
            await other.send(b"\x01\x02")
            assert await other.recv() == b"\x01\x02"
            assert server.calls[0].causes == ["lost"]

    run(scenario())


# ---------------------------------------------------------------------- lost connections


def test_a_reset_ends_the_call_within_a_second_although_nothing_is_sent() -> None:
    """H03: the far end goes without a close frame."""

    async def scenario() -> None:
        async with running() as server:
            ws = await connect(server.ws("/v1/call"))
            await started(ws)
            reset(ws)
            async with asyncio.timeout(1):
                await server.until_empty()
            assert server.calls[0].causes == ["lost"]

    run(scenario())


def test_leaving_without_a_close_frame_is_lost_and_with_one_is_the_caller() -> None:
    """H03, H07"""

    async def scenario() -> None:
        async with running() as server:
            ws = await connect(server.ws("/v1/call"))
            await started(ws)
            ws.transport.close()
            await server.until_empty()
            async with connect(server.ws("/v1/call")) as ws:
                await started(ws)
                await ws.close(1001)
            await server.until_empty()
            assert [call.causes for call in server.calls] == [["lost"], ["caller"]]

    run(scenario())


def test_a_silent_peer_is_found_by_its_missing_pong(monkeypatch: pytest.MonkeyPatch) -> None:
    """H03: the cable is pulled; no reset, no pong."""
    monkeypatch.setattr("voice.gateway.server._PING_S", 0.1)

    async def scenario() -> None:
        async with running() as server:
            writer = await raw_upgrade(server, "/v1/call")
            async with asyncio.timeout(1):
                await until_open(server, 0)
            assert server.calls[0].causes == ["lost"]
            writer.close()

    run(scenario())


def test_many_calls_that_end_in_all_ways_leave_nothing_behind() -> None:
    """H04, H07"""

    async def scenario() -> None:
        async with running() as server:
            await one_of_each(server)
            await server.until_empty()
            await asyncio.sleep(0.3)
            gc.collect()
            tasks = len(asyncio.all_tasks())
            for _ in range(20):
                await one_of_each(server)
            await server.until_empty()
            server.calls.clear()
            await asyncio.sleep(0.3)
            gc.collect()
            assert len(asyncio.all_tasks()) == tasks
            assert server.gateway.open_calls == 0
            assert metric(server, "bargein_calls_open 0.0")
            left = [thing for thing in gc.get_objects() if type(thing).__name__ == "EchoCall"]
            assert left == []

    async def one_of_each(server: Running) -> None:
        async with connect(server.ws("/v1/call")) as ws:
            await started(ws)
        ws = await connect(server.ws("/v1/call"))
        await started(ws)
        reset(ws)
        async with connect(server.ws("/twilio/stream")) as ws:
            await ws.send(start())
            await ws.send(dtmf("9"))
            await ws.recv()
            reset(ws)

    run(scenario())


def test_a_client_that_stops_reading_is_ended_with_a_reason_and_bounded_memory() -> None:
    """H05: 4 s of sound at once, again and again, to a client that reads nothing."""

    async def scenario() -> None:
        limits = WriterLimits(sound_ms=1000, stall_s=0.5, close_s=0.3)
        async with running(limits=limits) as server, connect(server.ws("/v1/call")) as other:
            await started(other)
            writer = await raw_upgrade(server, "/twilio/stream")
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(frame(start()))
            call = server.calls[1]
            most_ms = 0.0
            while not call.causes:
                writer.write(frame(dtmf("9")))
                await asyncio.sleep(0.02)
                most_ms = max(most_ms, call.out.queued_ms)  # type: ignore[attr-defined]
            assert 900 < most_ms <= 1000
            await until_open(server, 1)
            assert call.causes == ["lost"]
            assert metric(server, "bargein_slow_clients_total 1.0")
            await other.send(b"\x01\x02")
            assert await other.recv() == b"\x01\x02"
            writer.transport.abort()

    run(scenario())


async def raw_upgrade(server: Running, path: str) -> asyncio.StreamWriter:
    """Open a websocket whose client does nothing by itself: no pong, no reading ahead."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.setblocking(False)
    await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", server.port))
    reader, writer = await asyncio.open_connection(sock=raw)
    key = base64.b64encode(b"0123456789abcdef").decode()
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
        "\r\n".encode()
    )
    assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
    return writer


async def until_open(server: Running, count: int) -> None:
    while server.gateway.open_calls != count:  # noqa: ASYNC110  # the gateway has no such event
        await asyncio.sleep(0.01)


def frame(text: str) -> bytes:
    """Write one masked text frame."""
    data = text.encode()
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack("!H", len(data))
    return b"\x81" + size + b"\x00" * 4 + data


# ---------------------------------------------------------------------- room


def test_a_call_over_the_limit_gets_503_and_the_place_comes_back() -> None:
    async def scenario() -> None:
        async with running(settings(max_calls=1)) as server:
            async with connect(server.ws("/v1/call")) as ws:
                await started(ws)
                with pytest.raises(InvalidStatus) as refused:
                    await connect(server.ws("/v1/call"))
                assert refused.value.response.status_code == 503
                assert refused.value.response.headers["retry-after"] == "5"
            await server.until_empty()
            async with connect(server.ws("/v1/call")) as ws:
                await started(ws)
            assert metric(server, 'bargein_refused_total{reason="full"} 1.0')

    run(scenario())


def test_a_socket_at_another_address_is_refused() -> None:
    async def scenario() -> None:
        async with running() as server:
            with pytest.raises(InvalidStatus) as refused:
                await connect(server.ws("/v2/call"))
            assert refused.value.response.status_code == 403

    run(scenario())
