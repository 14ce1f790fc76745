"""The embedded recognizer, with a decoder that writes what the test says."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import numpy as np

from voice.audio.format import PHONE
from voice.floor.events import Transcribed, TranscriberBack, TranscriberFailed
from voice.hearing.decoder import Decoded, Decoder
from voice.hearing.ports import SttFact, SttHints, SttStream
from voice.hearing.stt_local import LocalStt
from voice.hearing.utterance import Stretch
from voice.replay.virtual_loop import run_virtual
from voice.workers import VirtualWorker

FRAME = np.full(160, 1000, np.int16)
BYTES = b"\x10" * 160


@dataclass
class FakeDecoder(Decoder):
    """Answers with the texts in turn (the last one again and again); an exception is raised."""

    answers: list[Decoded | Exception] = field(default_factory=list)
    asked: list[Stretch] = field(default_factory=list)

    def decode(self, stretch: Stretch, rate_hz: int) -> Decoded:
        assert rate_hz == 8000
        self.asked.append(stretch)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Caller:
    """One stream, fed in the time of the loop."""

    def __init__(self, stream: SttStream, facts: list[SttFact]) -> None:
        self.stream = stream
        self.facts = facts
        self.now = 0

    async def speak(self, ms: int, *, voiced: bool = True) -> None:
        for _ in range(ms // 20):
            await asyncio.sleep(0.02)
            self.now += 20
            self.stream.feed(BYTES, FRAME, self.now, voiced)

    @property
    def finals(self) -> list[Transcribed]:
        return [fact for fact in self.facts if isinstance(fact, Transcribed) and fact.final]

    @property
    def partials(self) -> list[Transcribed]:
        return [fact for fact in self.facts if isinstance(fact, Transcribed) and not fact.final]


def play(
    script: Callable[[Caller], Awaitable[None]],
    *answers: Decoded | Exception | str,
    latency_s: float = 0.06,
) -> tuple[Caller, FakeDecoder]:
    decoder = FakeDecoder([Decoded(a, -0.2) if isinstance(a, str) else a for a in answers])

    async def main() -> Caller:
        engine = LocalStt(VirtualWorker(latency_s), decoder)
        facts: list[SttFact] = []
        caller = Caller(engine.open(PHONE, SttHints(), facts.append), facts)
        await script(caller)
        await asyncio.sleep(1)
        await caller.stream.aclose()
        await engine.aclose()
        return caller

    return run_virtual(main()), decoder


def test_the_first_partial_comes_after_300_ms_and_the_next_after_300_more() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(1000)

    caller, decoder = play(script, "cancel the order")
    assert [stretch.end_ms for stretch in decoder.asked] == [300, 600, 900]
    assert [fact.audio_end_ms for fact in caller.partials] == [300, 600, 900]
    assert caller.partials[0].voiced_ms == 300


def test_slow_decoding_spaces_the_partials_out() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(2000)

    _, decoder = play(script, "cancel the order", latency_s=0.15)
    assert [stretch.end_ms for stretch in decoder.asked] == [300, 1060, 1820]


def test_words_that_two_partials_agree_on_carry_more_confidence() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(700)

    caller, _ = play(script, "cancel the or", "Cancel the order please")
    first, second = caller.partials
    assert len({word.confidence for word in first.words}) == 1
    certain, half = second.words[1].confidence, second.words[2].confidence
    assert certain == 2 * half == 2 * first.words[0].confidence


def test_decode_now_is_answered_by_one_final_with_words_in_their_time() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(600, voiced=False)
        await caller.speak(1000)
        await caller.speak(160, voiced=False)
        caller.stream.decode_now(caller.now)
        caller.stream.decode_now(caller.now)

    caller, _ = play(script, "Cancel my order.")
    (final,) = caller.finals
    assert final.text == "Cancel my order."
    assert (final.audio_start_ms, final.audio_end_ms, final.voiced_ms) == (600, 1760, 1000)
    assert final.words[0].start_ms == 600
    assert final.words[-1].end_ms == 1600


def test_fresh_voice_before_the_answer_voids_it_and_the_sentence_stays_whole() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(500)
        await caller.speak(160, voiced=False)
        caller.stream.decode_now(caller.now)
        await caller.speak(500)
        await caller.speak(160, voiced=False)
        caller.stream.decode_now(caller.now)

    caller, decoder = play(script, "my number is", "my number is", "my number is nine")
    (final,) = caller.finals
    assert final.audio_end_ms == 1320
    assert decoder.asked[-1].voiced_ms == 1000


def test_without_voice_the_answer_has_no_words_and_nothing_is_decoded() -> None:
    """D04"""

    async def script(caller: Caller) -> None:
        caller.stream.decode_now(0)
        assert caller.facts == []
        await caller.speak(400, voiced=False)
        caller.stream.decode_now(caller.now)
        await caller.speak(40)
        caller.stream.decode_now(caller.now)

    caller, decoder = play(script, "You")
    assert [final.text for final in caller.finals] == ["", "", ""]
    assert len({final.segment for final in caller.finals}) == 3
    assert decoder.asked == []


def test_a_final_that_is_not_believed_is_still_an_answer() -> None:
    """D04"""

    async def script(caller: Caller) -> None:
        await caller.speak(280)
        caller.stream.decode_now(caller.now)

    caller, _ = play(script, "Thank you for watching.")
    assert [(final.text, final.audio_end_ms) for final in caller.finals] == [("", 280)]


def test_each_final_closes_its_segment() -> None:
    """D01, D03"""

    async def script(caller: Caller) -> None:
        for _ in range(2):
            await caller.speak(240)
            await caller.speak(160, voiced=False)
            caller.stream.decode_now(caller.now)
            await caller.speak(400, voiced=False)

    caller, decoder = play(script, "cancel it")
    first, second = caller.finals
    assert first.segment != second.segment
    assert second.audio_start_ms == 800
    assert [stretch.voiced_ms for stretch in decoder.asked] == [240, 240]


def test_forgotten_audio_is_neither_answered_nor_decoded_again() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(280)
        caller.stream.decode_now(caller.now)
        caller.stream.forget(caller.now)
        await caller.speak(100)
        caller.stream.decode_now(caller.now)

    caller, decoder = play(script, "noise words", "real words")
    assert [(final.text, final.audio_start_ms) for final in caller.finals] == [("real words", 280)]
    assert decoder.asked[-1].voiced_ms == 100


def test_a_long_sentence_is_given_out_in_parts_and_no_sound_is_lost() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(5000)
        await caller.speak(240, voiced=False)
        await caller.speak(3000)
        caller.stream.decode_now(caller.now)

    caller, decoder = play(script, "words and words that go on")
    first, second = caller.finals
    assert (first.audio_end_ms, second.audio_end_ms) == (5100, 8240)
    assert (first.voiced_ms, second.voiced_ms) == (5000, 3000)
    assert second.segment == first.segment + 1


def test_twelve_seconds_without_a_dip_are_cut_too() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(12_000)
        caller.stream.decode_now(caller.now)

    caller, decoder = play(script, "words and words that go on")
    assert len(caller.finals) == 2
    assert sum(final.voiced_ms for final in caller.finals) == 12_000
    assert max(stretch.voiced_ms for stretch in decoder.asked) <= 11_000


def test_a_failure_is_told_once_the_final_is_tried_again_and_success_is_told() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(1000)
        caller.stream.decode_now(caller.now)

    broken = RuntimeError("broken")
    caller, _ = play(script, broken, broken, broken, broken, "we are back")
    assert [type(fact) for fact in caller.facts] == [
        TranscriberFailed,
        TranscriberBack,
        Transcribed,
    ]
    assert caller.finals[0].text == "we are back"


def test_a_final_that_fails_twice_is_answered_without_words_and_marked() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(200)
        caller.stream.decode_now(caller.now)

    caller, _ = play(script, RuntimeError("broken"))
    assert isinstance(caller.facts[0], TranscriberFailed)
    (final,) = caller.finals
    assert (final.text, final.uncertain) == ("", True)
    assert len(caller.facts) == 2


def test_nothing_is_told_after_close() -> None:
    async def script(caller: Caller) -> None:
        await caller.speak(280)
        caller.stream.decode_now(caller.now)
        await caller.stream.aclose()
        caller.stream.feed(BYTES, FRAME, 300, True)
        caller.stream.decode_now(300)

    caller, _ = play(script, "late")
    assert caller.facts == []


def test_the_same_call_gives_the_same_facts_in_every_run() -> None:
    async def script(caller: Caller) -> None:
        for _ in range(3):
            await caller.speak(900)
            await caller.speak(180, voiced=False)
            caller.stream.decode_now(caller.now)
            await caller.speak(300, voiced=False)

    first, _ = play(script, "one", "one two", "one two three four")
    again, _ = play(script, "one", "one two", "one two three four")
    assert first.facts == again.facts
