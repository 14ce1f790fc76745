"""The ear and the embedded recognizer on recorded speech, in virtual time."""

import asyncio

import numpy as np
import pytest

from runtime.agent import InterruptionSettings
from tests.voice.hearing.clips import LEAD_MS, on_a_line, segments
from voice.audio.codec import from_linear
from voice.audio.format import PHONE
from voice.floor.events import FloorEvent, Transcribed, VoiceConfirmed, VoiceEnded, VoiceStarted
from voice.hearing.believe import BACKCHANNELS, INTERRUPTS
from voice.hearing.decoder import MoonshineDecoder
from voice.hearing.ear import Ear
from voice.hearing.moonshine import Moonshine
from voice.hearing.ports import Samples, SttHints
from voice.hearing.silero import SileroDetector
from voice.hearing.stt_local import LocalStt
from voice.replay.virtual_loop import run_virtual
from voice.workers import VirtualWorker

pytestmark = pytest.mark.audio


@pytest.fixture(scope="module")
def detector() -> SileroDetector:
    return SileroDetector()


@pytest.fixture(scope="module")
def decoder() -> MoonshineDecoder:
    return MoonshineDecoder()


def listen(
    line: Samples, detector: SileroDetector, decoder: MoonshineDecoder
) -> list[tuple[int, FloorEvent]]:
    """Play a telephone line; ask for a final at 160 ms of silence, as the floor does."""

    async def main() -> list[tuple[int, FloorEvent]]:
        loop = asyncio.get_running_loop()
        facts: list[tuple[int, FloorEvent]] = []
        ask_at: list[int] = []

        def sink(fact: FloorEvent) -> None:
            facts.append((round(loop.time() * 1000), fact))
            match fact:
                case VoiceStarted():
                    ask_at.clear()
                case VoiceEnded(last_voiced_ms=last_voiced_ms):
                    ask_at[:] = [last_voiced_ms + 160]
                case _:
                    pass

        engine = LocalStt(VirtualWorker(), decoder)
        ear = Ear(
            PHONE,
            detector=detector,
            stt=engine,
            hints=SttHints(),
            settings=InterruptionSettings(),
            sink=sink,
        )
        for number in range(line.size // 160):
            await asyncio.sleep(0.02)
            now = (number + 1) * 20
            ear.frame(from_linear(PHONE, line[number * 160 : (number + 1) * 160]), now)
            detector.run()
            if ask_at and now >= ask_at[0]:
                ask_at.clear()
                ear.decode_now(now)
        await asyncio.sleep(0.5)
        await ear.aclose()
        await engine.aclose()
        return facts

    return run_virtual(main())


def finals(facts: list[tuple[int, FloorEvent]]) -> list[Transcribed]:
    return [fact for _, fact in facts if isinstance(fact, Transcribed) and fact.final]


@pytest.mark.parametrize(
    "file",
    [
        "clips/bc_caller_okay_1.wav",
        "clips/bc_caller_uhhuh_yep.wav",
        "clips/bc_caller_yeah.wav",
        "clips/en_brooklyn_bridge.wav",
        "clips/en_shell_or_something.wav",
        "clips/kw_no.wav",
        "clips/tel_caller_sounds_great.wav",
    ],
)
def test_a_voice_is_noticed_within_80_ms_and_confirmed_within_180(
    file: str, detector: SileroDetector, decoder: MoonshineDecoder
) -> None:
    facts = listen(on_a_line(file), detector, decoder)
    onset_ms = LEAD_MS + segments(file)[0][0]
    started = next(at for at, fact in facts if isinstance(fact, VoiceStarted))
    confirmed = next(at for at, fact in facts if isinstance(fact, VoiceConfirmed))
    assert -40 <= started - onset_ms <= 80
    assert confirmed - onset_ms <= 180
    starts = sum(isinstance(fact, VoiceStarted) for _, fact in facts)
    assert starts == sum(isinstance(fact, VoiceEnded) for _, fact in facts)


@pytest.mark.parametrize(
    "file",
    ["clips/bc_caller_okay_1.wav", "clips/bc_caller_uhhuh_yep.wav", "clips/bc_caller_yeah.wav"],
)
def test_backchannels_are_judged_as_such(
    file: str, detector: SileroDetector, decoder: MoonshineDecoder
) -> None:
    with_words = [
        final for final in finals(listen(on_a_line(file), detector, decoder)) if final.text
    ]
    assert with_words
    assert {final.verdict for final in with_words} == {"backchannel"}


def test_a_question_is_written_down_with_its_first_word(
    detector: SileroDetector, decoder: MoonshineDecoder
) -> None:
    """A12: the first word is there, and in its place."""
    facts = listen(on_a_line("clips/en_brooklyn_bridge.wav"), detector, decoder)
    (final,) = finals(facts)
    assert final.text == "How old is the Brooklyn Bridge?"
    assert final.verdict == "words"
    assert final.logprob > -0.5
    onset_ms, end_ms = segments("clips/en_brooklyn_bridge.wav")[0]
    assert abs(final.words[0].start_ms - LEAD_MS - onset_ms) < 100
    assert abs(final.words[-1].end_ms - LEAD_MS - end_ms) < 150


def test_a_short_no_is_words(detector: SileroDetector, decoder: MoonshineDecoder) -> None:
    (final,) = finals(listen(on_a_line("clips/kw_no.wav"), detector, decoder))
    assert final.text.lower().startswith("no")
    assert final.verdict == "words"


@pytest.mark.parametrize("file", ["clips/noise_tflm.wav", "clips/ns_burp.wav", "clips/dtmf_1.wav"])
def test_sounds_without_words_give_none(
    file: str, detector: SileroDetector, decoder: MoonshineDecoder
) -> None:
    """D04, G06: what a small recognizer invents for noise, or for a key's tone, reaches nobody."""
    facts = listen(on_a_line(file), detector, decoder)
    assert [fact.text for _, fact in facts if isinstance(fact, Transcribed) and fact.text] == []


def test_the_same_call_gives_the_same_facts(
    detector: SileroDetector, decoder: MoonshineDecoder
) -> None:
    line = on_a_line("clips/tel_caller_sounds_great.wav")
    assert listen(line, detector, decoder) == listen(line, detector, decoder)


def test_the_vocabulary_cuts_phrases_into_pieces_the_model_knows() -> None:
    model = Moonshine()
    for phrase in BACKCHANNELS + INTERRUPTS:
        tokens = model.vocabulary.tokens(phrase)
        assert model.vocabulary.text(tokens) == phrase
        assert len(tokens) <= 6
    assert len(model.vocabulary) == 32768


def test_scoring_a_phrase_agrees_with_writing_it() -> None:
    """Up to the rounding of 8-bit weights, which depends on how many rows are computed at once."""
    model = Moonshine()
    sound = on_a_line("clips/kw_yes.wav", 16000)[LEAD_MS * 16 - 4000 :].astype(np.float32) / 16384
    heard = model.hear(sound)
    greedy = model.write(heard, 20)
    ((score, after),) = model.score(heard, [greedy.tokens])
    assert score == pytest.approx(sum(greedy.logprobs[: len(greedy.tokens)]), abs=0.1)
    assert float(after[2]) == pytest.approx(greedy.logprobs[-1], abs=0.1)
    assert model.score(heard, []) == []
    capped = model.write(heard, 0)
    assert (capped.tokens, capped.mean_logprob) == ((), 0.0)
