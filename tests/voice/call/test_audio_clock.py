"""The clock of the caller's audio."""

from voice.call.audio_clock import AudioClock


def test_frames_follow_at_20_ms_however_they_arrive() -> None:
    """Jitter moves arrivals, not times."""
    clock = AudioClock()
    arrivals = [20, 40, 90, 90, 100, 120]
    assert [clock.frame(at)[0] for at in arrivals] == [20, 40, 60, 80, 100, 120]


def test_a_burst_after_a_short_stall_is_no_hole() -> None:
    clock = AudioClock()
    for at in range(20, 1020, 20):
        clock.frame(at)
    placed = [clock.frame(1300) for _ in range(14)]
    assert [hole for _, hole in placed] == [False] * 14
    assert placed[-1][0] == 1280


def test_lost_frames_are_stepped_over_within_a_second_of_audio() -> None:
    """D06: gaps in the sequence do not shift the times of what follows."""
    clock = AudioClock()
    for at in range(20, 1020, 20):
        clock.frame(at)
    placed = [clock.frame(at) for at in range(1220, 1220 + 20 * 110, 20)]
    end_ms, _ = placed[-1]
    assert abs(end_ms - (1220 + 20 * 109)) < 20
    assert sum(hole for _, hole in placed) == 1


def test_a_second_without_frames_is_a_stop_and_the_next_frame_starts_afresh() -> None:
    """D06: the client muted and came back."""
    clock = AudioClock()
    clock.frame(20)
    assert not clock.stopped(900)
    assert clock.stopped(1020)
    assert clock.frame(5000) == (5000, True)
    assert not clock.stopped(5500)


def test_nothing_has_stopped_before_the_first_frame() -> None:
    assert not AudioClock().stopped(60_000)


def test_no_frame_lies_in_the_future_and_none_at_the_same_time_as_another() -> None:
    """A client whose clock is fast, or that sends what it can't have recorded."""
    clock = AudioClock()
    ends = [clock.frame(at)[0] for at in range(20, 4000, 15)]
    assert all(end <= at + 20 for end, at in zip(ends, range(20, 4000, 15), strict=True))
    assert len(set(ends)) == len(ends)


def test_frames_that_came_together_end_when_they_came() -> None:
    clock = AudioClock()
    assert not clock.begin(5, 300)
    assert [clock.frame(300)[0] for _ in range(5)] == [220, 240, 260, 280, 300]


def test_a_backlog_after_a_stop_never_reaches_back_over_what_came_before() -> None:
    clock = AudioClock()
    clock.frame(1000)
    assert clock.begin(200, 3000)
    assert clock.frame(3000)[0] == 1020
