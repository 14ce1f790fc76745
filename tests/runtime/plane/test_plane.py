"""The plane in a loop: delivery, conversations, stores that misbehave."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from runtime import ToolContext, ToolResult, tool
from runtime.agent import CallReady, FromRuntime, InterruptTurn, OpenCall, StartTurn, TurnEnded
from runtime.conversation.events import CallStarted, Event, ToolSettled, ToolStarted
from runtime.models.scripted_model import Call, ScriptedModel
from runtime.models.scripted_model import Say as Write
from runtime.plane import InLoopAgent
from runtime.store.memory_store import MemoryStore
from runtime.store.ports import StoreError
from tests.fakes.projects import make_project
from tests.fakes.voice_side import Voice, kinds
from tests.runtime.engine.helpers import connected, in_virtual_time


@in_virtual_time
async def test_neither_side_is_called_inside_of_the_other() -> None:
    agent = InLoopAgent(make_project(), models=[ScriptedModel([Write("Hi.")])])
    depth: list[int] = []

    def sink(_: FromRuntime) -> None:
        assert not depth, "delivered from the loop, not from inside of send"

    slot = agent.attach(1, sink)
    depth.append(1)
    agent.send(OpenCall(1, None, "test", "en", (), 0.0, slot))
    agent.send(StartTurn(1, 1, "opened"))
    depth.clear()
    await asyncio.sleep(1)
    await agent.aclose()


@in_virtual_time
async def test_messages_sent_while_the_conversation_loads_are_kept_in_order() -> None:
    class SlowStore(MemoryStore):
        async def load(self, conversation: str) -> list[Event]:
            await asyncio.sleep(0.5)
            return await super().load(conversation)

    agent = InLoopAgent(make_project(), models=[ScriptedModel([Write("Two.")])], store=SlowStore())
    voice = Voice(agent)
    voice.open("known")
    voice.hear("one")
    voice.interrupt()
    voice.hear("two")
    await voice.wait_ended()
    assert kinds([m for _, m in voice.messages])[0] == "CallReady"
    assert voice.texts == ["Two."]
    await agent.aclose()


@in_virtual_time
async def test_calls_share_the_models_and_nothing_else() -> None:
    model = ScriptedModel([Write("To one."), Write("To two.")])
    agent = InLoopAgent(make_project(), models=[model])
    one, two = Voice(agent, call=1), Voice(agent, call=2)
    first, second = await one.ready(), await two.ready()
    assert first.conversation != second.conversation
    assert one.slot != two.slot
    one.hear("a")
    await one.wait_ended()
    two.hear("b")
    await two.wait_ended()
    assert (one.texts, two.texts) == (["To one."], ["To two."])
    assert [m.text for m in model.requests[1].messages[1:]] == ["b"]
    await agent.aclose()


@in_virtual_time
async def test_a_conversation_that_another_call_holds_is_not_shared() -> None:
    agent = InLoopAgent(make_project(), models=[])
    one, two = Voice(agent, call=1), Voice(agent, call=2)
    one.open("same")
    two.open("same")
    await asyncio.sleep(0.1)
    names = [v.of(CallReady)[0].conversation for v in (one, two)]
    assert names[0] == "same"
    assert names[1] != "same"
    await agent.aclose()


@in_virtual_time
async def test_a_conversation_goes_on_over_a_restart_and_its_open_call_becomes_unknown() -> None:
    """The log of a life that ended in the middle of a tool."""

    @tool(description="x", on_interrupt="finish", timeout=60)
    async def order(item: str, *, context: ToolContext) -> ToolResult:
        keys.append(context.idempotency_key)
        await asyncio.sleep(1 if len(keys) > 1 else 50)
        return ToolResult("ordered")

    keys: list[str] = []
    store = MemoryStore()
    first = InLoopAgent(
        make_project(order), models=[ScriptedModel([Call("order", {"item": "lamp"})])], store=store
    )
    voice = Voice(first)
    name = (await voice.ready()).conversation
    voice.hear("order a lamp")
    await asyncio.sleep(1)
    cut = MemoryStore()  # what was written when the process died
    await cut.append(await store.load(name))

    model = ScriptedModel([Call("order", {"item": "lamp"}), Write("Now it is ordered.")])
    second = InLoopAgent(make_project(order), models=[model], store=cut, first_id=1_000_001)
    again = Voice(second, call=1)
    assert (await again.ready(name)).conversation == name
    again.hear("did you?")
    await again.wait_ended()
    assert keys[0] == keys[1], "the repeated wish has the same key"
    results = [m.text for m in model.requests[1].messages if m.role == "tool"]
    assert "restarted" in results[0]
    assert results[1] == '"ordered"'
    assert min(again.says) > 1_000_000, "numbers of the life before are not used again"
    await second.aclose()
    facts = [e.fact for e in await cut.load(name)]
    outcomes = [f.outcome for f in facts if isinstance(f, ToolSettled)]
    assert outcomes == ["unknown", "ok"]
    assert sum(isinstance(f, CallStarted) for f in facts) == 2
    assert sum(isinstance(f, ToolStarted) for f in facts) == 2
    await first.aclose()


class BrokenStore(MemoryStore):
    async def append(self, events: Sequence[Event]) -> None:
        raise StoreError("disk full")

    async def load(self, conversation: str) -> list[Event]:
        raise StoreError("disk gone")


@in_virtual_time
async def test_a_store_that_fails_costs_no_turn() -> None:
    agent = InLoopAgent(make_project(), models=[ScriptedModel([Write("Hi.")])], store=BrokenStore())
    voice = Voice(agent)
    ready = await voice.ready("known")
    assert ready.conversation != "known", "a log that can't be read is not written either"
    voice.hear("hello")
    await voice.wait_ended()
    assert voice.texts == ["Hi."]
    await agent.aclose()


@in_virtual_time
async def test_a_commit_is_stored_before_the_model_is_asked_again_or_a_second_is_over() -> None:
    class SlowStore(MemoryStore):
        delay_s = 0.3

        async def append(self, events: Sequence[Event]) -> None:
            await asyncio.sleep(self.delay_s)
            await super().append(events)

    @tool(description="x")
    async def pay(n: int, *, context: ToolContext) -> ToolResult:
        async with context.committing():
            pass
        return ToolResult("paid")

    store = SlowStore()
    known: list[bool] = []

    def look(_: object) -> Write:
        known.append(any(isinstance(e.fact, ToolSettled) for e in store._events["c1"].values()))
        return Write("Paid.")

    steps = [Call("pay", {"n": 1}), look, Call("pay", {"n": 2}), Write("Paid.")]
    async with connected(steps, pay, store=store) as call:
        call.voice.hear("pay")
        await call.voice.wait_ended()
        assert known == [True]
        store.delay_s = 30
        before = call.voice.now_ms()
        call.voice.hear("pay")
        await call.voice.wait_ended()
        ended = call.voice.times(TurnEnded)
        assert 1000 <= ended[-1] - before <= 1400
        assert [f["code"] for f in call.voice.happened("problem")] == ["store_slow"]
        store.delay_s = 0


@in_virtual_time
async def test_closing_and_detaching_are_idempotent_and_late_messages_are_ignored() -> None:
    """N02"""
    agent = InLoopAgent(make_project(), models=[])
    voice = Voice(agent)
    await voice.ready()
    voice.close()
    voice.close()
    agent.detach(1)
    agent.detach(1)
    agent.send(StartTurn(1, 1, "opened"))
    await agent.aclose()
    await agent.aclose()
    agent.send(StartTurn(1, 1, "opened"))


@in_virtual_time
async def test_a_call_is_attached_once_and_slots_have_an_end() -> None:
    agent = InLoopAgent(make_project(), models=[])
    agent.attach(1, lambda _: None)
    with pytest.raises(RuntimeError):
        agent.attach(1, lambda _: None)
    with pytest.raises(RuntimeError):
        for call in range(2, 5000):
            agent.attach(call, lambda _: None)
    agent.detach(1)
    agent.attach(1, lambda _: None)
    await agent.aclose()


@in_virtual_time
async def test_a_hundred_calls_with_interruptions_leave_no_task_behind() -> None:
    """N05, N06"""

    @tool(description="x")
    async def slow() -> ToolResult:
        await asyncio.sleep(5)
        return ToolResult()

    model = ScriptedModel([[Write("Hm."), Call("slow")]], repeat_last=True)
    agent = InLoopAgent(make_project(slow), models=[model])
    before = len(asyncio.all_tasks())
    for number in range(100):
        voice = Voice(agent, call=number)
        await voice.ready()
        voice.hear("go")
        await asyncio.sleep(0.5)
        voice.interrupt()
        voice.close()
        agent.detach(number)
    await asyncio.sleep(3)
    assert len(asyncio.all_tasks()) == before + 1, "only the writer of the store"
    assert agent._conversations == {}
    await agent.aclose()
    assert len(asyncio.all_tasks()) == before


@in_virtual_time
async def test_a_message_that_breaks_something_inside_costs_only_itself() -> None:
    agent = InLoopAgent(make_project(), models=[ScriptedModel([Write("Hi.")])])
    voice = Voice(agent)
    await voice.ready()
    agent.send(InterruptTurn(1, 0, "words", "", (), "x"))  # type: ignore[arg-type]
    voice.turn = 0
    voice.hear("hello")
    await voice.wait_ended()
    assert voice.texts == ["Hi."]
    await agent.aclose()


@pytest.mark.parametrize(
    ("expiration_ms", "later_s", "goes_on"),
    [(3_600_000, 3500.0, True), (3_600_000, 3700.0, False), (0, 1e8, True)],
)
def test_a_caller_who_comes_back_too_late_begins_a_new_conversation(
    expiration_ms: int, later_s: float, goes_on: bool
) -> None:
    """Section 3, ``session_expiration_time``; the old conversation stays as it is."""
    store = MemoryStore()
    plain = make_project()
    settings = replace(plain.settings, expiration_ms=expiration_ms)

    @in_virtual_time
    async def test() -> None:
        script = [[Write("Hi.")], [Write("Hi again.")]]
        project = replace(plain, settings=settings)
        async with connected(script, project=project, store=store) as call:
            call.voice.hear("hello")
            await call.voice.wait_ended()
            call.voice.close()
            await asyncio.sleep(1)
            again = Voice(call.agent, call=2)
            ready = await again.ready("c1", later_s=later_s)
            assert ready.conversation == ("c1" if goes_on else "c2")
            again.hear("hello?")
            await again.wait_ended()
            assert ("hello" in [text for _, text in call.prompt()]) is goes_on

    test()
