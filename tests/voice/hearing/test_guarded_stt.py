"""An engine that raises."""

import asyncio

import numpy as np

from voice.floor.events import TranscriberFailed
from voice.hearing.guarded_stt import GuardedStt
from voice.hearing.ports import Samples, SttFact
from voice.replay.virtual_loop import run_virtual

FRAME = np.zeros(160, np.int16)


class Broken:
    """Raises whatever it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def feed(self, frame: bytes, samples: Samples, end_ms: int, voiced: bool) -> None:
        self.asked += 1
        raise ValueError("feed")

    def decode_now(self, audio_end_ms: int) -> None:
        self.asked += 1
        raise ValueError("decode_now")

    def forget(self, audio_end_ms: int) -> None:
        self.asked += 1
        raise ValueError("forget")

    async def aclose(self) -> None:
        raise ValueError("aclose")


def test_an_engine_that_raises_is_told_once_and_left_alone() -> None:
    """N03: a fault of the engine is no fault of the call."""

    async def call() -> tuple[list[SttFact], int]:
        facts: list[SttFact] = []
        engine = Broken()
        guarded = GuardedStt(engine, facts.append)
        guarded.feed(b"", FRAME, 20, True)
        guarded.decode_now(20)
        guarded.forget(20)
        assert facts == []  # never from inside a call
        await asyncio.sleep(0)
        await guarded.aclose()
        return facts, engine.asked

    facts, asked = run_virtual(call())
    assert facts == [TranscriberFailed("the engine raised")]
    assert asked == 1
