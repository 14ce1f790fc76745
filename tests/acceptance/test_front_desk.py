"""The front desk, over the door, in virtual time: what its README promises."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from runtime.conversation.prompt_history import INTERRUPTED_MARK
from runtime.models.factory import build_models
from runtime.plane import InLoopAgent
from runtime.project.loader import load
from tests.fakes.voice_side import Voice
from voice.replay.virtual_loop import run_virtual

ROOT = Path(__file__).parents[2] / "tests" / "projects" / "front_desk"


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "ledger.jsonl"
    monkeypatch.setenv("HARBOUR_CLINIC_LEDGER", str(path))
    return path


def _bookings(ledger: Path) -> list[dict[str, str]]:
    if not ledger.exists():
        return []
    return [json.loads(line) for line in ledger.read_text(encoding="utf-8").splitlines()]


@asynccontextmanager
async def _call() -> AsyncIterator[Voice]:
    project = load(ROOT, {})
    agent = InLoopAgent(project, models=build_models(project))
    voice = Voice(agent, ms_per_char=20)
    await voice.ready()
    try:
        yield voice
    finally:
        voice.close()
        agent.detach(1)
        await agent.aclose()


async def _ask(voice: Voice, words: str) -> str:
    """Say something and return all that the agent says to it."""
    before = len(voice.says)
    voice.hear(words)
    assert (await voice.wait_ended()).outcome == "done"
    return " ".join(voice.texts[before:])


def _talk(*lines: str) -> list[str]:
    async def main() -> list[str]:
        async with _call() as voice:
            return [await _ask(voice, words) for words in lines]

    return run_virtual(main())


def test_the_call_opens_with_a_notice_that_can_not_be_talked_over():
    async def main() -> None:
        async with _call() as voice:
            voice.start("opened")
            await voice.wait_ended()
            notice, welcome = voice.says.values()
            assert "recorded" in notice.text and not notice.interruptible
            assert "How can I help?" in welcome.text and welcome.interruptible

    run_virtual(main())


@pytest.mark.parametrize(
    ("heard", "answer"),
    [
        # words as an embedded recogniser writes them
        ("How old is the Brooklyn Bridge?", "eighteen eighty three"),
        ("When are you open?", "Monday to Friday"),
        ("Where can I park?", "Quay Street"),
        ("How do I get to the clinic?", "Quay Street"),
        ("Yeah, let's do that.", "Shall I book that"),
        ("Yeah, let's do it.", "Shall I book that"),
        ("So how soon would it take me in?", "Thursday"),
        ("how soon can I get in", "Thursday"),
        ("8 to 10, earlier the better.", "Monday at a quarter past eight"),
        ("On Tuesday afternoon.", "Tuesday at four"),
        ("All right. Sounds great. Thank you so much for so.", "very welcome"),
        ("I'm Abigail Claphlin. You can call me Abi.", "Nice to meet you"),
        ("Good morning, Steve.", "How can I help"),
        ("No.", "anything else"),
        ("Wait.", "What would you like"),
        ("It hurts when I breathe.", "can't give medical advice"),
        ("One, two, three.", "not sure I understood"),
        ("Uh-huh, yep.", ""),
        ("Quit.", "Goodbye"),
    ],
)
def test_what_callers_say_leads_somewhere(heard: str, answer: str):
    (said,) = _talk(heard)
    assert answer in said
    assert bool(said) == bool(answer)


def test_answers_worth_interrupting_are_long():
    """At a speaking rate of about 15 characters a second: over 25 seconds each."""
    said = _talk("when are you open", "where is it", "how old is the brooklyn bridge")
    assert all(len(text) > 25 * 15 for text in said)


def test_goodbye_hangs_up():
    async def main() -> None:
        async with _call() as voice:
            assert await _ask(voice, "Bye bye") == "Thank you for calling Harbour Clinic. Goodbye."
            assert any(type(m).__name__ == "HangUp" for _, m in voice.messages)

    run_virtual(main())


def test_an_offer_is_booked_once_however_often_the_caller_agrees(ledger: Path):
    said = _talk("how soon can I get in", "yes please", "yes", "did that go through?")
    assert "half past ten" in said[0]
    assert "Your booking number is 1001" in said[1]
    assert "What would you like" in said[2]
    assert "number is 1001" in said[3]
    assert [b["slot"] for b in _bookings(ledger)] == ["thu-1030"]


def test_the_callers_name_is_in_the_booking(ledger: Path):
    _talk("you can call me Abi", "how soon can I get in", "let's do that")
    assert [b["name"] for b in _bookings(ledger)] == ["Abi"]


def test_no_is_not_yes(ledger: Path):
    said = _talk("how soon can I get in", "no", "on monday", "no thanks")
    assert "Which day or time" in said[1]
    assert "Monday" in said[2]
    assert _bookings(ledger) == []


def test_the_look_up_is_cancelled_by_an_interruption_and_says_nothing_more():
    async def main() -> None:
        async with _call() as voice:
            turn = voice.hear("do you have something on monday")
            await voice.wait_event("tool_started")
            await asyncio.sleep(1.5)
            voice.interrupt()
            assert (await voice.wait_ended(turn)).outcome == "interrupted"
            settled = await voice.wait_event("tool_settled")
            assert settled["outcome"] == "cancelled"
            assert not any("comparing" in text for text in voice.texts)
            answer = await _ask(voice, "no")
            assert "Monday" not in answer

    run_virtual(main())


def test_a_booking_interrupted_in_its_commit_is_made_and_known(ledger: Path):
    """The sound stops, the booking stands, and the next turn can tell."""

    async def main() -> None:
        async with _call() as voice:
            await _ask(voice, "how soon can I get in")
            voice.hear("yes please")
            await voice.wait_event("tool_started", 2)
            await asyncio.sleep(0.5)
            voice.interrupt()
            answer = await _ask(voice, "did it go through?")
            assert "you're booked for Thursday" in answer
            outcomes = [str(fields["outcome"]) for fields in voice.happened("tool_settled")]
            assert outcomes == ["ok", "ok"]

    run_virtual(main())
    assert [b["slot"] for b in _bookings(ledger)] == ["thu-1030"]


def test_say_that_again_repeats_the_whole_of_a_line_that_was_cut():
    async def main() -> None:
        async with _call() as voice:
            voice.hear("when are you open")
            await asyncio.sleep(2)
            voice.interrupt()
            answer = await _ask(voice, "sorry, what did you say?")
            assert answer.startswith("We're open Monday to Friday")
            assert answer.endswith("stands in for us.")
            assert INTERRUPTED_MARK not in answer

    run_virtual(main())
