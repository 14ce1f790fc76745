"""The G.711 tables against the standard's own numbers and against independent implementations."""

import warnings

import numpy as np
import pytest

from voice.audio import g711

ALL = np.arange(-32768, 32768).astype(np.int16)

# where a segment begins, the width of its steps, its first code; in the standard's own units
ULAW_SEGMENTS = [
    *((31, 4, 0xEF), (95, 8, 0xDF), (223, 16, 0xCF), (479, 32, 0xBF)),
    *((991, 64, 0xAF), (2015, 128, 0x9F), (4063, 256, 0x8F)),
]
ALAW_SEGMENTS = [
    *((64, 4, 0xF5), (128, 8, 0xE5), (256, 16, 0x95)),
    *((512, 32, 0x85), (1024, 64, 0xB5), (2048, 128, 0xA5)),
]


def ulaw(sample: int) -> int:
    return int(g711.ULAW_ENCODE[np.array(sample, np.int16).view(np.uint16)])


def alaw(sample: int) -> int:
    return int(g711.ALAW_ENCODE[np.array(sample, np.int16).view(np.uint16)])


def test_silence_is_silence_in_both_laws() -> None:
    """I06: 0xFF and 0xD5 are no sound."""
    assert ulaw(0) == g711.ULAW_SILENCE == 0xFF
    assert alaw(0) == g711.ALAW_SILENCE == 0xD5
    assert g711.ULAW_DECODE[0xFF] == 0
    assert g711.ULAW_DECODE[0x7F] == 0
    assert abs(int(g711.ALAW_DECODE[0xD5])) == 8


@pytest.mark.parametrize(
    ("code", "value"),
    [(0x80, 8031), (0x00, -8031), (0x8F, 4191), (0x9F, 2079), (0xEF, 33), (0xFE, 2), (0x7E, -2)],
)
def test_mu_law_codes_have_the_values_of_the_standard(code: int, value: int) -> None:
    assert g711.ULAW_DECODE[code] == value * 4


@pytest.mark.parametrize(
    ("code", "value"),
    [(0xAA, 4032), (0x2A, -4032), (0xD5, 1), (0x55, -1), (0xC5, 33), (0xF5, 66), (0xA5, 2112)],
)
def test_a_law_codes_have_the_values_of_the_standard(code: int, value: int) -> None:
    assert g711.ALAW_DECODE[code] == value * 8


@pytest.mark.parametrize(("edge", "step", "code"), ULAW_SEGMENTS)
def test_a_mu_law_segment_begins_at_its_decision_value(edge: int, step: int, code: int) -> None:
    assert ulaw(edge * 4) == ulaw((edge + step) * 4 - 1) == code
    assert ulaw(edge * 4 - 1) == code + 1
    assert ulaw((edge + step) * 4) == code - 1


@pytest.mark.parametrize(("edge", "step", "code"), ALAW_SEGMENTS)
def test_an_a_law_segment_begins_at_its_decision_value(edge: int, step: int, code: int) -> None:
    assert alaw(edge * 8) == alaw((edge + step) * 8 - 1) == code
    assert alaw(edge * 8 - 1) ^ 0x55 == (code ^ 0x55) - 1
    assert alaw((edge + step) * 8) ^ 0x55 == (code ^ 0x55) + 1


def test_every_code_survives_a_trip_through_samples() -> None:
    codes = np.arange(256)
    again = g711.ULAW_ENCODE[g711.ULAW_DECODE.view(np.uint16)]
    assert np.array_equal(again[codes != 0x7F], codes[codes != 0x7F])
    assert again[0x7F] == 0xFF  # minus zero is zero
    assert np.array_equal(g711.ALAW_ENCODE[g711.ALAW_DECODE.view(np.uint16)], codes)


@pytest.mark.parametrize(
    ("encode", "decode"),
    [(g711.ULAW_ENCODE, g711.ULAW_DECODE), (g711.ALAW_ENCODE, g711.ALAW_DECODE)],
)
def test_louder_samples_never_decode_quieter(encode: np.ndarray, decode: np.ndarray) -> None:
    heard = decode[encode[ALL.view(np.uint16)]].astype(int)
    assert np.all(np.diff(heard) >= 0)
    assert np.array_equal(heard, -heard[::-1])
    inside = np.abs(ALL.astype(int)) <= 32000
    assert np.max(np.abs(heard - ALL)[inside]) <= 512


def audioop_codes(law: str) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        audioop = pytest.importorskip("audioop")
    convert = audioop.lin2ulaw if law == "ulaw" else audioop.lin2alaw
    return np.frombuffer(convert(ALL.astype("<i2").tobytes(), 2), np.uint8)


def audioop_samples(law: str) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        audioop = pytest.importorskip("audioop")
    convert = audioop.ulaw2lin if law == "ulaw" else audioop.alaw2lin
    return np.frombuffer(convert(bytes(range(256)), 2), "<i2")


def test_decoding_equals_the_standard_library() -> None:
    assert np.array_equal(g711.ULAW_DECODE, audioop_samples("ulaw"))
    assert np.array_equal(g711.ALAW_DECODE, audioop_samples("alaw"))


def test_a_law_encoding_equals_the_standard_library() -> None:
    assert np.array_equal(g711.ALAW_ENCODE[ALL.view(np.uint16)], audioop_codes("alaw"))


def test_mu_law_encoding_equals_the_standard_library_above_zero_and_mirrors_it_below() -> None:
    """The library rounds negative samples away from 0 before it codes them; we mirror instead."""
    expected = audioop_codes("ulaw")
    ours = g711.ULAW_ENCODE[ALL.view(np.uint16)]
    assert np.array_equal(ours[32768:], expected[32768:])
    assert np.array_equal(ours[:32768], expected[32768:][::-1] ^ 0x80)
