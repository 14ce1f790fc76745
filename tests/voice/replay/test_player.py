"""The far end's player: real-time playout, marks, clears."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.audio.codec import from_linear, to_linear
from voice.audio.format import PHONE, WIDE
from voice.replay.player import Player, Reached, Stretch


def tone(ms: int) -> bytes:
    samples = (8000 * np.sin(np.arange(8 * ms) / 5)).astype(np.int16)
    return from_linear(PHONE, samples)


def test_sound_plays_in_real_time_from_when_it_arrives() -> None:
    player = Player(PHONE)
    player.receive_audio(tone(100), 50)
    player.receive_audio(tone(100), 51)
    assert player.buffered_ms(51) == pytest.approx(199)
    assert player.buffered_ms(200) == pytest.approx(50)
    player.advance(400)
    assert player.stretches() == [Stretch(50, 250)]
    heard = player.played()
    assert len(heard) == 3200
    assert not heard[:400].any()
    assert not heard[2000:].any()
    assert (heard[400:1200] == to_linear(PHONE, tone(100))).all()


def test_a_mark_is_reached_when_the_sound_before_it_has_played() -> None:
    player = Player(PHONE)
    player.receive_mark("at-once", 5)
    player.receive_audio(tone(100), 10)
    player.receive_mark("a", 10)
    player.receive_audio(tone(20), 10)
    player.receive_mark("b", 12)
    assert player.advance(9) == [Reached("at-once", 5)]
    assert player.next_mark_ms() == 110
    assert player.advance(109.9) == []
    assert player.advance(500) == [Reached("a", 110), Reached("b", 130)]
    assert player.next_mark_ms() is None


def test_a_clear_drops_what_is_unheard_and_returns_the_waiting_marks() -> None:
    """A01: nothing that was cleared is heard."""
    player = Player(PHONE)
    for number in range(10):
        player.receive_audio(tone(100), 0)
        player.receive_mark(f"m{number}", 0)
    assert [mark.name for mark in player.advance(250)] == ["m0", "m1"]
    assert player.receive_clear(250) == tuple(f"m{number}" for number in range(2, 10))
    assert player.buffered_ms(250) == 0
    assert player.cleared_ms == pytest.approx(750)
    assert player.advance(2000) == []
    assert player.stretches() == [Stretch(0, 250)]
    player.receive_audio(tone(40), 2000)
    player.advance(2100)
    assert player.stretches() == [Stretch(0, 250), Stretch(2000, 2040)]


def test_marks_reached_before_a_clear_stay_reached() -> None:
    player = Player(PHONE)
    player.receive_audio(tone(100), 0)
    player.receive_mark("early", 0)
    player.receive_audio(tone(100), 0)
    player.receive_mark("late", 0)
    assert player.receive_clear(150) == ("late",)
    assert player.advance(150) == [Reached("early", 100)]


def test_a_gap_shows_where_the_buffer_ran_empty() -> None:
    player = Player(PHONE)
    player.receive_audio(tone(20), 0)
    player.receive_audio(tone(20), 45)
    assert player.is_audible(10)
    assert not player.is_audible(30)
    assert player.is_audible(50)
    assert not player.is_audible(99)
    player.advance(100)
    assert player.stretches() == [Stretch(0, 20), Stretch(45, 65)]


def test_time_does_not_run_backwards() -> None:
    player = Player(PHONE)
    player.advance(100)
    player.receive_audio(tone(20), 50)
    player.advance(200)
    assert player.stretches() == [Stretch(100, 120)]


def test_an_empty_player_heard_silence() -> None:
    player = Player(PHONE)
    assert player.receive_clear(20) == ()
    player.receive_audio(b"", 30)
    assert player.advance(100) == []
    assert player.stretches() == []
    assert not player.played().any()
    assert len(player.played()) == 800


@given(st.lists(st.integers(0, 700), max_size=8))
def test_samples_split_between_messages_are_put_together(cuts: list[int]) -> None:
    """H08: an odd byte waits for its other half."""
    samples = np.arange(-175, 175, dtype=np.int16)
    sound = from_linear(WIDE, samples)
    player = Player(WIDE)
    edges = [0, *sorted(cuts), len(sound)]
    for begin, end in zip(edges, edges[1:], strict=False):
        player.receive_audio(sound[begin:end], 0)
    player.advance(1000)
    assert (player.played()[:350] == samples).all()


def test_a_clear_forgets_half_a_sample() -> None:
    """H08: the carry does not turn the next stream into noise."""
    player = Player(WIDE)
    player.receive_audio(b"\x01", 0)
    player.receive_clear(0)
    player.receive_audio(b"\x02\x00" * 16, 0)
    player.advance(1)
    assert (player.played() == 2).all()
