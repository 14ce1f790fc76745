"""Sound files of every kind in, plain WAV out."""

import io
import os
import resource
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import AudioError
from tests.voice.audio.wav_maker import chunk, fmt, wav
from voice.audio.files import MAX_SECONDS, decode_sound, read_sound, wav_bytes, write_wav

FIXTURES = Path(__file__).parents[3] / "audio_fixtures"


def tone(rate_hz: int, hz: float = 440.0, seconds: float = 1.0) -> np.ndarray:
    return 0.5 * np.sin(2 * np.pi * hz * np.arange(round(rate_hz * seconds)) / rate_hz)


def made(values: np.ndarray, rate_hz: int, subtype: str, kind: str = "WAV") -> bytes:
    target = io.BytesIO()
    soundfile.write(target, values, rate_hz, subtype=subtype, format=kind)
    return target.getvalue()


def error_db(samples: np.ndarray, expected: np.ndarray) -> float:
    error = samples / 32768.0 - expected
    return float(10 * np.log10(np.mean(error**2) + 1e-12))


@pytest.mark.parametrize("rate_hz", [8000, 16000, 44100, 48000])
@pytest.mark.parametrize("kind", ["WAV", "WAVEX"])
@pytest.mark.parametrize(
    ("subtype", "limit_db"),
    [
        *(("PCM_U8", -40), ("PCM_16", -80), ("PCM_24", -80), ("PCM_32", -80)),
        *(("FLOAT", -80), ("DOUBLE", -80), ("ULAW", -40), ("ALAW", -40)),
    ],
)
def test_a_tone_is_the_same_tone_in_every_width(
    rate_hz: int, kind: str, subtype: str, limit_db: float
) -> None:
    """I01, I02, I06: plain and extensible headers, integers, floats and G.711."""
    expected = tone(rate_hz)
    sound = decode_sound(made(expected, rate_hz, subtype, kind))
    assert sound.rate_hz == rate_hz
    assert sound.samples.size == rate_hz
    assert error_db(sound.samples, expected) < limit_db
    assert sound.warnings == ()
    assert sound.duration_ms == 1000


@pytest.mark.parametrize(
    ("subtype", "kind"),
    [
        *(("PCM_16", "FLAC"), ("PCM_24", "AIFF"), ("PCM_16", "RF64"), ("ULAW", "AU")),
        *(("VORBIS", "OGG"), ("IMA_ADPCM", "WAV"), ("GSM610", "WAV")),
    ],
)
def test_kinds_that_a_library_decodes_are_the_same_tone(subtype: str, kind: str) -> None:
    expected = tone(8000)
    sound = decode_sound(made(expected, 8000, subtype, kind))
    assert error_db(sound.samples[:8000], expected) < -15
    assert sound.samples.size - 8000 in range(600)


def test_full_scale_is_reached_and_never_wraps() -> None:
    """I02: the loudest values of each width."""
    values = np.array([1.0, -1.0, 0.0, 7.5, -7.5])
    for subtype in ("PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"):
        samples = decode_sound(made(values, 8000, subtype)).samples
        assert samples.tolist() == [32767, -32768, 0, 32767, -32768], subtype


def test_float_samples_that_are_no_numbers_are_silence() -> None:
    """I02: never noise, never a crash."""
    values = np.array([np.nan, 0.5, np.inf, -np.inf, 1e300, 0.0], "<f8")
    header = fmt(tag=3, bits=64)
    sound = decode_sound(wav(header, chunk(b"data", values.tobytes())))
    assert sound.samples.tolist() == [0, 16384, 0, 0, 32767, 0]
    assert sound.warnings == ("data: 3 samples are no numbers: taken as silence",)


@pytest.mark.parametrize(("tag", "silent"), [(7, 0xFF), (6, 0xD5)])
def test_g711_silence_in_a_wav_is_silence(tag: int, silent: int) -> None:
    """I06: tag 7 and 6 are not unsigned 8-bit."""
    data = wav(fmt(tag=tag, bits=8), chunk(b"data", bytes([silent]) * 800))
    assert np.max(np.abs(decode_sound(data).samples)) <= 8


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF, 0x7FFFFFFF])
def test_a_placeholder_length_allocates_nothing_and_reads_what_is_there(size: int) -> None:
    """I03: hours in the header, half a second in the file."""
    values = (tone(8000, seconds=0.5) * 32767).astype("<i2")
    data = wav(fmt(), chunk(b"data", values.tobytes(), size=size), riff_size=size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sound = decode_sound(data)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
    assert np.array_equal(sound.samples, values)
    assert sound.duration_ms == 500
    assert len(sound.warnings) == 1


def test_a_packed_wav_that_the_library_refuses_is_repaired_for_it() -> None:
    """I03, I04: ADPCM with a placeholder length behind a chunk without its pad byte."""
    good = made(tone(8000), 8000, "IMA_ADPCM")
    body, sound_at = good[12:], good.index(b"data")
    sound = good[sound_at + 8 :]
    header = body[: sound_at - 12]
    damaged = wav(
        *(chunk(b"LIST", b"abcde", pad=False), header, chunk(b"data", sound, size=0xFFFFFFFF))
    )
    assert np.array_equal(decode_sound(damaged).samples, decode_sound(good).samples)


def test_the_channel_of_a_call_recording_is_a_choice() -> None:
    """I08: left is the caller, right the agent; nobody mixes them by accident."""
    left, right = tone(8000, 300), tone(8000, 900)
    data = made(np.stack((left, right), axis=1), 8000, "PCM_16")
    with pytest.raises(AudioError, match="channels = 2: say which one, 0 to 1"):
        decode_sound(data)
    caller, agent = decode_sound(data, channel=0), decode_sound(data, channel=1)
    assert error_db(caller.samples, left) < -80
    assert error_db(agent.samples, right) < -80
    assert caller.samples.size == agent.samples.size
    for wrong in (2, -1):
        with pytest.raises(AudioError, match=f"channel = {wrong}: the file has 2"):
            decode_sound(data, channel=wrong)


def test_channels_of_other_kinds_are_chosen_the_same_way() -> None:
    """I08: FLAC goes through a library and keeps to the rule."""
    left, right = tone(8000, 300), tone(8000, 900)
    data = made(np.stack((left, right), axis=1), 8000, "PCM_16", "FLAC")
    with pytest.raises(AudioError, match="channels = 2"):
        decode_sound(data)
    assert error_db(decode_sound(data, channel=1).samples, right) < -80


def test_extensible_stereo_hold_music_at_48_khz_in_24_bits_becomes_a_phone_line() -> None:
    """I01: the whole way to the rate of the line."""
    values = np.stack((tone(48000), -tone(48000)), axis=1)
    sound = decode_sound(made(values, 48000, "PCM_24", "WAVEX"), rate_hz=8000, channel=0)
    assert sound.rate_hz == 8000
    assert abs(sound.samples.size - 8000) <= 1
    middle = slice(800, 7200)
    assert error_db(sound.samples[middle], tone(8000)[middle]) < -40


@pytest.mark.parametrize("rate_hz", [0, -8000, 4_000_000_000])
def test_a_rate_that_cannot_be_converted_to_is_named(rate_hz: int) -> None:
    with pytest.raises(AudioError, match=f"rate_hz = {rate_hz}"):
        decode_sound(made(tone(8000), 8000, "PCM_16"), rate_hz=rate_hz)


def test_a_truncated_file_is_what_is_there_with_a_warning() -> None:
    """I09: data says 1000 bytes, 16 exist."""
    sound = decode_sound(wav(fmt(), chunk(b"data", b"\1\0" * 8, size=1000)))
    assert sound.samples.tolist() == [1] * 8
    assert "cut short" in sound.warnings[0]


def test_a_header_alone_is_an_empty_sound_with_a_warning() -> None:
    """I09: 44 bytes."""
    sound = decode_sound(wav(fmt(), chunk(b"data", b"")))
    assert sound.samples.size == 0
    assert sound.warnings == ("data: holds no sound",)


def test_a_truncated_flac_gives_its_beginning() -> None:
    """I09: for kinds of another family too."""
    data = made(tone(8000, seconds=5), 8000, "PCM_16", "FLAC")
    sound = decode_sound(data[: len(data) // 2])
    assert 0 < sound.samples.size < 5 * 8000


def test_more_than_an_hour_is_refused_before_it_is_decoded() -> None:
    """I03: bounded by the bytes that exist."""
    data = wav(fmt(tag=7, bits=8, rate_hz=1000), chunk(b"data", bytes(1000 * MAX_SECONDS + 1)))
    with pytest.raises(AudioError, match="duration = 3600 s: at most 3600 s"):
        decode_sound(data)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "size = 0 bytes"),
        (b"RIFF", "not a RIFF/WAVE file"),
        (b"this is no sound", "no sound file that can be read"),
        (wav(fmt(channels=0, block=2), chunk(b"data", b"\0\0")), "channels = 0"),
        (wav(fmt(rate_hz=0), chunk(b"data", b"\0\0")), "sample rate = 0"),
    ],
)
def test_an_unreadable_file_is_named_with_its_fault(
    tmp_path: Path, content: bytes, named: str
) -> None:
    """N04, I09: zero bytes, no sound, lying fields; at once, and naming the file."""
    path = tmp_path / "hold.wav"
    path.write_bytes(content)
    with pytest.raises(AudioError, match=named) as caught:
        read_sound(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_a_folder_are_audio_errors(tmp_path: Path) -> None:
    """N04: missing at load, or deleted since."""
    with pytest.raises(AudioError, match=r"gone\.wav: No such file"):
        read_sound(tmp_path / "gone.wav")
    with pytest.raises(AudioError, match="Is a directory"):
        read_sound(tmp_path)


def test_a_huge_file_is_not_opened(tmp_path: Path) -> None:
    """I03: a sparse file of 2 GiB costs nothing."""
    path = tmp_path / "huge.wav"
    path.touch()
    os.truncate(path, 1 << 31)
    with pytest.raises(AudioError, match="size = 2147483648 bytes"):
        read_sound(path)


def test_written_bytes_are_always_the_same_and_read_back(tmp_path: Path) -> None:
    samples = np.arange(-300, 300, dtype=np.int16)
    write_wav(tmp_path / "a.wav", samples, 16000)
    data = (tmp_path / "a.wav").read_bytes()
    assert data == wav(fmt(rate_hz=16000), chunk(b"data", samples.astype("<i2").tobytes()))
    assert np.array_equal(read_sound(tmp_path / "a.wav").samples, samples)


def test_two_channels_are_written_side_by_side(tmp_path: Path) -> None:
    """I08: caller left, agent right, of the same length."""
    both = np.stack((np.arange(160), -np.arange(160)), axis=1).astype(np.int16)
    write_wav(tmp_path / "call.wav", both, 8000)
    for channel in (0, 1):
        sound = read_sound(tmp_path / "call.wav", channel=channel)
        assert np.array_equal(sound.samples, both[:, channel])
        assert sound.warnings == ()


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match=r"a\.wav: No such file"):
        write_wav(tmp_path / "no" / "a.wav", np.zeros(1, np.int16), 8000)


def test_more_sound_than_a_header_can_count_is_refused() -> None:
    too_long = np.broadcast_to(np.int16(0), (1 << 31,))
    with pytest.raises(AudioError, match="size = 4294967296 bytes"):
        wav_bytes(too_long, 8000)


@pytest.mark.parametrize("path", sorted(FIXTURES.rglob("*.wav")), ids=lambda p: p.name)
def test_every_recording_of_ours_reads_without_a_warning(path: Path) -> None:
    sound = read_sound(path, rate_hz=16000)
    assert sound.warnings == ()
    assert sound.duration_ms > 200


@given(st.binary(max_size=200), st.sampled_from([b"RIFF", b"fLaC", b"OggS", b"FORM", b"RF64", b""]))
def test_no_bytes_raise_anything_but_an_audio_error(tail: bytes, head: bytes) -> None:
    """I09, N04: hostile files."""
    try:
        sound = decode_sound(head + tail)
    except AudioError:
        return
    assert sound.samples.dtype == np.int16
