"""What an operator sees: starts that fail with words, stops that callers are told of, the log."""

import asyncio
import json
import signal
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from tests.live.caller import Caller, calling, word
from tests.live.projects import LONG, write_project
from tests.live.server import Server, serving, until

pytestmark = pytest.mark.xdist_group("live")

TOKEN = "long-enough-token-of-a-test"
SPOKEN = "say the heron stands on seven legs"


async def failed_start(
    project: Path, *arguments: str, env: dict[str, str] | None = None
) -> tuple[int, str]:
    """Start a server that must not start; its exit code and what it wrote."""
    server = Server(project, *arguments, env=env)
    try:
        code = await server.ended(20.0)
    finally:
        server.kill()
    assert "Traceback" not in server.written, server.written
    return code, server.written


def test_what_can_not_be_served_is_refused_in_words(tmp_path: Path) -> None:
    """No token off loopback, a wrong project, a port in use: each says what to do, and its code."""
    good = write_project(tmp_path / "good")
    other = write_project(tmp_path / "other")
    wrong = write_project(tmp_path / "wrong")
    (wrong / "agent.yml").write_text(
        "agent:\n  id: x\n  personna: typo\norchestrator: {model_group: main}\n"
    )
    integrations = wrong / "integrations.yml"
    integrations.write_text(integrations.read_text().replace("silence_timeout", "silence_timeot"))
    tools = wrong / "skills" / "desk" / "tools.py"
    tools.write_text(tools.read_text() + '\n@tool(description="x")\ndef plain(): ...\n')

    async def scenario() -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            async with asyncio.TaskGroup() as group:
                no_token = group.create_task(failed_start(good, "--host", "0.0.0.0"))
                problems = group.create_task(failed_start(wrong))
                in_use = group.create_task(failed_start(other, "--port", str(port)))
        code, written = no_token.result()
        assert code == 2
        assert "0.0.0.0 can be reached from other machines" in written
        assert "BARGEIN_AUTH_TOKEN" in written
        code, written = problems.result()
        assert code == 1
        for place in ("agent.yml:3:3", "integrations.yml:", "skills/desk/tools.py"):
            assert place in written
        for mend in ("did you mean 'persona'?", "did you mean 'silence_timeout'?", "async def"):
            assert mend in written
        code, written = in_use.result()
        assert code == 2
        assert "in use" in written
        assert str(port) in written

    asyncio.run(scenario())


def webhook(server: Server) -> str:
    url = f"http://127.0.0.1:{server.port}/twilio"
    with urllib.request.urlopen(url, data=b"CallSid=CA1&From=%2B15550100", timeout=5) as answer:
        return answer.read().decode()


async def is_refused(server: Server, status: int, path: str = "/v1/call") -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with calling(server.ws(path)):
            pass
    assert refused.value.response.status_code == status


async def is_spoken_to(caller: Caller) -> None:
    await caller.until_event("say_settled", outcome="heard")
    await caller.type(f"say {LONG}")
    await caller.until_event("say_started", count=2)
    await caller.until_speaking()


def test_a_full_server_refuses_and_a_first_signal_drains_it(tmp_path: Path) -> None:
    """503 on sockets and a sentence in TwiML; then SIGTERM: calls go on, are told, exit 0."""

    async def scenario() -> None:
        project = write_project(tmp_path)
        server = Server(project, "--max-calls", "1", "--drain-seconds", "2")
        try:
            await until(server.has_started, "the server listens", 20.0)
            async with calling(server.ws()) as caller:
                await is_spoken_to(caller)
                await is_refused(server, 503)
                await is_refused(server, 503, "/twilio/stream")
                assert "<Say>All lines are busy" in await asyncio.to_thread(webhook, server)
                assert await server.metric("refused_total", '{reason="full"}') == 3

                server.signal(signal.SIGTERM)
                began = caller.now
                await until(lambda: "draining" in server.written, "it drains")
                with pytest.raises(urllib.error.HTTPError, match="503"):
                    await server.get("/readyz")
                assert "restarting" in await asyncio.to_thread(webhook, server)
                await is_refused(server, 503)
                await caller.until_speaking()
                await caller.until_over()
                assert 1.5 < caller.now - began < 4
                assert caller.ws.close_code == 1001
                assert caller.notices[-1] == {"type": "ended", "reason": "drain"}
                assert await server.ended() == 0
        finally:
            server.kill()
        assert "Traceback" not in server.written

    asyncio.run(scenario())


def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    """H12: with half a minute left to drain; the call is told all the same."""

    async def scenario() -> None:
        server = Server(write_project(tmp_path))
        try:
            await until(server.has_started, "the server listens", 20.0)
            async with calling(server.ws()) as caller:
                await is_spoken_to(caller)
                server.signal(signal.SIGTERM)
                await until(lambda: "draining" in server.written, "it drains")
                server.signal(signal.SIGTERM)
                await caller.until_over(3.0)
                assert caller.ws.close_code == 1001
                assert await server.ended(5.0) == 0
        finally:
            server.kill()
        assert "Traceback" not in server.written

    asyncio.run(scenario())


def test_nothing_of_anyone_and_no_secret_is_logged(tmp_path: Path) -> None:
    """A call with known words, keys, arguments, a token; the log at its most talkative."""

    async def scenario() -> None:
        project = write_project(tmp_path, texts=(SPOKEN,), greeting="Welcome ostrich.")
        env = {"BARGEIN_AUTH_TOKEN": TOKEN}
        async with serving(project, "--log-level", "debug", env=env) as server:
            await is_refused(server, 403)
            await is_refused(server, 403, "/v1/call?token=a-wrong-albatross")
            async with calling(server.ws(f"/v1/call?token={TOKEN}")) as caller:
                await caller.until_event("say_settled", outcome="heard")
                for key in "90215":
                    await caller.send(json.dumps({"type": "key", "key": key}))
                await caller.until_event("turn_started", reason="keys")
                await caller.send('{"type":"no such pelican"}')
                await caller.send('{"broken": penguin')
                for message in (
                    {"type": "tap", "payload": "flamingo"},
                    {"type": "text", "text": 'call commit {"fact": "the kingfisher dives"}'},
                    {"type": "text", "text": 'call commit {"fact": "a crane", "to": "many"}'},
                    {"type": "text", "text": 'call nothing {"of": "a cormorant"}'},
                ):
                    turns = len(caller.named("turn_ended", outcome="done"))
                    await caller.send(json.dumps(message))
                    await caller.until_event("turn_ended", outcome="done", count=turns + 1)
                caller.say(word())
                await caller.until_event("caller_said", final=True, text=SPOKEN)
                await caller.until(lambda: "the heron" in caller.heard()[-1], "the answer")
            async with calling(server.ws("/v1/call"), token=TOKEN) as caller:
                await caller.until_event("say_settled", outcome="heard")
                await caller.hang_up()
                await caller.until_over()
            written = server.written
        assert written.count("debug") > 0
        words = "heron seven ostrich albatross pelican penguin flamingo kingfisher crane cormorant"
        for secret in (*words.split(), "90215", TOKEN, "token="):
            assert secret not in written, f"'{secret}' was logged"

    asyncio.run(scenario())
