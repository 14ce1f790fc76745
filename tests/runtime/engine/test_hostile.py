"""Turns whose models, stores and tools behave as badly as they can."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Literal

import pytest

from runtime import ToolContext, ToolResult, tool
from runtime.agent import CallReady, HangUp, OpenCall, SayText, StartTurn, TurnEnded
from runtime.conversation.events import (
    Event,
    MessageWritten,
    ToolAsked,
    ToolSettled,
    TurnFinished,
    TurnStarted,
)
from runtime.engine.asking import MOST_REPLY_CHARS
from runtime.models.ports import CallCutOff, ChatModel, ChatRequest, Finished, ModelEvent, TextDelta
from runtime.models.scripted_model import Call, ScriptedModel
from runtime.models.scripted_model import Say as Write
from runtime.plane import InLoopAgent
from runtime.store.memory_store import MemoryStore
from tests.fakes.projects import make_project
from tests.fakes.voice_side import Voice
from tests.runtime.engine.helpers import connected, in_virtual_time

Ending = Literal["raise", "leak", "linger", "endless", "nameless"]


class RudeModel(ChatModel):
    """Says a word, then misbehaves."""

    def __init__(self, ending: Ending) -> None:
        self.ending = ending
        self.requests: list[ChatRequest] = []
        self.cleaned_up = 0
        self.closed = 0

    async def stream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        try:
            match self.ending:
                case "leak":
                    raise asyncio.CancelledError
                case "endless":
                    while True:
                        yield TextDelta("word " * 100)
                case "nameless":
                    yield CallCutOff("")
                    yield CallCutOff("two words ✗")
                    yield Finished("length")
                    return
                case _:
                    yield TextDelta("Well")
                    await asyncio.sleep(30)
        finally:
            if self.ending == "raise":
                raise RuntimeError("the connection broke while it was closed")
            if self.ending == "linger":
                await asyncio.sleep(0.5)
            self.cleaned_up += 1

    async def aclose(self) -> None:
        self.closed += 1
        if self.ending == "raise":
            raise RuntimeError("nothing to close")


@in_virtual_time
async def test_a_stream_whose_closing_fails_does_not_bring_an_interrupted_turn_back() -> None:
    """An error raised while a cancellation is passing takes its place: nothing of the turn goes on,
    no other model is asked, nothing is said.
    """
    rude, other = RudeModel("raise"), ScriptedModel([Write("Never.")])
    agent = InLoopAgent(make_project(), models=[rude, other])
    voice = Voice(agent)
    await voice.ready()
    voice.hear("go")
    await asyncio.sleep(0.1)
    voice.interrupt()
    await asyncio.sleep(5)
    assert (len(rude.requests), other.requests) == (1, [])
    assert [m.text for m in voice.of(SayText)] == ["Well"]
    assert [m.outcome for m in voice.of(TurnEnded)] == ["interrupted"]
    await agent.aclose()
    assert rude.closed == 1, "an error while one model is closed keeps no other open"


@in_virtual_time
async def test_a_cancellation_that_nobody_asked_for_is_a_failure_of_the_model() -> None:
    """N03"""
    model = ScriptedModel([Write("I am the other.")])
    agent = InLoopAgent(make_project(), models=[RudeModel("leak"), model])
    voice = Voice(agent)
    await voice.ready()
    voice.hear("go")
    assert (await voice.wait_ended()).outcome == "done"
    assert voice.texts == ["I am the other."]
    await agent.aclose()


@in_virtual_time
async def test_a_hang_up_right_after_an_interruption_does_not_cut_the_cleanup() -> None:
    rude = RudeModel("linger")
    agent = InLoopAgent(make_project(), models=[rude])
    voice = Voice(agent)
    await voice.ready()
    voice.hear("go")
    await asyncio.sleep(0.1)
    voice.interrupt()
    await asyncio.sleep(0.1)
    voice.close()
    await asyncio.sleep(1)
    assert rude.cleaned_up == 1
    await agent.aclose()


@in_virtual_time
async def test_a_reply_without_end_is_ended() -> None:
    agent = InLoopAgent(make_project(), models=[RudeModel("endless")])
    voice = Voice(agent, ms_per_char=0.01)
    await voice.ready()
    voice.hear("go")
    assert (await voice.wait_ended()).outcome == "done"
    assert len(voice.texts[0]) <= MOST_REPLY_CHARS + 500
    await agent.aclose()


@in_virtual_time
async def test_a_call_without_a_usable_name_can_be_sent_back_to_the_model() -> None:
    """C04: a provider refuses every later request that holds a name it does not allow."""
    rude = RudeModel("nameless")
    agent = InLoopAgent(make_project(), models=[rude])
    voice = Voice(agent)
    await voice.ready()
    voice.hear("go")
    await voice.wait_ended()
    names = [call.name for m in rude.requests[-1].messages for call in m.calls]
    assert len(names) == 2
    for name in names:
        assert name.isascii()
        assert name.replace("_", "").replace("-", "").isalnum()
    await agent.aclose()


@in_virtual_time
async def test_a_tool_that_was_given_up_can_not_end_the_call_later() -> None:
    """C18"""

    @tool(description="x", timeout=1)
    async def deaf(*, context: ToolContext) -> ToolResult:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(4)
        context.hang_up()
        return ToolResult()

    steps = [[Call("deaf")], [Write("That took too long.")], [Write("Yes, I am here.")]]
    async with connected(steps, deaf) as call:
        call.voice.hear("go")
        await call.voice.wait_ended()
        await call.voice.wait_event("late_outcome")
        call.voice.hear("are you there")
        await call.voice.wait_ended()
        assert call.voice.of(HangUp) == []


@in_virtual_time
async def test_a_commit_is_waited_for_by_the_next_turn_if_this_one_is_interrupted() -> None:
    class SlowStore(MemoryStore):
        async def append(self, events: Sequence[Event]) -> None:
            await asyncio.sleep(0.5)
            await super().append(events)

    @tool(description="x")
    async def pay(*, context: ToolContext) -> ToolResult:
        async with context.committing():
            pass
        return ToolResult("paid")

    store = SlowStore()
    known: list[bool] = []

    def look(_: object) -> Write:
        known.append(any(isinstance(e.fact, ToolSettled) for e in store._events["c1"].values()))
        return Write("Paid.")

    async with connected([Call("pay"), look], pay, store=store) as call:
        await asyncio.sleep(2)
        call.voice.hear("pay")
        await asyncio.sleep(0.1)
        call.voice.interrupt()
        call.voice.hear("is it paid")
        await call.voice.wait_ended()
        assert known == [True]


@in_virtual_time
async def test_what_was_being_said_when_the_server_died_does_not_count_as_heard() -> None:
    """B01"""
    store = MemoryStore()
    facts = (
        TurnStarted("input", "speech", "my balance"),
        MessageWritten(1, "reply", "It is ten. Shall I close the account?", 1),
        TurnFinished("done"),
    )
    await store.append([Event("known", i + 1, i, 1, fact) for i, fact in enumerate(facts)])
    model = ScriptedModel([Write("Hello again.")])
    agent = InLoopAgent(make_project(), models=[model], store=store)
    voice = Voice(agent)
    await voice.ready("known")
    voice.hear("yes")
    await voice.wait_ended()
    assert [m.text for m in model.requests[0].messages[1:]] == ["my balance", "yes"]
    await agent.aclose()


@in_virtual_time
async def test_a_turn_of_the_life_before_can_be_reopened() -> None:
    """B09: the voice plane numbers on when the agent process is replaced during a call."""
    store = MemoryStore()
    first = InLoopAgent(make_project(), models=[ScriptedModel([])], store=store)
    voice = Voice(first)
    await voice.ready("same")
    voice.hear("hello")
    await voice.wait_ended()
    voice.hear("I'm Nora")
    await asyncio.sleep(1)
    cut = MemoryStore()  # what was written when the process died
    await cut.append(await store.load("same"))

    model = ScriptedModel([Write("Hello Nora Feld.")])
    second = InLoopAgent(make_project(), models=[model], store=cut, first_id=1_000_001)
    again = Voice(second)
    second.send(OpenCall(1, "same", "test", "en", (), 0.0, again.slot, resumed=True))
    await again.wait_for(CallReady)
    again.turn = 2
    again.hear("I'm Nora Feld", reopens=2)
    await again.wait_ended()
    said = [m.text for m in model.requests[0].messages if m.role == "user"]
    assert said == ["hello", "I'm Nora Feld"]
    await first.aclose()
    await second.aclose()


@in_virtual_time
async def test_a_wish_that_still_runs_since_the_call_before_is_not_run_twice() -> None:
    """C09, over a reconnection."""
    runs: list[str] = []

    @tool(description="x", on_interrupt="finish", timeout=60)
    async def order(item: str) -> ToolResult:
        runs.append(item)
        await asyncio.sleep(20)
        return ToolResult("ordered")

    model = ScriptedModel(
        [Call("order", {"item": "lamp"}), Call("order", {"item": "lamp"}), Write("It is running.")]
    )
    agent = InLoopAgent(make_project(order), models=[model])
    voice = Voice(agent, call=1)
    name = (await voice.ready()).conversation
    voice.hear("order a lamp")
    await asyncio.sleep(1)
    voice.close()
    agent.detach(1)
    again = Voice(agent, call=2)
    assert (await again.ready(name)).conversation == name
    again.hear("did you order the lamp")
    await again.wait_ended()
    assert runs == ["lamp"]
    assert [m.text for m in model.requests[2].messages if m.role == "tool"][-1] == "still_running"
    await agent.aclose()


@in_virtual_time
async def test_a_tool_that_floods_after_the_interruption_costs_a_bounded_record() -> None:
    """N06"""

    @tool(description="x", on_interrupt="finish", timeout=5)
    async def flood(*, context: ToolContext) -> ToolResult:
        for number in range(5000):
            await context.send(f"message {number}")
        return ToolResult()

    async with connected([Call("flood")], flood, strict=False) as call:
        call.voice.hear("go")
        call.voice.interrupt()
        await asyncio.sleep(1)
        assert len(call.voice.happened("send_dropped")) < 200


@pytest.mark.parametrize("name", ["\ud800", ""])
def test_a_conversation_with_an_odd_name_runs_tools_all_the_same(name: str) -> None:
    @tool(description="x")
    async def look() -> ToolResult:
        return ToolResult("seen")

    @in_virtual_time
    async def scenario() -> None:
        model = ScriptedModel([Call("look"), Write("Seen.")])
        agent = InLoopAgent(make_project(look), models=[model])
        voice = Voice(agent)
        voice.open(name)
        await asyncio.sleep(0.1)
        agent.send(StartTurn(1, 1, "opened"))
        voice.turn = 1
        voice.hear("look")
        assert (await voice.wait_ended()).outcome == "done"
        await agent.aclose()

    scenario()


def test_every_asked_call_is_settled_in_the_record() -> None:
    """The record of a call of a tool that can't be written as JSON is settled all the same."""

    class Odd(dict[str, object]):
        def items(self) -> object:  # type: ignore[override]
            raise RuntimeError("a lazy row whose session is closed")

    @tool(description="x", timeout=60)
    async def odd() -> ToolResult:
        return ToolResult(Odd(a=1))

    @in_virtual_time
    async def scenario() -> None:
        store = MemoryStore()
        async with connected([Call("odd"), Write("It failed.")], odd, store=store) as call:
            call.voice.hear("go")
            await call.voice.wait_ended()
            assert call.voice.now_ms() < 5000, "it does not wait for the tool's timeout"
        facts = [e.fact for e in await store.load("c1")]
        assert sum(isinstance(f, ToolAsked) for f in facts) == 1
        assert [f.outcome for f in facts if isinstance(f, ToolSettled)] == ["failed"]

    scenario()


@pytest.mark.parametrize("certain", [True, False])
def test_words_of_a_turn_that_is_interrupted_in_the_same_moment_are_kept(certain: bool) -> None:
    """B09: a tool that blocked the loop lets a turn, its interruption and the next come at once."""

    @in_virtual_time
    async def scenario() -> None:
        steps = [Write("Hello Nora from Kiel.")]
        if not certain:
            steps.insert(0, Write("Never taken."))
        async with connected(steps) as call:
            call.voice.hear("I'm Nor", certain=certain)
            if not certain:
                await asyncio.sleep(0.1)
                call.voice.confirm("I'm Nora")
            call.voice.interrupt()
            call.voice.hear("from Kiel")
            await call.voice.wait_ended()
            said = "I'm Nor" if certain else "I'm Nora"
            assert call.prompt() == [("user", said), ("user", "from Kiel")]

    scenario()
