"""What an author may rely on when the caller talks over a tool: whole calls, in sound."""

import asyncio
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from runtime import ToolContext, ToolResult, tool
from runtime.models.ports import ChatRequest
from runtime.models.scripted_model import Call, Say
from runtime.project.loader import load
from tests.acceptance.stage import Played, Tool, play, says, voice
from voice.cli.virtual_call import EngineChoice, replay_project
from voice.replay.at import parse_at
from voice.replay.script import CallerLine, Speech

FRONT_DESK = Path(__file__).parents[2] / "tests" / "projects" / "front_desk"

FILLER = "Let me look through the whole calendar for you, this can take a little while."


def now_ms() -> float:
    """Of the call: the stage starts with the loop's clock."""
    return asyncio.get_running_loop().time() * 1000


@dataclass
class Notes:
    """What a tool saw of its own end."""

    runs: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    """Start and idempotency key."""
    cancelled: list[tuple[float, bool]] = field(default_factory=list[tuple[float, bool]])
    """When ``CancelledError`` was raised, and whether ``is_cancelled`` was true by then."""
    effects: list[str] = field(default_factory=list[str])


def look_up(notes: Notes) -> Tool:
    """A look-up of three seconds that tells the caller how it goes."""

    @tool(description="Find a slot.", filler=FILLER)
    async def find(when: str = "", *, context: ToolContext) -> ToolResult:
        notes.runs.append((now_ms(), context.idempotency_key))
        try:
            await asyncio.sleep(1.5)
            await context.send("I am comparing two days.")
            await context.send("Thursday looks good.")
            await asyncio.sleep(1.5)
        except asyncio.CancelledError:
            notes.cancelled.append((now_ms(), context.is_cancelled))
            await context.send("I have been told to stop.")
            raise
        return ToolResult("thursday")

    return find


def booking(notes: Notes) -> Tool:
    """A booking whose write can't be taken back."""

    @tool(description="Book the slot.")
    async def book(slot: str, *, context: ToolContext) -> ToolResult:
        notes.runs.append((now_ms(), context.idempotency_key))
        try:
            await asyncio.sleep(0.8)
            async with context.committing():
                await asyncio.sleep(2.5)
                if context.idempotency_key not in notes.effects:
                    notes.effects.append(context.idempotency_key)
        except asyncio.CancelledError:
            notes.cancelled.append((now_ms(), context.is_cancelled))
            raise
        return ToolResult({"booked": slot, "number": "T-901"})

    return book


@cache
def interrupted_look_up() -> tuple[Played, Notes]:
    notes = Notes()
    played = play(
        [Call("find", {"when": "thursday"}), Say("All right, I have stopped.")],
        says("Find me an appointment.", "0.5s", 1.2),
        says("Stop, leave it.", "tool_starts+2000ms", 1.2),
        tools=[look_up(notes)],
    )
    return played, notes


def test_the_sound_stops_before_the_tool_learns_of_it() -> None:
    """A01, R54: the far end is silent, then the tool is cancelled, then the next turn begins."""
    played, notes = interrupted_look_up()
    ((cancelled_ms, _),) = notes.cancelled
    hold = played.only("hold", audible=True)["t_ms"]
    commit = played.only("commit")["t_ms"]
    silent_ms = played.last_sound_ms(cancelled_ms + 200)
    assert hold - 1 <= silent_ms <= hold + 1, "the clear at the hold is what stopped the sound"
    assert silent_ms < commit <= cancelled_ms <= commit + 1
    assert played.sound_ms(hold + 1, played.named("turn_started")[-1]["t_ms"]) == 0.0


def test_the_tool_is_cancelled_at_its_await_and_sees_it() -> None:
    """R54, R57"""
    played, notes = interrupted_look_up()
    assert [seen for _, seen in notes.cancelled] == [True]
    settled = played.only("tool_settled")
    assert settled["outcome"] == "cancelled"
    assert played.outcomes == ["cancelled"]
    ended = played.only("turn_ended", outcome="interrupted")
    assert (ended["cause"], ended["cancelled"], ended["finishing"]) == ("words", ["find"], [])


def test_messages_that_were_waiting_are_dropped_and_that_is_recorded() -> None:
    """R54: queued behind the filler, or sent after the interruption: nobody hears them."""
    played, _ = interrupted_look_up()
    dropped = [(f["text"], f["reason"]) for f in played.named("send_dropped")]
    assert sorted(dropped) == [
        ("I am comparing two days.", "flushed"),
        ("I have been told to stop.", "interrupted"),
        ("Thursday looks good.", "flushed"),
    ]
    heard = [text for text, _, chars in played.texts().values() if chars]
    assert not any("comparing" in text or "Thursday" in text or "told" in text for text in heard)
    assert "comparing" not in str(played.prompt()) and "told to stop" not in str(played.prompt())


def test_the_next_turn_knows_that_the_look_up_was_cancelled() -> None:
    """C04: the call stands in the prompt, with its one outcome."""
    played, _ = interrupted_look_up()
    assert [role for role, _ in played.prompt()] == ["user", "assistant", "tool", "user"]
    assert "cancelled" in next(text for role, text in played.prompt() if role == "tool")
    assert played.prompt()[-1] == ("user", "Stop, leave it.")


@cache
def interrupted_booking() -> tuple[Played, Notes]:
    notes = Notes()
    played = play(
        [
            [Say("I will put you down for it, on Thursday."), Call("book", {"slot": "thu"})],
            Say("It is booked."),
        ],
        says("Yes, book it please.", "0.5s", 1.2),
        says("No, wait.", "tool_starts+800ms", 1.2),
        tools=[booking(notes)],
    )
    return played, notes


def test_a_commit_section_is_finished_though_the_sound_stops() -> None:
    """C17: silence at once, the write a moment later, once."""
    played, notes = interrupted_booking()
    commit = played.only("commit")["t_ms"]
    settled = played.only("tool_settled")
    assert settled["outcome"] == "ok"
    assert notes.cancelled == []
    assert len(notes.effects) == 1
    assert played.last_sound_ms(settled["t_ms"]) < commit < settled["t_ms"]


def test_the_next_turn_waits_for_the_commit_and_knows_of_it() -> None:
    """C01, C17: the model is asked when the outcome is there, and reads it."""
    played, _ = interrupted_booking()
    assert "T-901" in next(text for role, text in played.prompt() if role == "tool")
    settled_ms = played.only("tool_settled")["t_ms"]
    assert played.named("turn_started")[-1]["t_ms"] < settled_ms, "the turn began before"
    assert played.named("model_called")[-1]["t_ms"] >= settled_ms
    assert played.texts()[max(played.texts())][:2] == ("It is booked.", "heard")


def test_the_same_wish_after_a_cancellation_has_the_same_key() -> None:
    """R57: and a wish that was fulfilled, wanted again, has a new one."""
    notes = Notes()
    wish = Call("book", {"slot": "thu"})
    played = play(
        [wish, wish, Say("Booked."), wish, Say("Booked once more.")],
        says("Book it please.", "0.5s", 1.0),
        says("Wait, stop.", "tool_starts+100ms", 1.0),
        says("Again please.", "#2:tool_ends+3s", 1.0),
        tools=[booking(notes)],
    )
    assert played.outcomes == ["cancelled", "ok", "ok"]
    first, second, third = (key for _, key in notes.runs)
    assert first == second != third
    assert notes.effects == [second, third]
    told = [f["idempotency_key"] for f in played.named("tool_started")]
    assert told == [first, second, third]


def test_a_tool_that_never_waits_reads_the_truth_at_its_last_line() -> None:
    """C17: it sees ``is_cancelled`` before anything else has told it."""
    seen: list[tuple[float, bool]] = []

    @tool(description="Watch.", on_interrupt="finish")
    async def watch(*, context: ToolContext) -> ToolResult:
        for _ in range(300):
            await asyncio.sleep(0.01)
            seen.append((now_ms(), context.is_cancelled))
        return ToolResult("watched")

    played = play(
        [Call("watch"), Say("It goes on.")],
        says("Watch it please.", "0.5s", 1.0),
        says("Stop it.", "tool_starts+1s", 0.8),
        tools=[watch],
    )
    commit = played.only("commit")["t_ms"]
    assert all(cancelled == (t_ms > commit) for t_ms, cancelled in seen if abs(t_ms - commit) > 0.5)
    assert played.outcomes == ["ok"]
    assert "still_running" in str(played.prompt())


def test_the_front_desk_books_once_whoever_talks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C01, C17: the example as it is: talked over while it books, asked, and told yes again."""
    ledger = tmp_path / "ledger.jsonl"
    monkeypatch.setenv("HARBOUR_CLINIC_LEDGER", str(ledger))
    talk = (
        ("How soon can I get in?", "agent_ends+300ms"),
        ("Yes please.", "agent_ends+300ms"),
        ("Wait a moment.", "#2:tool_starts+100ms"),
        ("Did that go through?", "agent_ends+500ms"),
        ("Yes please.", "agent_ends+500ms"),
    )
    result = replay_project(
        load(FRONT_DESK, {}),
        tuple(CallerLine(Speech(voice(0.9, 8000), 8000), parse_at(at)) for _, at in talk),
        engines=EngineChoice(stt="scripted", tts="scripted", words=tuple(w for w, _ in talk)),
    )
    fields: list[dict[str, Any]] = [
        {"event": e.event, "t_ms": e.t_ms, **dict(e.fields)} for e in result.events
    ]
    assert result.failures == () and result.recording.unstarted == ()
    commit = next(f["t_ms"] for f in fields if f["event"] == "commit")
    booked = [f for f in fields if f["event"] == "tool_settled" and f["tool"] == "book_appointment"]
    assert [f["outcome"] for f in booked] == ["ok"]
    assert booked[0]["t_ms"] > commit
    assert len(ledger.read_text(encoding="utf-8").splitlines()) == 1
    heard = [str(f["text"]) for f in fields if f["event"] == "agent_said" and f["complete"]]
    assert any("Your booking number is 1001" in text for text in heard)


@pytest.mark.parametrize("first_ms", [0, 2000, 4000])
def test_a_barge_in_at_any_moment_leaves_one_outcome_and_no_word_too_many(first_ms: int) -> None:
    """A01, B03, C01, C03, C17, R54: every 100 ms from the first question on.

    ``check_promises`` compares what is remembered with what was played, in every call.
    """
    for at_ms in range(first_ms, first_ms + 2000, 100):
        notes = Notes()
        played = play(
            [_wish, _wish, _wish, _wish, _wish, _wish],
            says("Find me an appointment.", "0.5s", 0.8),
            says("Stop, wait a moment.", f"{1500 + at_ms}ms", 1.0),
            tools=[look_up(notes), booking(notes)],
            strict=False,
        )
        outcomes = played.outcomes
        booked = [
            f["outcome"]
            for f in played.named("tool_settled", tool="book")
            if f["outcome"] in ("ok", "unknown")
        ]
        assert len(notes.effects) == len(booked), (at_ms, outcomes, played.trace())
        assert len(played.named("tool_started")) == len(notes.runs)
        assert len(outcomes) >= len(notes.runs)
        _remembers_only_what_was_heard(played)


def _wish(request: ChatRequest) -> Say | Call | list[Say | Call]:
    """Look for a slot, then book it; give up when told to stop."""
    results = [m.text for m in request.messages if m.role == "tool"]
    if request.messages[-1].role == "user" and "Stop" in request.messages[-1].text:
        return Say("Of course. I have left everything as it was, tell me when to go on.")
    if any("T-901" in result for result in results):
        return Say("That is done. You are booked for Thursday morning, number T nine.")
    if any("thursday" in result for result in results):
        return [Say("I will put you down for Thursday."), Call("book", {"slot": "thu"})]
    return Call("find", {"when": "thursday"})


def _remembers_only_what_was_heard(played: Played) -> None:
    """The last prompt holds no more of any message than the ledger let pass."""
    told = [text for role, text in played.prompt() if role == "assistant" and text]
    for text, _, chars in played.texts().values():
        whole = text.strip()
        if 0 < chars < len(whole):
            assert not any(whole in line for line in told), whole
