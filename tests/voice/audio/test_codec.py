"""Bytes of the line to samples and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.audio.codec import from_linear, silence, to_linear
from voice.audio.format import PHONE, WIDE, AudioFormat, Encoding

ALAW = AudioFormat(Encoding.ALAW, 8000)


def test_pcm16_is_little_endian() -> None:
    assert to_linear(WIDE, b"\x01\x00\xff\x7f\x00\x80").tolist() == [1, 32767, -32768]
    assert from_linear(WIDE, np.array([1, 32767, -32768], np.int16)) == b"\x01\x00\xff\x7f\x00\x80"


@pytest.mark.parametrize("fmt", [PHONE, ALAW])
def test_g711_is_one_byte_a_sample(fmt: AudioFormat) -> None:
    tone = (8000 * np.sin(np.arange(160) / 4)).astype(np.int16)
    line = from_linear(fmt, tone)
    assert len(line) == fmt.frame_bytes
    assert np.max(np.abs(to_linear(fmt, line).astype(int) - tone)) <= 256
    assert from_linear(fmt, to_linear(fmt, line)) == line


@pytest.mark.parametrize("fmt", [PHONE, ALAW, WIDE])
def test_silence_has_the_length_asked_for_and_no_sound(fmt: AudioFormat) -> None:
    line = silence(fmt, 160)
    assert len(line) == 160 * fmt.encoding.sample_bytes
    assert np.max(np.abs(to_linear(fmt, line))) <= 8


@given(st.sampled_from([PHONE, ALAW, WIDE]), st.binary(max_size=999))
def test_no_bytes_raise(fmt: AudioFormat, data: bytes) -> None:
    """H08: a lone byte is no sample; H02: no bytes are no samples."""
    samples = to_linear(fmt, data)
    assert samples.dtype == np.int16
    assert samples.size == len(data) // fmt.encoding.sample_bytes


def test_a_strided_view_is_encoded_like_its_copy() -> None:
    """One channel taken out of two is such a view."""
    both = np.arange(-320, 320, dtype=np.int16).reshape(-1, 2)
    for fmt in (PHONE, ALAW, WIDE):
        assert from_linear(fmt, both[:, 1]) == from_linear(fmt, both[:, 1].copy())
