"""The agent's process killed, blocked and burning, while calls are open on real sockets."""

import asyncio
import json
import os
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.caller import Caller, Event, calling, word
from tests.live.projects import LONG, write_project
from tests.live.server import Server, started

pytestmark = pytest.mark.xdist_group("live")

MOST_GAP_MS = 100
"""Between two messages of 20 ms; the bench measures it to the millisecond."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = started(write_project(tmp_path_factory.mktemp("agent")))
    yield running
    running.kill()
    assert "Traceback" not in running.written, running.written[-3000:]


def notes_of(server: Server, **fields: object) -> list[dict[str, object]]:
    notes = [json.loads(line) for line in server.notes.read_text().splitlines()]
    return [note for note in notes if all(note.get(k) == v for k, v in fields.items())]


def stored(store: Path) -> str:
    """Every event in the database, as another process reads it."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as db:
        tables = [
            name for (name,) in db.execute("select name from sqlite_master where type='table'")
        ]
        return "\n".join(
            str(row) for table in tables for row in db.execute(f"select * from {table}")
        )


async def ask(caller: Caller, text: str, name: str, **fields: object) -> Event:
    """Type ``text`` and wait for the next event of this name."""
    before = len(caller.named(name, **fields))  # type: ignore[arg-type]
    await caller.type(text)
    return await caller.until_event(name, count=before + 1, **fields)  # type: ignore[arg-type]


async def order_and_lose_the_agent(caller: Caller, lost: asyncio.Event) -> None:
    """Order tea, live through the agent's death, order tea again."""
    first = await ask(caller, 'call order {"item": "tea"}', "tool_started")
    await lost.wait()
    apology = await caller.until_event("apology")
    heard = await caller.until_event("agent_said", say=apology["say"], state="heard")
    assert "sorry" in str(heard["text"]).lower()
    again = await ask(caller, 'call order {"item": "tea"}', "tool_started")
    assert again["idempotency_key"] == first["idempotency_key"]
    await caller.until_event("tool_settled", tool="order", outcome="ok")
    await caller.until(
        lambda: any(said.startswith("Done") for said in caller.heard()), "the answer"
    )


def test_callers_outlive_the_death_of_the_agents_process(server: Server) -> None:
    """An apology, the next question answered, nothing committed lost, the same key again."""

    async def scenario() -> None:
        async with (
            calling(server.ws()) as first,
            calling(server.ws()) as second,
            calling(server.ws()) as third,
        ):
            callers = (first, second, third)
            for caller in callers:
                await caller.until_event("say_settled", outcome="heard")
            await ask(
                first, 'call commit {"fact": "the sky is blue"}', "tool_settled", outcome="ok"
            )
            await first.until_event("say_settled", outcome="heard", count=2)
            lost = asyncio.Event()
            async with asyncio.TaskGroup() as group:
                for caller in callers:
                    group.create_task(order_and_lose_the_agent(caller, lost))
                for caller in callers:
                    await caller.until_event("tool_started", tool="order")
                dead = server.agent_pid
                os.kill(dead, signal.SIGKILL)
                lost.set()
                assert "the sky is blue" in stored(server.store)
            assert server.agent_pid != dead
            keys = [note["key"] for note in notes_of(server, tool="order")]
            pids = {note["pid"] for note in notes_of(server, tool="order")}
            assert len(keys) == 6
            assert len(set(keys)) == 3  # one for each conversation, before and after
            assert pids == {dead, server.agent_pid}
            assert len(notes_of(server, tool="commit")) == 1
            prompts = [str(note["prompt"]) for note in notes_of(server) if "prompt" in note]
            after = [p for p in prompts if "sky is blue" in p and p.count('"tea"') >= 2]
            assert after, "the first caller's next prompt knows what was committed"

    asyncio.run(scenario())


def test_a_tool_that_blocks_or_burns_is_felt_by_no_other_call(server: Server) -> None:
    """C17: the others' sound keeps its beat; the tool reads the truth at its next line."""

    async def scenario() -> None:
        async with calling(server.ws()) as culprit, calling(server.ws()) as other:
            for caller in (culprit, other):
                await caller.until_event("say_settled", outcome="heard")
            await ask(other, f"say {LONG}", "say_started")
            await other.until_speaking()
            began = other.now
            started = await ask(culprit, 'call block {"seconds": 2.5}', "tool_started")
            culprit.say(word())
            await culprit.until_event("interrupted", turn=2)
            held_up = await culprit.until_event("problem", code="agent_held_up")
            assert held_up["tool"] == "block"
            await culprit.until_event("tool_settled", call_id=started["call_id"])
            assert notes_of(server, tool="block") == [
                {"tool": "block", "phase": "before", "cancelled": False},
                {"tool": "block", "phase": "after", "cancelled": True},
            ]
            settled = len(culprit.named("tool_settled"))
            await ask(culprit, 'call burn {"seconds": 1.5}', "tool_started", tool="burn")
            await culprit.until_event("tool_settled", tool="burn", outcome="ok")
            assert len(culprit.named("tool_settled")) == settled + 1
            ended = other.now
            assert not other.named("say_settled", say=2), "the other call spoke all the while"
            gaps = other.gaps_ms(began, ended)
            assert len(gaps) > 180
            assert max(gaps) <= MOST_GAP_MS

    asyncio.run(scenario())
