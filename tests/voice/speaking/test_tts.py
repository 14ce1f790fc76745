"""The two engines of our own behind the text-to-speech port."""

import asyncio
import logging
from collections.abc import Callable

import numpy as np
import pytest

from runtime.errors import ProviderError
from voice.replay.virtual_loop import run_virtual
from voice.speaking import tts_local
from voice.speaking.ports import SpokenPiece, TextToSpeech
from voice.speaking.tts_local import HibariTts
from voice.speaking.tts_scripted import ScriptedTts, TtsFaults
from voice.workers import VirtualWorker

ENGINES: list[Callable[[], TextToSpeech]] = [
    lambda: HibariTts(VirtualWorker(0.03), seed=1),
    ScriptedTts,
]


async def spoken(tts: TextToSpeech, *texts: str) -> list[SpokenPiece]:
    stream = tts.open("en", None)
    for chunk, text in enumerate(texts):
        stream.push(chunk, text)
    stream.finish()
    pieces = [piece async for piece in stream.pieces()]
    await stream.aclose()
    await stream.aclose()
    return pieces


def samples_of(pieces: list[SpokenPiece], chunk: int) -> np.ndarray:  # type: ignore[type-arg]
    return np.concatenate([p.samples for p in pieces if p.chunk == chunk])


@pytest.mark.parametrize("make", ENGINES)
def test_chunks_come_whole_and_in_order(make: Callable[[], TextToSpeech]) -> None:
    async def main() -> None:
        tts = make()
        pieces = await spoken(tts, "Hello there.", "How are you today?")
        assert [p.chunk for p in pieces] == sorted(p.chunk for p in pieces)
        assert [p.chunk for p in pieces if p.last] == [0, 1]
        for chunk in (0, 1):
            assert 0.3 < len(samples_of(pieces, chunk)) / tts.rate_hz < 3
        assert pieces[0].samples.dtype == np.int16
        await tts.aclose()

    run_virtual(main())


@pytest.mark.parametrize("make", ENGINES)
def test_equal_text_gives_equal_sound(make: Callable[[], TextToSpeech]) -> None:
    async def main() -> None:
        one = await spoken(make(), "Your table is booked.")
        two = await spoken(make(), "Your table is booked.")
        assert [p.samples.tobytes() for p in one] == [p.samples.tobytes() for p in two]

    run_virtual(main())


def test_the_seed_changes_only_the_noise() -> None:
    async def main() -> None:
        one = samples_of(await spoken(HibariTts(VirtualWorker(0), 1), "Hello there."), 0)
        two = samples_of(await spoken(HibariTts(VirtualWorker(0), 2), "Hello there."), 0)
        size = min(len(one), len(two))
        assert abs(len(one) - len(two)) < 480
        assert one[:size].tobytes() != two[:size].tobytes()

    run_virtual(main())


@pytest.mark.parametrize("text", ["", "🎉", "\u200b"])
def test_text_without_sound_still_ends_its_chunk(text: str) -> None:
    """L06"""

    async def main() -> None:
        for tts in (HibariTts(VirtualWorker(0), 1), ScriptedTts(ms_per_char=0)):
            pieces = await spoken(tts, text, "Hello.")
            assert [p.chunk for p in pieces if p.last] == [0, 1]
            assert len(samples_of(pieces, 0)) == 0

    run_virtual(main())


def test_the_engines_silence_around_a_sentence_is_cut() -> None:
    async def main() -> None:
        sound = samples_of(await spoken(HibariTts(VirtualWorker(0), 1), "Hello there."), 0)
        loud = np.flatnonzero(abs(sound) > 400)
        assert loud[0] < 24 * 40
        assert len(sound) - loud[-1] < 24 * 200

    run_virtual(main())


def test_an_answer_takes_the_declared_latency_and_a_repeated_sentence_none() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        tts = HibariTts(VirtualWorker(0.03), seed=1)
        await spoken(tts, "One moment.")
        assert loop.time() == pytest.approx(0.03)
        await spoken(tts, "One moment.")
        assert loop.time() == pytest.approx(0.03)
        assert tts.synthesized == 1

    run_virtual(main())


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """N06"""
    monkeypatch.setattr(tts_local, "_CACHE_BYTES", 500_000)

    async def main() -> None:
        tts = HibariTts(VirtualWorker(0), seed=1)
        for number in range(40):
            await spoken(tts, f"Number {number}.")
        assert tts._cache_bytes == sum(s.nbytes for s in tts._cache.values())
        assert tts._cache_bytes <= 500_000
        assert len(tts._cache) >= 5

    run_virtual(main())


def test_a_stream_that_was_closed_computes_no_more() -> None:
    """A05"""

    async def main() -> None:
        tts = HibariTts(VirtualWorker(0.03), seed=1)
        stream = tts.open("en", None)
        stream.push(0, "Never said.")
        await stream.aclose()
        await tts.sentence("Never said.", "heart", stream)  # type: ignore[arg-type]
        assert tts.synthesized == 0

    run_virtual(main())


def test_a_voice_that_is_not_here_is_refused_without_a_download() -> None:
    """L10, N03"""

    async def main() -> None:
        for voice in ("emma", "nobody"):
            tts = HibariTts(VirtualWorker(0), seed=1)
            stream = tts.open("en", voice)
            stream.push(0, "Hello.")
            with pytest.raises(ProviderError):
                _ = [p async for p in stream.pieces()]
            with pytest.raises(ProviderError):
                await tts.preload(voice)

    run_virtual(main())


def test_an_engine_error_does_not_quote_the_text() -> None:
    async def main() -> None:
        tts = HibariTts(VirtualWorker(0), seed=1)
        await tts.preload()

        def broken(text: str, speed: float = 1.0, seed: int | None = None) -> None:
            raise RuntimeError(text)

        tts._engines["heart"] = broken  # type: ignore[assignment]
        with pytest.raises(ProviderError, match="RuntimeError") as caught:
            await spoken(tts, "my number is 4419")
        assert "4419" not in str(caught.value)

    run_virtual(main())


def test_another_language_is_spoken_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """L08: never silent."""

    async def main() -> None:
        tts = HibariTts(VirtualWorker(0), seed=1)
        for _ in range(3):
            tts.open("de-DE", None)
        tts.open("en_GB", None)

    with caplog.at_level(logging.INFO):
        run_virtual(main())
    assert len(caplog.records) == 1


def test_scripted_faults() -> None:
    async def main() -> None:
        with pytest.raises(ProviderError):
            await spoken(ScriptedTts(faults=TtsFaults(dies_after_chunks=0)), "Hello.")
        tts = ScriptedTts(faults=TtsFaults(merges_chunks=True))
        pieces = await spoken(tts, "One.", "Two.")
        assert {p.chunk for p in pieces} == {0}
        assert not any(p.last for p in pieces)
        limited = ScriptedTts(faults=TtsFaults(most_open=1))
        limited.open("en", None)
        with pytest.raises(ProviderError):
            limited.open("en", None)
        late = ScriptedTts(faults=TtsFaults(late_pieces_after_close=2))
        stream = late.open("en", None)
        await stream.aclose()
        assert len([p async for p in stream.pieces()]) == 2

    run_virtual(main())


def test_scripted_word_times_match_the_sound() -> None:
    async def main() -> None:
        pieces = await spoken(ScriptedTts(word_times=True), "Hello there.")
        words = [w for p in pieces for w in p.words]
        assert [(w.start_char, w.end_char) for w in words] == [(0, 5), (6, 12)]
        assert words[-1].end_ms == sum(len(p.samples) for p in pieces) / 8

    run_virtual(main())
