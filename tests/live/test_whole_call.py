"""Whole calls over real sockets, and what they leave behind: nothing."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.live.caller import Caller, calling, word
from tests.live.in_process import serving_here
from tests.live.projects import LONG, write_project
from tests.live.server import Server, started, until
from voice.cli.placed_call import CallOptions, CallRecord, line_format, place_call
from voice.replay.at import parse_at
from voice.replay.far_end import Conditions
from voice.replay.script import CallerLine, Speech

pytestmark = pytest.mark.xdist_group("live")

ANSWER = "The answer has a few words."
MS_PER_CHAR = 40


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = write_project(
        tmp_path_factory.mktemp("whole"), texts=(f"say {ANSWER}", "bye"), greeting="Good morning."
    )
    running = started(folder)
    yield running
    running.kill()
    assert "Traceback" not in running.written, running.written[-3000:]


async def talk_and_say_goodbye(server: Server, path: str) -> CallRecord:
    rate_hz = line_format("v1" if path == "/v1/call" else "twilio").rate_hz
    spoken = Speech(word(rate_hz), rate_hz)
    lines = (
        CallerLine(spoken, parse_at("agent_starts+800ms"), "question"),
        CallerLine(spoken, parse_at("agent_starts+1500ms"), "goodbye"),
    )
    conditions = Conditions(linger_ms=3000, most_ms=12_000)
    return await place_call(CallOptions(url=server.ws(path), lines=lines, conditions=conditions))


def test_a_call_goes_from_connect_to_goodbye_on_both_protocols(server: Server) -> None:
    """Greeting, a spoken question, its answer, goodbye; the agent hangs up."""

    async def scenario() -> None:
        async with asyncio.TaskGroup() as group:
            web = group.create_task(talk_and_say_goodbye(server, "/v1/call"))
            phone = group.create_task(talk_and_say_goodbye(server, "/twilio/stream"))
        await server.until_empty()
        assert await server.metric("turn_latency_seconds_count") == 6
        said = ["Good morning.", ANSWER, "Goodbye."]
        for record in (web.result(), phone.result()):
            recording = record.recording
            assert (recording.ended_by, record.close_code) == ("agent", 1000)
            assert not recording.unstarted
            sounding = np.abs(recording.heard.astype(np.int32)) > 200
            # tones cross zero: a frame sounds when any of it does
            size = recording.rate_hz // 100
            tens = sounding[: len(sounding) // size * size].reshape(-1, size).any(axis=1)
            heard_ms = int(tens.sum()) * 10
            spoken_ms = len("".join(said)) * MS_PER_CHAR
            # the last two frames may be cut by the hang-up
            assert spoken_ms - 120 <= heard_ms <= spoken_ms + 120
        events = [event for event in web.result().events if event.event == "agent_said"]
        heard = [
            dict(event.fields)["text"]
            for event in events
            if dict(event.fields)["state"] == "heard" and dict(event.fields)["complete"]
        ]
        assert heard == said
        assert web.result().events[-1].event == "closed"

    asyncio.run(scenario())


def test_what_is_typed_before_the_agent_is_ready_is_answered(server: Server) -> None:
    """Start and a text in one breath: the text is kept until the agent plane has the call."""

    async def scenario() -> None:
        async with calling(server.ws(), start=False, paced=False) as caller:
            await caller.send(caller.phone.opening()[0])
            await caller.type("say the early bird")
            turn = await caller.until_event("turn_started", reason="text")
            assert turn["turn"] == 2
            await caller.until_event("agent_said", text="the early bird", state="written")

    asyncio.run(scenario())


async def leaves_cleanly(caller: Caller) -> None:
    await caller.until_event("say_settled", outcome="heard")
    await caller.hang_up()
    await caller.until_over()


async def vanishes_mid_reply(caller: Caller) -> None:
    await caller.until_event("say_settled", outcome="heard")
    await caller.type(f"say {LONG}")
    await caller.until_event("say_started", count=2)
    await caller.until_speaking()
    caller.vanish()
    await caller.until_over()


async def vanishes_mid_tool(caller: Caller) -> None:
    await caller.until_event("say_settled", outcome="heard")
    await caller.type('call wait {"seconds": 8}')
    await caller.until_event("tool_started")
    caller.vanish()
    await caller.until_over()


WAYS: tuple[Callable[[Caller], Awaitable[None]], ...] = (
    leaves_cleanly,
    vanishes_mid_reply,
    vanishes_mid_tool,
)


async def leave(url: str, how: Callable[[Caller], Awaitable[None]]) -> None:
    async with calling(url) as caller:
        await how(caller)


async def leave_many(url: str, each: int) -> None:
    async with asyncio.TaskGroup() as group:
        for how in WAYS:
            for _ in range(each):
                group.create_task(leave(url, how))


def test_calls_that_end_in_any_way_leave_nothing_behind(server: Server) -> None:
    """H04, H07: clean ends, resets in a reply and in a tool: descriptors, threads, memory."""

    async def scenario() -> None:
        await leave_many(server.ws(), 3)
        await server.until_empty()
        before, rss_mb = server.footprint, server.rss_mb
        for _ in range(3):
            await leave_many(server.ws(), 4)
        await server.until_empty()
        await until(
            lambda: all(server.footprint[k] <= before[k] for k in before),
            f"the footprint is back at {before}: {server.footprint}",
        )
        assert server.rss_mb - rss_mb < 12
        notes = [json.loads(line) for line in server.notes.read_text().splitlines()]
        begun = [note for note in notes if note.get("phase") == "begun"]
        ended = [note for note in notes if note.get("phase") == "cancelled"]
        assert len(begun) == len(ended) == 3 + 3 * 4
        assert all(note["cancelled"] for note in ended)

    asyncio.run(scenario())


def test_calls_that_end_in_any_way_leave_no_task_behind(tmp_path: Path) -> None:
    """H04: the loop holds the same tasks as before the first call."""

    async def scenario() -> None:
        async with serving_here(write_project(tmp_path)) as here:
            await leave_many(here.ws(), 1)
            assert await here.gateway.wait_empty(5)
            before = {task.get_name() for task in asyncio.all_tasks()}
            count = len(asyncio.all_tasks())
            await leave_many(here.ws(), 6)
            assert await here.gateway.wait_empty(5)
            await until(
                lambda: len(asyncio.all_tasks()) <= count,
                f"no tasks but {before}: {[t.get_name() for t in asyncio.all_tasks()]}",
            )

    asyncio.run(scenario())
