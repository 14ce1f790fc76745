"""Clients that are wrong, hostile, dead or asleep: a call beside them never notices."""

import asyncio
import base64
import json
import os
import socket
import struct
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

from tests.live.caller import Caller, calling, word
from tests.live.projects import LONG, write_project
from tests.live.server import Server, started
from voice.replay.phones import TwilioPhone, WebPhone

pytestmark = pytest.mark.xdist_group("live")

MOST_GAP_MS = 100
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = write_project(tmp_path_factory.mktemp("peers"), texts=("say well heard",), greeting="")
    running = started(folder)
    yield running
    assert running.is_running
    running.kill()
    assert "Traceback" not in running.written, running.written[-3000:]


@asynccontextmanager
async def witness(server: Server, *, seconds_of_talk: int = 1) -> AsyncGenerator[Caller, None]:
    """A call in which the agent speaks all the while; its beat is checked at the end."""
    async with calling(server.ws()) as caller:
        await caller.until_event("turn_ended")
        await caller.type("say " + " ".join([LONG] * seconds_of_talk))
        await caller.until_speaking()
        began = caller.now
        yield caller
        # what was done to the server may show a moment later
        had = len(caller.sounds)
        await caller.until(lambda: len(caller.sounds) >= had + 15, "the witness is still spoken to")
        assert max(caller.gaps_ms(began, caller.now)) <= MOST_GAP_MS
        assert not caller.named("problem")


def refusals(caller: Caller) -> list[object]:
    return [notice["code"] for notice in caller.notices if notice["type"] == "error"]


async def until_refused(caller: Caller, *codes: str) -> None:
    await caller.until(lambda: set(codes) <= set(refusals(caller)), f"told {codes}")


async def is_answered(caller: Caller) -> None:
    """Say a word on this call and hear the answer: it goes on."""
    had = len(caller.named("say_settled", outcome="heard"))
    caller.say(word())
    await caller.until_event("say_settled", count=had + 1, outcome="heard")


def test_messages_that_mean_nothing_are_refused_by_name_and_the_call_goes_on(
    server: Server,
) -> None:
    """H01, H02, H11: wrong kind, empty, no JSON, second start, marks never sent."""

    async def scenario() -> None:
        async with witness(server), calling(server.ws()) as caller:
            await caller.until_event("turn_ended")
            for message in (b"", "", "hello", "[1]", "{}", '{"type":"mark"}', '{"type":"key"}'):
                await caller.send(message)
            await caller.send('{"type":"mark","name":"never sent"}')
            await caller.send('{"type":"no such thing"}')
            await caller.send(WebPhone().opening()[0])
            codes = ("not_json", "not_object", "no_type", "bad_mark", "bad_key", "second_start")
            await until_refused(caller, *codes)
            problems = [event["code"] for event in caller.named("problem")]
            assert problems == refusals(caller)
            await is_answered(caller)
        for code in codes:
            assert await server.metric("problems_total", f'{{code="{code}"}}') >= 1
        await server.until_empty()
        assert await server.metric("ignored_messages_total", '{kind="unknown_type"}') >= 1

    asyncio.run(scenario())


def test_binary_frames_and_bad_base64_on_a_telephone_stream_are_passed_over(
    server: Server,
) -> None:
    """H01: binary where text is due; the caller is heard and answered all the same."""

    async def scenario() -> None:
        async with witness(server), calling(server.ws("/twilio/stream")) as caller:
            await caller.send(os.urandom(160))
            for payload in ("", "?", base64.b64encode(b"\x7f" * 7).decode()):
                media = {"event": "media", "streamSid": TwilioPhone.STREAM}
                await caller.send(json.dumps({**media, "media": {"payload": payload}}))
            caller.say(word(8000))
            await caller.until_speaking()
            for code in ("not_text", "bad_base64"):
                assert await server.metric("problems_total", f'{{code="{code}"}}') >= 1

    asyncio.run(scenario())


def test_sound_in_odd_pieces_is_heard_as_if_it_came_in_frames(server: Server) -> None:
    """H08: odd byte counts, so that samples are torn between messages."""

    async def scenario() -> None:
        async with witness(server), calling(server.ws(), paced=False) as caller:
            await caller.until_event("turn_ended")
            quiet = np.zeros(16000, dtype=np.int16)
            sound = np.concatenate([quiet[:1600], word(), quiet]).tobytes()
            due = caller.now
            for at in range(0, len(sound), 641):
                await caller.send(sound[at : at + 641])
                due += 641 / 32000
                await asyncio.sleep(due - caller.now)
            said = await caller.until_event("caller_said", final=True)
            assert said["text"] == "say well heard"
            assert not caller.named("problem")

    asyncio.run(scenario())


def test_a_mebibyte_of_sound_at_once_holds_nobody_up(server: Server) -> None:
    """H13: 32 s of noise in one message."""

    async def scenario() -> None:
        noise = np.random.default_rng(3).normal(0, 3000, MIB // 2).astype(np.int16).tobytes()
        async with witness(server), calling(server.ws()) as caller:
            await caller.until_event("turn_ended")
            await caller.send(noise)
            await caller.type("say all right")
            await caller.until(
                lambda: caller.is_over or "all right" in caller.heard(), "an answer or an end"
            )

    asyncio.run(scenario())


def test_twenty_megabytes_end_that_call_alone(server: Server) -> None:
    """H13: over the limit the socket is closed with 1009."""

    async def scenario() -> None:
        async with witness(server), calling(server.ws()) as caller:
            await caller.until_event("turn_ended")
            with suppress(ConnectionClosed):
                await caller.send(bytes(20_000_000))
            await caller.until_over()
            assert caller.ws.close_code == 1009
        await server.until_empty()

    asyncio.run(scenario())


def test_a_client_that_never_starts_is_refused_and_one_that_starts_late_is_served(
    server: Server,
) -> None:
    """H11: audio before start is named each time; fifty times are enough."""

    async def scenario() -> None:
        async with (
            witness(server),
            calling(server.ws(), start=False) as never,
            calling(server.ws(), start=False) as late,
        ):
            await until_refused(late, "before_start")
            await late.send(late.phone.opening()[0])
            await late.until_event("turn_ended")
            await is_answered(late)
            await never.until_over()
            assert never.ws.close_code == 1003
            assert set(refusals(never)) == {"before_start"}

    asyncio.run(scenario())


def test_a_caller_who_vanishes_in_the_middle_of_a_frame_is_gone(server: Server) -> None:
    """H07: half a websocket frame, then a reset."""

    async def scenario() -> None:
        async with witness(server):
            before = await server.metric("calls_open")
            sockets = [await upgraded(server) for _ in range(5)]
            assert await server.metric("calls_open") == before + 5
            for plain in sockets:
                # masked binary frame of 640 bytes, of which 100 come
                head = bytes([0x82, 0x80 | 126]) + struct.pack("!H", 640) + bytes(4)
                plain.sendall(head + bytes(100))
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                plain.close()
            for _ in range(100):
                if await server.metric("calls_open") == before:
                    break
                await asyncio.sleep(0.03)
            assert await server.metric("calls_open") == before

    asyncio.run(scenario())


def test_a_client_that_stops_reading_is_ended_within_seconds(server: Server) -> None:
    """H05: what waits for it is bounded, in bytes and in time."""

    async def scenario() -> None:
        async with witness(server, seconds_of_talk=2) as caller:
            before = await server.metric("slow_clients_total")
            rss_mb = server.rss_mb
            plain = await upgraded(server, read_bytes=4096)
            send_text(plain, json.dumps({"type": "text", "text": "say " + " ".join([LONG] * 4)}))
            began = caller.now
            while await server.metric("slow_clients_total") == before:
                assert caller.now - began < 12, "the client that does not read is noticed"
                await asyncio.sleep(0.1)
            assert server.rss_mb - rss_mb < 8
            plain.close()
            while await server.metric("calls_open") > 1:
                assert caller.now - began < 15
                await asyncio.sleep(0.05)

    asyncio.run(scenario())


def send_text(plain: socket.socket, text: str) -> None:
    """Write a masked text frame, with a mask of zeros."""
    payload = text.encode()
    head = bytes([0x81, 0x80 | 126]) + struct.pack("!H", len(payload)) + bytes(4)
    plain.sendall(head + payload)


async def upgraded(server: Server, *, read_bytes: int | None = None) -> socket.socket:
    """A call on a bare socket, started; nothing reads it."""

    def connect() -> socket.socket:
        plain = socket.socket()
        if read_bytes is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, read_bytes)
        plain.settimeout(5)
        plain.connect(("127.0.0.1", server.port))
        key = base64.b64encode(os.urandom(16)).decode()
        plain.sendall(
            f"GET /v1/call HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += plain.recv(1)
        assert b" 101 " in answer
        send_text(plain, str(WebPhone().opening()[0]))
        return plain

    return await asyncio.to_thread(connect)
