"""How agent processes follow each other, with processes that do what the test says."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import ClassVar

import pytest

from runtime import ToolContext, ToolResult, process, tool
from runtime.agent import (
    AgentLost,
    CallReady,
    CallSettings,
    CloseCall,
    FromRuntime,
    OpenCall,
    SaySettled,
    StartTurn,
)
from runtime.interrupted_through import Table
from runtime.plane import InLoopAgent
from runtime.process import START_BOUND_S, ChildAgent
from runtime.process_life import LifeEvents
from runtime.process_messages import Beat, ChildSetup, Detach, Ready, ToChild
from tests.fakes.projects import make_project
from voice.replay.virtual_loop import run_virtual


class ToldLife:
    """A process without a process."""

    lives: ClassVar[list["ToldLife"]] = []

    def __init__(self, setup: ChildSetup, table: Table, events: LifeEvents) -> None:
        self.events = events
        self.frames: list[ToChild] = []
        self.end_bound_s = 0.0
        self.begun_s = asyncio.get_running_loop().time()
        self.pid = 1
        self.lives.append(self)

    def put(self, frame: ToChild) -> None:
        self.frames.append(frame)

    def kill(self) -> None:
        self.die("killed by signal 9")

    def die(self, cause: str = "exit 1") -> None:
        asyncio.get_running_loop().call_soon(self.events.over, cause)

    async def end(self, bound_s: float) -> None:
        self.end_bound_s = bound_s

    def serve(self, *more: FromRuntime, closing_bound_s: float = 40.0) -> None:
        self.events.frames([Ready(closing_bound_s), *more])


class Caller:
    """A call that keeps what it is told."""

    def __init__(self, agent: ChildAgent, call: int = 1) -> None:
        self.agent, self.call = agent, call
        self.told: list[FromRuntime] = []
        self.slot = agent.attach(call, self.told.append)
        agent.send(OpenCall(call, None, "test", "en", (), 0.0))

    @property
    def lost(self) -> int:
        return sum(isinstance(message, AgentLost) for message in self.told)


def with_lives(
    monkeypatch: pytest.MonkeyPatch, scenario: Callable[[ChildAgent], Awaitable[None]]
) -> None:
    """Start an agent whose first life serves, and run the scenario in virtual time."""
    monkeypatch.setattr(process, "Life", ToldLife)
    monkeypatch.setattr(ToldLife, "lives", [])

    async def main() -> None:
        agent = ChildAgent(Path(), store_path=Path())
        loop = asyncio.get_running_loop()
        loop.call_later(0.1, lambda: ToldLife.lives[0].serve())
        await agent.start()
        beating = loop.create_task(_beat())
        await scenario(agent)
        beating.cancel()
        await agent.aclose()

    run_virtual(main())


async def _beat() -> None:
    """The latest life is well, once it serves."""
    while True:
        await asyncio.sleep(0.2)
        life = ToldLife.lives[-1]
        if any(isinstance(frame, OpenCall) for frame in life.frames):
            life.events.frames([Beat()])


def ready(call: int = 1) -> CallReady:
    return CallReady(call, "conv", CallSettings())


def test_what_was_sent_to_a_process_that_dies_while_it_starts_goes_to_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(agent: ChildAgent) -> None:
        caller = Caller(agent)
        ToldLife.lives[0].events.frames([ready()])
        ToldLife.lives[0].die()
        await asyncio.sleep(0.3)
        assert caller.lost == 1
        turn = StartTurn(1, 2, "input")
        agent.send(turn)
        ToldLife.lives[1].die()
        await asyncio.sleep(2)
        assert caller.lost == 1, "nothing was lost with it"
        ToldLife.lives[2].serve()
        opened, *rest = ToldLife.lives[2].frames
        assert opened == OpenCall(1, "conv", "test", "en", (), 0.0, slot=caller.slot, resumed=True)
        assert rest == [turn]

    with_lives(monkeypatch, scenario)


def test_a_call_is_told_of_a_process_that_dies_before_it_has_taken_the_call_up_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(agent: ChildAgent) -> None:
        caller = Caller(agent)
        ToldLife.lives[0].events.frames([ready()])
        ToldLife.lives[0].die()
        await asyncio.sleep(0.3)
        ToldLife.lives[1].serve()
        agent.send(StartTurn(1, 2, "input"))  # it dies with this, before it says CallReady
        ToldLife.lives[1].die()
        await asyncio.sleep(0.1)
        assert caller.lost == 2

    with_lives(monkeypatch, scenario)


def test_processes_that_die_young_are_replaced_with_growing_pauses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """H06: also when each of them came to serve; the pauses begin anew after a stable time."""

    async def scenario(agent: ChildAgent) -> None:
        loop = asyncio.get_running_loop()
        pauses: list[float] = []
        for _ in range(5):
            await asyncio.sleep(0.1)
            died_s = loop.time()
            ToldLife.lives[-1].die()
            await asyncio.sleep(6)
            pauses.append(round(ToldLife.lives[-1].begun_s - died_s, 1))
            ToldLife.lives[-1].serve()
        assert pauses == [0.2, 1.0, 5.0, 5.0, 5.0]
        Caller(agent)
        await asyncio.sleep(60)
        before = loop.time()
        ToldLife.lives[-1].die()
        await asyncio.sleep(0.1)
        assert ToldLife.lives[-1].begun_s - before < 0.1

    with_lives(monkeypatch, scenario)


def test_a_process_that_hangs_while_it_starts_again_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(agent: ChildAgent) -> None:
        ToldLife.lives[0].die()
        await asyncio.sleep(START_BOUND_S + 5)
        assert len(ToldLife.lives) > 2

    with_lives(monkeypatch, scenario)


def test_calls_that_come_and_go_while_there_is_no_agent_leave_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(agent: ChildAgent) -> None:
        ToldLife.lives[0].die()
        await asyncio.sleep(0.3)
        for call in range(10, 20):
            Caller(agent, call)
            agent.send(StartTurn(call, 1, "opened"))
            agent.send(SaySettled(call, 1, 1, "dropped", 0))
            agent.send(CloseCall(call, "caller", 5))
            agent.detach(call)
        stays = Caller(agent, 20)
        ToldLife.lives[-1].serve()
        assert [f.call for f in ToldLife.lives[-1].frames if not isinstance(f, Detach)] == [20]  # type: ignore[union-attr]
        assert stays.told == []

    with_lives(monkeypatch, scenario)


def test_a_life_may_settle_for_as_long_as_its_tools_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Section 8.4: a commit section is bounded by its tool's own timeout, in a shutdown too."""

    @tool(description="x", timeout=60)
    async def charge(*, context: ToolContext) -> ToolResult:
        return ToolResult()

    async def serves(agent: ChildAgent) -> None:
        bound_s = InLoopAgent(make_project(charge), models=[]).closing_bound_s
        assert bound_s > 60
        ToldLife.lives[0].serve(closing_bound_s=bound_s)
        await agent.aclose()
        assert ToldLife.lives[0].end_bound_s == bound_s

    with_lives(monkeypatch, serves)
