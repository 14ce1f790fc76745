"""The routes that are no sockets."""

import logging
from pathlib import Path
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.voice.gateway.echo import run, running, settings
from tests.voice.wire.test_twilio import start
from voice.call.events import CallEvent
from voice.gateway.metrics import Metrics
from voice.gateway.twilio_signature import sign

TOKEN = "t0ken-of-sixteen-chars"
FORM = {"CallSid": "CA1", "From": "+15550100", "To": '+1555"<&>', "ForwardedFrom": ""}


def test_the_webhook_connects_the_call_to_a_stream_that_knows_who_calls() -> None:
    async def scenario() -> None:
        async with running() as server:
            status, headers, text = await server.http("POST", "/twilio", urlencode(FORM).encode())
            assert status == 200
            assert headers["content-type"].startswith("application/xml")
            stream = ElementTree.fromstring(text).find("./Connect/Stream")
            assert stream is not None
            given = {item.get("name"): item.get("value") for item in stream}
            assert given == {"caller": "+15550100", "called": '+1555"<&>'}
            async with connect(stream.get("url", "")) as ws:
                await ws.send(start(customParameters=given))
                await ws.close()
            await server.until_empty()
            assert server.calls[0].started is not None
            assert server.calls[0].started.metadata == tuple(given.items())

    run(scenario())


def test_a_signed_webhook_opens_its_stream_and_an_unsigned_one_nothing() -> None:
    async def scenario() -> None:
        config = settings(twilio_auth_token="account", public_url="https://calls.example.com")
        async with running(config) as server:
            body = urlencode(FORM).encode()
            assert (await server.http("POST", "/twilio", body))[0] == 403
            signature = sign("account", "https://calls.example.com/twilio?x=1", FORM.items())
            status, _, text = await server.http(
                "POST", "/twilio?x=1", body, X_Twilio_Signature=signature
            )
            assert status == 200
            url = ElementTree.fromstring(text).find("./Connect/Stream").get("url")  # type: ignore[union-attr]
            assert url is not None
            assert url.startswith("wss://calls.example.com/twilio/stream/")
            local = server.ws(url.removeprefix("wss://calls.example.com"))
            async with connect(local) as ws:
                await ws.send(start())
            for path in (local, server.ws("/twilio/stream"), server.ws("/v1/call")):
                with pytest.raises(InvalidStatus) as refused:
                    await connect(path)
                assert refused.value.response.status_code == 403

    run(scenario())


def test_a_caller_hears_why_no_call_is_taken() -> None:
    async def scenario() -> None:
        async with running(settings(max_calls=1, drain_s=3)) as server:
            async with connect(server.ws("/v1/call")) as ws:
                await ws.send('{"type":"start"}')
                status, _, text = await server.http("POST", "/twilio")
                assert status == 200
                assert "busy" in (ElementTree.fromstring(text).findtext("Say") or "")
                assert (await server.http("GET", "/readyz"))[:1] == (503,)
                server.gateway.begin_drain()
                _, _, text = await server.http("POST", "/twilio")
                assert "restarting" in (ElementTree.fromstring(text).findtext("Say") or "")
                assert ElementTree.fromstring(text).find("Hangup") is not None

    run(scenario())


def test_calls_that_were_announced_keep_their_place() -> None:
    async def scenario() -> None:
        async with running(settings(max_calls=1)) as server:
            assert "<Connect>" in (await server.http("POST", "/twilio"))[2]
            assert "<Say>" in (await server.http("POST", "/twilio"))[2]

    run(scenario())


def test_a_form_larger_than_any_webhooks_is_refused() -> None:
    async def scenario() -> None:
        async with running() as server:
            assert (await server.http("POST", "/twilio", b"a=" + b"x" * 100_000))[0] == 413
            assert (await server.http("POST", "/twilio", b"\xff\xfe=%ff&&=&a"))[0] == 200

    run(scenario())


def test_health_and_readiness_are_told_without_a_token() -> None:
    async def scenario() -> None:
        async with running(settings(auth_token=TOKEN)) as server:
            assert (await server.http("GET", "/healthz"))[::2] == (200, "ok\n")
            assert (await server.http("GET", "/readyz"))[::2] == (200, "ready\n")
            server.gateway.begin_drain()
            assert (await server.http("GET", "/readyz"))[::2] == (503, "draining\n")
            assert (await server.http("GET", "/healthz"))[0] == 200

    run(scenario())


def test_metrics_need_the_token_where_there_is_one() -> None:
    async def scenario() -> None:
        async with running(settings(auth_token=TOKEN)) as server:
            assert (await server.http("GET", "/metrics"))[0] == 401
            status, headers, text = await server.http(
                "GET", "/metrics", Authorization=f"Bearer {TOKEN}"
            )
            assert status == 200
            assert headers["content-type"].startswith("text/plain")
            assert "bargein_calls_open 0.0" in text

    run(scenario())


def test_the_page_is_served_with_its_files(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<h1>Talk</h1>", encoding="utf-8")
    (tmp_path / "app.js").write_text("1", encoding="utf-8")

    async def scenario() -> None:
        async with running(settings(page_dir=tmp_path)) as server:
            status, headers, text = await server.http("GET", "/?token=x")
            assert (status, text) == (200, "<h1>Talk</h1>")
            assert headers["referrer-policy"] == "no-referrer"
            status, headers, _ = await server.http("GET", "/app.js")
            assert status == 200
            assert "javascript" in headers["content-type"]
            assert (await server.http("GET", "/none.js"))[0] == 404
            assert (await server.http("GET", "/../../etc/passwd"))[0] == 404
            assert (await server.http("POST", "/"))[0] == 405
            with pytest.raises(InvalidStatus) as refused:
                await connect(server.ws("/nowhere"))
            assert refused.value.response.status_code == 403

    run(scenario())


def test_a_missing_page_is_no_fault() -> None:
    async def scenario() -> None:
        async with running() as server:
            status, _, text = await server.http("GET", "/")
            assert status == 200
            assert "listening" in text

    run(scenario())


def test_a_web_page_of_another_site_can_not_call_an_open_gateway() -> None:
    async def scenario() -> None:
        async with running() as server:
            with pytest.raises(InvalidStatus) as refused:
                await connect(server.ws("/v1/call"), origin="https://evil.example")  # type: ignore[arg-type]
            assert refused.value.response.status_code == 403
            own = f"http://127.0.0.1:{server.port}"
            async with connect(server.ws("/v1/call"), origin=own) as ws:  # type: ignore[arg-type]
                await ws.send('{"type":"start"}')
                assert await ws.recv()

    run(scenario())


def test_no_token_is_ever_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with running(settings(auth_token=TOKEN)) as server:
            async with connect(server.ws(f"/v1/call?token={TOKEN}")) as ws:
                await ws.send('{"type":"start"}')
                await ws.recv()
            with pytest.raises(InvalidStatus):
                await connect(server.ws(f"/v1/call?token={TOKEN}x"))
            await server.http("GET", f"/metrics?token={TOKEN}")
            await server.http("POST", f"/twilio?token={TOKEN}")

    with caplog.at_level(logging.DEBUG, logger="uvicorn"):
        for name in ("uvicorn.error", "uvicorn.access", "voice"):
            logging.getLogger(name).setLevel(logging.DEBUG)
        run(scenario())
        for name in ("uvicorn.error", "uvicorn.access", "voice"):
            logging.getLogger(name).setLevel(logging.NOTSET)
    server_side = [record for record in caplog.records if not record.name.startswith("websockets")]
    assert server_side
    assert not any(TOKEN in record.getMessage() for record in server_side)


def test_call_events_become_numbers() -> None:
    metrics = Metrics()
    for t_ms, name, fields in [
        (1000, "turn_started", (("turn", 1), ("cause", "input"))),
        (1100, "say_started", (("say", -1),)),
        (1250, "say_started", (("say", 4),)),
        (1300, "say_started", (("say", 5),)),
        (1400, "hold", ()),
        (1500, "release", ()),
        (1600, "hold", ()),
        (1700, "commit", ()),
        (1700, "interrupted", ()),
        (1800, "tool_settled", (("outcome", "ok"),)),
        (1800, "tool_settled", (("outcome", "what the caller said"),)),
        (1900, "problem", (("code", "not_json"),)),
        (2000, "turn_started", ()),
        (2100, "call_ended", ()),
        (2200, "say_started", (("say", 6),)),
        (2300, "anything_else", ()),
    ]:
        metrics.call_event(CallEvent(7, t_ms, name, fields))
    lines = metrics.exposition().decode().splitlines()
    for line in (
        "bargein_holds_total 2.0",
        "bargein_commits_total 1.0",
        "bargein_releases_total 1.0",
        "bargein_interrupts_total 1.0",
        "bargein_turns_total 2.0",
        'bargein_tools_total{outcome="ok"} 1.0',
        'bargein_tools_total{outcome="other"} 1.0',
        'bargein_problems_total{code="not_json"} 1.0',
        "bargein_turn_latency_seconds_count 1.0",
        "bargein_turn_latency_seconds_sum 0.25",
    ):
        assert line in lines


def test_codes_without_end_do_not_grow_the_metrics() -> None:
    metrics = Metrics()
    for number in range(1000):
        metrics.call_event(CallEvent(1, 0, "problem", (("code", f"c{number}"),)))
    lines = metrics.exposition().decode().splitlines()
    assert 'bargein_problems_total{code="other"} 900.0' in lines
