"""The mouth and its engine: late, dying, silent, slow and far ahead."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from runtime.agent import Heard, SayEnd, SayText
from tests.voice.speaking.far_end import MS_PER_CHAR, NumberedTts, Rig
from voice.audio.format import PHONE
from voice.floor.events import SayFailed
from voice.replay.virtual_loop import run_virtual
from voice.speaking.tts_local import HibariTts
from voice.speaking.tts_scripted import ScriptedTts, TtsFaults
from voice.workers import VirtualWorker


def run(main: Coroutine[Any, Any, None]) -> None:
    run_virtual(main)


def spoken_ms(text: str) -> int:
    return len(text) * MS_PER_CHAR


def test_late_sound_of_a_cut_say_is_never_sent() -> None:
    """A05: the engine answers the cancelled request after the next one has begun."""

    async def main() -> None:
        tts = NumberedTts(delay_s=1.2)
        async with Rig(tts) as rig:
            rig.speak(1, "The first reply.")
            await rig.until(1.0)
            assert [s.outcome for s in rig.mouth.flush()] == ["dropped"]
            rig.speak(2, "The second.")
            await rig.until(5)
            played = [v for v in rig.far.played() if v]
            assert played[0] == 10_001
            assert played == list(range(10_001, 10_001 + spoken_ms("The second.")))
            assert [(s.say, s.outcome) for s in rig.settled] == [(2, "heard")]

    run(main())


def test_pieces_that_a_stream_yields_after_it_was_closed_go_nowhere() -> None:
    """A05: late pieces and their word times change neither sound nor history."""

    async def main() -> None:
        tts = ScriptedTts(faults=TtsFaults(late_pieces_after_close=3), word_times=True)
        async with Rig(tts) as rig:
            rig.speak(1, "Hello there. And then", end=False)
            await rig.until(0.5)
            settled = rig.mouth.flush()
            sent = len(rig.far.frames)
            await rig.until(3)
            assert len(rig.far.frames) == sent
            assert settled[0].heard_chars <= len("Hello")
            assert rig.mouth.heard_at(3000) == (Heard(1, settled[0].heard_chars, False),)

    run(main())


def test_a_say_without_text_opens_no_context() -> None:
    """A10: interrupted before text arrived."""

    async def main() -> None:
        tts = ScriptedTts()
        async with Rig(tts) as rig:
            rig.speak(1, end=False)
            await rig.until(0.3)
            rig.mouth.flush()
            assert tts.opened == 0

    run(main())


def test_every_context_is_closed_at_hang_up() -> None:
    """A10"""

    async def main() -> None:
        tts = ScriptedTts(delay_s=1)
        rig = Rig(tts)
        rig.speak(1, "A say that is just being made.")
        rig.mouth.speak_line(-1, "One moment.", "en")
        await rig.until(0.1)
        assert tts.open_now == 2
        await rig.__aexit__()
        assert tts.open_now == 0 and tts.opened == tts.closed == 2
        assert [(s.say, s.outcome) for s in rig.settled] == [(1, "dropped"), (-1, "dropped")]
        await rig.mouth.aclose()

    run(main())


def test_an_engine_that_dies_fails_its_say_and_no_later_one() -> None:
    """N03: what was heard is recorded, replies 3, 5 and 7 work."""

    async def main() -> None:
        tts = ScriptedTts()
        async with Rig(tts) as rig:
            for say in range(1, 8):
                bad = say % 2 == 0
                tts.faults = TtsFaults(dies_after_chunks=1 if bad else None)
                rig.speak(say, "All is well here. And some more of it.")
                await asyncio.sleep(5)
            outcomes = [s.outcome for s in rig.settled]
            assert outcomes == ["heard", "failed"] * 3 + ["heard"]
            failed = rig.settled[1]
            text = "All is well here. And some more of it."
            assert len("All is well here.") <= failed.heard_chars < len(text)
            assert rig.of(SayFailed) == [SayFailed(n, "provider_retryable") for n in (2, 4, 6)]
        assert tts.opened == tts.closed

    run(main())


def test_an_engine_that_can_not_even_open_fails_the_say() -> None:
    """N03"""

    async def main() -> None:
        tts = ScriptedTts(faults=TtsFaults(most_open=0))
        async with Rig(tts) as rig:
            rig.speak(1, "Hello there.")
            await rig.until(0.1)
            assert rig.kinds(1) == ["SayFailed"]
            assert [(s.outcome, s.heard_chars) for s in rig.settled] == [("failed", 0)]
            tts.faults = TtsFaults()
            rig.speak(2, "Hello again.")
            await rig.until(3)
            assert [s.outcome for s in rig.settled] == ["failed", "heard"]

    run(main())


def test_an_engine_that_is_silent_for_five_seconds_fails_the_say() -> None:
    """A08, N03: never a wait without an end."""

    async def main() -> None:
        tts = ScriptedTts(faults=TtsFaults(hangs=True))
        async with Rig(tts) as rig:
            rig.speak(1, "Hello there.")
            await rig.until(4.9)
            assert rig.kinds(1) == []
            await rig.until(5.2)
            assert rig.of(SayFailed) == [SayFailed(1, "silent")]
            assert [s.outcome for s in rig.settled] == ["failed"]
            tts.faults = TtsFaults()
            rig.speak(2, "Hello?")
            await rig.until(7)
            assert [s.outcome for s in rig.settled] == ["failed", "heard"]

    run(main())


def test_a_model_that_writes_slowly_is_no_silent_engine() -> None:
    async def main() -> None:
        async with Rig() as rig:
            rig.speak(1, "First sentence. ", end=False)
            await rig.until(2)
            rig.mouth.text(SayText(1, 1, 1, "Second"))
            await rig.until(12)
            rig.mouth.text(SayText(1, 1, 1, " one."))
            rig.mouth.end(SayEnd(1, 1, 1))
            await rig.until(16)
            assert [s.outcome for s in rig.settled] == ["heard"]

    run(main())


def test_a_new_voice_is_for_the_next_say() -> None:
    """L10: the one that is being spoken keeps its own, no error."""

    async def main() -> None:
        tts = ScriptedTts(delay_s=0.2)
        async with Rig(tts) as rig:
            rig.speak(1, "The old voice. It goes on.")
            await rig.until(0.1)
            rig.mouth.use_voice("emma")
            rig.speak(2, "The new voice.")
            await rig.until(5)
            assert tts.voices == [None, "emma"]
            assert [s.outcome for s in rig.settled] == ["heard", "heard"]

    run(main())


def test_a_filler_is_made_while_a_reply_is_still_being_written() -> None:
    async def main() -> None:
        async with Rig() as rig:
            rig.speak(1, "A first sentence. And", allow=False, end=False)
            rig.mouth.speak_line(-1, "One moment.", "en")
            await rig.until(2)
            assert rig.kinds(-1) == ["SayReady", "SayStarted", "SayFinished"]

    run(main())


def test_sound_made_far_ahead_pauses_the_engine() -> None:
    """H05: at most thirty seconds and a piece wait; the rest is made as it is needed."""

    async def main() -> None:
        tts = ScriptedTts(piece_ms=1000)
        async with Rig(tts) as rig:
            sentence = "This sentence is repeated for a long time to fill two minutes. "
            rig.speak(1, sentence * 32)
            await rig.until(1)
            made = rig.mouth._says[1].sound.length_ms
            assert 30_000 <= made <= 32_500
            await rig.until(60)
            assert rig.mouth._says[1].ahead_ms <= 32_500
            await rig.until(130)
            assert [s.outcome for s in rig.settled] == ["heard"]
            assert len(rig.far.frames) * 20 == pytest.approx(62 * 60 * 32, abs=100)

    run(main())


def test_the_local_engine_answers_within_its_latency() -> None:
    """The first frame leaves as soon as the first sentence is made."""

    async def main() -> None:
        tts = HibariTts(VirtualWorker(0.03), seed=1)
        await tts.preload()
        async with Rig(tts, fmt=PHONE) as rig:
            begin = rig.loop.time()
            rig.speak(1, "Your table is booked. Is there", " anything else I can do?")
            await asyncio.sleep(8)
            assert rig.far.frames[0][0] - begin == pytest.approx(0.03, abs=0.001)
            assert [s.outcome for s in rig.settled] == ["heard"]
            assert 2.5 < len(rig.far.frames) * 0.02 < 5

    run(main())


def test_a_failed_say_may_end_the_call_while_it_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """The driver settles everything while it is being told; nothing is told twice or lost."""

    async def main() -> None:
        async with Rig(ScriptedTts(faults=TtsFaults(most_open=0))) as rig:
            rig.on_event = lambda event: rig.mouth.settle() if type(event) is SayFailed else None
            rig.speak(1, "This can't be spoken.")
            rig.speak(2, "Nor can this.")
            await rig.until(3)
            assert [(s.say, s.outcome) for s in rig.settled] == [(1, "failed"), (2, "failed")]

    run(main())
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
