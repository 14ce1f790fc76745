"""The card desk of the examples, whole calls: from recordings, and over the door.

The recorded calls hear with the embedded engines in virtual time; the caller is synthetic
(``audio_fixtures/card_desk``). What the bank did is asked of the bank that the project's own tools
use.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import pytest
import typer
from typer.testing import CliRunner

from runtime.agent import Transfer
from runtime.models.factory import build_models
from runtime.plane import InLoopAgent
from runtime.project.loader import load
from runtime.project.model import Project
from tests.fakes.voice_side import Voice
from voice.audio.files import read_sound
from voice.audio.format import WIDE
from voice.cli.test_command import test as scenarios_command
from voice.cli.virtual_call import EngineChoice, replay_project
from voice.replay.at import parse_at
from voice.replay.events_file import event_line
from voice.replay.far_end import Conditions
from voice.replay.measures import measure
from voice.replay.runner import Channel, ReplayOptions, ReplayResult
from voice.replay.script import CallerLine, Keys, Speech
from voice.replay.timeline import build_timeline
from voice.replay.virtual_loop import run_virtual

ROOT: Final = Path(__file__).parents[2]
DESK: Final = ROOT / "examples" / "card_desk"
CLIPS: Final = ROOT / "audio_fixtures" / "card_desk"

Json = dict[str, Any]

CONFIRM: Final = "So I order a new card for the gold card, by express post. Shall I go ahead?"
DISCLAIMER: Final = "Please destroy the old card if it turns up."
ORDER: Final = "order_replacement"
SILENCE_MS: Final = 300
"""From the caller's first sound to the agent's last one."""


def _bank(project: Project) -> Any:
    """The bank that the tools of this project talk to."""
    tool = project.skills["card_replace"].tools[ORDER]
    return cast(Any, tool.fn).__globals__["bank"]


def _load() -> Project:
    """The desk, on a day on which nothing has happened yet."""
    project = load(DESK, {})
    _bank(project).start_over()
    return project


def _orders(project: Project, customer: str = "472913") -> list[tuple[str, str]]:
    return [(order.card_id, order.shipping) for order in _bank(project).orders_of(customer)]


def _locked(project: Project, customer: str = "472913") -> set[str]:
    return _bank(project).find(customer).locked


# ------------------------------------------------------------------ recorded


@dataclass(frozen=True, slots=True)
class Heard:
    """A recorded call and what it left behind."""

    project: Project
    result: ReplayResult

    def named(self, event: str, **wanted: object) -> list[Json]:
        """Fields of the events of a name with these values, and ``t_ms``."""
        found = [
            {"t_ms": e.t_ms, **cast(Json, dict(e.fields))}
            for e in self.result.events
            if e.event == event
        ]
        return [f for f in found if all(f.get(key) == value for key, value in wanted.items())]

    @property
    def understood(self) -> list[str]:
        """What the caller's turns came to, in plain lower case."""
        return [_plain(f["text"]) for f in self.named("turn_started", reason="speech")]

    @property
    def said(self) -> list[str]:
        """What was heard of the agent to the end."""
        return [f["text"] for f in self.named("agent_said", state="heard")]

    @property
    def order_outcomes(self) -> list[str]:
        """Of each run of the order."""
        return [f["outcome"] for f in self.named("tool_settled", tool=ORDER)]

    @property
    def order_keys(self) -> list[str]:
        """Idempotency keys of the runs."""
        return [f["idempotency_key"] for f in self.named("tool_started", tool=ORDER)]

    def ordered_once(self, card: str = "card-gold") -> None:
        """The order stands in the bank, in memory, and in the caller's ear, one time."""
        assert _orders(self.project) == [(card, "express")], self.trace()
        assert len(self.named("memory_set", name="card_replace.order_number")) == 1
        assert self.order_outcomes.count("ok") == 1
        assert len([text for text in self.said if DISCLAIMER in text]) == 1, self.trace()

    def trace(self) -> str:
        """All events, for the message of a failing test."""
        return "\n".join(event_line(event) for event in self.result.events)


def _plain(text: str) -> str:
    return " ".join("".join(c if c.isalpha() else " " for c in text.casefold()).split())


def _line(what: str, rate_hz: int) -> CallerLine:
    """``clip``, ``clip@when`` or ``#keys``; without a time, when the agent has ended."""
    name, _, at = what.partition("@")
    when = parse_at(at or "agent_ends+700ms")
    if name.startswith("#"):
        return CallerLine(Keys(name[1:]), when)
    samples = read_sound(CLIPS / f"{name}.wav", rate_hz).samples
    return CallerLine(Speech(samples, rate_hz), when)


def _phone(*lines: str, channel: Channel = "twilio") -> Heard:
    project = _load()
    rate_hz = 8000 if channel == "twilio" else WIDE.rate_hz
    result = replay_project(
        project,
        tuple(_line(line, rate_hz) for line in lines),
        engines=EngineChoice(stt="local", tts="local"),
        options=ReplayOptions(channel=channel, conditions=Conditions(most_ms=180_000)),
    )
    heard = Heard(project, result)
    assert result.failures == (), heard.trace()
    return heard


TO_THE_QUESTION: Final = ("lost", "#472913", "#1984", "gold", "stolen", "express")
"""After these the desk asks whether to order."""

recorded = [pytest.mark.audio, pytest.mark.xdist_group("recorded_callers")]


def _recorded(test: Any) -> Any:
    for mark in recorded:
        test = mark(test)
    return test


@_recorded
@pytest.mark.parametrize("channel", ["twilio", "web"])
def test_a_lost_card_is_replaced_from_the_first_word_to_the_last(channel: Channel) -> None:
    """Identity, card, reason, shipping, confirmation and order, all of it spoken."""
    clips = ("lost", "number", "year", "gold", "stolen", "express", "go_ahead", "goodbye")
    call = _phone(*clips, channel=channel)
    assert call.understood == [
        "i lost my card",
        "four seven two nine one three",
        "one nine eight four",
        "the gold one",
        "it was stolen",
        "express please",
        "yes go ahead",
        "no thanks goodbye",
    ]
    assert call.named("interrupted") == []
    assert "Thank you, Nora." in call.said
    assert CONFIRM in call.said
    assert _locked(call.project) == {"card-gold"}
    call.ordered_once()
    assert call.said[-1] == "Thank you for calling Harbour Bank. Goodbye."
    assert call.named("hang_up")[0]["reason"] == "agent"


@_recorded
def test_keys_a_question_and_a_change_of_mind_on_the_way_to_the_order() -> None:
    """The question is answered and the desk's own asked again; the other card is ordered."""
    clips = ("lost", "#472913", "#1984", "gold", "cost", "stolen", "blue", "express", "go_ahead")
    call = _phone(*clips, "sent", "goodbye")
    assert any("12 euros, which are charged" in text for text in call.said)
    assert len([text for text in call.said if text.startswith("What happened to it?")]) == 2
    assert CONFIRM.replace("gold", "blue") in call.said
    call.ordered_once("card-blue")
    assert "card-blue" in _locked(call.project)
    assert "Order 7401 went out by express post." in call.said
    assert "472913" not in "".join(f["text"] for f in call.named("memory_set"))


@_recorded
@pytest.mark.parametrize("words", ["no_wait", "yes"])
@pytest.mark.parametrize("into_ms", [1200, 2500])
def test_words_over_the_question_before_its_point_was_heard_are_no_answer(
    words: str, into_ms: int
) -> None:
    """The shipping had not been heard: the question is put again, and its answer counts."""
    call = _phone(*TO_THE_QUESTION, f"{words}@agent_starts+{into_ms}ms", "go_ahead", "goodbye")
    (cut,) = call.named("agent_said", text=CONFIRM, state="cut")
    assert 0 < cut["heard_chars"] < CONFIRM.index("express")
    (answered,) = call.named("confirmation_answered")
    assert answered["confirmed"] is True
    (heard,) = call.named("agent_said", text=CONFIRM, state="heard")
    assert cut["t_ms"] < heard["t_ms"] < answered["t_ms"]
    assert len(call.order_keys) == 1
    call.ordered_once()


@_recorded
def test_an_order_cut_off_before_it_commits_is_dropped_asked_again_and_placed_once() -> None:
    """The second run has the key of the first: to the bank it is the same order."""
    call = _phone(*TO_THE_QUESTION, "go_ahead", "no_wait@tool_starts+500ms", "go_ahead", "goodbye")
    assert call.order_outcomes == ["cancelled", "ok"]
    first, second = call.order_keys
    assert first == second
    assert [f["confirmed"] for f in call.named("confirmation_answered")] == [True, True]
    call.ordered_once()


@_recorded
def test_an_order_cut_off_while_it_commits_stands_and_is_told() -> None:
    """The sound stops at once; what happened is said when the caller has let the desk speak."""
    call = _phone(*TO_THE_QUESTION, "go_ahead", "no_wait@tool_starts+1800ms", "sent", "goodbye")
    (interrupted,) = call.named("interrupted", reason="words")
    (settled,) = call.named("tool_settled", tool=ORDER)
    assert interrupted["t_ms"] < settled["t_ms"] and settled["outcome"] == "ok"
    assert len(call.order_keys) == 1
    call.ordered_once()
    assert "Order 7401 went out by express post." in call.said
    figures = measure(build_timeline(call.result.events, call.result.recording))
    (stop_ms,) = figures.stops_ms
    assert stop_ms <= SILENCE_MS, "the filler was talked over, and stopped as fast as any line"


@_recorded
def test_all_of_it_in_one_call_still_orders_once() -> None:
    """Over the question, over the order before its commit, and over the order in its commit."""
    call = _phone(
        *TO_THE_QUESTION,
        "no_wait@agent_starts+1200ms",
        "yes@agent_starts+2500ms",
        "go_ahead",
        "no_wait@tool_starts+500ms",
        "go_ahead",
        "no_wait@tool_starts+1800ms",
        "sent",
        "goodbye",
    )
    assert call.order_outcomes == ["cancelled", "ok"]
    assert len(set(call.order_keys)) == 1
    assert len(call.named("agent_said", text=CONFIRM, state="cut")) == 2
    call.ordered_once()
    assert call.said[-1] == "Thank you for calling Harbour Bank. Goodbye."


@_recorded
def test_the_scenarios_of_the_example_pass() -> None:
    app = typer.Typer()
    app.command()(scenarios_command)
    done = CliRunner().invoke(app, [str(DESK), "--json"])
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.output)["scenarios"]) == len(
        list((DESK / "scenarios").glob("*.yml"))
    )


# ------------------------------------------------------------------ over the door


@asynccontextmanager
async def _desk(project: Project) -> AsyncGenerator[Voice]:
    agent = InLoopAgent(project, models=build_models(project))
    voice = Voice(agent, ms_per_char=20)
    await voice.ready()
    voice.start("opened")
    await voice.wait_ended()
    try:
        yield voice
    finally:
        voice.close()
        agent.detach(1)
        await agent.aclose()


async def _ask(voice: Voice, words: str) -> str:
    """Say something, or press ``#keys``; all that the agent says to it."""
    before = len(voice.texts)
    if words.startswith("#"):
        voice.hear(words[1:], kind="keys")
    else:
        voice.hear(words)
    await voice.wait_ended()
    return " ".join(voice.texts[before:])


def _talk(project: Project, lines: Sequence[str]) -> list[str]:
    async def main() -> list[str]:
        async with _desk(project) as voice:
            return [await _ask(voice, words) for words in lines]

    return run_virtual(main())


IDENTIFIED: Final = ("I lost my card", "#472913", "#1984")
TO_ORDER: Final = (*IDENTIFIED, "the gold one", "it was stolen", "express please")


@pytest.fixture
def desk() -> Project:
    return _load()


def test_the_call_opens_with_a_notice_that_can_not_be_talked_over(desk: Project) -> None:
    async def main() -> None:
        async with _desk(desk) as voice:
            notice, welcome = voice.says.values()
            assert "recorded" in notice.text and not notice.interruptible
            assert "card desk" in welcome.text and welcome.interruptible

    run_virtual(main())


@pytest.mark.parametrize(
    ("number", "year"),
    [
        ("#472913", "#1984"),
        ("four seven two nine one three", "nineteen eighty four"),
        ("It's 472 913.", "1984"),
        ("Four, seven, two, nine, one, three.", "One nine eight four."),
    ],
)
def test_an_order_from_the_wish_to_the_goodbye(desk: Project, number: str, year: str) -> None:
    said = _talk(
        desk,
        ["I lost my card", number, year, "the gold one", "it was stolen", "express please"]
        + ["yes go ahead", "no thanks bye"],
    )
    assert "customer number" in said[0]
    assert "born" in said[1]
    assert said[2].startswith("Thank you, Nora.") and "the gold card" in said[2]
    assert said[5] == CONFIRM
    assert DISCLAIMER in said[6] and "7401" in said[6]
    assert "Goodbye" in said[7]
    assert _orders(desk) == [("card-gold", "express")]
    assert _locked(desk) == {"card-gold"}


def test_a_caller_with_one_card_is_not_asked_which(desk: Project) -> None:
    said = _talk(
        desk, ["my card is broken", "#300100", "#1990", "it is damaged", "standard", "yes"]
    )
    assert "Which card" not in " ".join(said) and "What happened to it?" in said[2]
    assert _orders(desk, "300100") == [("card-one", "standard")]
    assert _locked(desk, "300100") == set()


def test_no_i_meant_the_blue_one(desk: Project) -> None:
    said = _talk(desk, [*TO_ORDER[:-1], "no, I meant the blue one", "express please", "yes"])
    assert "the blue card, by express" in said[6]
    assert _orders(desk) == [("card-blue", "express")]
    assert "card-blue" in _locked(desk)


def test_a_question_in_the_middle_is_answered_and_the_desk_goes_on(desk: Project) -> None:
    said = _talk(desk, [*IDENTIFIED, "the gold one", "how much does express cost?"])
    assert said[4].startswith("Express costs 12 euros")
    assert said[4].endswith("did it never arrive?")


def test_the_caller_is_put_through_to_a_person(desk: Project) -> None:
    async def main() -> None:
        async with _desk(desk) as voice:
            assert "colleague" in await _ask(voice, "I want to talk to a person")
            assert [transfer.target for transfer in voice.of(Transfer)] == ["card-team"]

    run_virtual(main())


def test_a_card_that_can_not_be_replaced_here_goes_to_a_person(desk: Project) -> None:
    async def main() -> None:
        async with _desk(desk) as voice:
            for words in ("I need a new card", "#555000"):
                await _ask(voice, words)
            assert "I can't replace that card here" in await _ask(voice, "#1971")
            assert [transfer.target for transfer in voice.of(Transfer)] == ["card-team"]

    run_virtual(main())
    assert _orders(desk, "555000") == []


def test_no_to_the_question_orders_nothing(desk: Project) -> None:
    said = _talk(desk, [*TO_ORDER, "no", "where is my new card"])
    assert "I haven't ordered anything" in said[6]
    assert "I see no order" in said[7]
    assert _orders(desk) == []


def test_a_caller_who_gives_up_is_let_go(desk: Project) -> None:
    said = _talk(desk, [*IDENTIFIED, "never mind, forget it", "bye"])
    assert "Which card" not in said[3]
    assert "Goodbye" in said[4]
    assert _orders(desk) == []


def test_a_wrong_identity_twice_is_the_end_of_the_wish(desk: Project) -> None:
    said = _talk(desk, ["I lost my card", "#472913", "#1985", "#472913", "#1986", "the gold one"])
    assert "Let's try once more" in said[2] and "customer number" in said[2]
    assert "I can't find you" in said[4]
    assert "Thank you" not in " ".join(said)
    assert _orders(desk) == [] and _locked(desk) == set()


def test_a_wrong_identity_once_is_forgiven(desk: Project) -> None:
    said = _talk(desk, ["I lost my card", "#472913", "#1985", "#472913", "#1984"])
    assert said[4].startswith("Thank you, Nora.")


def test_a_silent_caller_is_asked_whether_they_are_there(desk: Project) -> None:
    async def main() -> None:
        async with _desk(desk) as voice:
            await _ask(voice, "I lost my card")
            before = len(voice.texts)
            voice.start("silence", silence_n=1)
            await voice.wait_ended()
            assert "there" in " ".join(voice.texts[before:])
            assert "born" in await _ask(voice, "#472913")

    run_virtual(main())


def test_an_order_cut_off_before_its_commit_has_the_same_key_again(desk: Project) -> None:
    """Over the door, to the moment."""

    async def main() -> None:
        async with _desk(desk) as voice:
            for words in TO_ORDER:
                await _ask(voice, words)
            turn = voice.hear("yes")
            await asyncio.sleep(1.5)  # the order starts at once and commits after 2 s
            voice.interrupt()
            await voice.wait_ended(turn)
            assert await _ask(voice, "wait") == CONFIRM
            assert DISCLAIMER in await _ask(voice, "yes")
            runs = [f for f in voice.happened("tool_started") if f["tool"] == ORDER]
            assert len(runs) == 2 and runs[0]["idempotency_key"] == runs[1]["idempotency_key"]

    run_virtual(main())
    assert _orders(desk) == [("card-gold", "express")]
