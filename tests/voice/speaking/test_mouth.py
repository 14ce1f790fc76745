"""The mouth against an in-memory far end, in virtual time: says and their one end."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.agent import Heard, Say, SayEnd, SaySettled, SayText
from tests.voice.speaking.far_end import LINEAR_8K, MS_PER_CHAR, FarEnd, Rig
from voice.floor.events import SayFinished
from voice.replay.virtual_loop import run_virtual
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
                assert rig.mouth.heard_at(rig.now_ms) == (Heard(1, 0, False),)

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
