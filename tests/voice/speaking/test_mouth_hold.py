"""The mouth's gate: holds, releases, and lines that survive a flush."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from tests.voice.speaking.far_end import MS_PER_CHAR, FarEnd, NumberedTts, Rig
from voice.replay.virtual_loop import run_virtual
from voice.speaking.tts_scripted import ScriptedTts, TtsFaults

LONG = "We are open Monday to Friday from nine to five and on Saturday by appointment only."


def run(main: Coroutine[Any, Any, None]) -> None:
    run_virtual(main)


def spoken_ms(text: str) -> int:
    return len(text) * MS_PER_CHAR


def test_a_hold_and_release_loses_nothing_and_repeats_at_most_a_word() -> None:
    """A02, A13, B06: a false alarm costs a pause."""

    async def main() -> None:
        for words in (True, False):
            for cut in (0.2, 0.73, 1.5, 2.22, 4.0):
                async with Rig(NumberedTts(words=words)) as rig:
                    rig.speak(1, LONG)
                    begin = rig.loop.time()
                    await asyncio.sleep(cut)
                    rig.mouth.hold()
                    rig.mouth.hold()
                    await asyncio.sleep(0.5)
                    before = len(rig.far.played())
                    rig.mouth.release()
                    rig.mouth.release()
                    await rig.until(begin + 7)
                    played = rig.far.played()
                    del played[before : before + 10]  # fading in changes what they say
                    assert set(range(1, spoken_ms(LONG) + 1)) <= set(played)
                    back = [a - b for a, b in zip(played, played[1:], strict=False) if b < a and b]
                    assert len(back) <= 1
                    longest = max(len(w) for w in LONG.split()) * MS_PER_CHAR
                    assert all(step <= longest + 200 for step in back)
                    assert rig.kinds(1) == ["SayReady", "SayStarted", "SayFinished"]
                    assert [s.heard_chars for s in rig.settled] == [len(LONG)]

    run(main())


def test_a_hold_within_a_word_goes_back_to_its_start() -> None:
    async def main() -> None:
        async with Rig(NumberedTts(words=True)) as rig:
            rig.speak(1, "Wonderful weather today.")
            await rig.until(0.9)  # inside "weather", which begins at 600
            rig.mouth.hold()
            await rig.until(1.3)
            before = len(rig.far.played())
            rig.mouth.release()
            await rig.until(1.4)
            first_word_ms = len("Wonderful") * MS_PER_CHAR
            faded, *rest = rig.far.played()[before:]
            assert faded < first_word_ms / 5
            first = rest[20] - 21
            # word times say when a word ends: the next one begins there
            assert first == first_word_ms + 1

    run(main())


def test_a_hold_when_nothing_is_out_sends_no_clear() -> None:
    """A08: no clear is needed before any sound."""

    async def main() -> None:
        async with Rig(ScriptedTts(faults=TtsFaults(hangs=True))) as rig:
            rig.speak(1, "One moment.")
            await rig.until(0.1)
            rig.mouth.hold()
            assert [s.outcome for s in rig.mouth.flush()] == ["dropped"]
            rig.mouth.release()
            assert rig.far.clears == []
            assert rig.mouth.idle

    run(main())


def test_a_far_end_without_clear_goes_on_at_the_start_of_the_cut_word() -> None:
    """A13: what it had is played out; a short hold is not even noticed."""

    async def main() -> None:
        async with Rig(NumberedTts(words=True), can_clear=False) as rig:
            rig.speak(1, "Wonderful weather today.")
            await rig.until(0.5)
            rig.mouth.hold()
            await rig.until(0.54)
            rig.mouth.release()
            await rig.until(0.9)
            assert rig.far.played() == list(range(1, len(rig.far.played()) + 1))
            rig.mouth.hold()
            await rig.until(1.3)
            before = len(rig.far.played())
            assert 960 <= before <= 1000
            rig.mouth.release()
            await rig.until(1.4)
            assert rig.far.played()[before + 20] == len("Wonderful") * MS_PER_CHAR + 21
            await rig.until(4)
            assert rig.far.clears == []
            assert [s.outcome for s in rig.settled] == ["heard"]

    run(main())


def test_sound_keeps_coming_behind_a_closed_gate_and_starts_at_release() -> None:
    """A06: ready while the caller has the floor, sent only after."""

    async def main() -> None:
        async with Rig(NumberedTts(delay_s=0.3)) as rig:
            rig.mouth.hold()
            rig.speak(1, "Hello there.")
            await rig.until(1)
            assert rig.kinds(1) == ["SayReady"]
            assert rig.far.frames == []
            rig.mouth.release()
            await rig.until(3)
            assert rig.far.played()[0] == 1
            assert [s.outcome for s in rig.settled] == ["heard"]

    run(main())


def test_interrupted_says_never_hold_more_than_one_context_open() -> None:
    """A10: eight turns cut before any text, then a normal one; every context is closed once."""

    async def main() -> None:
        tts = ScriptedTts(delay_s=0.5, faults=TtsFaults(most_open=5, close_s=0.4))
        async with Rig(tts) as rig:
            for say in range(1, 9):
                rig.speak(say, "Some reply.", allow=False)
                await asyncio.sleep(0.3)
                rig.mouth.flush()
            assert tts.most_open <= 2
            rig.speak(9, "This one is spoken.")
            await asyncio.sleep(4)
            assert [(s.say, s.outcome) for s in rig.settled] == [(9, "heard")]
        assert tts.opened == tts.closed
        assert tts.open_now == 0

    run(main())


def test_a_protected_line_plays_on_while_the_reply_behind_it_is_dropped() -> None:
    """A07, A09: no clear, not a gap, and the newer reply follows."""

    async def main() -> None:
        async with Rig() as rig:
            legal = "This call is recorded."
            rig.speak(1, legal)
            rig.speak(2, "An old reply.")
            await rig.until(0.5)
            dropped = rig.mouth.flush(keep=(1,))
            assert [(s.say, s.outcome) for s in dropped] == [(2, "dropped")]
            rig.speak(3, "The new reply.")
            await rig.until(4)
            assert rig.far.clears == []
            played = [v for v in rig.far.played() if v]
            assert played[: spoken_ms(legal)] == list(range(1, spoken_ms(legal) + 1))
            assert not any(10_000 < v < 20_000 for v in played)
            assert [(s.say, s.outcome) for s in rig.settled] == [(1, "heard"), (3, "heard")]

    run(main())


def test_a_kept_line_goes_on_when_sound_behind_it_must_be_cleared() -> None:
    """A09: a reply already at the far end is taken back, the line's rest is sent again."""

    async def main() -> None:
        async with Rig() as rig:
            legal = "This call is recorded."
            rig.speak(1, legal)
            rig.speak(2, "An old reply.")
            await rig.until(1.25)  # the line ends at 1.32, the reply's first frames are out
            dropped = rig.mouth.flush(keep=(1,))
            assert [(s.say, s.outcome) for s in dropped] == [(2, "dropped")]
            assert len(rig.far.clears) == 1
            await rig.until(4)
            played = [v for v in rig.far.played() if v]
            assert set(played) >= set(range(1, spoken_ms(legal) + 1))
            assert not any(v > 10_000 for v in played)
            assert [(s.say, s.outcome) for s in rig.settled] == [(1, "heard")]

    run(main())


def test_a_far_end_that_fell_behind_is_not_kept_behind() -> None:
    """A01, H05: after a stall the lead is the lead again, so that a clear recalls little."""

    async def main() -> None:
        async with Rig(far=FarEnd(out_s=0.03, in_s=0.03)) as rig:
            rig.speak(1, LONG)
            await rig.until(1)
            rig.far.stalled_until = 1.8
            await rig.until(3.5)
            waiting = len(rig.far.frames) * 20 - len(rig.far.played())
            assert waiting <= 300
            await rig.until(8)
            assert rig.far.played()[: spoken_ms(LONG)] == list(range(1, spoken_ms(LONG) + 1))
            assert [s.outcome for s in rig.settled] == ["heard"]

    run(main())
