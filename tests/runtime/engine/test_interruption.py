"""What an interruption stops, what it leaves, and what the next turn waits for and knows."""

import asyncio
import contextlib

import pytest

from runtime import ToolContext, ToolResult, tool
from runtime.agent import HangUp, InterruptTurn, Say, SayText, TurnEnded, Working
from runtime.conversation.events import CallEnded, LateOutcome, ToolSettled, TurnInterrupted
from runtime.models.ports import ChatRequest
from runtime.models.scripted_model import Call, ScriptedModel, Wait
from runtime.models.scripted_model import Say as Write
from runtime.plane import InLoopAgent
from runtime.project.model import MemoryField
from runtime.store.memory_store import MemoryStore
from tests.fakes.projects import make_project
from tests.fakes.voice_side import Voice
from tests.runtime.engine.helpers import connected, in_virtual_time


@tool(description="x")
async def slow(id: int = 0) -> ToolResult:
    await asyncio.sleep(5)
    return ToolResult("slow")


@in_virtual_time
async def test_the_model_s_stream_is_closed_and_nothing_more_of_the_turn_is_sent() -> None:
    async with connected([Write("one two three four five", ms_per_word=100)]) as call:
        call.voice.hear("tell me")
        await asyncio.sleep(0.25)
        call.voice.interrupt()
        await asyncio.sleep(1)
        assert call.model.closed == 1
        assert [m.text for m in call.voice.of(SayText)] == ["one", " two", " three"]
        assert [m.outcome for m in call.voice.of(TurnEnded)] == ["interrupted"]
        assert call.voice.happened("model_called")[0]["outcome"] == "closed"


@in_virtual_time
async def test_unheard_words_are_not_in_the_next_prompt() -> None:
    """B01, B02"""
    steps = [Write("Which day suits you? We have Monday."), Write("I was about to ask.")]
    async with connected(steps) as call:
        call.voice.hear("book")
        await asyncio.sleep(0.05)
        call.voice.interrupt()
        call.voice.hear("sorry, what was the question?")
        await call.voice.wait_ended()
        assert call.prompt() == [("user", "book"), ("user", "sorry, what was the question?")]


@in_virtual_time
async def test_what_was_heard_is_in_the_prompt_of_the_turn_that_cut_it_off() -> None:
    """B03, B04: one message, cut at the word, before the caller's own words."""
    steps = [Write("Your options are A, B and C."), Write("B it is.")]
    async with connected(steps) as call:
        call.voice.hear("options")
        await asyncio.sleep(1.0)  # twenty characters of 50 ms
        call.voice.interrupt("text")
        call.voice.start("input", "the second one")
        await call.voice.wait_ended()
        assert call.prompt() == [
            ("user", "options"),
            ("assistant", "Your options are A, [interrupted]"),
            ("user", "the second one"),
        ]


@in_virtual_time
async def test_a_reply_cut_off_while_it_streams_keeps_what_was_heard_of_it() -> None:
    """B03: the text is recorded as far as it was written."""
    async with connected([Write("alpha beta gamma delta", ms_per_word=400), Write("Yes.")]) as call:
        call.voice.hear("go")
        await asyncio.sleep(0.9)
        call.voice.interrupt()
        call.voice.hear("what")
        await call.voice.wait_ended()
        assert call.prompt() == [("user", "go"), ("user", "what")], "no sound of it was confirmed"


@in_virtual_time
async def test_a_result_that_was_told_to_nobody_is_known_and_the_tool_runs_once() -> None:
    """C01"""
    runs: list[int] = []

    @tool(description="x")
    async def book(people: int) -> ToolResult:
        runs.append(people)
        await asyncio.sleep(1)
        return ToolResult("T-901")

    def ask(request: ChatRequest) -> Call | Write:
        known = any("T-901" in m.text for m in request.messages if m.role == "tool")
        return Write("Booked, T-901, with a chair.") if known else Call("book", {"people": 2})

    steps = [ask, [Wait(0.4), Write("Your table number is T-901.")], ask]
    async with connected(steps, book) as call:
        call.voice.hear("a table for two")
        await asyncio.sleep(1.45)
        call.voice.interrupt()
        call.voice.hear("and a high chair")
        await call.voice.wait_ended()
        assert runs == [2]
        assert len(call.voice.happened("tool_settled")) == 1


@in_virtual_time
async def test_an_interruption_in_the_tick_of_the_request_settles_the_call() -> None:
    """C03: it never ran, nothing is open, the next question is answered."""
    ran: list[int] = []

    @tool(description="x")
    async def lookup(id: int) -> ToolResult:
        ran.append(id)
        return ToolResult()

    voice: Voice | None = None

    def ask(_: ChatRequest) -> list[Write | Call]:
        assert voice is not None
        voice.interrupt()
        return [Write("Looking."), Call("lookup", {"id": 7})]

    model = ScriptedModel([ask, Write("We open at nine.")])
    agent = InLoopAgent(make_project(lookup), models=[model])
    voice = Voice(agent)
    await voice.ready()
    voice.hear("order 7")
    await asyncio.sleep(0.01)
    voice.hear("when do you open")
    assert (await voice.wait_ended()).outcome == "done"
    assert ran == []
    assert voice.happened("tool_started") == []
    assert [f["outcome"] for f in voice.happened("tool_settled")] == ["cancelled"]
    assert voice.texts[-1] == "We open at nine."
    await agent.aclose()


@in_virtual_time
async def test_a_tool_is_cancelled_at_its_await_and_the_next_turn_knows() -> None:
    """R54, R57"""
    async with connected([Call("slow"), Write("It was not done.")], slow) as call:
        call.voice.hear("do it")
        await asyncio.sleep(1)
        call.voice.interrupt()
        call.voice.hear("did you")
        await call.voice.wait_ended()
        assert [f["outcome"] for f in call.voice.happened("tool_settled")] == ["cancelled"]
        assert [role for role, _ in call.prompt()] == ["user", "assistant", "tool", "user"]
        assert "cancelled" in call.prompt()[2][1]
        told = call.voice.happened("turn_ended")[0]
        assert (told["outcome"], told["cause"]) == ("interrupted", "words")
        assert (told["cancelled"], told["finishing"]) == (["slow"], [])


@in_virtual_time
async def test_the_next_model_call_waits_for_a_tool_that_still_cleans_up() -> None:
    @tool(description="x", filler="Stopping.")
    async def cleaner() -> ToolResult:
        try:
            await asyncio.sleep(5)
        finally:
            await asyncio.sleep(0.7)
        return ToolResult()

    async with connected([Call("cleaner"), Write("Stopped.")], cleaner) as call:
        call.voice.hear("do it")
        await asyncio.sleep(1)
        call.voice.interrupt()
        call.voice.hear("stop")
        await call.voice.wait_ended()
        working = [(m.turn, [t.name for t in m.open]) for m in call.voice.of(Working)]
        assert working == [(1, ["cleaner"]), (1, []), (2, ["cleaner"]), (2, [])]
        second = [at for at, m in call.voice.messages if isinstance(m, Say) and m.turn == 2]
        assert second == [1700]


@in_virtual_time
async def test_a_tool_that_does_not_stop_holds_the_next_turn_up_for_a_second_only() -> None:
    @tool(description="x")
    async def deaf() -> ToolResult:
        end = asyncio.get_running_loop().time() + 6
        while (left := end - asyncio.get_running_loop().time()) > 0:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(left)
        return ToolResult("after all")

    async with connected([Call("deaf"), Write("I can't say."), Write("It worked.")], deaf) as call:
        call.voice.hear("do it")
        await asyncio.sleep(1)
        call.voice.interrupt()
        call.voice.hear("stop")
        await call.voice.wait_ended()
        assert [f["outcome"] for f in call.voice.happened("tool_settled")] == ["unknown"]
        await call.voice.wait_event("late_outcome")
        call.voice.hear("and now")
        await call.voice.wait_ended()
        assert ("system", 'Late news of call_1 (deaf): ok: "after all"') in call.prompt()
        assert len(call.voice.happened("tool_settled")) == 1


@in_virtual_time
async def test_a_commit_section_finishes_and_the_next_turn_waits_for_it_and_knows() -> None:
    """The sound stops at once, the payment is known."""

    @tool(description="x")
    async def pay(*, context: ToolContext) -> ToolResult:
        async with context.committing():
            await asyncio.sleep(3)
        return ToolResult("paid")

    async with connected([[Write("Paying."), Call("pay")], Write("It is paid.")], pay) as call:
        call.voice.hear("pay")
        await asyncio.sleep(1)
        call.voice.interrupt()
        assert call.voice.turn == 1
        call.voice.hear("no, stop")
        await call.voice.wait_ended()
        assert [f["outcome"] for f in call.voice.happened("tool_settled")] == ["ok"]
        assert ("tool", '"paid"') in call.prompt()
        second = [at for at, m in call.voice.messages if isinstance(m, Say) and m.turn == 2]
        assert second == [3000]


@in_virtual_time
async def test_a_finish_tool_is_not_waited_for_and_shows_as_still_running() -> None:
    """C04, C09, C10"""

    @tool(description="x", on_interrupt="finish")
    async def order(item: str, qty: int = 1) -> ToolResult:
        await asyncio.sleep(6)
        return ToolResult("ordered")

    steps = [
        Call("order", {"item": "lamp", "qty": 1}),
        Call("order", {"qty": 1, "item": "lamp"}),
        Write("It is on its way."),
        Write("It is done."),
    ]
    async with connected(steps, order) as call:
        call.voice.hear("order a lamp")
        await asyncio.sleep(2)
        call.voice.interrupt()
        call.voice.hear("hello? did you order the lamp?")
        await call.voice.wait_ended()
        assert call.voice.now_ms() < 5000, "nobody waited for it"
        results = [text for role, text in call.prompt() if role == "tool"]
        assert results == ["still_running", "still_running"]
        await call.voice.wait_event("tool_settled", 2)
        call.voice.hear("and now")
        await call.voice.wait_ended()
        assert [text for role, text in call.prompt() if role == "tool"] == [
            '"ordered"',
            "still_running",
        ]
        assert len(call.voice.happened("tool_started")) == 1


@in_virtual_time
async def test_a_finish_tool_in_a_commit_is_waited_for_until_the_section_ends() -> None:
    @tool(description="x", on_interrupt="finish")
    async def order(*, context: ToolContext) -> ToolResult:
        async with context.committing():
            await asyncio.sleep(3)
        await asyncio.sleep(9)
        return ToolResult("ordered")

    async with connected([Call("order"), Write("Still at it.")], order) as call:
        call.voice.hear("order")
        await asyncio.sleep(1)
        call.voice.interrupt()
        call.voice.hear("well?")
        await call.voice.wait_ended()
        second = [at for at, m in call.voice.messages if isinstance(m, Say) and m.turn == 2]
        assert second == [3000]


@in_virtual_time
async def test_messages_of_an_interrupted_turn_are_dropped_and_recorded() -> None:
    """R20, C18: those that wait to be heard, and those that come later."""

    @tool(description="x", on_interrupt="finish")
    async def talk(*, context: ToolContext) -> ToolResult:
        await context.send("This one is heard.")
        await context.send("This one is waiting.")
        await asyncio.sleep(2)
        await context.send("This one comes too late.")
        context.hang_up()
        return ToolResult()

    async with connected([Call("talk")], talk) as call:
        call.voice.hear("talk")
        await asyncio.sleep(0.95)
        call.voice.interrupt()
        await call.voice.wait_event("tool_settled")
        dropped = [(f["text"], f["reason"]) for f in call.voice.happened("send_dropped")]
        assert dropped == [
            ("This one is waiting.", "flushed"),
            ("This one comes too late.", "interrupted"),
        ]
        assert len(call.voice.texts) == 2
        assert call.voice.of(HangUp) == []


@in_virtual_time
async def test_is_cancelled_is_true_before_the_message_is_even_delivered() -> None:
    """R59, C17"""
    seen: list[bool] = []
    voices: list[Voice] = []

    @tool(description="x")
    async def transfer(*, context: ToolContext) -> ToolResult:
        seen.append(context.is_cancelled)
        voices[0].interrupt()  # the floor commits while this tool holds the loop
        seen.append(context.is_cancelled)
        return ToolResult({"ok": not context.is_cancelled})

    async with connected([Call("transfer"), Write("It was not sent.")], transfer) as call:
        voices.append(call.voice)
        call.voice.hear("transfer")
        await call.voice.wait_event("tool_settled")
        call.voice.hear("did you")
        await call.voice.wait_ended()
        assert seen == [False, True]
        assert call.voice.happened("tool_settled")[0]["outcome"] == "ok"
        assert ("tool", '{"ok": false}') in call.prompt()


@in_virtual_time
async def test_one_cancelled_call_leaves_the_runner_working() -> None:
    """C16"""

    @tool(description="x")
    async def quick() -> ToolResult:
        return ToolResult("quick")

    async with connected([Call("slow"), Call("quick"), Write("Done.")], slow, quick) as call:
        call.voice.hear("slow")
        await asyncio.sleep(1)
        call.voice.interrupt()
        call.voice.hear("quick")
        await call.voice.wait_ended()
        outcomes = [(f["tool"], f["outcome"]) for f in call.voice.happened("tool_settled")]
        assert outcomes == [("slow", "cancelled"), ("quick", "ok")]


@in_virtual_time
async def test_a_timed_out_call_lets_the_turn_go_on() -> None:
    """C08, R5: exactly one settlement; the late value is news."""

    @tool(description="x", timeout=2)
    async def late(*, context: ToolContext) -> ToolResult:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(2.5)
        assert context.is_cancelled
        with contextlib.suppress(asyncio.CancelledError):
            await context.send("still there")
        await asyncio.sleep(1)
        return ToolResult("late value")

    async with connected([Call("late"), Write("That took too long.")], late) as call:
        call.voice.hear("go")
        await call.voice.wait_ended()
        assert "timed_out" in call.prompt()[-1][1]
        await call.voice.wait_event("late_outcome")
        assert len(call.voice.happened("tool_settled")) == 1
        assert [f["reason"] for f in call.voice.happened("send_dropped")] == ["settled"]
        assert call.voice.texts == ["That took too long."]


# -- reopening and uncertain turns

FIELD = MemoryField(namespace="desk", name="name", type="text", llm_settable=True)


@in_virtual_time
async def test_a_reopened_turn_undoes_what_the_engine_wrote() -> None:
    """B09: the words once, one reply."""
    steps = [
        [Call("set_fields", {"name": "Nora"})],
        [Wait(5), Write("never")],
        [Write("Hello Nora Feld from Kiel.")],
    ]
    async with connected(steps, memory=(FIELD,)) as call:
        call.voice.hear("I'm Nora")
        await asyncio.sleep(0.3)
        call.voice.interrupt("reopened")
        call.voice.hear("I'm Nora Feld from Kiel", reopens=1)
        await call.voice.wait_ended()
        assert call.prompt() == [("user", "I'm Nora Feld from Kiel")]
        assert "Known so far" not in call.model.requests[2].messages[0].text


@in_virtual_time
async def test_an_uncertain_turn_asks_the_model_and_takes_nothing_before_it_is_confirmed() -> None:
    async with connected([[Call("slow", {"id": 1})], Write("Done.")], slow) as call:
        call.voice.start("opened")
        await call.voice.wait_ended()
        before = len(call.voice.messages)
        call.voice.hear("do it", certain=False)
        await asyncio.sleep(2)
        assert len(call.model.requests) == 1
        assert call.prompt() == [("user", "do it")]
        assert len(call.voice.messages) == before, "nothing is emitted, nothing runs"
        call.voice.confirm("do it")
        await call.voice.wait_ended()
        assert len(call.model.requests) == 2, "what the model had said is used"
        assert call.voice.texts == ["Done."]
        assert call.voice.happened("tool_started") != []


@in_virtual_time
async def test_a_retracted_turn_leaves_no_trace() -> None:
    steps = [[Write("You would like"), Call("slow")], Write("A table for six.")]
    async with connected(steps, slow) as call:
        call.voice.hear("I would like", certain=False)
        await asyncio.sleep(0.5)
        call.voice.retract()
        call.voice.hear("I would like a table for six")
        await call.voice.wait_ended()
        assert call.prompt() == [("user", "I would like a table for six")]
        assert call.voice.texts == ["A table for six."]
        assert call.model.closed == 1


@in_virtual_time
async def test_a_turn_confirmed_with_other_words_asks_again() -> None:
    async with connected([Write("To the short one."), Write("To the long one.")]) as call:
        call.voice.hear("a table", certain=False)
        await asyncio.sleep(0.5)
        call.voice.confirm("a table for six")
        await call.voice.wait_ended()
        assert call.voice.texts == ["To the long one."]
        assert call.prompt() == [("user", "a table for six")]


@in_virtual_time
async def test_a_confirmation_that_comes_before_the_first_token_is_enough() -> None:
    async with connected([[Wait(1), Write("Hello.")]]) as call:
        call.voice.hear("hello", certain=False)
        await asyncio.sleep(0.2)
        call.voice.confirm("hello")
        await call.voice.wait_ended()
        assert call.voice.texts == ["Hello."]


@in_virtual_time
async def test_an_uncertain_turn_whose_model_fails_apologizes_only_when_confirmed() -> None:
    async with connected([[Wait(0.1)], [Wait(0.1)]]) as call:
        call.voice.hear("hello", certain=False)
        await asyncio.sleep(2)
        assert call.voice.texts == []
        call.voice.confirm("hello")
        assert (await call.voice.wait_ended()).outcome == "empty"


@in_virtual_time
async def test_an_uncertain_turn_can_be_interrupted() -> None:
    async with connected([Write("never"), Write("Yes?")]) as call:
        call.voice.hear("hm", certain=False)
        await asyncio.sleep(0.2)
        call.voice.interrupt()
        call.voice.hear("hello")
        await call.voice.wait_ended()
        assert call.voice.texts == ["Yes?"]
        assert call.prompt() == [("user", "hello")]


# -- stale and hostile orders of messages


@in_virtual_time
async def test_stale_messages_change_nothing() -> None:
    async with connected([Write("One."), Write("Two.")]) as call:
        voice = call.voice
        voice.hear("a")
        await voice.wait_ended()
        voice.interrupt(turn=1)
        voice.interrupt(turn=1)
        voice.agent.send(InterruptTurn(1, 0, "words", "", (), 0))
        voice.hear("b")
        await voice.wait_ended()
        voice.confirm("again")
        voice.retract()
        assert voice.texts == ["One.", "Two."]
        facts = [e.fact for e in await call.store.load("c1")]
        assert sum(isinstance(fact, TurnInterrupted) for fact in facts) == 1


@in_virtual_time
async def test_a_turn_that_is_interrupted_before_it_comes_ends_at_once() -> None:
    async with connected([]) as call:
        call.voice.interrupt(turn=1)
        call.voice.hear("never mind")
        assert (await call.voice.wait_ended()).outcome == "interrupted"


# -- hanging up


def settled(store: MemoryStore, name: str) -> list[tuple[str, int]]:
    events = [e for e in store._events[name].values() if isinstance(e.fact, ToolSettled)]
    return [(e.fact.outcome, e.at_ms) for e in events if isinstance(e.fact, ToolSettled)]


@in_virtual_time
async def test_hanging_up_in_the_middle_of_everything_settles_everything_once() -> None:
    """H07: a barge-in in the same tick, one tool to cancel, one to finish."""

    @tool(description="x", on_interrupt="finish")
    async def order(*, context: ToolContext) -> ToolResult:
        await asyncio.sleep(3)
        async with context.committing():
            await asyncio.sleep(1)
        return ToolResult("ordered")

    store = MemoryStore()
    async with connected([[Call("slow"), Call("order")]], slow, order, store=store) as call:
        call.voice.hear("both")
        await asyncio.sleep(1)
        call.voice.interrupt()
        call.voice.close()
        call.agent.detach(1)
        await asyncio.sleep(10)
        assert settled(store, "c1") == [("cancelled", 1000), ("ok", 4000)]
        facts = [e.fact for e in await store.load("c1")]
        assert sum(isinstance(f, CallEnded) for f in facts) == 1
        assert sum(isinstance(f, TurnInterrupted) for f in facts) == 1
        running = {t.get_name() for t in asyncio.all_tasks()}
        assert not any(name.startswith(("call", "tool", "turn")) for name in running)


@in_virtual_time
async def test_a_finish_tool_that_never_ends_is_bounded_by_its_timeout_after_a_hang_up() -> None:
    """H07"""

    @tool(description="x", on_interrupt="finish", timeout=4)
    async def order() -> ToolResult:
        await asyncio.sleep(1000)
        return ToolResult()

    store = MemoryStore()
    async with connected([Call("order")], order, store=store) as call:
        call.voice.hear("order")
        await asyncio.sleep(1)
        call.voice.close("lost")
    assert settled(store, "c1") == [("timed_out", 4000)]
    assert asyncio.get_running_loop().time() < 8


@in_virtual_time
async def test_a_cleanup_that_never_ends_does_not_keep_the_plane_open() -> None:
    """N05, H07"""
    released = asyncio.Event()

    @tool(description="x")
    async def deaf() -> ToolResult:
        while not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()
        return ToolResult()

    store = MemoryStore()
    async with connected([Call("deaf")], deaf, store=store) as call:
        call.voice.hear("go")
        await asyncio.sleep(1)
        call.voice.close()
    assert settled(store, "c1") == [("unknown", 2000)]
    assert asyncio.get_running_loop().time() < 6
    released.set()
    await asyncio.sleep(0.1)


@in_virtual_time
async def test_a_call_that_closes_while_its_model_streams_ends_at_once() -> None:
    async with connected([[Write("one"), Wait()]]) as call:
        call.voice.hear("go")
        await asyncio.sleep(0.5)
        call.voice.close()
        await asyncio.sleep(0.1)
        assert call.model.closed == 1


@in_virtual_time
async def test_a_tool_may_outlive_its_call_and_the_next_call_knows_it_as_running() -> None:
    """One conversation over two calls; the log's numbers stay without gaps."""

    @tool(description="x", on_interrupt="finish", timeout=30)
    async def order() -> ToolResult:
        await asyncio.sleep(10)
        return ToolResult("ordered")

    store = MemoryStore()
    steps = [Call("order"), Write("Still on its way."), Write("It is done.")]
    async with connected(steps, order, store=store) as call:
        call.voice.hear("order")
        await asyncio.sleep(1)
        call.voice.close()
        call.agent.detach(1)
        await asyncio.sleep(1)
        again = Voice(call.agent, call=2)
        ready = await again.ready("c1")
        assert ready.conversation == "c1"
        again.hear("and?")
        await again.wait_ended()
        assert "still_running" in [text for _, text in call.prompt()]
        await asyncio.sleep(10)
        again.hear("and now?")
        await again.wait_ended()
        assert '"ordered"' in [text for _, text in call.prompt()]
    events = await store.load("c1")
    assert [e.sequence for e in events] == list(range(1, len(events) + 1))
    assert not any(isinstance(e.fact, LateOutcome) for e in events)


@pytest.mark.parametrize("seconds", [0.0, 0.5, 1.0, 1.5, 2.0, 3.1, 4.0])
def test_whenever_the_caller_interrupts_each_call_settles_once_and_the_next_turn_answers(
    seconds: float,
) -> None:
    """C03, C07: swept over the whole turn."""

    @tool(description="x")
    async def pay(*, context: ToolContext) -> ToolResult:
        await context.send("Paying now.")
        await asyncio.sleep(1)
        async with context.committing():
            await asyncio.sleep(1)
        await asyncio.sleep(1)
        return ToolResult("paid")

    async def scenario() -> None:
        steps = [[Write("Sure."), Call("pay")], Write("Next."), Write("Next.")]
        async with connected(steps, pay, strict=False) as call:
            call.voice.hear("pay")
            await asyncio.sleep(seconds)
            call.voice.interrupt()
            call.voice.hear("wait")
            assert (await call.voice.wait_ended()).outcome == "done"
            assert call.voice.texts[-1] == "Next."
            started = [f["call_id"] for f in call.voice.happened("tool_started")]
            settled = [f["call_id"] for f in call.voice.happened("tool_settled")]
            assert len(set(settled)) == len(settled)
            assert set(started) <= set(settled)

    in_virtual_time(scenario)()
