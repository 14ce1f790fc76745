"""Streaming change of rate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import AudioError
from voice.audio.resample import RATES_HZ, Resampler

PAIRS = [(a, b) for a in RATES_HZ for b in RATES_HZ if a != b]


def tone(rate_hz: int, hz: float, seconds: float = 1.0, amplitude: float = 10000) -> np.ndarray:
    at = np.arange(round(rate_hz * seconds)) / rate_hz
    return (amplitude * np.sin(2 * np.pi * hz * at)).astype(np.int16)


def level_db(samples: np.ndarray, amplitude: float = 10000) -> float:
    settled = samples[samples.size // 10 :].astype(float)
    return float(10 * np.log10(np.mean(settled**2) / (amplitude**2 / 2) + 1e-12))


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_a_minute_comes_out_a_minute_long(a: int, b: int) -> None:
    """H10: length of input times ratio, to a sample, over 60 s of uneven pushes."""
    stream = Resampler(a, b)
    sizes = [a // 50, 1, 7, a // 50 - 8, a // 10] * 400
    sizes.append(60 * a - sum(sizes))
    block = np.zeros(max(sizes), np.int16)
    count = sum(stream.push(block[:size]).size for size in sizes) + stream.flush().size
    assert abs(count - 60 * b) <= 1


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_every_frame_of_20_ms_gives_a_frame_of_20_ms_at_once(a: int, b: int) -> None:
    stream = Resampler(a, b)
    frame = np.zeros(a // 50, np.int16)
    assert [stream.push(frame).size for _ in range(5)] == [b // 50] * 5
    assert stream.delay_ms < 1.5


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_the_phone_band_passes_and_images_and_aliases_do_not(a: int, b: int) -> None:
    slower = min(a, b)
    for part in (0.05, 0.25, 0.4):
        out = Resampler(a, b).push(tone(a, part * slower))
        assert level_db(out) == pytest.approx(0.0, abs=0.3)
        expected = tone(b, part * slower, amplitude=1.0)
        assert out.size == expected.size
    if a > b:
        assert level_db(Resampler(a, b).push(tone(a, 0.58 * b))) < -50
    else:
        spectrum = np.abs(np.fft.rfft(Resampler(a, b).push(tone(a, 0.4 * a))[b // 10 : -b // 10]))
        spectrum /= spectrum.max()
        image = round(0.58 * a * spectrum.size / (b / 2))
        assert spectrum[image:].max() < 0.005


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_the_sound_comes_out_delay_ms_later(a: int, b: int) -> None:
    stream = Resampler(a, b)
    hz = 500.0
    out = stream.push(tone(a, hz)).astype(float)
    at = np.arange(out.size) / b - stream.delay_ms / 1000
    expected = 10000 * np.sin(2 * np.pi * hz * at)
    assert np.max(np.abs(out - expected)[b // 10 :]) < 40


@given(
    st.sampled_from(PAIRS),
    st.lists(st.integers(0, 500), min_size=1, max_size=8),
    st.integers(0, 2**32 - 1),
)
def test_the_cut_into_pushes_changes_nothing(
    pair: tuple[int, int], sizes: list[int], seed: int
) -> None:
    sound = np.random.default_rng(seed).integers(-32768, 32767, sum(sizes)).astype(np.int16)
    whole = Resampler(*pair)
    expected = np.concatenate((whole.push(sound), whole.flush()))
    stream = Resampler(*pair)
    ends = np.cumsum([0, *sizes])
    parts = [stream.push(sound[x:y]) for x, y in zip(ends[:-1], ends[1:], strict=True)]
    got = np.concatenate((*parts, stream.flush()))
    assert got.size == expected.size == -(-sound.size * pair[1] // pair[0])
    # a matrix product may sum in another order for another number of rows
    assert got.size == 0 or np.max(np.abs(got.astype(int) - expected)) <= 1


def test_two_streams_at_once_do_not_mix() -> None:
    """H10: state belongs to the stream."""
    loud, quiet = Resampler(8000, 16000), Resampler(8000, 16000)
    for _ in range(5):
        loud.push(tone(8000, 440, 0.02, 30000))
        assert not quiet.push(np.zeros(160, np.int16)).any()


def test_a_flushed_stream_begins_anew() -> None:
    stream = Resampler(24000, 16000)
    stream.push(tone(24000, 440)[:1000])
    stream.flush()
    fresh = Resampler(24000, 16000)
    sound = tone(24000, 300)[:960]
    assert np.array_equal(stream.push(sound), fresh.push(sound))


def test_full_scale_is_clipped_and_never_wraps() -> None:
    square = np.where(np.arange(1600) // 40 % 2, 32767, -32768).astype(np.int16)
    out = Resampler(8000, 16000).push(square).astype(int)
    assert np.max(np.abs(np.diff(out))) < 50000
    assert out.max() == 32767
    assert out.min() == -32768


def test_equal_rates_pass_untouched() -> None:
    stream = Resampler(16000, 16000)
    sound = tone(16000, 440)
    assert stream.push(sound) is sound
    assert stream.flush().size == 0
    assert stream.delay_ms == 0.0


@pytest.mark.parametrize(("pair", "named"), [((11025, 8000), "11025"), ((8000, 0), "to_hz = 0")])
def test_a_rate_the_live_path_does_not_know_is_named(pair: tuple[int, int], named: str) -> None:
    """H10: a rate nobody can convert is an error at once, not a chipmunk."""
    with pytest.raises(AudioError, match=named):
        Resampler(*pair)
