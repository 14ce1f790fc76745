"""When what comes in only follows what goes out."""

import numpy as np

from voice.hearing.echo import EchoGate

QUIET = -70.0


def speech(frames: int, *, seed: int, level_db: float = -25.0) -> list[float]:
    """Levels of somebody who talks: syllables of 60-300 ms, pauses between them."""
    rng = np.random.default_rng(seed)
    levels: list[float] = []
    while len(levels) < frames:
        loud = level_db + float(rng.normal(0, 4))
        levels += [loud] * int(rng.integers(3, 15)) + [QUIET] * int(rng.integers(1, 8))
    return levels[:frames]


def run(gate: EchoGate, sent: list[float], heard: list[float], *, start: int = 0) -> list[float]:
    """Both directions frame by frame; returns how far the gate was closed after each."""
    closed: list[float] = []
    for at, (out_db, in_db) in enumerate(zip(sent, heard, strict=True), start):
        gate.outbound(out_db, at * 20)
        gate.inbound(in_db, (at + 1) * 20)
        closed.append(gate.closed)
    return closed


def echoed(sent: list[float], *, lag_frames: int, down_db: float) -> list[float]:
    late = [QUIET] * lag_frames + sent[: len(sent) - lag_frames]
    return [max(QUIET, level - down_db) for level in late]


def test_the_agents_own_voice_closes_the_gate_within_two_seconds_and_a_half() -> None:
    sent = speech(500, seed=1)
    gate = EchoGate()
    closed = run(gate, sent, echoed(sent, lag_frames=4, down_db=22))
    assert closed[125] == 1.0
    assert abs(gate.lag_ms - 100) <= 20
    assert abs(gate.coupling_db + 22) < 1


def test_echo_is_kept_out_and_a_caller_over_it_is_let_through() -> None:
    sent = speech(500, seed=2)
    heard = echoed(sent, lag_frames=10, down_db=25)
    gate = EchoGate()
    passed = 0
    for at in range(500):
        gate.outbound(sent[at], at * 20)
        gate.inbound(heard[at], (at + 1) * 20)
        if at > 200 and heard[at] > -60:
            passed += gate.allows(heard[at], (at + 1) * 20)
    assert passed == 0
    assert gate.allows(-30.0, 500 * 20)


def test_the_longest_echo_path_is_found_too() -> None:
    sent = speech(500, seed=3)
    gate = EchoGate()
    run(gate, sent, echoed(sent, lag_frames=19, down_db=15))
    assert gate.closed > 0


def test_two_people_who_talk_at_once_never_close_the_gate() -> None:
    for seed in range(12):
        gate = EchoGate()
        closed = run(gate, speech(1000, seed=seed), speech(1000, seed=100 + seed))
        assert max(closed) == 0.0


def test_babble_does_not_latch_the_gate() -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        smooth = np.convolve(rng.normal(0, 6, 3100), np.ones(10) / 10, "same")[:3000]
        gate = EchoGate()
        closed = run(gate, speech(3000, seed=seed), [float(level) for level in -35 + smooth])
        assert sum(value > 0 for value in closed) < 100


def test_the_gate_opens_again_within_a_second_once_the_echo_is_gone() -> None:
    sent = speech(1000, seed=4)
    gate = EchoGate()
    run(gate, sent[:400], echoed(sent, lag_frames=4, down_db=22)[:400])
    assert gate.closed == 1.0
    closed = run(gate, sent[400:], speech(600, seed=77), start=400)
    assert closed[200] == 0.0


def test_while_the_agent_is_silent_everything_is_allowed_and_nothing_is_forgotten() -> None:
    sent = speech(400, seed=5)
    gate = EchoGate()
    run(gate, sent, echoed(sent, lag_frames=4, down_db=22))
    run(gate, [-100.0] * 300, [QUIET] * 300, start=400)
    assert gate.closed == 1.0
    assert gate.allows(-50.0, 700 * 20)


def test_frames_left_out_of_either_direction_count_as_silence() -> None:
    gate = EchoGate()
    gate.outbound(-20.0, 0)
    gate.outbound(-20.0, 60_000)
    gate.inbound(-20.0, 20)
    gate.inbound(-20.0, 60_020)
    assert gate.closed == 0.0
    assert gate.allows(-40.0, 60_020)
