"""Hearing, in whole calls: no speech starts nothing, and what breaks off comes to an end."""

import asyncio
from collections.abc import Callable

import pytest

from runtime.agent import CallSettings
from runtime.models.scripted_model import Say
from tests.acceptance.stage import Said, noise, play, says, voice
from tests.acceptance.voices import Samples
from voice.audio.format import AudioFormat
from voice.floor.events import Transcribed
from voice.hearing.ports import SpeechToText, SttFact, SttHints, SttStream
from voice.replay.at import parse_at
from voice.replay.far_end import Conditions
from voice.replay.script import CallerLine, Speech

LONG = "We are open from nine to five on weekdays, and on Saturdays from ten to two, all year."
CHECK_IN = CallSettings(silence_timeout_ms=5000, silence_check_ins=1)


class BlankStt(SpeechToText):
    """Answers every sound with words that are none."""

    def __init__(self, blanks: tuple[str, ...] = ("", " ", "\u200b", ".")) -> None:
        self.blanks = blanks
        self.told = 0

    @property
    def strong(self) -> bool:
        return True

    @property
    def hears_all(self) -> bool:
        return False

    def open(self, fmt: AudioFormat, hints: SttHints, sink: Callable[[SttFact], None]) -> SttStream:
        return _Blank(self, sink)

    async def aclose(self) -> None:
        """Nothing to release."""


class _Blank(SttStream):
    def __init__(self, stt: BlankStt, sink: Callable[[SttFact], None]) -> None:
        self._stt = stt
        self._sink = sink
        self._frames = 0

    def feed(self, frame: bytes, samples: Samples, end_ms: int, voiced: bool) -> None:
        self._frames += 1
        if self._frames % 5 == 0:
            self._tell(end_ms, final=False)

    def decode_now(self, audio_end_ms: int) -> None:
        self._tell(audio_end_ms, final=True)

    def forget(self, audio_end_ms: int) -> None:
        """It knows nothing."""

    async def aclose(self) -> None:
        """Nothing to release."""

    def _tell(self, end_ms: int, *, final: bool) -> None:
        text = "" if final else self._stt.blanks[self._stt.told % len(self._stt.blanks)]
        self._stt.told += 1
        fact = Transcribed(
            text=text,
            final=final,
            audio_start_ms=max(0, end_ms - 100),
            audio_end_ms=end_ms,
            voiced_ms=100,
            words=(),
            segment=1,
        )
        asyncio.get_running_loop().call_later(0.05, self._sink, fact)


@pytest.mark.parametrize("seconds", [0.3, 0.9])
def test_blank_words_interrupt_nothing_and_start_nothing(seconds: float) -> None:
    """D04: the line is heard whole, and the silence that follows is counted from its end."""
    stt = BlankStt()
    played = play(
        [Say("Hello?")],
        noise("agent_starts+2s", seconds, "en_brooklyn_bridge.wav"),
        greeting=LONG,
        stt=stt,  # type: ignore[arg-type]
        settings=CHECK_IN,
        linger_ms=7000,
        strict=False,
    )
    assert stt.told >= 3
    assert played.texts()[1] == (LONG, "heard", len(LONG))
    assert played.named("commit") == []
    assert [f["reason"] for f in played.named("turn_started")][:2] == ["opened", "silence"]
    ended = played.named("say_settled")[0]["ended_ms"]
    assert abs(played.named("silence")[0]["t_ms"] - ended - 5000) <= 40


def test_blank_words_after_the_agent_has_spoken_start_no_turn() -> None:
    """D04: nobody waits for words that never come."""
    played = play(
        [],
        noise("agent_ends+800ms", 0.9, "en_brooklyn_bridge.wav"),
        greeting="Hello there.",
        stt=BlankStt(),  # type: ignore[arg-type]
        settings=CHECK_IN,
        linger_ms=8000,
        strict=False,
    )
    assert [f["reason"] for f in played.named("turn_started")][:2] == ["opened", "silence"]
    silence = played.named("silence")[0]["t_ms"]
    assert silence <= 800 + 800 + 900 + 5000 + 1500


def test_a_microphone_that_goes_dead_in_the_middle_of_a_word_ends_the_speech() -> None:
    """D06: answered with what was heard, asked after at its time, and heard again afterwards."""
    spoken = Said(CallerLine(Speech(voice(4.0, 16_000), 16_000), parse_at("2s")), None)
    first = says("My name is Nora.", "2s", 0.4)
    again = says("Here I am again.", "15s", 1.0)
    played = play(
        [Say("Hello Nora."), Say("Welcome back."), Say("x")],
        Said(spoken.line, first.words),
        again,
        settings=CHECK_IN,
        conditions=Conditions(muted_ms=((2400.0, 14_400.0),), linger_ms=3000),
        strict=False,
    )
    turns = [(f["t_ms"], f["text"]) for f in played.named("turn_started", reason="speech")]
    assert [text for _, text in turns] == ["My name is Nora.", "Here I am again."], played.trace()
    assert 2400 + 400 <= turns[0][0] <= 2400 + 1000 + 1700
    assert 16_000 + 400 <= turns[1][0] <= 16_000 + 1700
    answered = played.named("say_settled", say=1)[0]["ended_ms"]
    silence = [f["t_ms"] for f in played.named("silence") if f["t_ms"] < 15_000]
    assert len(silence) >= 1 and abs(silence[0] - answered - 5000) <= 40


def test_words_that_the_agent_has_not_said_yet_are_no_echo() -> None:
    """A12: a caller who asks for what the agent is about to say is heard."""
    played = play(
        [Say("On Saturday you need an appointment.")],
        says("And on Saturday?", "agent_starts+1700ms", 0.9),
        greeting="We are open Monday to Friday from nine to five, and on Saturday by appointment.",
        strict=False,
    )
    assert played.named("suppressed", reason="echo") == []
    assert len(played.named("commit")) == 1
