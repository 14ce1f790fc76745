"""Whole calls in virtual time: the example project, a recorded voice, scripted engines."""

import asyncio
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from runtime.project.loader import load
from runtime.project.model import Project
from voice.audio.files import read_sound
from voice.call.events import CallEvent
from voice.cli.virtual_call import EngineChoice, replay_in_loop, replay_project
from voice.hearing.stt_scripted import ScriptedLine
from voice.replay.at import parse_at
from voice.replay.events_file import event_line
from voice.replay.far_end import Conditions, Echo, MarkFaults
from voice.replay.link import Network
from voice.replay.measures import Measures, measure
from voice.replay.runner import ReplayOptions, ReplayResult
from voice.replay.script import CallerLine, HangUp, Keys, Speech
from voice.replay.timeline import build_timeline
from voice.replay.virtual_loop import run_virtual

_ROOT = Path(__file__).parents[3]
QUESTION = "audio_fixtures/clips/en_brooklyn_bridge.wav"
INTERRUPTION = "audio_fixtures/clips/tel_caller_sounds_great.wav"
WORDS: tuple[str | ScriptedLine, ...] = ("How old is the Brooklyn Bridge?", "Stop, that's enough.")


@cache
def front_desk() -> Project:
    return load(_ROOT / "tests" / "projects" / "front_desk", {})


def says(path: str, at: str, rate_hz: int = 8000) -> CallerLine:
    return CallerLine(Speech(read_sound(_ROOT / path, rate_hz).samples, rate_hz), parse_at(at))


def barge_in(rate_hz: int = 8000) -> tuple[CallerLine, ...]:
    return (
        says(QUESTION, "agent_ends+300ms", rate_hz),
        says(INTERRUPTION, "agent_starts+2s", rate_hz),
    )


def scripted(words: tuple[str | ScriptedLine, ...] = WORDS) -> EngineChoice:
    return EngineChoice(stt="scripted", tts="scripted", words=words)


def run(
    caller: tuple[CallerLine, ...],
    conditions: Conditions | None = None,
    *,
    channel: str = "twilio",
    words: tuple[str | ScriptedLine, ...] = WORDS,
) -> ReplayResult:
    options = ReplayOptions(
        channel="twilio" if channel == "twilio" else "web", conditions=conditions or Conditions()
    )
    return replay_project(front_desk(), caller, engines=scripted(words), options=options)


def figures(result: ReplayResult) -> Measures:
    return measure(build_timeline(result.events, result.recording))


def named(result: ReplayResult, name: str) -> list[CallEvent]:
    return [item for item in result.events if item.event == name]


def test_a_caller_who_talks_over_the_answer_gets_the_floor() -> None:
    result = run(barge_in())
    assert result.failures == ()
    assert len(named(result, "commit")) == 1
    interruption = figures(result).interruptions[0]
    assert interruption.is_yield
    assert interruption.silent_after_ms is not None
    assert interruption.silent_after_ms <= 180
    cut = [
        dict(e.fields) for e in named(result, "say_settled") if dict(e.fields)["outcome"] == "cut"
    ]
    assert len(cut) == 1
    assert 0 < int(str(cut[0]["heard_chars"])) < 200


def test_the_same_inputs_give_the_same_bytes() -> None:
    conditions = Conditions(
        network=Network(delay_ms=40, jitter_ms=30, seed=5),
        echo=Echo(30, 60),
        marks=MarkFaults(lose_every=5, repeat_every=7),
    )
    first, second = run(barge_in(), conditions), run(barge_in(), conditions)
    assert [event_line(e) for e in first.events] == [event_line(e) for e in second.events]
    assert np.array_equal(first.recording.heard, second.recording.heard)
    assert np.array_equal(first.recording.microphone, second.recording.microphone)
    other = run(
        barge_in(),
        Conditions(network=Network(delay_ms=40, jitter_ms=30, seed=6), echo=Echo(30, 60)),
    )
    assert [e.t_ms for e in other.events] != [e.t_ms for e in first.events]


def test_a_browser_gets_the_same_decisions_as_a_phone() -> None:
    phone = run(barge_in())
    page = run(barge_in(16_000), channel="web")
    assert page.recording.rate_hz == 16_000
    decisions = [
        [e.event for e in result.events if e.event in ("turn_started", "commit", "interrupted")]
        for result in (phone, page)
    ]
    assert decisions[0] == decisions[1]


def test_network_delay_changes_when_but_not_what() -> None:
    names = ("turn_started", "hold", "commit", "interrupted", "turn_ended")
    near = run(barge_in())
    far = run(barge_in(), Conditions(network=Network(delay_ms=100)))
    assert [e.event for e in near.events if e.event in names] == [
        e.event for e in far.events if e.event in names
    ]
    near_ms, far_ms = figures(near).stops_ms[0], figures(far).stops_ms[0]
    assert near_ms + 150 <= far_ms <= near_ms + 260


@pytest.mark.parametrize("at", ["0s", "50ms", "agent_starts+400ms", "4s", "agent_ends+700ms"])
@pytest.mark.parametrize("how", ["stop", "vanish"])
def test_a_call_may_end_at_any_moment_and_leaves_nothing_behind(at: str, how: str) -> None:
    hang_up = HangUp("stop" if how == "stop" else "vanish")

    async def main() -> tuple[ReplayResult, int]:
        caller = (*barge_in(), CallerLine(hang_up, parse_at(at)))
        result = await replay_in_loop(front_desk(), caller, scripted())
        return result, len(asyncio.all_tasks())

    result, tasks = run_virtual(main())
    assert tasks == 1
    assert result.recording.ended_by == ("caller" if how == "stop" else "vanished")
    assert len(named(result, "call_ended")) <= 1


def test_keys_reach_the_agent() -> None:
    result = run((CallerLine(Keys("5"), parse_at("agent_ends+500ms")),), words=())
    assert [dict(e.fields).get("text") for e in named(result, "key")] == ["5"]


def test_a_caller_who_says_nothing_is_asked_and_then_let_go() -> None:
    silence = CallerLine(Speech(np.zeros(60 * 8000, np.int16), 8000), parse_at("0s"))
    result = run((silence,), words=())
    assert result.recording.ended_by == "agent"
    assert len(named(result, "silence")) >= 3


def test_progress_is_told_about_once_a_second() -> None:
    seen: list[float] = []
    silence = CallerLine(Speech(np.zeros(4 * 8000, np.int16), 8000), parse_at("0s"))
    replay_project(
        front_desk(),
        (silence,),
        engines=scripted(()),
        options=ReplayOptions(conditions=Conditions(most_ms=5000)),
        progress=seen.append,
    )
    assert seen == pytest.approx([1000, 2000, 3000, 4000, 5000])
