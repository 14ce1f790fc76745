"""Messages of any size to frames of 20 ms."""

from itertools import accumulate

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voice.audio.format import PHONE, WIDE, AudioFormat, Encoding
from voice.audio.reblock import Reblocker

TONE = (9000 * np.sin(2 * np.pi * np.arange(1600) / 16)).astype("<i2").tobytes()


def test_odd_messages_give_the_samples_of_the_unsplit_stream() -> None:
    """H08: 641, 639, 1 and 640 bytes, the last one odd."""
    blocks = Reblocker(WIDE)
    ends = list(accumulate((641, 639, 1, 640)))
    frames = [f for a, b in zip([0, *ends], ends, strict=False) for f in blocks.push(TONE[a:b])]
    assert b"".join(frames) == TONE[:1920]
    assert blocks.carried_bytes == 1
    assert blocks.finish() == []
    assert blocks.dropped_bytes == 1


def test_a_reset_clears_the_carry_and_counts_it() -> None:
    """H08: nothing of the old stream is in the new one."""
    blocks = Reblocker(WIDE)
    blocks.push(TONE[:641])
    blocks.reset()
    assert blocks.dropped_bytes == 1
    assert blocks.push(TONE[:640]) == [TONE[:640]]


def test_an_empty_message_makes_no_frame_and_no_gap() -> None:
    """H02: b"" changes nothing, also in the middle of a frame."""
    blocks = Reblocker(PHONE)
    assert blocks.push(b"") == []
    blocks.push(b"\x01" * 100)
    assert blocks.push(b"") == []
    assert blocks.push(b"\x02" * 60) == [b"\x01" * 100 + b"\x02" * 60]


def test_the_last_frame_is_filled_up_with_the_silence_of_its_encoding() -> None:
    blocks = Reblocker(AudioFormat(Encoding.ALAW, 8000))
    blocks.push(b"\x01" * 10)
    assert blocks.finish() == [b"\x01" * 10 + b"\xd5" * 150]
    assert blocks.dropped_bytes == 0
    assert blocks.finish() == []


@given(
    st.sampled_from([PHONE, WIDE, AudioFormat(Encoding.PCM16, 48000)]),
    st.lists(st.binary(max_size=3000), max_size=12),
)
def test_every_byte_comes_out_once_in_order(fmt: AudioFormat, messages: list[bytes]) -> None:
    blocks = Reblocker(fmt)
    frames = [frame for message in messages for frame in blocks.push(message)]
    whole = b"".join(messages)
    assert all(len(frame) == fmt.frame_bytes for frame in frames)
    assert b"".join(frames) == whole[: len(whole) - len(whole) % fmt.frame_bytes]
    tail = b"".join(blocks.finish())
    assert len(tail) in (0, fmt.frame_bytes)
    assert blocks.dropped_bytes == len(whole) % fmt.encoding.sample_bytes
