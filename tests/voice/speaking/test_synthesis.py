"""Engines that misbehave, driven by hand through a mouth."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import numpy as np
import pytest

from runtime.agent import SayEnd, SayText
from runtime.errors import ProviderError
from tests.voice.speaking.far_end import Rig
from voice.floor.events import SayFailed
from voice.replay.virtual_loop import run_virtual
from voice.speaking.ports import SpokenPiece, TextToSpeech, TtsStream
from voice.speaking.tts_scripted import ScriptedTts, TtsFaults

END = None


def run(main: Coroutine[Any, Any, None]) -> None:
    run_virtual(main)


def sound(ms: int) -> "np.ndarray[tuple[int], np.dtype[np.int16]]":
    return np.full(ms * 8, 1000, np.int16)


class ManualTts(TextToSpeech):
    """Gives what the test puts in; one queue for each stream."""

    def __init__(self) -> None:
        self.streams: list[ManualStream] = []
        self.refuses = False
        self.push_fails = False
        self.close_fails = False
        self.close_hangs = False
        self.close_is_stubborn = False

    @property
    def rate_hz(self) -> int:
        return 8000

    def open(self, language: str, voice: str | None) -> TtsStream:
        if self.refuses:
            raise ValueError("no")
        self.streams.append(ManualStream(self))
        return self.streams[-1]

    async def aclose(self) -> None:
        """Nothing to release."""


class ManualStream(TtsStream):
    def __init__(self, tts: ManualTts) -> None:
        self._tts = tts
        self.texts: list[str] = []
        self.finished = False
        self.closed = 0
        self.out: asyncio.Queue[SpokenPiece | Exception | None] = asyncio.Queue()

    def push(self, chunk: int, text: str) -> None:
        if self._tts.push_fails:
            raise ConnectionError("gone")
        self.texts.append(text)

    def finish(self) -> None:
        self.finished = True

    def pieces(self) -> AsyncIterator[SpokenPiece]:
        return self

    def __aiter__(self) -> "ManualStream":
        return self

    async def __anext__(self) -> SpokenPiece:
        item = await self.out.get()
        if item is None:
            raise StopAsyncIteration
        if isinstance(item, Exception):
            raise item
        return item

    async def aclose(self) -> None:
        self.closed += 1
        if self._tts.close_fails:
            raise ConnectionError("gone")
        if self._tts.close_hangs:
            await asyncio.Event().wait()
        while self._tts.close_is_stubborn:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                continue


def test_a_stream_that_ends_by_itself_is_followed_by_another() -> None:
    """A provider that closes idle contexts does not end the say."""

    async def main() -> None:
        tts = ManualTts()
        async with Rig(tts) as rig:
            rig.speak(1, "One. And", end=False)
            tts.streams[0].out.put_nowait(SpokenPiece(0, sound(300), last=True))
            tts.streams[0].out.put_nowait(END)
            await rig.until(2)
            assert tts.streams[0].closed == 1
            rig.mouth.text(SayText(1, 1, 1, " two."))
            rig.mouth.end(SayEnd(1, 1, 1))
            assert tts.streams[1].texts == ["And two."]
            tts.streams[1].out.put_nowait(SpokenPiece(1, sound(300), last=True))
            await rig.until(4)
            assert [(s.outcome, s.heard_chars) for s in rig.settled] == [("heard", 13)]
            assert [s.closed for s in tts.streams] == [1, 1]
            assert len(rig.far.frames) == 30

    run(main())


def test_a_stream_that_ended_before_the_text_did_needs_no_other_for_nothing() -> None:
    async def main() -> None:
        tts = ManualTts()
        async with Rig(tts) as rig:
            rig.speak(1, "One. ", "Two", end=False)
            tts.streams[0].out.put_nowait(SpokenPiece(0, sound(300), last=True))
            tts.streams[0].out.put_nowait(END)
            await rig.until(0.1)
            assert len(tts.streams) == 1
            rig.speak(2, "🎉", end=False)
            rig.mouth.drop(1)
            rig.speak(3, "Done. 🎉", end=False)
            tts.streams[1].out.put_nowait(SpokenPiece(0, sound(300), last=True))
            tts.streams[1].out.put_nowait(END)
            await rig.until(1)
            rig.mouth.drop(2)
            rig.mouth.end(SayEnd(1, 1, 3))
            await rig.until(2)
            assert [s.say for s in rig.settled if s.outcome == "heard"] == [3]
            assert len(tts.streams) == 2

    run(main())


def test_a_stream_that_ends_too_early_fails_its_say() -> None:
    """N03"""

    async def main() -> None:
        tts = ManualTts()
        async with Rig(tts) as rig:
            rig.speak(1, "One is a sentence. And", end=False)
            tts.streams[0].out.put_nowait(SpokenPiece(0, sound(100)))
            tts.streams[0].out.put_nowait(END)
            await rig.until(1)
            assert rig.of(SayFailed) == [SayFailed(1, "ended_early")]
            rig.mouth.text(SayText(1, 1, 1, " more. And more."))
            assert [s.outcome for s in rig.settled] == ["failed"]
            assert len(tts.streams) == 1

    run(main())


def test_text_that_comes_after_a_failure_is_not_asked_for() -> None:
    """N03: what has come is played, no new stream is opened."""

    async def main() -> None:
        tts = ManualTts()
        async with Rig(tts) as rig:
            rig.speak(1, "One is a sentence. And", end=False)
            tts.streams[0].out.put_nowait(SpokenPiece(0, sound(900)))
            tts.streams[0].out.put_nowait(ProviderError("gone"))
            await rig.until(0.3)
            rig.mouth.text(SayText(1, 1, 1, " more. And more."))
            rig.mouth.end(SayEnd(1, 1, 1))
            await rig.until(3)
            assert len(tts.streams) == 1
            assert len(rig.far.frames) == 45
            assert rig.of(SayFailed) == [SayFailed(1, "provider")]

    run(main())


def test_an_engine_without_any_sound_has_not_spoken() -> None:
    """B01: nothing is claimed to be heard."""

    async def main() -> None:
        tts = ManualTts()
        async with Rig(tts) as rig:
            rig.speak(1, "Hello there.")
            tts.streams[0].out.put_nowait(SpokenPiece(0, sound(0), last=True))
            await rig.until(0.1)
            assert rig.of(SayFailed) == [SayFailed(1, "no_sound")]
            assert [(s.outcome, s.heard_chars) for s in rig.settled] == [("failed", 0)]

    run(main())


def test_an_engine_that_raises_anywhere_fails_only_its_say() -> None:
    """N03"""

    async def main() -> None:
        tts = ManualTts()
        async with Rig(tts) as rig:
            tts.refuses = True
            rig.speak(1, "Hello.")
            await rig.until(0.1)
            tts.refuses = False
            tts.push_fails = True
            rig.speak(2, "Hello.")
            await rig.until(0.2)
            tts.push_fails = False
            rig.speak(3, "Hello.")
            tts.streams[-1].out.put_nowait(SpokenPiece(7, np.zeros((3, 3), np.int16)[:, 0]))
            tts.streams[-1].out.put_nowait(TypeError("odd"))
            await rig.until(0.5)
            assert [s.outcome for s in rig.settled] == ["failed"] * 3
            assert [e.cause for e in rig.of(SayFailed) if isinstance(e, SayFailed)] == [
                "engine",
                "engine",
                "engine",
            ]
            rig.speak(4, "Hello.")
            tts.streams[-1].out.put_nowait(SpokenPiece(0, sound(200), last=True))
            await rig.until(2)
            assert rig.settled[-1].outcome == "heard"

    run(main())


@pytest.mark.parametrize("fault", ["close_fails", "close_hangs"])
def test_closing_is_bounded_and_its_errors_stay_with_it(fault: str) -> None:
    """A10: also at hang-up."""

    async def main() -> None:
        tts = ManualTts()
        setattr(tts, fault, True)
        async with Rig(tts) as rig:
            rig.speak(1, "Hello.")
            rig.mouth.flush()
            rig.speak(2, "Hello.")
            await rig.until(0.1)
            begin = rig.loop.time()
            await rig.mouth.aclose()
            assert rig.loop.time() - begin <= 6
            assert [s.closed for s in tts.streams] == [1, 1]
            rig.speak(3, "Too late.")
            assert len(tts.streams) == 2

    run(main())


def test_no_third_stream_opens_while_two_are_closing() -> None:
    """A10: providers count a context until it is closed."""

    async def main() -> None:
        tts = ManualTts()
        tts.close_hangs = True
        async with Rig(tts) as rig:
            for say in (1, 2, 3):
                rig.speak(say, "Hello.")
                if say < 3:
                    rig.mouth.flush()
            assert len(tts.streams) == 2
            await rig.until(2.5)
            assert len(tts.streams) == 3

    run(main())


def test_streams_that_will_not_close_do_not_silence_the_call() -> None:
    """N03, A10: an engine that swallows its cancellation is left behind."""

    async def main() -> None:
        tts = ManualTts()
        tts.close_is_stubborn = True
        async with Rig(tts) as rig:
            for say in (1, 2, 3):
                rig.speak(say, "Hello.")
                if say < 3:
                    rig.mouth.flush()
            assert len(tts.streams) == 2
            await rig.until(6)
            assert len(tts.streams) == 3
            tts.close_is_stubborn = False
            await rig.until(70)

    run(main())


def test_sound_labelled_with_any_chunk_is_played_in_order() -> None:
    """L11: labels that go back, run ahead or mean nothing."""

    async def main() -> None:
        tts = ManualTts()
        async with Rig(tts) as rig:
            rig.speak(1, "One is here. Two is there. Three.")
            for label in (1, 0, -5, 99, 2):
                tts.streams[0].out.put_nowait(SpokenPiece(label, sound(200)))
            await rig.until(1.5)
            tts.streams[0].out.put_nowait(END)
            await rig.until(2)
            assert [(s.outcome, s.heard_chars) for s in rig.settled] == [("heard", 33)]
            assert len(rig.far.frames) == 50
            # its end had been sent before it was known to be the end: a mark follows all the same
            assert rig.far.marks_sent[-1] not in rig.far.marks_sent[:-1]

    run(main())


def test_the_end_of_the_text_after_the_last_sound_ends_the_say() -> None:
    """A08: an engine that never ends its stream is not waited for."""

    async def main() -> None:
        tts = ManualTts()
        async with Rig(tts) as rig:
            rig.speak(1, "One. ", "🎉 ", end=False)
            rig.mouth.text(SayText(1, 1, 1, "B"))
            tts.streams[0].out.put_nowait(SpokenPiece(0, sound(200), last=True))
            await rig.until(1)
            rig.mouth.drop(1)
            rig.speak(2, "Two. 🎉", end=False)
            tts.streams[1].out.put_nowait(SpokenPiece(0, sound(200), last=True))
            await rig.until(2)
            assert tts.streams[1].closed == 0
            rig.mouth.end(SayEnd(1, 1, 2))
            await rig.until(2.1)
            assert tts.streams[1].closed == 1
            assert (rig.settled[-1].say, rig.settled[-1].outcome) == (2, "heard")

    run(main())


def test_a_line_held_back_by_an_open_line_waits_its_turn() -> None:
    async def main() -> None:
        tts = ScriptedTts(delay_s=0.2, faults=TtsFaults())
        async with Rig(tts) as rig:
            rig.mouth.speak_line(-1, "One moment.", "en")
            rig.mouth.speak_line(-2, "Still with you.", "en")
            rig.mouth.speak_line(-2, "Twice.", "en")
            assert tts.opened == 1
            rig.mouth.drop(-2)
            await rig.until(3)
            assert tts.requests == ["One moment."]
            assert [(s.say, s.outcome) for s in rig.settled] == [(-2, "dropped"), (-1, "heard")]

    run(main())
