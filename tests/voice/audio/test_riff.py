"""WAV headers: what is repaired, and what is refused by name."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import AudioError
from tests.voice.audio.wav_maker import chunk, fmt, wav
from voice.audio.riff import ALAW, FLOAT, PCM, ULAW, read_layout

SOUND = bytes(range(1, 201)) * 2


def layout_of(*chunks: bytes) -> tuple[int, int]:
    found = read_layout(wav(*chunks))
    return found.start, found.size


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF, 0x7FFFFFFF, 0x7FFFF000])
def test_a_placeholder_length_means_to_the_end(size: int) -> None:
    """I03: a header from a pipe; the RIFF size is one too."""
    data = wav(fmt(), chunk(b"data", SOUND, size=size), riff_size=size)
    found = read_layout(data)
    assert data[found.start : found.start + found.size] == SOUND
    assert len(found.warnings) == 1


def test_zero_length_with_nothing_behind_it_is_empty() -> None:
    """I03, I09: a 44-byte file holds no sound."""
    data = wav(fmt(), chunk(b"data", b""))
    assert len(data) == 44
    found = read_layout(data)
    assert found.size == 0
    assert found.warnings == ("data: holds no sound",)


def test_an_empty_sound_before_another_chunk_is_empty() -> None:
    """I03: the bytes behind it are a known chunk, so no sound."""
    assert layout_of(fmt(), chunk(b"data", b""), chunk(b"LIST", b"INFO")) == (44, 0)


@pytest.mark.parametrize(
    "before",
    [
        chunk(b"LIST", b"abcde"),
        chunk(b"LIST", b"abcde", pad=False),
        chunk(b"JUNK", bytes(28)),
        chunk(b"zzzz", b""),
        chunk(b"odd1", b"x" * 7),
        chunk(b"bext", bytes(603), pad=False) + chunk(b"id3 ", b"ID3"),
    ],
)
def test_chunks_before_the_format_are_skipped(before: bytes) -> None:
    """I04: by size and alignment, with or without the pad byte."""
    data = wav(before, fmt(), chunk(b"data", SOUND), chunk(b"id3 ", b"tag"))
    found = read_layout(data)
    assert data[found.start : found.start + found.size] == SOUND


def test_a_missing_pad_byte_is_seen_even_if_the_shifted_name_is_printable() -> None:
    """I04: "ata" and a size byte that is a letter look like a name, but not like a known one."""
    data = wav(fmt(), chunk(b"LIST", b"abcde", pad=False), chunk(b"data", SOUND[:0x40]))
    found = read_layout(data)
    assert data[found.start : found.start + found.size] == SOUND[:0x40]
    assert found.warnings == ("chunk at byte 49: the pad byte before it is missing",)


def test_sound_before_its_format_is_found() -> None:
    """I04: order is no law."""
    assert layout_of(chunk(b"data", SOUND), fmt()) == (20, len(SOUND))


def test_what_is_no_chunk_is_named_by_its_offset() -> None:
    """I04: a clear error with the byte offset."""
    with pytest.raises(AudioError, match="chunk at byte 24"):
        read_layout(wav(chunk(b"LIST", b"abcd"), b"\x00\x01\x02\x03" * 8))
    with pytest.raises(AudioError, match=r"chunk b'LIST' at byte 12: size = 999"):
        read_layout(wav(chunk(b"LIST", b"abcd", size=999)))


def test_rubbish_behind_the_sound_is_no_matter() -> None:
    """I04: nothing after format and sound is needed."""
    assert layout_of(fmt(), chunk(b"data", SOUND), b"\x00\xff" * 20) == (44, len(SOUND))


def test_a_file_of_a_million_empty_chunks_ends_soon() -> None:
    with pytest.raises(AudioError, match="1000 chunks"):
        read_layout(wav(chunk(b"JUNK", b"") * 1_000_000))


def test_a_truncated_sound_is_what_is_there() -> None:
    """I09: data says 1000 bytes, 16 exist."""
    found = read_layout(wav(fmt(), chunk(b"data", SOUND[:16], size=1000)))
    assert found.size == 16
    assert found.warnings == ("data: size = 1000 but 16 bytes are there: cut short",)


def test_a_last_block_that_is_cut_is_left_out() -> None:
    """I09: truncated in the middle of a sample."""
    found = read_layout(wav(fmt(channels=2), chunk(b"data", SOUND[:18], size=1000)))
    assert found.size == 16
    assert "no whole block of 4" in found.warnings[-1]


@pytest.mark.parametrize(
    ("header", "named"),
    [
        (fmt(channels=0, block=2), "channels = 0"),
        (fmt(channels=65), "channels = 65"),
        (fmt(rate_hz=0), "sample rate = 0"),
        (fmt(rate_hz=4_000_000_000), "sample rate = 4000000000"),
        (fmt(bits=7), "bits per sample = 7"),
        (fmt(bits=0), "bits per sample = 0"),
        (fmt(bits=64), "bits per sample = 64"),
        (fmt(tag=FLOAT, bits=16), "bits per sample = 16"),
        (fmt(tag=ULAW, bits=16), "bits per sample = 16"),
        (fmt(block=4), "block align = 4"),
        (fmt(block=0), "block align = 0"),
        (fmt(tag=0x11, bits=4, block=0), "block align = 0"),
        (chunk(b"fmt ", bytes(12)), "fmt: size = 12"),
        (fmt(tag=0xFFFE), "fmt: size = 16"),
        (fmt(tag=0xFFFE, tail=struct.pack("<HHI16s", 22, 16, 0, b"?" * 16)), "sub-format = 3f3f"),
    ],
)
def test_a_lying_field_is_named_with_its_value(header: bytes, named: str) -> None:
    """I02, I09: no division by zero, no guess; the message says which field."""
    with pytest.raises(AudioError, match=named):
        read_layout(wav(header, chunk(b"data", SOUND)))


def test_a_wrong_byte_rate_is_only_a_warning() -> None:
    """I09: nothing is computed from it."""
    found = read_layout(wav(fmt(byte_rate=1), chunk(b"data", SOUND)))
    assert found.warnings == ("fmt: byte rate = 1 should be 16000",)


@pytest.mark.parametrize(("tag", "bits"), [(ULAW, 8), (ULAW, 0), (ALAW, 8), (ALAW, 0)])
def test_g711_without_a_fact_chunk_and_with_either_width_is_accepted(tag: int, bits: int) -> None:
    """I06: call recorders write 8 or 0."""
    found = read_layout(wav(fmt(tag=tag, bits=bits, block=1), chunk(b"data", SOUND)))
    assert (found.tag, found.sample_bytes, found.size) == (tag, 1, len(SOUND))


@pytest.mark.parametrize("missing", ["fmt ", "data"])
def test_a_missing_chunk_is_named(missing: str) -> None:
    chunks = {"fmt ": fmt(), "data": chunk(b"data", SOUND)}
    chunks.pop(missing)
    with pytest.raises(AudioError, match=f"'{missing}' is missing"):
        read_layout(wav(*chunks.values()))


@pytest.mark.parametrize("data", [b"", b"RIFF", b"RIFF\0\0\0\0WAV", b"RIFF\4\0\0\0AVI "])
def test_what_is_no_wave_file_is_refused(data: bytes) -> None:
    with pytest.raises(AudioError, match="not a RIFF/WAVE file"):
        read_layout(data)


def test_an_extensible_header_is_decided_by_its_sub_format() -> None:
    """I01: tag 0xFFFE, mask ignored, container bits used."""
    guid = struct.pack("<H", PCM) + bytes.fromhex("000000001000800000aa00389b71")
    tail = struct.pack("<HHI", 22, 20, 0xDEAD) + guid
    header = fmt(tag=0xFFFE, channels=2, bits=24, rate_hz=48000, tail=tail)
    found = read_layout(wav(header, chunk(b"data", SOUND[:60])))
    assert (found.tag, found.channels, found.sample_bytes) == (PCM, 2, 3)


@given(st.data())
def test_a_damaged_header_gives_a_layout_inside_the_file_or_an_audio_error(
    data: st.DataObject,
) -> None:
    """I03, I09: whatever the header says, nothing lies outside the bytes that exist."""
    good = wav(chunk(b"LIST", b"abcde"), fmt(), chunk(b"fact", bytes(4)), chunk(b"data", SOUND))
    damaged = bytearray(good[: data.draw(st.integers(0, len(good)))])
    for _ in range(data.draw(st.integers(0, 6))):
        if damaged:
            at = data.draw(st.integers(0, min(len(damaged), 90) - 1))
            damaged[at] = data.draw(st.sampled_from([0, 1, 7, 8, 0x7F, 0xFE, 0xFF]))
    try:
        found = read_layout(bytes(damaged))
    except AudioError:
        return
    assert found.start + found.size <= len(damaged)
    assert found.size % found.block_bytes == 0
    assert found.channels >= 1
