"""The mouth and the far end: lead, marks, stalls, and what was heard when."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from runtime.agent import Heard
from tests.voice.speaking.far_end import MS_PER_CHAR, FarEnd, NumberedTts, Rig
from voice.audio.codec import to_linear
from voice.audio.format import PHONE
from voice.replay.virtual_loop import run_virtual
from voice.speaking.tts_scripted import ScriptedTts

LONG = "We are open Monday to Friday from nine to five and on Saturday by appointment only."


def run(main: Coroutine[Any, Any, None]) -> None:
    run_virtual(main)


def spoken_ms(text: str) -> int:
    return len(text) * MS_PER_CHAR


def test_the_far_end_is_never_more_than_the_lead_ahead() -> None:
    """A01: a reply that the engine makes in no time leaves in real time."""

    async def main() -> None:
        async with Rig() as rig:
            rig.speak(1, LONG)
            while rig.loop.time() < 3:
                await asyncio.sleep(0.01)
                sent = len(rig.far.frames) * 20
                assert sent <= rig.loop.time() * 1000 + 200

    run(main())


def test_a_far_end_without_clear_gets_half_the_lead() -> None:
    async def main() -> None:
        async with Rig(can_clear=False) as rig:
            rig.speak(1, LONG)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert len(rig.far.frames) == 5
            await rig.until(2)
            settled = rig.mouth.flush()
            assert rig.far.clears == []
            assert settled[0].outcome == "cut"

    run(main())


def test_a_stalled_far_end_is_not_fed_until_its_marks_come() -> None:
    """H05: never seconds of sound that no clear can call back."""

    async def main() -> None:
        async with Rig() as rig:
            rig.speak(1, LONG)
            await rig.until(1)
            rig.far.stalled_until = 6.0
            await rig.until(5.5)
            assert len(rig.far.frames) * 20 <= 1000 + 200 + 1000 + 400
            await rig.until(14)
            assert [s.outcome for s in rig.settled] == ["heard"]
            assert rig.far.played()[: spoken_ms(LONG)] == list(range(1, spoken_ms(LONG) + 1))

    run(main())


def test_a_far_end_that_never_sends_a_mark_is_followed_by_the_clock() -> None:
    """B02, H05: counted, and never stopped for ever."""

    async def main() -> None:
        async with Rig(far=FarEnd(marks="none")) as rig:
            rig.speak(1, LONG)
            await rig.until(7)
            assert rig.far.played()[: spoken_ms(LONG)] == list(range(1, spoken_ms(LONG) + 1))
            assert [s.outcome for s in rig.settled] == ["heard"]
            assert rig.mouth.ignored_marks["no_marks"] == 1

    run(main())


def test_a_far_end_whose_marks_cease_is_given_up_after_ten_seconds() -> None:
    """L11: the agent can't stay "speaking" until the call dies."""

    async def main() -> None:
        async with Rig() as rig:
            rig.speak(1, "All is well.")
            await rig.until(2)
            rig.far.marks = "none"
            rig.speak(2, LONG)
            await rig.until(20)
            assert [s.outcome for s in rig.settled] == ["heard", "heard"]

    run(main())


def test_wrong_marks_move_nothing() -> None:
    """A04: unknown, empty, repeated and stale marks are counted; the say ends when it ends."""

    async def main() -> None:
        async with Rig() as rig:
            rig.speak(1, "Hello there. All is well.")
            await rig.until(0.5)
            for name in ("", "t9c7", "9.999", "0.1", "0.1", "0.99"):
                rig.mouth.mark_reached(name)
            assert rig.kinds(1) == ["SayReady", "SayStarted"]
            assert rig.mouth.ignored_marks == {
                "empty": 1,
                "unknown": 3,
                "repeated": 2,
            }
            for name in tuple(rig.far.marks_sent):
                rig.mouth.mark_reached(name)
            assert rig.mouth.ignored_marks["early"] > 0
            await rig.until(1.2)
            assert rig.kinds(1) == ["SayReady", "SayStarted"]
            await rig.until(3)
            assert rig.kinds(1) == ["SayReady", "SayStarted", "SayFinished"]

    run(main())


def test_marks_echoed_on_a_clear_are_stale() -> None:
    """A04: far ends send back all pending marks at once when they are cleared."""

    async def main() -> None:
        async with Rig(far=FarEnd(out_s=0.05, in_s=0.05)) as rig:
            rig.speak(1, LONG)
            await rig.until(2)
            (cut,) = rig.mouth.flush()
            rig.speak(2, "And now this.")
            await rig.until(2.3)
            assert rig.mouth.ignored_marks["stale"] >= 1
            assert len(LONG[: cut.heard_chars]) < 35
            assert rig.kinds(2) == ["SayReady", "SayStarted"]

    run(main())


def test_position_follows_the_clock_not_the_bytes() -> None:
    """B03, E09: eight seconds made at once, heard to the moment of the cut."""

    async def main() -> None:
        async with Rig(NumberedTts(words=True)) as rig:
            text = " ".join(["Words that go on for quite a while."] * 4)
            rig.speak(1, text)
            await rig.until(2.6)
            (cut,) = rig.mouth.flush()
            first = len("Words that go on for quite a while.")
            assert first <= cut.heard_chars <= first + len(" Words that")

    run(main())


def test_what_was_heard_at_a_past_moment_is_known_later() -> None:
    """B06: positions survive holds, and lag by the whole round trip."""

    async def main() -> None:
        far = FarEnd(out_s=0.1, in_s=0.1)
        async with Rig(NumberedTts(words=True), far) as rig:
            rig.speak(1, LONG)
            await rig.until(1.5)
            rig.mouth.hold()
            await rig.until(2)
            rig.mouth.release()
            await rig.until(4)
            # what came in at 1.4 was said when sound sent at 1.2 was playing
            (then,) = rig.mouth.heard_at(1400)
            words = LONG[: then.chars]
            assert words == LONG[:18]
            assert not then.complete
            await rig.until(9)
            assert rig.mouth.heard_at(9000) == (Heard(1, len(LONG), True),)

    run(main())


def test_what_was_heard_at_an_onset_stands_still_while_the_far_end_does() -> None:
    """B01, B03: a far end that stalls has not played what the clock says."""

    async def main() -> None:
        far = FarEnd()
        async with Rig(NumberedTts(words=True), far) as rig:
            rig.speak(1, LONG)
            await rig.until(1.5)
            far.stalled_until = far.now + 5
            await rig.until(2.3)
            (then,) = rig.mouth.heard_at(rig.now_ms)
            played = sum(1 for number in far.played() if number)
            (cut,) = rig.mouth.flush()
            assert cut.heard_chars * MS_PER_CHAR <= played + MS_PER_CHAR
            assert then.chars <= cut.heard_chars

    run(main())


def test_after_a_stall_of_the_loop_the_far_end_is_filled_up_at_once() -> None:
    async def main() -> None:
        async with Rig() as rig:
            rig.speak(1, LONG)
            await rig.until(1)
            rig.loop.advance(0.7)  # type: ignore[attr-defined]
            before = len(rig.far.frames)
            await asyncio.sleep(0.03)
            assert 10 <= len(rig.far.frames) - before <= 12

    run(main())


def test_playing_gives_the_frame_the_caller_hears() -> None:
    async def main() -> None:
        async with Rig() as rig:
            assert rig.mouth.playing(0) is None
            rig.speak(1, "Hello there.")
            await rig.until(0.3)
            samples = rig.mouth.playing(300)
            assert samples is not None and len(samples) == 160
            assert abs(int(samples[0]) - 300) <= 20
            await rig.until(3)
            assert rig.mouth.playing(3000) is None

    run(main())


def test_a_phone_line_gets_its_own_format() -> None:
    async def main() -> None:
        async with Rig(ScriptedTts(rate_hz=24000), fmt=PHONE) as rig:
            rig.speak(1, "Hello.")
            await asyncio.sleep(0.1)
            assert {len(p) for _, p in rig.far.frames} == {160}
            samples = to_linear(PHONE, rig.far.frames[3][1])
            assert 4000 < abs(samples).max() < 7000

    run(main())


def test_a_far_end_that_answers_marks_on_receipt_hears_everything_without_a_pause() -> None:
    """A04: its marks are no positions, and no reason to wait for others."""

    async def main() -> None:
        far = FarEnd(out_s=0.03, in_s=0.03, marks="at_once")
        async with Rig(NumberedTts(words=True), far) as rig:
            for say in (1, 2):
                rig.speak(say, LONG)
            await rig.until(12)
            assert [s.outcome for s in rig.settled] == ["heard", "heard"]
            sent = [at for at, _ in far.frames]
            assert max(b - a for a, b in zip(sent, sent[1:], strict=False)) <= 0.3

    run(main())
