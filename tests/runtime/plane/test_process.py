"""The agent process, for real: these tests start child processes and take some seconds."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from runtime.agent import AgentLost, CallReady, Say
from runtime.conversation.events import ToolSettled, ToolStarted
from runtime.errors import AgentError, ProjectError
from runtime.process import ChildAgent
from runtime.store.sqlite_store import SqliteStore
from tests.fakes.voice_side import Voice


@asynccontextmanager
async def running_agent(folder: Path, **options: Any) -> AsyncIterator[ChildAgent]:
    agent = ChildAgent(
        folder,
        store_path=folder / "log.db",
        build="tests.fakes.agent_builder:build",
        arguments={"store": folder / "log.db", "notes": folder / "notes"},
        **options,
    )
    try:
        await agent.start()
        yield agent
    finally:
        await agent.aclose()


def notes(folder: Path) -> list[dict[str, Any]]:
    path = folder / "notes"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def logged(folder: Path, conversation: str, kind: type[object]) -> None:
    """Wait until an event of this kind is on disk: the log is written behind."""
    async with asyncio.timeout(10):
        while True:
            store = SqliteStore(folder / "log.db")
            events = await store.load(conversation)
            await store.aclose()
            if any(isinstance(event.fact, kind) for event in events):
                return
            await asyncio.sleep(0.02)


async def noted(folder: Path, count: int) -> list[dict[str, Any]]:
    async with asyncio.timeout(10):
        while len(notes(folder)) < count:  # noqa: ASYNC110  # another process writes the file
            await asyncio.sleep(0.02)
    return notes(folder)


def test_a_turn_goes_through_the_child_and_back(tmp_path: Path) -> None:
    async def main() -> None:
        async with running_agent(tmp_path) as agent:
            assert agent.pid not in (None, os.getpid())
            voice = Voice(agent, ms_per_char=1)
            ready = await voice.ready()
            voice.hear("hello")
            assert (await voice.wait_ended()).outcome == "done"
            assert voice.texts == ["I read: hello"]
            voice.close()
            agent.detach(1)
        store = SqliteStore(tmp_path / "log.db")
        assert await store.load(ready.conversation)
        await store.aclose()

    asyncio.run(main())


def test_a_child_killed_in_the_middle_of_a_tool_comes_back_with_the_same_wish(
    tmp_path: Path,
) -> None:
    """Killed with -9: the caller is told, the open call becomes unknown, the repeated wish has the
    same idempotency key, and nothing that was said or done before is lost.
    """

    async def main() -> None:
        async with running_agent(tmp_path) as agent:
            voice = Voice(agent, ms_per_char=1)
            ready = await voice.ready()
            voice.hear("hello")
            await voice.wait_ended()
            voice.hear('call order {"item": "lamp"}')
            await noted(tmp_path, 1)
            await logged(tmp_path, ready.conversation, ToolStarted)
            assert agent.pid is not None
            os.kill(agent.pid, signal.SIGKILL)
            lost = await voice.wait_for(AgentLost)
            assert lost.cause == "killed by signal 9"
            voice.hear('call order {"item": "lamp"}')
            first, second = await noted(tmp_path, 2)
            assert first["pid"] != second["pid"]
            assert first["key"] == second["key"]
            assert len(voice.of(CallReady)) == 1, "the voice plane is not opened twice"
            says = [message.say for message in voice.of(Say)]
            assert len(says) == len(set(says))
            voice.close()
            agent.detach(1)
        store = SqliteStore(tmp_path / "log.db")
        events = await store.load(ready.conversation)
        await store.aclose()
        settled = [e.fact for e in events if isinstance(e.fact, ToolSettled)]
        assert [s.outcome for s in settled] == ["unknown", "ok"], "closing waits for a finish tool"
        assert [e.sequence for e in events] == list(range(1, len(events) + 1))

    asyncio.run(main())


def test_a_blocking_tool_is_named_sees_the_interruption_and_holds_nothing_up(
    tmp_path: Path,
) -> None:
    """C17: the loop of the voice plane keeps its time; ``is_cancelled`` is true at the line after
    the blocking call; the tool returned, so its outcome is ok.
    """

    async def main() -> None:
        async with running_agent(tmp_path) as agent:
            loop = asyncio.get_running_loop()
            voice = Voice(agent, ms_per_char=1)
            await voice.ready()
            voice.hear('call block {"seconds": 2.5}')
            await noted(tmp_path, 1)
            voice.interrupt()
            latest = 0.0
            problem = asyncio.create_task(voice.wait_event("problem"))
            while not problem.done():
                before = loop.time()
                await asyncio.sleep(0.02)
                latest = max(latest, loop.time() - before - 0.02)
            assert problem.result()["tool"] == "block"
            assert "agent_builder.py" in str(problem.result()["where"])
            before, line = await noted(tmp_path, 2)
            assert (before["cancelled"], line["cancelled"]) == (False, True)
            assert (await voice.wait_event("tool_settled"))["outcome"] == "ok"
            assert latest < 0.25  # far below the block; the machine may be busy
            voice.hear("did you do it")
            await voice.wait_ended()

    asyncio.run(main())


def test_a_hung_child_is_ended_and_replaced(tmp_path: Path) -> None:
    async def main() -> None:
        async with running_agent(tmp_path, hang_s=1.5) as agent:
            voice = Voice(agent, ms_per_char=1)
            await voice.ready()
            voice.hear('call block {"seconds": 60}')
            await voice.wait_for(AgentLost)
            voice.hear("are you back")
            await voice.wait_ended()
            assert voice.texts[-1] == "I read: are you back"
            assert agent.lives == 2

    asyncio.run(main())


def test_a_project_that_can_not_be_loaded_is_told_by_start(tmp_path: Path) -> None:
    async def main() -> None:
        arguments = {"store": tmp_path, "notes": tmp_path}
        agent = ChildAgent(
            tmp_path,
            store_path=tmp_path,
            build="tests.fakes.agent_builder:build_nothing",
            arguments=arguments,
        )
        with pytest.raises(ProjectError) as caught:
            await agent.start()
        assert caught.value.problems[0].place.line == 3
        await agent.aclose()

    asyncio.run(main())


def test_a_child_that_dies_at_once_is_told_by_start(tmp_path: Path) -> None:
    async def main() -> None:
        agent = ChildAgent(
            tmp_path,
            store_path=tmp_path,
            build="tests.fakes.agent_builder:build_and_die",
            arguments={"store": tmp_path, "notes": tmp_path},
        )
        with pytest.raises(AgentError, match="exit 7"):
            await agent.start()

    asyncio.run(main())


@pytest.mark.parametrize("build", ["build", "build_for_ever"])
def test_a_child_dies_with_its_parent(tmp_path: Path, build: str) -> None:
    root = Path(__file__).parents[3]
    parent = subprocess.run(
        [sys.executable, "-m", "tests.fakes.agent_builder", str(tmp_path), build],
        cwd=root,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=20,
        check=False,
    )
    assert parent.returncode == 9, parent.stderr
    child = psutil.Process(int(parent.stdout)) if psutil.pid_exists(int(parent.stdout)) else None
    if child is not None:
        child.wait(timeout=15)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_whole_group_stops_only_the_parent(
    tmp_path: Path, number: signal.Signals
) -> None:
    async def main() -> None:
        async with running_agent(tmp_path) as agent:
            assert agent.pid is not None
            os.kill(agent.pid, number)
            voice = Voice(agent, ms_per_char=1)
            await voice.ready()
            voice.hear("hello")
            await voice.wait_ended()
            assert agent.lives == 1

    asyncio.run(main())


def test_a_call_opened_while_the_child_is_away_is_served_by_the_next(tmp_path: Path) -> None:
    async def main() -> None:
        async with running_agent(tmp_path) as agent:
            assert agent.pid is not None
            os.kill(agent.pid, signal.SIGKILL)
            voice = Voice(agent, ms_per_char=1)
            await voice.ready()
            voice.hear("hello")
            await voice.wait_ended()
            assert voice.texts == ["I read: hello"]
            assert agent.lives == 2

    asyncio.run(main())


def test_log_records_of_the_child_come_out_in_the_parent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with running_agent(tmp_path) as agent:
            voice = Voice(agent, ms_per_char=1)
            await voice.ready()
            voice.hear('call order "{\\"item\\": \\"lamp\\"}"')
            await voice.wait_ended()

    asyncio.run(main())
    (record,) = [r for r in caplog.records if r.getMessage().startswith("a model encoded")]
    assert record.__dict__["tool"] == "order"
    assert record.__dict__["plane"] == "agent"


def test_types_of_the_author_do_not_cross_to_the_parent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A member of an author's enum is a string to everybody but pickle."""

    async def main() -> None:
        async with running_agent(tmp_path) as agent:
            voice = Voice(agent, ms_per_char=1)
            await voice.ready()
            voice.hear("call enums {}")
            await voice.wait_ended()
            assert voice.texts[0] == "Hello there."
            assert type(voice.texts[0]) is str
            assert agent.lives == 1

    asyncio.run(main())
    (record,) = [r for r in caplog.records if r.getMessage() == "spoke"]
    assert record.__dict__["n"] in (3, "3")
