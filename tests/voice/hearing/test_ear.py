"""A frame's way through one caller's ear."""

import asyncio

import numpy as np
import pytest

from runtime.agent import InterruptionSettings
from tests.voice.hearing.fakes import FakeDetector, RecordingStt, buzz, tone
from voice.audio.codec import from_linear
from voice.audio.format import PHONE, AudioFormat, Encoding
from voice.floor.events import FloorEvent, VoiceConfirmed, VoiceEnded, VoiceStarted
from voice.hearing.ear import Ear
from voice.hearing.ports import Samples, SttHints

STILL = tone(2000, -66)


class Call:
    """An ear with its clock."""

    def __init__(
        self,
        *,
        detector: FakeDetector | None = None,
        stt: RecordingStt | None = None,
        fmt: AudioFormat = PHONE,
    ) -> None:
        self.facts: list[FloorEvent] = []
        self.detector = detector
        self.stt = stt or RecordingStt()
        self.fmt = fmt
        self.now = 0
        self.ear = Ear(
            fmt,
            detector=detector,
            stt=self.stt,
            hints=SttHints(),
            settings=InterruptionSettings(),
            sink=self.facts.append,
        )

    def hear(self, samples: Samples, *, p: float | None = None) -> list[FloorEvent]:
        before = len(self.facts)
        size = self.fmt.frame_samples
        for at in range(0, samples.size - size + 1, size):
            self.now += 20
            self.ear.frame(from_linear(self.fmt, samples[at : at + size]), self.now)
            if p is not None and self.detector is not None:
                self.detector.score(self.now, p)
        return self.facts[before:]


def test_voice_is_noticed_within_80_ms_and_ends_after_it() -> None:
    call = Call()
    call.hear(STILL)
    facts = call.hear(buzz(80, -25))
    assert [type(fact) for fact in facts] == [VoiceStarted, VoiceConfirmed]
    call.hear(buzz(420, -25))
    facts = call.hear(tone(500, -66))
    assert len(facts) == 1
    ended = facts[0]
    assert isinstance(ended, VoiceEnded)
    assert 2440 <= ended.last_voiced_ms <= 2560


def test_the_engine_hears_300_ms_before_the_onset_and_every_frame_once() -> None:
    """A12: the first syllable is never lost, nothing is dropped at the decision."""
    call = Call()
    call.hear(STILL)
    started, _ = call.hear(buzz(100, -25))
    assert isinstance(started, VoiceStarted)
    call.hear(buzz(400, -25))
    call.hear(tone(1000, -66))
    times = [end_ms for end_ms, _ in call.stt.fed]
    assert times == list(range(times[0], times[-1] + 20, 20))
    assert times[0] == started.onset_ms - 280
    voiced = [end_ms for end_ms, is_voiced in call.stt.fed if is_voiced]
    assert voiced[0] == started.onset_ms + 20


def test_the_engine_hears_400_ms_past_the_end_and_then_nothing() -> None:
    call = Call()
    call.hear(STILL)
    call.hear(buzz(300, -25))
    (ended,) = (f for f in call.hear(tone(1000, -66)) if isinstance(f, VoiceEnded))
    assert call.stt.fed[-1][0] == ended.last_voiced_ms + 400


def test_a_second_stretch_within_the_tail_feeds_no_frame_twice() -> None:
    call = Call()
    call.hear(STILL)
    for _ in range(5):
        call.hear(buzz(200, -25))
        call.hear(tone(260, -66))
    times = [end_ms for end_ms, _ in call.stt.fed]
    assert times == list(range(times[0], times[-1] + 20, 20))


def test_a_stretch_that_is_never_confirmed_is_not_given_to_the_engine() -> None:
    call = Call(detector=FakeDetector())
    call.hear(STILL)
    call.hear(buzz(400, -25), p=0.1)
    facts = call.hear(tone(300, -66), p=0.1)
    assert [type(fact) for fact in facts] == [VoiceEnded]
    assert call.stt.fed == []


def test_a_late_confirmation_still_brings_the_whole_beginning() -> None:
    """A12"""
    call = Call(detector=FakeDetector())
    call.hear(STILL)
    call.hear(buzz(300, -25), p=0.2)
    call.hear(buzz(200, -25), p=0.9)
    confirmed = next(fact for fact in call.facts if isinstance(fact, VoiceConfirmed))
    times = [end_ms for end_ms, _ in call.stt.fed]
    assert times == list(range(confirmed.onset_ms - 280, call.now + 20, 20))


def test_an_engine_that_hears_all_gets_every_frame_as_it_came() -> None:
    call = Call(stt=RecordingStt(hears_everything=True))
    call.hear(STILL)
    call.hear(buzz(200, -25))
    assert [end_ms for end_ms, _ in call.stt.fed] == list(range(20, call.now + 20, 20))
    assert b"".join(call.stt.payloads[:100]) == from_linear(PHONE, STILL)


def test_silence_costs_the_sure_detector_nothing_and_voice_brings_its_pre_roll() -> None:
    detector = FakeDetector()
    call = Call(detector=detector)
    call.hear(STILL)
    probe = detector.probes[0]
    # the cheap detector hears voices in noise at first; its loudness gate keeps them out
    assert probe.pushed == []
    call.hear(buzz(100, -25))
    assert probe.pushed[0] <= 2000 - 120
    assert probe.pushed == list(range(probe.pushed[0], call.now + 20, 20))
    assert probe.resets == 1


def test_a_gap_ends_the_voice_and_resets_the_detector() -> None:
    """D06"""
    detector = FakeDetector()
    call = Call(detector=detector)
    call.hear(STILL)
    call.hear(buzz(400, -25), p=0.9)
    call.ear.gap(call.now)
    last = call.facts[-1]
    assert isinstance(last, VoiceEnded)
    assert last.last_voiced_ms <= call.now
    assert detector.probes[0].resets == 2
    call.now += 12_000
    call.hear(STILL)
    facts = call.hear(buzz(100, -25))
    assert any(isinstance(fact, VoiceStarted) and fact.onset_ms >= 16_000 for fact in facts)


def test_a_learnt_level_keeps_a_softer_voice_in_the_room_out() -> None:
    call = Call()
    call.hear(STILL)
    call.hear(buzz(500, -22))
    call.hear(tone(500, -66))
    call.ear.learn_level(2000, 2500)
    call.facts.clear()
    call.hear(buzz(500, -40))
    assert call.facts == []
    call.hear(tone(300, -66))
    assert call.hear(buzz(100, -24))


def test_the_agents_echo_starts_nothing_after_it_was_recognized() -> None:
    rng = np.random.default_rng(3)
    call = Call()
    spoken: list[Samples] = []
    while len(spoken) < 600:
        syllable = buzz(20 * int(rng.integers(4, 14)), float(rng.normal(-20, 3)))
        spoken += list(syllable.reshape(-1, 160))
        spoken += [np.zeros(160, np.int16)] * int(rng.integers(2, 7))
    for at, out in enumerate(spoken):
        call.ear.spoke(out, 8000, at * 20)
        call.hear((spoken[at - 3] // 10).astype(np.int16) if at >= 3 else out * 0)
    starts = [fact.onset_ms for fact in call.facts if isinstance(fact, VoiceStarted)]
    assert starts and max(starts) < 3000


def test_orders_for_the_engine_are_passed_on_until_the_ear_is_closed() -> None:
    call = Call(detector=FakeDetector())
    call.ear.decode_now(500)
    call.ear.forget(400)
    asyncio.run(call.ear.aclose())
    asyncio.run(call.ear.aclose())
    call.ear.decode_now(900)
    call.ear.forget(900)
    call.hear(buzz(200, -20))
    assert (call.stt.asked, call.stt.forgotten, call.stt.closed) == ([500], [400], 1)
    assert call.detector is not None and call.detector.probes[0].closed
    assert call.facts == []


@pytest.mark.parametrize(
    "fmt",
    [
        AudioFormat(Encoding.ALAW, 8000),
        AudioFormat(Encoding.PCM16, 16000),
        AudioFormat(Encoding.PCM16, 24000),
        AudioFormat(Encoding.PCM16, 48000),
    ],
)
def test_every_line_format_is_heard(fmt: AudioFormat) -> None:
    call = Call(fmt=fmt)
    times = fmt.rate_hz // 8000
    call.hear(np.repeat(STILL, times))
    facts = call.hear(np.repeat(buzz(300, -25), times))
    assert [type(fact) for fact in facts][:1] == [VoiceStarted]


def test_hostile_payloads_are_heard_as_something_and_never_raise() -> None:
    call = Call()
    for end_ms, payload in enumerate((b"", b"\xff", b"\x00" * 159, bytes(range(256)) * 4)):
        call.ear.frame(payload, end_ms * 20)
    call.ear.spoke(np.zeros(0, np.int16), 0, -20)
    call.ear.learn_level(500, 100)
    assert call.facts == []
