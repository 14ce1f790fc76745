"""The recognizer that knows beforehand what is said."""

import asyncio
from collections.abc import Awaitable, Callable

import numpy as np
import pytest

from voice.audio.format import PHONE
from voice.floor.events import Transcribed
from voice.hearing.ports import SttFact, SttHints, SttStream
from voice.hearing.stt_scripted import ScriptedLine, ScriptedStt
from voice.replay.virtual_loop import run_virtual

FRAME = np.zeros(160, np.int16)
BYTES = b"\xff" * 160


class Caller:
    def __init__(self, stream: SttStream, facts: list[tuple[int, Transcribed]]) -> None:
        self.stream = stream
        self.facts = facts
        self.now = 0

    async def speak(self, ms: int, *, voiced: bool = True) -> None:
        for _ in range(ms // 20):
            await asyncio.sleep(0.02)
            self.now += 20
            self.stream.feed(BYTES, FRAME, self.now, voiced)

    async def quiet(self, ms: int) -> None:
        await self.speak(ms, voiced=False)

    @property
    def told(self) -> list[tuple[int, str, bool]]:
        return [(at, fact.text, fact.final) for at, fact in self.facts]


def play(engine: ScriptedStt, script: Callable[[Caller], Awaitable[None]]) -> Caller:
    async def main() -> Caller:
        loop = asyncio.get_running_loop()
        facts: list[tuple[int, Transcribed]] = []

        def sink(fact: SttFact) -> None:
            assert isinstance(fact, Transcribed)
            facts.append((round(loop.time() * 1000), fact))

        caller = Caller(engine.open(PHONE, SttHints(), sink), facts)
        await script(caller)
        await asyncio.sleep(1)
        await caller.stream.aclose()
        await engine.aclose()
        return caller

    return run_virtual(main())


LINES = [ScriptedLine("cancel my order", 1000, 1480), ScriptedLine("please", 3000, 3300)]


def test_timed_words_come_as_growing_partials_and_the_final_when_asked() -> None:
    async def script(caller: Caller) -> None:
        await caller.quiet(1000)
        await caller.speak(500)
        await caller.quiet(160)
        caller.stream.decode_now(caller.now)

    caller = play(ScriptedStt(LINES, latency_ms=100), script)
    assert caller.told == [
        (1320, "cancel", False),
        (1400, "cancel my", False),
        (1580, "cancel my order", False),
        (1760, "cancel my order", True),
    ]
    final = caller.facts[-1][1]
    assert (final.audio_start_ms, final.audio_end_ms, final.words[-1].end_ms) == (1000, 1660, 1480)


def test_a_timed_line_that_nobody_asks_for_ends_by_itself() -> None:
    async def script(caller: Caller) -> None:
        await caller.quiet(2500)

    caller = play(ScriptedStt(LINES, latency_ms=100, partials=False), script)
    assert caller.told == [(1980, "cancel my order", True)]


def test_fresh_voice_voids_the_answer_and_the_words_stay_for_the_next() -> None:
    async def script(caller: Caller) -> None:
        await caller.quiet(1000)
        await caller.speak(500)
        caller.stream.decode_now(caller.now)
        await caller.speak(1800)
        caller.stream.decode_now(caller.now)

    caller = play(ScriptedStt(LINES, partials=False), script)
    assert caller.told == [(3380, "cancel my order please", True)]


def test_words_that_were_forgotten_are_not_told() -> None:
    async def script(caller: Caller) -> None:
        await caller.quiet(1600)
        caller.stream.forget(caller.now)
        await caller.quiet(1700)
        caller.stream.decode_now(caller.now)

    caller = play(ScriptedStt(LINES, partials=False), script)
    assert caller.told == [(3380, "please", True)]


def test_each_stretch_of_voice_gets_the_next_text() -> None:
    async def script(caller: Caller) -> None:
        for _ in range(3):
            await caller.speak(400)
            await caller.quiet(200)
            caller.stream.decode_now(caller.now)
            await caller.quiet(300)

    caller = play(ScriptedStt(["one", "two"], partials=False), script)
    assert [text for _, text, _ in caller.told] == ["one", "two", ""]
    assert len({fact.segment for _, fact in caller.facts}) == 3
    assert caller.facts[1][1].audio_start_ms == 900

    cycling = play(ScriptedStt(["one", "two"], partials=False, cycle=True), script)
    assert [text for _, text, _ in cycling.told] == ["one", "two", "one"]


def test_texts_grow_while_the_voice_lasts_but_the_last_word_waits_for_the_final() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(1500)
        await caller.quiet(200)
        caller.stream.decode_now(caller.now)

    caller = play(ScriptedStt(["stop that right now"], latency_ms=80), script)
    assert caller.told == [
        (380, "stop", False),
        (680, "stop that", False),
        (980, "stop that right", False),
        (1780, "stop that right now", True),
    ]


def test_a_pause_inside_a_stretch_keeps_its_text_whole() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(400)
        await caller.quiet(160)
        caller.stream.decode_now(caller.now)
        await caller.speak(400)
        await caller.quiet(160)
        caller.stream.decode_now(caller.now)

    caller = play(ScriptedStt(["my number is nine", "other"], partials=False), script)
    assert [text for _, text, _ in caller.told] == ["my number is nine"]


def test_a_click_uses_up_no_text_and_noise_that_is_forgotten_none_either() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(40)
        await caller.quiet(200)
        caller.stream.decode_now(caller.now)
        await caller.quiet(200)
        await caller.speak(400)
        caller.stream.forget(caller.now)
        await caller.quiet(200)
        await caller.speak(400)
        caller.stream.decode_now(caller.now)

    caller = play(ScriptedStt(["hello"], partials=False), script)
    assert [text for _, text, _ in caller.told] == ["", "hello"]


def test_a_script_half_with_times_is_refused() -> None:
    with pytest.raises(ValueError, match="times"):
        ScriptedStt([ScriptedLine("a", 0, 100), "b"])


def test_the_engine_is_strong_and_hears_silence_only_for_times() -> None:
    assert ScriptedStt(["a"]).strong
    assert not ScriptedStt(["a"]).hears_all
    assert ScriptedStt(LINES).hears_all


def test_nothing_is_told_after_close() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(400)
        caller.stream.decode_now(caller.now)
        await caller.stream.aclose()

    assert play(ScriptedStt(["a b c"], partials=False), script).told == []
