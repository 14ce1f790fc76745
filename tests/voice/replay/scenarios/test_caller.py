"""The made voice, its words on time, and the watch on real time."""

import asyncio
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from runtime.errors import Place
from voice.audio.format import WIDE
from voice.floor.events import Transcribed
from voice.hearing.ports import SttFact, SttHints
from voice.hearing.webrtc import WebRtcGate
from voice.replay.at import At, Happenings
from voice.replay.scenarios.caller import caller_lines, utterances, voice_for
from voice.replay.scenarios.model import CallerAct, Presses, Says, Taps
from voice.replay.scenarios.wall import HELD_MS, OutOfTimeError, watched
from voice.replay.scenarios.words import CallerWords, Utterance
from voice.replay.script import Tap
from voice.replay.virtual_loop import run_virtual


@pytest.mark.parametrize("rate_hz", [8000, 16_000])
@pytest.mark.parametrize("text", ["I lost my card", "no", "Überweisung 4711", "是的", "…"])
def test_the_made_voice_is_heard_as_a_voice(text: str, rate_hz: int) -> None:
    sound = voice_for(text, rate_hz)
    assert np.array_equal(sound, voice_for(text, rate_hz))
    gate = WebRtcGate(rate_hz)
    size = rate_hz // 50
    frames = [sound[i : i + size] for i in range(0, len(sound) - size + 1, size)]
    voiced = [gate.is_voiced(frame) for frame in frames]
    assert sum(voiced) >= 0.8 * len(voiced) and voiced[2]


def test_more_words_take_longer() -> None:
    short, long = voice_for("no", 8000), voice_for("no I really do not want it", 8000)
    assert 240 <= len(short) / 8 <= 500 < 1500 <= len(long) / 8 <= 3000


def _act(what: Says | Presses, name: str) -> CallerAct:
    return CallerAct(what, At(None), name, Place("s.yml"))


def test_only_lines_with_words_are_understood_and_end_as_a_sentence() -> None:
    acts = (_act(Says("hello"), "a"), _act(Presses("1"), "b"), _act(Says("well…"), "c"))
    lines = caller_lines(acts, 8000)
    assert [(u.name, u.text) for u in utterances(acts, lines)] == [("a", "hello."), ("c", "well…")]


def test_a_softer_line_is_softer() -> None:
    loud, soft = caller_lines((_act(Says("hi"), "a"), _act(Says("hi", -20.0), "b")), 8000)
    levels = [float(np.std(line.what.samples)) for line in (loud, soft)]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType] # both are speech
    assert levels[0] / levels[1] == pytest.approx(10, rel=0.01)


def hear(*, begins_ms: float | None, asks_ms: int, until_ms: int = 4000) -> list[Transcribed]:
    """Feed audio; the line 'one two three' takes 900 ms."""
    facts: list[SttFact] = []

    async def listen() -> None:
        happenings = Happenings()
        words = CallerWords([Utterance("line 1", "one two three", 900)], latency_ms=80)
        words.follow(happenings)
        stream = words.open(WIDE, SttHints(), facts.append)
        silence = np.zeros(320, np.int16)
        for end_ms in range(20, until_ms, 20):
            if begins_ms is not None and end_ms == begins_ms + 20:
                happenings.note("line 1", begins_ms + 900)
            voiced = begins_ms is not None and begins_ms < end_ms <= begins_ms + 900
            stream.feed(b"", silence, end_ms, voiced)
            if end_ms == asks_ms:
                stream.decode_now(end_ms)
            await asyncio.sleep(0.02)
        await stream.aclose()

    run_virtual(listen())
    return [fact for fact in facts if isinstance(fact, Transcribed)]


def test_words_are_told_from_the_moment_their_line_begins() -> None:
    facts = hear(begins_ms=1000, asks_ms=2000)
    assert [(fact.text, fact.final) for fact in facts] == [
        ("one", False),
        ("one two", False),
        ("one two three", False),
        ("one two three", True),
    ]
    assert facts[0].words[0].start_ms == 1000 and facts[-1].words[-1].end_ms == 1900


def test_words_that_nobody_asks_for_are_told_by_themselves() -> None:
    assert hear(begins_ms=1000, asks_ms=0)[-1].final


def test_a_question_in_the_middle_gets_the_words_so_far() -> None:
    finals = [fact.text for fact in hear(begins_ms=1000, asks_ms=1300) if fact.final]
    assert " ".join(finals) == "one two three"


def test_a_line_that_does_not_begin_has_no_words() -> None:
    assert [fact.text for fact in hear(begins_ms=None, asks_ms=2000)] == [""]


def test_a_line_can_be_a_tap() -> None:
    place = Place("s.yml")
    acts = (CallerAct(Taps("x:1"), At(None), "one", place),)
    assert caller_lines(acts, 8000)[0].what == Tap("x:1")


def _module(tmp_path: Path, body: str) -> dict[str, object]:
    file = tmp_path / "tools.py"
    file.write_text(f"import time\ndef work():\n    {body}\n", encoding="utf-8")
    names: dict[str, object] = {}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), names)
    return names


def test_code_that_never_comes_back_is_ended_and_named(tmp_path: Path) -> None:
    work = _module(tmp_path, "while True: pass")["work"]
    assert callable(work)
    with pytest.raises(OutOfTimeError) as ended, watched(tmp_path, 0.1):
        work()
    assert ended.value.where == "tools.py:3 in work"


def test_code_that_holds_the_loop_is_named(tmp_path: Path) -> None:
    work = _module(
        tmp_path, "end = time.perf_counter() + 0.2\n    while time.perf_counter() < end: pass"
    )["work"]
    assert callable(work)

    async def main() -> None:
        work()
        await asyncio.sleep(5)

    with watched(tmp_path, 60) as watch:
        run_virtual(main())
    assert watch.held and watch.held[0].ms >= HELD_MS
    assert watch.held[0].where.endswith("in work")


def test_waiting_is_no_holding(tmp_path: Path) -> None:
    with watched(tmp_path, 60) as watch:
        run_virtual(asyncio.sleep(5))
    assert watch.held == ()


def test_no_thread_stays_behind(tmp_path: Path) -> None:
    before, begun = threading.active_count(), time.perf_counter()
    with watched(tmp_path, 60):
        pass
    assert threading.active_count() == before and time.perf_counter() - begun < 5
