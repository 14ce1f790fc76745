"""Declared and real sample rate."""

import pytest

from voice.audio.format import PHONE, WIDE, AudioFormat, Encoding
from voice.wire.rate_monitor import RateMismatch, RateMonitor


def _findings(
    monitor: RateMonitor, size: int, every_ms: float, from_ms: float, to_ms: float
) -> list[tuple[float, RateMismatch]]:
    found: list[tuple[float, RateMismatch]] = []
    now = from_ms
    while now < to_ms:
        finding = monitor.push(size, now)
        if finding is not None:
            found.append((now, finding))
        now += every_ms
    return found


@pytest.mark.parametrize(
    ("fmt", "size", "every_ms"),
    [
        (PHONE, 160, 20),
        (PHONE, 800, 100),
        (PHONE, 91, 11.375),
        (WIDE, 640, 20),
        (WIDE, 6400, 200),
        (AudioFormat(Encoding.PCM16, 48000), 1920, 20),
        (PHONE, 160, 20.8),
        (PHONE, 160, 19.2),
        (AudioFormat(Encoding.PCM16, 48000), 1764, 20),
    ],
)
def test_a_true_rate_is_never_reported(fmt: AudioFormat, size: int, every_ms: float) -> None:
    """H10: whatever the size of the messages, and with a clock 4 or 8 % off."""
    assert _findings(RateMonitor(fmt), size, every_ms, 0, 30_000) == []


@pytest.mark.parametrize(
    ("fmt", "size", "likely_hz"),
    [
        (WIDE, 320, 8000),
        (WIDE, 1920, 48000),
        (PHONE, 320, 16000),
        (AudioFormat(Encoding.PCM16, 24000), 640, 16000),
        (AudioFormat(Encoding.PCM16, 24000), 1764, 44100),
    ],
)
def test_another_rate_is_reported_within_the_first_second(
    fmt: AudioFormat, size: int, likely_hz: int
) -> None:
    """H10: frames too short or too long for the rate that was declared."""
    ((at_ms, finding),) = _findings(RateMonitor(fmt), size, 20, 0, 10_000)
    assert at_ms < 1000
    assert finding == RateMismatch(fmt.rate_hz, likely_hz)


def test_a_change_in_the_middle_of_a_call_is_reported_once() -> None:
    """H10: the rate changes mid-call, and back."""
    monitor = RateMonitor(WIDE)
    assert _findings(monitor, 640, 20, 0, 10_000) == []
    changed = _findings(monitor, 320, 20, 10_000, 20_000)
    assert [finding.likely_hz for _, finding in changed] == [8000]
    assert _findings(monitor, 640, 20, 20_000, 30_000) == []


def test_a_burst_at_the_start_and_holes_are_no_other_rate() -> None:
    """D06: a muted client sends nothing for a while; its rate is what it was."""
    monitor = RateMonitor(PHONE)
    assert _findings(monitor, 160, 0.5, 0, 50) == []
    for second in range(1, 20):
        assert _findings(monitor, 160, 20, second * 1000, second * 1000 + 400) == []


def test_a_backlog_after_a_hole_is_no_faster_rate() -> None:
    """H10: a stalled client that catches up has not changed its rate."""
    monitor = RateMonitor(AudioFormat(Encoding.PCM16, 16_000))
    found = [monitor.push(640, at) for at in range(0, 400, 20)]
    found += [monitor.push(640, 750.0 + n) for n in range(18)]
    found += [monitor.push(640, at) for at in range(780, 3000, 20)]
    assert found == [None] * len(found)
