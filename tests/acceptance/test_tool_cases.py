"""Tools in whole calls: one run, one outcome, and the caller never waits for a dead one."""

import asyncio

import pytest

from runtime import ToolContext, ToolResult, tool
from runtime.agent import CallSettings, FillerSettings
from runtime.conversation.events import LateOutcome
from runtime.models.ports import ChatRequest
from runtime.models.scripted_model import Call, Cut, Say, Wait
from tests.acceptance.stage import Played, play, says


def results(played: Played) -> list[str]:
    """What the model read of its calls, at last."""
    return [text for role, text in played.prompt() if role == "tool"]


def test_a_result_whose_report_was_cut_off_is_known_and_the_tool_ran_once() -> None:
    """C01"""
    runs: list[int] = []

    @tool(description="Book a table.")
    async def book_table(people: int) -> ToolResult:
        runs.append(people)
        await asyncio.sleep(0.5)
        return ToolResult("T-901")

    def ask(request: ChatRequest) -> Say | Call:
        known = any("T-901" in m.text for m in request.messages if m.role == "tool")
        if not known:
            return Call("book_table", {"people": 2})
        return Say("Your table is booked, and its number is T-901, under your own name.")

    played = play(
        [ask, ask, ask],
        says("A table for two please.", "0.5s", 1.0),
        says("And a high chair.", "agent_starts+300ms", 1.0),
        tools=[book_table],
    )
    assert runs == [2]
    assert results(played) == ['"T-901"']
    assert played.only("tool_settled")["outcome"] == "ok"
    assert played.texts()[1][1] in ("cut", "dropped")
    assert "T-901" not in str([t for r, t in played.prompt() if r == "assistant"])


@pytest.mark.parametrize("off_ms", [-20, -1, 0, 1, 20])
def test_an_interruption_in_the_moment_of_the_request_leaves_nothing_open(off_ms: int) -> None:
    """C03: the next question is answered, and the silence prompt comes once, at its time."""
    ran: list[int] = []

    @tool(description="Look it up.")
    async def lookup(id: int) -> ToolResult:
        ran.append(id)
        await asyncio.sleep(1)
        return ToolResult("found")

    def perform(wait_s: float) -> Played:
        return play(
            [
                [Say("I will look for it."), Wait(wait_s), Call("lookup", {"id": 7})],
                Say("We open at nine."),
                Say("Are you there?"),
            ],
            says("Where is order seven?", "0.5s", 1.0),
            says("Stop, when do you open?", "3s", 1.2),
            tools=[lookup],
            settings=CallSettings(silence_timeout_ms=7000, silence_check_ins=1),
            linger_ms=9500,
            strict=False,
        )

    probe = perform(60.0)
    asked = probe.named("turn_started", reason="speech")[0]["t_ms"]
    commit = probe.only("commit")["t_ms"]
    ran.clear()
    played = perform((commit - asked + off_ms) / 1000)
    assert played.only("commit")["t_ms"] == commit
    assert set(played.outcomes) <= {"cancelled"}
    assert len(ran) == len(played.named("tool_started")) <= 1
    heard = [text for text, state, _ in played.texts().values() if state == "heard"]
    assert "We open at nine." in heard
    ended = played.named("say_settled", outcome="heard")[0]["ended_ms"]
    silence = played.named("silence")
    assert [f["n"] for f in silence][:1] == [1]
    assert abs(silence[0]["t_ms"] - ended - 7000) <= 40


def test_a_tool_that_raises_is_settled_at_once_and_the_others_go_on() -> None:
    """C07: the model is told when both have settled; what was in the error stays inside."""

    @tool(description="Pay.")
    async def pay() -> ToolResult:
        await asyncio.sleep(0.2)
        raise RuntimeError("card service 502 at 10.0.0.7")

    @tool(description="Hours.")
    async def hours() -> ToolResult:
        await asyncio.sleep(1)
        return ToolResult("nine to five")

    played = play(
        [[Call("pay"), Call("hours")], Say("The payment did not work. We open at nine.")],
        says("Pay, and when are you open?", "0.5s", 1.2),
        tools=[pay, hours],
    )
    failed = played.only("tool_settled", outcome="failed")
    done = played.only("tool_settled", outcome="ok")
    assert (failed["tool"], done["tool"]) == ("pay", "hours")
    started = played.named("tool_started")[0]["t_ms"]
    assert 190 <= failed["t_ms"] - started <= 230
    assert played.named("model_called")[-1]["t_ms"] >= done["t_ms"]
    assert "502" not in str(played.model.requests[-1]) and "10.0.0.7" not in str(played.events)
    assert played.texts()[1][1] == "heard"


def test_what_a_tool_brings_after_its_time_is_no_second_outcome() -> None:
    """C08: timed out once; progress after that is dropped, the late end is noted and not spoken."""

    @tool(description="Slow.", timeout=2)
    async def slow(*, context: ToolContext) -> ToolResult:
        told = False
        for _ in range(9):  # 3.6 s, whatever it is told
            try:
                await asyncio.sleep(0.4)
            except asyncio.CancelledError:
                told = True
            if told:
                await context.send("Nearly there.")
        return ToolResult("too late")

    played = play(
        [Call("slow"), Say("That takes too long, sorry."), Say("Yes.")],
        says("Do the slow thing.", "0.5s", 1.0),
        says("And now?", "#1:say_ends+4s", 0.8),
        tools=[slow],
        settings=CallSettings(silence_timeout_ms=60_000, fillers=FillerSettings(enabled=False)),
    )
    settled = played.only("tool_settled")
    assert settled["outcome"] in ("timed_out", "unknown")
    assert 1990 <= settled["t_ms"] - played.only("tool_started")["t_ms"] <= 3100
    late = [e.fact for e in played.facts if isinstance(e.fact, LateOutcome)]
    assert len(late) == 1
    assert {f["reason"] for f in played.named("send_dropped")} <= {"settled", "interrupted"}
    assert all("Nearly" not in text for text, _, _ in played.texts().values())
    assert len(results(played)) == 1 and "too late" not in results(played)[0]


def test_an_interruption_while_the_arguments_are_written_records_no_call() -> None:
    """C11"""
    ran: list[str] = []

    @tool(description="Book.")
    async def book(date: str) -> ToolResult:
        ran.append(date)
        return ToolResult("booked")

    played = play(
        [
            [Say("I book it. Just wait."), Wait(5.0), Call("book", '{"date": "2026-0')],
            Say("I stopped."),
        ],
        says("Book it please.", "0.5s", 1.0),
        says("No, stop.", "agent_starts+1200ms", 0.8),
        tools=[book],
    )
    assert ran == [] and played.outcomes == [] and played.named("tool_started") == []
    assert [role for role, _ in played.prompt()] == ["user", "assistant", "user"]
    assert played.model.closed == 1
    assert played.texts()[2][1] == "heard"
    assert played.result_problems() == []


@pytest.mark.parametrize("half", [Cut("book"), Call("book", '{"date": "2026-0')])
def test_arguments_that_end_too_early_are_one_failure_for_the_model(half: Cut | Call) -> None:
    """C11: it never runs; the model is told and goes on."""
    ran: list[str] = []

    @tool(description="Book.")
    async def book(date: str) -> ToolResult:
        ran.append(date)
        return ToolResult("booked")

    played = play(
        [half, Say("Which day was it?")], says("Book it please.", "0.5s", 1.0), tools=[book]
    )
    assert ran == [] and played.outcomes == ["failed"]
    assert len(results(played)) == 1
    assert played.texts()[1][1] == "heard"
