"""The caller's speech, cut into stretches."""

import numpy as np

from voice.hearing.utterance import Utterance

FRAME = np.full(160, 1000, np.int16)
SOFT = np.full(160, 10, np.int16)


def say(utterance: Utterance, start_ms: int, end_ms: int, *, voiced: bool = True) -> None:
    for at in range(start_ms, end_ms, 20):
        utterance.push(FRAME, at + 20, voiced)


def test_a_stretch_takes_300_ms_of_lead_along() -> None:
    """A12"""
    utterance = Utterance()
    say(utterance, 0, 2000, voiced=False)
    say(utterance, 2000, 2400)
    stretch = utterance.take()
    assert stretch is not None
    assert stretch.sound.size == 700 * 8
    assert (stretch.start_ms, stretch.end_ms, stretch.voice_end_ms) == (2000, 2400, 2400)
    assert stretch.voiced_ms == 400


def test_without_voice_there_is_no_stretch() -> None:
    utterance = Utterance()
    say(utterance, 0, 1000, voiced=False)
    assert utterance.take() is None
    assert utterance.cut_ms() is None


def test_taking_up_to_a_time_leaves_later_frames_out() -> None:
    utterance = Utterance()
    say(utterance, 0, 600)
    stretch = utterance.take(400)
    assert stretch is not None
    assert (stretch.end_ms, stretch.voiced_ms) == (400, 400)


def test_closing_keeps_later_voice_for_the_next_segment() -> None:
    utterance = Utterance()
    say(utterance, 0, 600)
    utterance.close(400)
    stretch = utterance.take()
    assert stretch is not None
    assert (stretch.segment, stretch.start_ms, stretch.voiced_ms) == (2, 400, 200)


def test_quiet_frames_after_the_words_lead_into_the_next_segment() -> None:
    utterance = Utterance()
    say(utterance, 0, 400)
    say(utterance, 400, 600, voiced=False)
    utterance.close(560)
    say(utterance, 600, 800)
    stretch = utterance.take()
    assert stretch is not None
    assert stretch.start_ms == 600
    assert stretch.sound.size == 400 * 8


def test_each_closing_gives_a_new_segment_even_an_empty_one() -> None:
    """D03: two answers never share an id."""
    utterance = Utterance()
    utterance.close(100)
    utterance.close(200)
    assert utterance.segment == 3


def test_forgetting_drops_words_and_lead() -> None:
    utterance = Utterance()
    say(utterance, 0, 400)
    say(utterance, 400, 600, voiced=False)
    utterance.forget(600)
    say(utterance, 600, 800)
    stretch = utterance.take()
    assert stretch is not None
    assert stretch.sound.size == 200 * 8


def test_a_long_stretch_is_cut_in_the_middle_of_a_dip_and_a_short_one_is_not() -> None:
    utterance = Utterance()
    say(utterance, 0, 2000)
    say(utterance, 2000, 2300, voiced=False)
    assert utterance.cut_ms() is None
    say(utterance, 2300, 4400)
    say(utterance, 4400, 4580, voiced=False)
    assert utterance.cut_ms() is None
    say(utterance, 4580, 4600, voiced=False)
    assert utterance.cut_ms() == 4500


def test_speech_without_a_dip_is_cut_at_its_softest_place_after_11_s() -> None:
    utterance = Utterance()
    say(utterance, 0, 10_000)
    utterance.push(SOFT, 10_020, True)
    say(utterance, 10_020, 10_980)
    assert utterance.cut_ms() is None
    say(utterance, 10_980, 11_020)
    assert utterance.cut_ms() == 10_020


def test_sound_far_softer_than_the_words_is_no_part_of_them_though_called_voiced() -> None:
    utterance = Utterance()
    say(utterance, 0, 400)
    for at in range(400, 560, 20):
        utterance.push(SOFT, at + 20, True)
    stretch = utterance.take()
    assert stretch is not None
    assert (stretch.voice_end_ms, stretch.voiced_ms, stretch.end_ms) == (400, 400, 560)


def _frames(utterance: Utterance, start_ms: int, end_ms: int, *, voiced: bool) -> None:
    for at in range(start_ms + 20, end_ms + 1, 20):
        utterance.push(np.full(160, 3000 if voiced else 10, np.int16), at, voiced)


def test_a_stretch_that_follows_a_wordless_one_at_once_begins_with_it() -> None:
    """ "Yeah" and "let's do that" are one sentence, though a pause lies between them."""
    utterance = Utterance()
    _frames(utterance, 0, 400, voiced=True)
    _frames(utterance, 400, 600, voiced=False)
    utterance.close(400, wordless=True)
    _frames(utterance, 760, 1000, voiced=True)
    stretch = utterance.take()
    assert stretch is not None
    assert (stretch.start_ms, stretch.end_ms, stretch.voiced_ms) == (0, 1000, 640)


def test_words_that_count_and_words_that_were_used_are_not_joined() -> None:
    for used in (False, True):
        utterance = Utterance()
        _frames(utterance, 0, 400, voiced=True)
        utterance.close(400, wordless=used)
        if used:
            utterance.forget(400)
        _frames(utterance, 700, 1000, voiced=True)
        stretch = utterance.take()
        assert stretch is not None
        assert stretch.start_ms == 700


def test_a_later_stretch_is_not_joined() -> None:
    utterance = Utterance()
    _frames(utterance, 0, 400, voiced=True)
    utterance.close(400, wordless=True)
    _frames(utterance, 1200, 1500, voiced=True)
    stretch = utterance.take()
    assert stretch is not None
    assert stretch.start_ms == 1200


def test_a_hole_between_the_open_stretch_and_a_frame_is_seen() -> None:
    utterance = Utterance()
    assert not utterance.skipped_to(3000)
    _frames(utterance, 0, 420, voiced=True)
    assert not utterance.skipped_to(440)
    assert utterance.skipped_to(3020)


def test_quiet_after_the_voice_comes_along_with_it() -> None:
    utterance = Utterance()
    _frames(utterance, 0, 400, voiced=True)
    _frames(utterance, 400, 560, voiced=False)
    stretch = utterance.take(400)
    assert stretch is not None
    assert stretch.end_ms == 560
