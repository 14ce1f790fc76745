"""``bargein call`` against a server on a real loopback socket."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from typer import Typer
from typer.testing import CliRunner

from tests.voice.gateway.echo import Running, run, running, settings
from voice.audio.files import read_sound, write_wav
from voice.audio.format import PHONE, WIDE
from voice.cli.call_command import call
from voice.cli.placed_call import CallError, CallOptions, place_call
from voice.gateway.config import GatewayConfig
from voice.replay.at import At
from voice.replay.far_end import Conditions
from voice.replay.link import Network
from voice.replay.script import CallerLine, HangUp, Keys, Speech

TOKEN = "t0ken-of-sixteen-chars"


def tone(rate_hz: int, ms: int = 300) -> np.ndarray:
    return (9000 * np.sin(np.arange(rate_hz * ms // 1000) * 0.2)).astype(np.int16)


def options(server: Running, path: str, rate_hz: int, **changes: object) -> CallOptions:
    given: dict[str, object] = {
        "url": server.ws(path),
        "lines": (CallerLine(Speech(tone(rate_hz), rate_hz)),),
        "conditions": Conditions(linger_ms=300, most_ms=3000),
        **changes,
    }
    return CallOptions(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "rate_hz", "tolerance"),
    [("/v1/call", WIDE.rate_hz, 0), ("/twilio/stream", PHONE.rate_hz, 600)],
)
def test_what_an_echo_sends_back_is_heard(path: str, rate_hz: int, tolerance: int) -> None:
    async def scenario() -> None:
        async with running() as server:
            record = await place_call(options(server, path, rate_hz))
            await server.until_empty()
            assert server.calls[0].causes == ["caller"]
        heard = record.recording.heard
        first = int(np.flatnonzero(np.abs(heard) > 500)[0])
        assert 0 < first * 1000 / rate_hz < 200
        events = [event.event for event in record.events]
        assert events[0] == "connected"
        assert "first_sound" in events
        assert record.recording.ended_by == "caller"
        assert record.sound_messages >= 15
        said = tone(rate_hz)
        # A late frame leaves a hole, so only the first 20 ms are compared sample by sample.
        length = rate_hz // 50
        offset = first - int(np.flatnonzero(np.abs(said) > 500)[0])
        assert np.abs(heard[offset : offset + length] - said[:length]).max() <= tolerance

    run(scenario())


def test_the_delay_lies_on_both_ways() -> None:
    async def scenario() -> None:
        async with running() as server:
            conditions = Conditions(network=Network(delay_ms=150), linger_ms=400, most_ms=3000)
            record = await place_call(options(server, "/v1/call", 16000, conditions=conditions))
        (first,) = [event.t_ms for event in record.events if event.event == "first_sound"]
        assert 300 <= first < 600

    run(scenario())


def test_a_clear_stops_the_player_and_returns_the_marks() -> None:
    """A01: 4 s of sound are queued at the phone; it falls silent at the clear."""

    async def scenario() -> None:
        async with running() as server:
            lines = (
                CallerLine(Keys("9"), At(None, 100)),
                CallerLine(Keys("0"), At(None, 500)),
                CallerLine(HangUp(), At(None, 900)),
            )
            record = await place_call(options(server, "/twilio/stream", 8000, lines=lines))
        (clear,) = [event.t_ms for event in record.events if event.event == "clear_received"]
        assert 480 <= clear < 800
        assert record.clears == 1

    run(scenario())


def test_a_server_that_hangs_up_ends_the_call() -> None:
    async def scenario() -> None:
        async with running() as server:
            lines = (CallerLine(Keys("*"), At(None, 100)),)
            record = await place_call(options(server, "/twilio/stream", 8000, lines=lines))
        assert record.recording.ended_by == "agent"
        assert (record.close_code, record.close_reason) == (1000, "agent")
        assert record.duration_ms < 1500

    run(scenario())


def test_the_servers_events_are_in_the_record() -> None:
    async def scenario() -> None:
        async with running() as server:
            record = await place_call(options(server, "/v1/call", 16000))
        names = {event.event: dict(event.fields) for event in record.events}
        assert names["call_started"]["call"] == "1"
        assert "closed" in names

    run(scenario())


@pytest.mark.parametrize(
    ("config", "path", "said"),
    [
        (settings(auth_token=TOKEN), "/v1/call", "--token"),
        (settings(), "/nowhere", "403"),
    ],
)
def test_a_refused_call_says_why(config: GatewayConfig, path: str, said: str) -> None:
    async def scenario() -> None:
        async with running(config) as server:
            with pytest.raises(CallError, match=said):
                await place_call(options(server, path, 16000))

    run(scenario())


def test_a_token_opens_the_door_and_is_not_in_the_error() -> None:
    async def scenario() -> None:
        async with running(settings(auth_token=TOKEN, max_calls=1)) as server:
            record = await place_call(options(server, "/v1/call", 16000, token=TOKEN))
            assert record.sound_messages
        with pytest.raises(CallError) as error:
            await place_call(options(server, f"/v1/call?token={TOKEN}", 16000, token=TOKEN))
        assert TOKEN not in str(error.value)

    run(scenario())


@pytest.mark.parametrize(
    ("url", "dialect"),
    [
        ("ws://h/v1/call", "v1"),
        ("wss://h/voice/v1/call/?token=x", "v1"),
        ("wss://h/twilio/stream/abc", "twilio"),
        ("ws://h/ws", "twilio"),
    ],
)
def test_the_protocol_is_seen_from_the_path(url: str, dialect: str) -> None:
    assert CallOptions(url=url, lines=()).spoken == dialect
    assert CallOptions(url=url, lines=(), dialect="v1").spoken == "v1"


# ---------------------------------------------------------------------- the command


@contextmanager
def served() -> Iterator[str]:
    """Run an echo server in a thread of its own; gives its address."""
    listening = threading.Event()
    found: dict[str, object] = {}

    async def serve() -> None:
        async with running() as server:
            done = asyncio.Event()
            found.update(port=server.port, done=done, loop=asyncio.get_running_loop())
            listening.set()
            await done.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert listening.wait(5)
    try:
        yield f"127.0.0.1:{found['port']}"
    finally:
        found["loop"].call_soon_threadsafe(found["done"].set)  # type: ignore[attr-defined]
        thread.join(10)


def command(*arguments: str) -> tuple[int, str]:
    app = Typer()
    app.command()(call)
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


def test_the_command_writes_what_was_heard(tmp_path: Path) -> None:
    sound = tmp_path / "caller.wav"
    write_wav(sound, tone(8000), 8000)
    out = tmp_path / "out"
    with served() as address:
        code, text = command(
            f"ws://{address}/v1/call", str(sound), "--out", str(out), "--linger-seconds", "0.5"
        )
    assert code == 0, text
    assert "hung up by the caller" in text
    assert "caller" in text
    assert read_sound(out / "heard.wav", channel=0).samples.any()
    assert read_sound(out / "heard.wav", channel=1).samples.any()
    lines = (out / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line)["event"] for line in lines]
    assert events[0] == "connected"
    assert "first_sound" in events


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--twilio", "--v1"], "exclude each other"),
        (["--at", "1s"], "1 start times for 0"),
        ([], "no connection to 127.0.0.1"),
    ],
)
def test_what_can_not_be_done_is_said_with_code_2(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    sound = tmp_path / "caller.wav"
    write_wav(sound, tone(8000), 8000)
    code, text = command("ws://127.0.0.1:9/v1/call", str(sound), *arguments)
    assert code == 2
    assert said in text


def test_a_missing_sound_is_said_with_code_2(tmp_path: Path) -> None:
    code, text = command("ws://127.0.0.1:9/v1/call", str(tmp_path / "none.wav"))
    assert code == 2
    assert "none.wav" in text
