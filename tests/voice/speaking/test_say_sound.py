"""The sound buffer of one say."""

import numpy as np
import pytest

from voice.audio.codec import silence, to_linear
from voice.audio.format import PHONE, WIDE, AudioFormat, Encoding
from voice.speaking.say_sound import KEEP_BEHIND_MS, SaySound


def tone(ms: int, rate_hz: int) -> "np.ndarray[tuple[int], np.dtype[np.int16]]":
    at = np.arange(ms * rate_hz // 1000) / rate_hz
    return (np.sin(2 * np.pi * 300 * at) * 8000).astype(np.int16)


@pytest.mark.parametrize("fmt", [PHONE, WIDE, AudioFormat(Encoding.ALAW, 8000)])
def test_frames_are_whole_and_the_last_is_filled_with_silence(fmt: AudioFormat) -> None:
    sound = SaySound(fmt, 24000)
    sound.add(tone(50, 24000))
    assert sound.length_ms == pytest.approx(50, abs=1)
    assert sound.frame(0) is not None
    assert sound.frame(40) is None
    sound.finish()
    last = sound.frame(40)
    assert last is not None and len(last) == fmt.frame_bytes
    assert last.endswith(silence(fmt, 60))
    assert sound.frame(60) is None
    assert sound.finish() == 0.0


def test_pieces_of_any_size_give_the_same_bytes() -> None:
    samples = tone(500, 24000)
    whole, pieces = SaySound(PHONE, 24000), SaySound(PHONE, 24000)
    whole.add(samples)
    for start in range(0, len(samples), 777):
        pieces.add(samples[start : start + 777])
    for sound in (whole, pieces):
        sound.finish()
    assert [whole.frame(at) for at in range(0, 500, 20)] == [
        pieces.frame(at) for at in range(0, 500, 20)
    ]


def test_fading_in_takes_ten_ms_and_no_more() -> None:
    sound = SaySound(WIDE, 16000)
    sound.add(tone(40, 16000))
    frame = sound.frame(20)
    assert frame is not None
    before, after = to_linear(WIDE, frame), to_linear(WIDE, sound.faded(frame))
    assert after[0] == 0
    assert abs(after[:40]).max() < 4000
    assert (before[160:] == after[160:]).all()


def test_the_quietest_spot_near_a_guess_is_found() -> None:
    """A02: going on between two words clicks less than inside one."""
    sound = SaySound(PHONE, 8000)
    sound.add(tone(500, 8000))
    sound.add(np.zeros(8 * 40, np.int16))
    sound.add(tone(500, 8000))
    assert 500 <= sound.quiet_near(560) < 540
    assert 500 <= sound.quiet_near(600) < 540
    assert SaySound(PHONE, 8000).quiet_near(30) == 0
    assert sound.quiet_near(99_999) == 1040


def test_old_sound_is_forgotten_and_positions_stay() -> None:
    """N06"""
    sound = SaySound(PHONE, 8000)
    sound.add(tone(30_000, 8000))
    before = sound.frame(25_000)
    sound.trim(25_000)
    assert sound.frame(25_000) == before
    assert sound.length_ms == 30_000
    assert sound.linear(25_000 - KEEP_BEHIND_MS) is not None
    assert sound.linear(0) is None
    assert sound.linear(29_990) is None
    assert len(sound._data) == 20_000 * 8
