"""The driver: one call's faults stay its own, and it ends whatever happens."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
import pytest

from runtime.agent import CloseCall, SaySettled, StartTurn
from tests.voice.call.caller import FRAME, START, line
from tests.voice.hearing.fakes import FakeDetector, RecordingStt, buzz, tone
from voice.audio.format import AudioFormat
from voice.call.events import CallEvent
from voice.hearing.ports import SttFact, SttHints, SttStream
from voice.replay.virtual_loop import run_virtual
from voice.speaking.tts_scripted import ScriptedTts, TtsFaults

Scenario = Coroutine[Any, Any, None]


def frames_of(samples: "np.ndarray[Any, np.dtype[np.int16]]") -> list[bytes]:
    return [samples[at : at + 160].tobytes() for at in range(0, samples.size - 159, 160)]


def test_a_fault_in_a_tick_ends_the_call_and_not_only_its_sound() -> None:
    """N03: a call that the ticker dropped would stay connected and mute for ever."""

    async def main() -> None:
        async with line() as it:
            it.agent.broken = True
            it.agent.say(1, "Hello there.")
            await asyncio.sleep(5)
            assert it.call.is_closing
            assert it.out.closed == [(1011, "internal")]
        assert not it.agent.sinks

    run_virtual(main())


def test_a_watcher_that_fails_ends_its_call_only_and_the_socket_is_closed() -> None:
    def watch(event: CallEvent) -> None:
        if event.event in ("turn_started", "problem", "call_ended"):
            raise ValueError("a watcher's own fault")

    async def main() -> None:
        async with line(watch=watch) as it:
            await asyncio.sleep(1)
            assert it.call.is_closing
            assert it.out.closed == [(1011, "internal")]
        assert not it.agent.sinks

    run_virtual(main())


def test_what_a_client_types_before_the_agent_is_there_is_kept_within_bounds() -> None:
    async def main() -> None:
        async with line(started=False) as it:
            it.call.received(START)
            for _ in range(80):
                it.call.received('{"type":"key","key":"5"}')
            assert it.problems() == ["too_early"] * (80 - 64)
            it.agent.ready()
            assert not it.call.is_closing
            assert [m.cause for m in it.agent.sent if isinstance(m, StartTurn)][0] == "opened"
        async with line(started=False) as it:
            it.call.received(START)
            for number in range(5000):
                it.call.received(f'{{"type":"text","text":"number {number}"}}')
            assert it.out.closed == [(1003, "too_early")]

    run_virtual(main())


def test_a_backlog_at_the_start_does_not_leave_the_clock_ahead_of_the_caller() -> None:
    """D06: a stretch that began in the future would never be seen to end."""

    async def main() -> None:
        stt = RecordingStt()
        async with line(stt=stt) as it:
            for _ in range(100):  # 2 s that the client had kept while it connected
                it.call.received(FRAME)
            await asyncio.sleep(0.02)
            await it.send(*frames_of(tone(1000, -66)))
            await it.send(*frames_of(buzz(600, -25)))
            await it.send(*frames_of(tone(2000, -66)))
            assert stt.asked, "the end of the voice was never noticed"
            now_ms = it.events[-1].t_ms
            assert max(end_ms for end_ms, _ in stt.fed) <= now_ms + 4000

    run_virtual(main())


def test_a_stall_of_two_seconds_and_its_backlog_leave_the_call_working() -> None:
    async def main() -> None:
        stt = RecordingStt()
        async with line(stt=stt) as it:
            await it.send(*frames_of(tone(2000, -66)))
            await asyncio.sleep(2)
            for frame in frames_of(np.concatenate((buzz(600, -25), tone(1400, -66)))):
                it.call.received(frame)
            await asyncio.sleep(0.02)
            await it.send(*frames_of(tone(1000, -66)))
            assert len(stt.asked) == 1
            voiced = [end_ms for end_ms, is_voiced in stt.fed if is_voiced]
            # said during the stall, from 2.0 s on; arrived at 4.0 s
            assert 2000 <= min(voiced) and max(voiced) <= 2900
            await it.send(*frames_of(buzz(600, -25)))
            await it.send(*frames_of(tone(1000, -66)))
            assert len(stt.asked) == 2
            assert stt.asked[1] <= 5020 + 640 + 20

    run_virtual(main())


@pytest.mark.parametrize("message_bytes", [320, 3200, 1_000_000])
def test_a_flood_of_sound_costs_what_real_time_costs(message_bytes: int) -> None:
    """H13: what no caller can have said is not heard, whatever the size of its messages."""

    async def main() -> None:
        stt = RecordingStt(hears_everything=True)
        async with line(stt=stt) as it:
            for _ in range(1 + 4_000_000 // message_bytes):  # over four minutes of sound
                it.call.received(bytes(message_bytes))
            assert len(stt.fed) <= 300
            await asyncio.sleep(1)
            assert it.problems() == ["too_fast"]
            fed = len(stt.fed)
            await it.send(*[FRAME] * 100)
            assert len(stt.fed) > fed + 80, "a client that calms down is heard again"

    run_virtual(main())


def test_a_fast_clock_of_the_client_is_followed() -> None:
    """A sound card 1 % fast is a second ahead after less than two minutes."""

    async def main() -> None:
        stt = RecordingStt(hears_everything=True)
        loop = asyncio.get_running_loop()
        async with line(stt=stt) as it:
            began = loop.time()
            for _ in range(12_000):
                it.call.received(FRAME)
                await asyncio.sleep(0.0198)
            assert abs(stt.fed[-1][0] - (loop.time() - began) * 1000) <= 60
            assert len(stt.fed) == len({end for end, _ in stt.fed})

    run_virtual(main())


class RefusingStt(RecordingStt):
    """An engine whose provider is down."""

    def open(self, fmt: AudioFormat, hints: SttHints, sink: Callable[[SttFact], None]) -> SttStream:
        raise ConnectionError("no")


def test_a_call_whose_engine_refuses_leaves_no_row_in_the_voice_detector(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """H04: the row of a call that never was would be there for ever."""

    async def main() -> None:
        detector = FakeDetector()
        async with line(stt=RefusingStt(), detector=detector) as it:
            assert it.out.closed == [(1011, "internal")]
        assert [probe.closed for probe in detector.probes] in ([], [True])

    with caplog.at_level(logging.CRITICAL):
        run_virtual(main())


def test_each_say_settles_before_the_call_is_closed() -> None:
    """H07: a hang-up in the very step that dropped a say."""

    async def main() -> None:
        async with line() as it:
            it.agent.say(7, "Stale words.", turn=99)  # dropped: no such turn
            it.call.received('{"type":"stop"}')
            kinds = [type(m) for m in it.agent.sent if isinstance(m, SaySettled | CloseCall)]
            assert kinds == [SaySettled, CloseCall]

    run_virtual(main())


@pytest.mark.parametrize("moment", ["connected", "started", "ready", "talking", "closing"])
def test_a_call_may_end_at_any_moment_and_leaves_nothing(moment: str) -> None:
    """H04, H07, N02: ended twice, in every state; no task, timer, stream or tick is left."""

    async def main() -> None:
        stt = RecordingStt()
        detector = FakeDetector()
        before = asyncio.all_tasks()
        async with line(started=False, stt=stt, detector=detector) as it:
            if moment != "connected":
                it.call.received(START)
            if moment in ("ready", "talking", "closing"):
                it.agent.ready()
            if moment in ("talking", "closing"):
                it.agent.say(1, "A long line that takes a while to be heard to its end.")
                await it.send(*[FRAME] * 20)
            if moment == "closing":
                it.call.lost("lost")
                it.agent.say(2, "Too late.")
                it.call.received(FRAME)
            it.call.lost("caller")
            it.call.lost("drain")
            await it.call.wait_closed()
            assert stt.closed == (moment in ("ready", "talking", "closing"))
            assert all(probe.closed for probe in detector.probes)
            assert it.names().count("call_ended") == 1
            assert len(it.out.closed) == 1
            assert not it.agent.sinks
        assert asyncio.all_tasks() == before

    run_virtual(main())


SENTENCE = "We are open from nine to five on every day of the week, but not on a holiday."


def outcomes(sent: "list[Any]") -> list[tuple[int, str]]:
    return [(m.say, m.outcome) for m in sent if isinstance(m, SaySettled)]


@pytest.mark.parametrize("voice_ms", [60, 300, 700, 3000])
@pytest.mark.parametrize("sure", [False, True])
def test_a_recognizer_that_never_answers_does_not_keep_the_gate_closed(
    voice_ms: int, sure: bool
) -> None:
    """A13, D14: the agent goes on, whatever the length of the sound."""

    async def main() -> None:
        detector = FakeDetector() if sure else None
        async with line(stt=RecordingStt(), detector=detector) as it:
            await it.send(*frames_of(tone(1000, -66)))
            it.agent.say(1, SENTENCE)
            await it.send(*frames_of(tone(1000, -66)))
            for frame in frames_of(buzz(voice_ms, -25)):
                await it.send(frame)
                if detector is not None:
                    detector.score(it.events[-1].t_ms, 0.9)
            await it.send(*frames_of(tone(9000, -66)))
            assert outcomes(it.agent.sent) == [(1, "heard")]
            assert "hold" in it.names() or voice_ms == 60

    run_virtual(main())


def test_a_line_that_dies_while_the_caller_speaks_does_not_keep_the_gate_closed() -> None:
    """D06: no frame comes any more after the sound that closed it."""

    async def main() -> None:
        async with line(stt=RecordingStt()) as it:
            await it.send(*frames_of(tone(1000, -66)))
            it.agent.say(1, SENTENCE)
            await it.send(*frames_of(tone(1000, -66)))
            await it.send(*frames_of(buzz(300, -25)))
            assert "hold" in it.names()
            await asyncio.sleep(9)
            assert outcomes(it.agent.sent) == [(1, "heard")]

    run_virtual(main())


def test_a_say_that_fails_during_a_hold_leaves_the_next_one_audible() -> None:
    """N03"""

    async def main() -> None:
        tts = ScriptedTts(60, faults=TtsFaults(dies_after_chunks=1))
        async with line(stt=RecordingStt(), tts=tts) as it:
            await it.send(*frames_of(tone(1000, -66)))
            it.agent.say(1, f"We are open from nine to five. {SENTENCE}")
            await it.send(*frames_of(tone(700, -66)))
            await it.send(*frames_of(buzz(300, -25)))
            assert "hold" in it.names()
            await it.send(*frames_of(tone(7000, -66)))
            assert outcomes(it.agent.sent)[0] == (1, "failed")
            tts.faults = TtsFaults()
            it.call.received('{"type":"text","text":"hello?"}')
            turn = max(m.turn for m in it.agent.sent if isinstance(m, StartTurn))
            it.agent.say(2, "Here I am.", turn=turn)
            await it.send(*frames_of(tone(4000, -66)))
            assert outcomes(it.agent.sent)[-1] == (2, "heard")

    run_virtual(main())
