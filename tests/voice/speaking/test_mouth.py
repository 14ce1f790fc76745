"""The mouth against an in-memory far end, in virtual time."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.agent import Heard, Say, SayEnd, SaySettled, SayText
from tests.voice.speaking.far_end import LINEAR_8K, MS_PER_CHAR, FarEnd, NumberedTts, Rig
from voice.audio.codec import to_linear
from voice.audio.format import PHONE
from voice.floor.events import SayFailed, SayFinished
from voice.hearing.workers import VirtualWorker
from voice.replay.virtual_loop import run_virtual
from voice.speaking.tts_local import HibariTts
from voice.speaking.tts_scripted import ScriptedTts, TtsFaults

LONG = "We are open Monday to Friday from nine to five and on Saturday by appointment only."


def run(main: Coroutine[Any, Any, None]) -> None:
    run_virtual(main)


def spoken_ms(text: str) -> int:
    return len(text) * MS_PER_CHAR


def test_a_say_is_heard_whole_and_settled_once() -> None:
    async def main() -> None:
        async with Rig() as rig:
            rig.speak(1, "Hello there. How are ", "you?")
            await rig.until(5)
            text = "Hello there. How are you?"
            # the space between two sentences has no sound
            assert rig.far.played()[: spoken_ms(text) - MS_PER_CHAR] == list(
                range(1, spoken_ms(text) - MS_PER_CHAR + 1)
            )
            assert rig.kinds(1) == ["SayReady", "SayStarted", "SayFinished"]
            (only,) = rig.settled
            assert (only.outcome, only.heard_chars) == ("heard", len(text))
            assert rig.mouth.idle and not rig.mouth.audible

    run(main())


def test_a_say_that_is_not_allowed_is_made_but_not_sent() -> None:
    """F01, A06: the gate is checked when a frame is due, not when the engine delivers."""

    async def main() -> None:
        async with Rig() as rig:
            rig.speak(1, "Hello there.", allow=False)
            await rig.until(1)
            assert rig.kinds(1) == ["SayReady"]
            assert rig.far.frames == []
            rig.mouth.allow(1)
            assert len(rig.far.frames) == 10
            rig.mouth.allow(1)
            await rig.until(3)
            assert [s.outcome for s in rig.settled] == ["heard"]

    run(main())


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


def test_a_flush_clears_and_no_frame_of_the_say_follows() -> None:
    """A01, B05: stopped within the lead, what was heard is recorded for a line as for a reply."""

    async def main() -> None:
        async with Rig() as rig:
            rig.speak(1, LONG)
            await rig.until(3)
            (only,) = rig.mouth.flush()
            sent = len(rig.far.frames)
            assert rig.far.clears == [3.0]
            await rig.until(6)
            assert len(rig.far.frames) == sent
            assert rig.settled == [] and rig.mouth.idle
            played = len(rig.far.played())
            assert 2900 <= played <= 3000
            assert only.outcome == "cut" and only.started_ms is not None
            assert only.heard_chars * MS_PER_CHAR <= played
            assert LONG[: only.heard_chars] == "We are open Monday to Friday from nine to five"

    run(main())


def test_nothing_is_heard_of_a_say_cut_at_its_first_frame() -> None:
    """B01, B02: no text, no error, also with a far end that acknowledges nothing."""

    async def main() -> None:
        for marks in ("echo", "none"):
            async with Rig(far=FarEnd(marks=marks)) as rig:  # type: ignore[arg-type]
                rig.speak(1, "Which day suits you? We have Monday or Thursday.")
                await asyncio.sleep(0.05)
                (only,) = rig.mouth.flush()
                assert (only.outcome, only.heard_chars) == ("dropped", 0)
                assert rig.mouth.heard_at(rig.now_ms) == ()

    run(main())


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


def test_a_dropped_say_is_settled_through_the_callback() -> None:
    async def main() -> None:
        async with Rig() as rig:
            rig.speak(1, "Never to be heard.", allow=False)
            rig.speak(2, "Heard in part only.")
            await rig.until(0.7)
            rig.mouth.drop(1)
            rig.mouth.drop(2)
            rig.mouth.drop(3)
            assert rig.settled == []
            await asyncio.sleep(0)
            assert [(s.say, s.outcome) for s in rig.settled] == [(1, "dropped"), (2, "cut")]

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


@pytest.mark.parametrize("text", [" ", "\n", "🎉", "**", "…", ".", "```json\n{}\n```", ""])
def test_a_say_with_nothing_to_speak_is_heard_at_once(text: str) -> None:
    """L06, C15: no request, and the turn goes on."""

    async def main() -> None:
        tts = ScriptedTts()
        async with Rig(tts) as rig:
            rig.speak(1, text, allow=False)
            assert rig.events == []
            await asyncio.sleep(0)
            assert rig.kinds(1) == ["SayFinished"]
            assert [(s.outcome, s.heard_chars) for s in rig.settled] == [("heard", len(text))]
            assert tts.requests == [] and tts.opened == 0

    run(main())


def test_nothing_between_sentences_makes_no_request() -> None:
    """L06, C15"""

    async def main() -> None:
        tts = ScriptedTts()
        async with Rig(tts) as rig:
            rig.speak(1, "Sure. ", "🎉\n", '```json\n{"name":"lookup"}\n``` ', "… ", "One second.")
            await rig.until(4)
            assert tts.requests == ["Sure.", "One second."]
            assert [s.outcome for s in rig.settled] == ["heard"]
            assert rig.mouth.counts["code_dropped"] == 1

    run(main())


def test_speaking_ends_with_the_sound_whatever_the_chunking() -> None:
    """L11: four pushes merged into one chunk's sound."""

    async def main() -> None:
        tts = ScriptedTts(faults=TtsFaults(merges_chunks=True), piece_ms=1500)
        async with Rig(tts) as rig:
            text = "One is here. Two is there. Three is gone. Which language?"
            rig.speak(1, text)
            await rig.until(6)
            assert rig.kinds(1) == ["SayReady", "SayStarted", "SayFinished"]
            assert [(s.outcome, s.heard_chars) for s in rig.settled] == [("heard", len(text))]
            assert rig.mouth.idle

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


def test_lines_of_our_own_are_says_like_any_other() -> None:
    """F01: a filler ends its sentence and then the reply follows."""

    async def main() -> None:
        async with Rig() as rig:
            rig.mouth.speak_line(-1, "One moment.", "en")
            await rig.until(0.2)
            rig.speak(1, "Here it is.")
            await rig.until(3)
            assert rig.kinds(-1) == ["SayReady", "SayStarted", "SayFinished"]
            order = [e.say for _, e in rig.events if isinstance(e, SayFinished)]
            assert order == [-1, 1]
            assert [(s.say, s.outcome) for s in rig.settled] == [(-1, "heard"), (1, "heard")]
            # but no turn's input is measured against them
            assert rig.mouth.heard_at(3000) == (Heard(1, 11, True),)
            rig.mouth.speak_line(-2, "Still with you.", "en")
            await rig.until(3.5)
            assert [(s.say, s.outcome) for s in rig.mouth.flush()] == [(-2, "cut")]

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


def test_text_for_a_say_that_is_over_is_counted() -> None:
    async def main() -> None:
        async with Rig() as rig:
            rig.mouth.text(SayText(1, 1, 7, "late"))
            rig.mouth.end(SayEnd(1, 1, 7))
            rig.mouth.say(Say(1, 1, 1, "reply"))
            rig.mouth.say(Say(1, 1, 1, "reply"))
            assert rig.mouth.counts == {"text_of_no_say": 1, "end_of_no_say": 1, "say_twice": 1}

    run(main())


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["say", "text", "end", "allow", "drop", "hold", "release", "flush", "keep", "line"]
        ),
        st.integers(1, 4),
        st.integers(0, 900),
    ),
    min_size=3,
    max_size=25,
)


@settings(max_examples=60)
@given(STEPS, st.booleans(), st.integers(0, 150), st.sampled_from(["echo", "none"]))
def test_whatever_happens_each_say_settles_once_and_its_events_are_in_order(
    steps: list[tuple[str, int, int]], can_clear: bool, delay_ms: int, marks: str
) -> None:
    """N03, A08: a say has one end, on every path."""

    async def main() -> None:
        far = FarEnd(out_s=delay_ms / 1000, in_s=delay_ms / 1000, marks=marks)  # type: ignore[arg-type]
        returned: list[SaySettled] = []
        said: set[int] = set()
        lines = 0
        async with Rig(ScriptedTts(delay_s=0.03), far, can_clear=can_clear) as rig:
            mouth = rig.mouth
            for what, say, wait in steps:
                match what:
                    case "say":
                        if say not in said:
                            said.add(say)
                            mouth.say(Say(1, 1, say, "reply"))
                    case "text":
                        mouth.text(SayText(1, 1, say, "It costs $5. That is all 🎉 of it. "))
                    case "end":
                        mouth.end(SayEnd(1, 1, say))
                    case "allow":
                        mouth.allow(say)
                    case "drop":
                        mouth.drop(say)
                    case "hold":
                        mouth.hold()
                    case "release":
                        mouth.release()
                    case "flush":
                        returned.extend(mouth.flush())
                    case "keep":
                        returned.extend(mouth.flush(keep=(say,)))
                    case _:
                        lines -= 1
                        mouth.speak_line(lines, "One moment.", "en")
                await asyncio.sleep(wait / 1000)
            mouth.release()
            for say in said:
                mouth.end(SayEnd(1, 1, say))
                mouth.allow(say)
            for _ in range(60):
                await asyncio.sleep(1)
                if mouth.idle:
                    break
            assert mouth.idle
        settled = returned + rig.settled
        assert sorted(s.say for s in settled) == sorted([*said, *range(lines, 0)])
        for say in [*said, *range(lines, 0)]:
            kinds = rig.kinds(say)
            assert len(kinds) == len(set(kinds))
            order = ["SayReady", "SayStarted", "SayFinished", "SayFailed"]
            assert kinds == sorted(kinds, key=order.index)
        for s in settled:
            assert (s.outcome == "cut") == (s.outcome != "heard" and s.heard_chars > 0)
            if s.started_ms is not None:
                assert s.ended_ms is not None and s.ended_ms >= s.started_ms
        assert all(len(p) == LINEAR_8K.frame_bytes for _, p in rig.far.frames)

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
