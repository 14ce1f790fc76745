"""The sure detector: windows, states and batches, with the real model."""

import numpy as np
import pytest

from runtime.errors import AudioError
from tests.voice.hearing.clips import LEAD_MS, on_a_line, segments
from voice.hearing.ports import Samples
from voice.hearing.silero import WINDOW_MS, SileroDetector

pytestmark = pytest.mark.audio

CLIP = "clips/en_brooklyn_bridge.wav"


@pytest.fixture(scope="module")
def detector() -> SileroDetector:
    return SileroDetector()


def score(
    detector: SileroDetector, lines: list[Samples], rate_hz: int = 8000, every: int = 1
) -> list[list[tuple[int, float]]]:
    """Play lines side by side, running the detector after each ``every`` frames."""
    scores: list[list[tuple[int, float]]] = [[] for _ in lines]

    def keep(into: list[tuple[int, float]]):  # the sink's type says it
        return lambda end_ms, p: into.append((end_ms, p))

    probes = [detector.open(rate_hz, keep(into)) for into in scores]
    size = rate_hz // 50
    for number in range(min(line.size for line in lines) // size):
        for probe, line in zip(probes, lines, strict=True):
            probe.push(line[number * size : (number + 1) * size], (number + 1) * 20)
        if number % every == every - 1:
            detector.run()
    detector.run()
    for probe in probes:
        probe.close()
    return scores


@pytest.mark.parametrize("rate_hz", [8000, 16000, 24000])
def test_speech_scores_high_and_the_quiet_line_low(detector: SileroDetector, rate_hz: int) -> None:
    (scores,) = score(detector, [on_a_line(CLIP, rate_hz)], rate_hz)
    ((start_ms, end_ms),) = segments(CLIP)
    inside = [p for at, p in scores if start_ms + 200 < at - LEAD_MS < end_ms - 50]
    outside = [p for at, p in scores if at < LEAD_MS or at > LEAD_MS + end_ms + 300]
    assert np.mean(np.array(inside) > 0.5) > 0.9
    assert max(outside) < 0.35


def test_windows_follow_each_other_on_the_callers_clock(detector: SileroDetector) -> None:
    (scores,) = score(detector, [on_a_line(CLIP)])
    times = [at for at, _ in scores]
    assert times[:3] == [32, 64, 96]
    assert set(np.diff(times)) == {WINDOW_MS}


def test_a_batch_of_callers_gets_what_each_would_get_alone(detector: SileroDetector) -> None:
    lines = [np.roll(on_a_line(CLIP), 997 * shift) for shift in range(6)]
    together = score(detector, lines)
    for line, scores in zip(lines, together, strict=True):
        (alone,) = score(detector, [line])
        assert np.allclose([p for _, p in alone], [p for _, p in scores], atol=1e-4)


def test_windows_that_waited_are_scored_in_their_order(detector: SileroDetector) -> None:
    (often,) = score(detector, [on_a_line(CLIP)])
    (seldom,) = score(detector, [on_a_line(CLIP)], every=20)
    assert [at for at, _ in often] == [at for at, _ in seldom]
    assert np.allclose([p for _, p in often], [p for _, p in seldom], atol=1e-4)


def test_a_backlog_is_bounded_and_counted(detector: SileroDetector) -> None:
    ends: list[int] = []
    probe = detector.open(8000, lambda end_ms, p: ends.append(end_ms))
    for number in range(500):
        probe.push(np.zeros(160, np.int16), (number + 1) * 20)
    detector.run()
    probe.close()
    assert len(ends) == 32
    assert ends[-1] == 9984
    assert probe.dropped_windows == 312 - 32


def test_reset_begins_anew(detector: SileroDetector) -> None:
    scores: list[float] = []
    probe = detector.open(8000, lambda end_ms, p: scores.append(p))
    line = on_a_line(CLIP)[LEAD_MS * 8 :]

    def play() -> list[float]:
        scores.clear()
        for number in range(40):
            probe.push(line[number * 160 : (number + 1) * 160], number * 20)
        detector.run()
        return list(scores)

    first = play()
    probe.push(line[:100], 0)
    probe.reset()
    assert play() == first
    probe.close()


def test_a_closed_caller_is_scored_no_more_and_a_failing_one_harms_nobody(
    detector: SileroDetector, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(end_ms: int, probability: float) -> None:
        raise RuntimeError("sink")

    heard: list[int] = []
    failing = detector.open(8000, fail)
    closed = detector.open(8000, lambda end_ms, p: heard.append(-1))
    living = detector.open(8000, lambda end_ms, p: heard.append(end_ms))
    before = detector.open_probes
    for probe in (failing, closed, living):
        probe.push(np.zeros(320, np.int16), 40)
    closed.close()
    closed.close()
    detector.run()
    assert heard == [32]
    assert detector.open_probes == before - 1
    assert "sink failed" in caplog.text
    failing.close()
    living.close()


def test_an_unknown_rate_is_refused(detector: SileroDetector) -> None:
    with pytest.raises(AudioError):
        detector.open(44100, lambda end_ms, p: None)
